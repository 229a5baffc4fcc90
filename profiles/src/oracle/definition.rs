//! Functions that are defined by a formula of others: of vectors, and those that interpolate.

use std::collections::HashMap;
use std::sync::LazyLock;

use fpprobe_spirv::op::Function;

use super::Demand;
use super::resolve::{Callee, resolve};
use crate::accuracy::{Accuracy, ResolvedFormula};
use crate::environment::{Environment, Ulp};
use crate::formula::{Formula, FormulaError, operand_names};

/// Function, its definition, and which of its operands are vectors (GLSL.std.450).
const DEFINITIONS: [(Function, &str, &[bool]); 13] = [
    (Function::Mix, "x * (1 - z) + y * z", &[false; 3]),
    (
        Function::SmoothStep,
        "t * t * (3 - 2 * t) where t = clamp((x - low) / (high - low), 0, 1)",
        &[false; 3],
    ),
    (Function::Dot, "sum(x * y)", &[true; 2]),
    (Function::MatrixTimesVector, "sum(x * y)", &[true; 2]),
    (Function::VectorTimesMatrix, "sum(x * y)", &[true; 2]),
    (Function::MatrixTimesMatrix, "sum(x * y)", &[true; 2]),
    (Function::Length, "sqrt(sum(x * x))", &[true]),
    (Function::Distance, "sqrt(sum(d * d)) where d = x - y", &[true; 2]),
    (Function::Normalize, "x / sqrt(sum(x * x))", &[true]),
    (Function::Cross, "x.yzx * y.zxy - x.zxy * y.yzx", &[true; 2]),
    (Function::FaceForward, "select(-x, x, sum(z * y) < 0)", &[true; 3]),
    (Function::Reflect, "x - 2 * sum(x * y) * y", &[true; 2]),
    (
        Function::Refract,
        "select(z * x - (z * d + sqrt(k)) * y, 0, k < 0) where d = sum(y * x), k = 1 - z * z * (1 - d * d)",
        &[true, true, false],
    ),
];

static RESOLVED: LazyLock<HashMap<Function, ResolvedFormula>> = LazyLock::new(|| {
    let exact = |called: Callee<'_>, at: usize| {
        let function = match called {
            Callee::Operator(function) => function,
            Callee::Name("sqrt") => Function::Sqrt,
            Callee::Name("clamp") => Function::Clamp,
            Callee::Name(name) => return Err(FormulaError::new(name, at, "it has no definition")),
        };
        let (accuracy, ulp) = (Accuracy::EitherNeighbour, Ulp::Binade);
        Ok((
            Demand {
                function,
                operands: Environment::IEEE,
                results: Environment::IEEE,
                accuracy,
                ulp,
            },
            None,
        ))
    };
    let one = |(function, text, _): &(Function, &str, &[bool])| {
        let formula: Formula = text.parse().ok()?;
        Some((*function, resolve(text, &formula, operand_names(*function), None, &exact).ok()?))
    };
    DEFINITIONS.iter().filter_map(one).collect()
});

/// Whether a function has a definition.
pub(super) fn is_defined(function: Function) -> bool {
    DEFINITIONS.iter().any(|(defined, ..)| *defined == function)
}

/// The definition of a function.
pub(super) fn definition(function: Function) -> Option<&'static ResolvedFormula> {
    if is_defined(function) { RESOLVED.get(&function) } else { None }
}

/// Which operands of a function that has a definition are vectors.
pub(super) fn vectors(function: Function) -> &'static [bool] {
    DEFINITIONS
        .iter()
        .find(|(defined, ..)| *defined == function)
        .map_or(&[], |(.., vectors)| vectors)
}

/// Whether a function takes vectors as a whole: every component of its result depends on every
/// operand.
pub fn is_whole(function: Function) -> bool {
    matches!(
        function,
        Function::Dot
            | Function::Length
            | Function::Distance
            | Function::Normalize
            | Function::Cross
            | Function::FaceForward
            | Function::Reflect
            | Function::Refract
            | Function::Transpose
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_a_formula_of_what_there_is() {
        for (function, text, _) in DEFINITIONS {
            assert_eq!(definition(function).unwrap().formula.to_string(), text);
        }
    }
}
