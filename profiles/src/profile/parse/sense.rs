//! What can be read and means nothing: lowerings, requirements and accuracies of another kind of
//! operation.

use fpprobe_spirv::Kernel;
use fpprobe_spirv::op::Function;

use crate::accuracy::Accuracy;
use crate::oracle::Signature;
use crate::profile::Requirement;

/// How wide, in ulps, the first step of an operation in two steps may be: the second is judged for
/// each of its results.
const WIDEST_STEP: f64 = 64.0;

/// Refuses lowerings that cannot stand for one another, and relations that their kernels have no
/// answers for.
pub(super) fn fits(
    function: Function,
    lowerings: &[Kernel],
    requirements: &[Requirement],
) -> Result<(), String> {
    let operands =
        |kernel: &Kernel| Signature::new(kernel).operands(&vec![0; kernel.arity()], 0).len();
    let first = &lowerings[0];
    if let Some(other) = lowerings.iter().find(|other| operands(other) != operands(first)) {
        return Err(format!(
            "`{first}` and `{other}` do not take the same operands: one cannot stand for the other"
        ));
    }
    let about_stores = |requirement: &Requirement| {
        matches!(requirement, Requirement::RoundTrip | Requirement::EveryCode)
    };
    let stores = function == Function::Store
        && lowerings.iter().all(|kernel| kernel.op.function == function);
    match requirements.iter().find(|requirement| about_stores(requirement)) {
        Some(requirement) if !stores => {
            let name = requirement.name();
            Err(format!(
                "`requirement`: `{name}` is about stores of packed formats, which this operation is not"
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses accuracies that say nothing of an operation, and those too wide for one that is judged
/// in two steps.
pub(super) fn suits(accuracy: &Accuracy, function: Function) -> Result<(), String> {
    let step = match (accuracy, function) {
        (Accuracy::TwoStep(ulps), Function::Div) | (Accuracy::Ulp(ulps), Function::MulAdd) => *ulps,
        (Accuracy::Inherited(_) | Accuracy::Undefined, _)
        | (Accuracy::Steps(_), Function::Dot)
        | (Accuracy::AbsoluteWithin(..), Function::Sin | Function::Cos) => 0.0,
        (Accuracy::TwoStep(_) | Accuracy::AbsoluteWithin(..) | Accuracy::Steps(_), _) => {
            return Err(format!("`{accuracy}` is the accuracy of another operation"));
        }
        (Accuracy::Stated(stated), _) if matches!(stated.accuracy, Accuracy::TwoStep(_)) => {
            return Err(format!("`{accuracy}`: a division in two steps has no conditions"));
        }
        (accuracy, Function::MulAdd) if !accuracy.is_rounding() => f64::INFINITY,
        _ => 0.0,
    };
    if step <= WIDEST_STEP {
        return Ok(());
    }
    Err(format!(
        "`{accuracy}` is too wide for an operation in two steps, which may take {WIDEST_STEP} ulp at most"
    ))
}
