//! Accuracies as operations have them: bounds, formulas, and what of the profile's other operations
//! those call.

use std::sync::Arc;

use fpprobe_spirv::op::{Function, Op, Width};
use fpprobe_spirv::{Format, ParseError};
use toml::Table;

use super::{Problem, ProfileDraft, environment_of};
use crate::accuracy::{Accuracy, InheritedAccuracy};
use crate::formula::{Formula, FormulaError, operand_names};
use crate::oracle::{Callee, Demand, is_whole, resolve};
use crate::profile::ANY;
use crate::profile::bound::{Bound, Formulas};
use crate::profile::operation::Operation;
use crate::source::SourceError;

/// Where an accuracy is requested.
#[derive(Clone)]
pub(super) struct AccuracyContext<'a> {
    pub(super) draft: &'a ProfileDraft,
    pub(super) format: Format,
    /// What a rule says of environments, which holds of every step.
    pub(super) changes: &'a Table,
    /// The operations that lead here, each inheriting from the next.
    pub(super) within: Vec<&'a str>,
}

/// What is wrong with a formula: itself, or an operation that it calls.
enum InheritError {
    Formula(FormulaError),
    Elsewhere(SourceError),
}

impl From<FormulaError> for InheritError {
    fn from(error: FormulaError) -> InheritError {
        InheritError::Formula(error)
    }
}

/// The accuracy of an operation: `own`, where a rule has one, else what the operation says of the
/// format or of any. Operations that say nothing choose, move or are exact.
pub(super) fn accuracy_of(
    place: &AccuracyContext<'_>,
    operation: &Operation,
    own: Option<Bound>,
) -> Result<Accuracy, Problem> {
    let said = || {
        operation.accuracy.get(place.format.name()).or_else(|| operation.accuracy.get(ANY)).cloned()
    };
    match (own.or_else(said), &operation.inherits) {
        (Some(Bound { accuracy: Some(accuracy), inherited: false, .. }), _) => Ok(accuracy),
        (Some(bound), None) => {
            let problem = format!(
                "{}: `inherited` without formulas: write `inherits` beside the lowerings",
                bound.key
            );
            Err(bound.source.error(bound.at, problem).into())
        }
        (Some(bound), Some(formulas)) => inherited(place, operation, formulas, bound.accuracy),
        (None, Some(formulas)) => inherited(place, operation, formulas, None),
        (None, None) => Ok(Accuracy::NearestEven),
    }
}

fn inherited(
    place: &AccuracyContext<'_>,
    operation: &Operation,
    formulas: &Formulas,
    or: Option<Accuracy>,
) -> Result<Accuracy, Problem> {
    let Formulas { texts, key, source, at } = formulas;
    let op = operation.op().ok_or_else(|| "no kernel operation".to_owned())?;
    let resolved = |(text, formula): &(String, Formula)| {
        let find = |called: Callee<'_>, at: usize| {
            demanded(place, called).map_err(|problem| match problem {
                Problem::Here(problem) => {
                    InheritError::Formula(FormulaError::new(text, at, problem))
                }
                Problem::Elsewhere(error) => InheritError::Elsewhere(error),
            })
        };
        let names = operand_names(op.function);
        let names = &names[..names.len().min(op.params.len())];
        resolve(text, formula, names, place.format.float(), &find).map_err(|wrong| match wrong {
            InheritError::Formula(problem) => {
                source.error(*at, format!("`{key}`: `{text}`: {problem}"))
            }
            InheritError::Elsewhere(error) => error,
        })
    };
    let formulas = texts.iter().map(resolved).collect::<Result<_, SourceError>>()?;
    // Of a product of matrices each element is that of a row and a column, of an outer product that
    // of two numbers.
    let vector = |width| {
        matches!(width, Width::Kernel | Width::Square) && op.function != Function::OuterProduct
    };
    let vectors =
        op.params.iter().map(|param| !op.is_componentwise() && vector(param.width)).collect();
    let inheritance = place.draft.ground.inheritance;
    Ok(Accuracy::Inherited(Arc::new(InheritedAccuracy { formulas, or, inheritance, vectors })))
}

/// What is demanded of an operation that a formula calls, and how many operands it takes.
fn demanded(
    place: &AccuracyContext<'_>,
    called: Callee<'_>,
) -> Result<(Demand, Option<usize>), Problem> {
    let draft = place.draft;
    let computing = |function: Function| {
        let computes =
            |op: &Op| op.function == function && (op.is_componentwise() || is_whole(function));
        draft.operations.iter().find(|(_, operation)| operation.op().is_some_and(computes))
    };
    let found = match called {
        Callee::Operator(function) => computing(function)
            .ok_or_else(|| format!("the profile has no operation that computes {function:?}")),
        Callee::Name(name) => {
            let by_function = || Op::find(name).and_then(|op| computing(op.function));
            let known = draft.operations.keys().map(String::as_str);
            let unknown = || ParseError::unknown("operation", name, known).to_string();
            draft.operations.get_key_value(name).or_else(by_function).ok_or_else(unknown)
        }
    };
    let (name, operation) = found?;
    if place.within.contains(&name.as_str()) {
        return Err(format!("`{name}` inherits from itself").into());
    }
    let op = operation.op().ok_or_else(|| format!("operation `{name}` has no kernel operation"))?;
    let mut further = place.clone();
    further.within.push(name);
    let environment =
        environment_of(draft, place.format, &[&operation.environment, place.changes])?;
    let accuracy = accuracy_of(&further, operation, None)?;
    let (function, ulp) = (op.function, draft.ground.ulp);
    let demand = Demand { function, operands: environment, results: environment, accuracy, ulp };
    Ok((demand, Some(op.params.len())))
}
