//! Modes that a driver claims and does not honour.
//!
//! Source: Vulkan, "Precision and Operation of SPIR-V Instructions", on `DenormPreserve`,
//! `DenormFlushToZero`, `SignedZeroInfNanPreserve` and the rounding modes. Only instructions that
//! the text names, on lanes where it leaves no other way out, count.

use fpprobe_spirv::op::{Code, Function};
use fpprobe_spirv::{Control, Kernel, Via};

use crate::accuracy::Accuracy;
use crate::encoding::components;
use crate::environment::{Environment, Invalid, Nan, NonFinite, Sign, Subnormals, Ulp};
use crate::judge::LaneEvidence;
use crate::lanes::{LaneSelection, OperandClass, ResultClass};
use crate::observation::{Observation, Outcome};
use crate::oracle::{Demand, Signature, accepted_on};

/// A claim that behaviour contradicts.
#[derive(Clone, Debug)]
pub struct Contradiction {
    /// The control that was requested.
    pub control: Control,
    /// How many lanes contradict it.
    pub lanes: usize,
    /// Some of them.
    pub evidence: Vec<LaneEvidence>,
}

/// What a mode obliges to.
struct Obligation {
    functions: &'static [Function],
    lanes: Vec<LaneSelection>,
    environment: Environment,
    accuracy: Accuracy,
}

const ROUNDED: &[Function] = &[Function::Add, Function::Sub, Function::Mul];

fn obligation(control: Control) -> Option<Obligation> {
    let numbers = |result| LaneSelection {
        none: vec![OperandClass::Nan, OperandClass::Infinite],
        result,
        ..LaneSelection::default()
    };
    Some(match control {
        Control::Dp(_) => Obligation {
            functions: &[
                Function::Add,
                Function::Sub,
                Function::Mul,
                Function::Neg,
                Function::Abs,
                Function::Min,
                Function::Max,
            ],
            lanes: vec![
                LaneSelection { any: vec![OperandClass::Subnormal], ..numbers(None) },
                numbers(Some(ResultClass::Tiny)),
            ],
            environment: Environment {
                subnormal_inputs: Subnormals::Keep,
                subnormal_results: Subnormals::Keep,
                ..Environment::OPEN
            },
            accuracy: Accuracy::EitherNeighbour,
        },
        Control::Ftz(_) => Obligation {
            functions: &[Function::Add, Function::Sub, Function::Mul, Function::Neg, Function::Abs],
            lanes: vec![
                LaneSelection { any: vec![OperandClass::Subnormal], ..numbers(None) },
                numbers(Some(ResultClass::Tiny)),
            ],
            environment: Environment { subnormal_results: Subnormals::Flush, ..Environment::OPEN },
            accuracy: Accuracy::EitherNeighbour,
        },
        Control::Rte(_) | Control::Rtz(_) => Obligation {
            functions: ROUNDED,
            lanes: vec![numbers(Some(ResultClass::Normal))],
            environment: Environment::OPEN,
            accuracy: if matches!(control, Control::Rte(_)) {
                Accuracy::NearestEven
            } else {
                Accuracy::TowardZero
            },
        },
        Control::Szin(_) => Obligation {
            functions: ROUNDED,
            lanes: vec![LaneSelection {
                any: vec![OperandClass::Zero, OperandClass::Infinite, OperandClass::Nan],
                none: vec![OperandClass::Subnormal],
                ..LaneSelection::default()
            }],
            environment: Environment {
                zero_sign: Sign::Exact,
                nan_operand: Nan::Nan,
                invalid: Invalid::Nan,
                non_finite: NonFinite::Ieee,
                ..Environment::OPEN
            },
            accuracy: Accuracy::EitherNeighbour,
        },
        Control::NoContract | Control::FastMath0 => return None,
    })
}

/// Every claimed mode that some kernel shows not to be honoured. A kernel can only have run under a
/// mode that is claimed.
pub fn contradictions(observations: &[Observation]) -> Vec<Contradiction> {
    let mut found: Vec<Contradiction> = Vec::new();
    for control in Control::all() {
        let Some(obligation) = obligation(control) else { continue };
        let mut contradiction = Contradiction { control, lanes: 0, evidence: Vec::new() };
        for observation in
            observations.iter().filter(|o| o.outcome == Outcome::Ran && selects(&o.kernel, control))
        {
            if obligation.functions.contains(&observation.kernel.op.function) {
                check(&obligation, observation, &mut contradiction);
            }
        }
        if contradiction.lanes > 0 {
            found.push(contradiction);
        }
    }
    found
}

/// Whether a kernel's own operation is governed by the control, and by no other but those of other
/// widths.
fn selects(kernel: &Kernel, control: Control) -> bool {
    let width = Some(kernel.format.bits());
    kernel.via == Via::Spirv
        && kernel.op.code.team().is_none()
        && !matches!(kernel.op.code, Code::Atomic(..))
        && kernel.format.float().is_some()
        && control.width() == width
        && kernel.op.result.format.is_none()
        && kernel.controls.contains(control)
        && kernel.controls.iter().all(|other| other == control || other.width() != width)
}

fn check(obligation: &Obligation, observation: &Observation, contradiction: &mut Contradiction) {
    let kernel = &observation.kernel;
    let demand = Demand {
        function: kernel.op.function,
        operands: obligation.environment,
        results: obligation.environment,
        accuracy: obligation.accuracy.clone(),
        ulp: Ulp::Vulkan,
    };
    let signature = Signature::new(kernel);
    for (index, case) in observation.cases.iter().enumerate() {
        let answer = components(kernel, observation.answer(index));
        for (part, encoding) in signature.encodings.iter().enumerate() {
            let operands = signature.operands(case, part);
            let looked =
                obligation.lanes.iter().any(|lanes| lanes.select(*encoding, &operands, &demand));
            if looked && !accepted_on(*encoding, &operands, &demand).contains(answer[part]) {
                contradiction.lanes += 1;
                if contradiction.evidence.len() < 4 {
                    contradiction.evidence.push(LaneEvidence {
                        kernel: *kernel,
                        case: case.to_vec(),
                        answer: observation.answer(index).to_vec(),
                        part,
                        accepted: signature.accepted(case, &demand),
                    });
                }
            }
        }
    }
}
