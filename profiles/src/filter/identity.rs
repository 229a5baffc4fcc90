//! Formulas that are the same as a function in real numbers.

use std::sync::LazyLock;

use fpprobe_spirv::op::Function;

use crate::accuracy::{Node, ResolvedFormula};
use crate::formula::Formula;

/// A function, a formula, and the functions of the formula's steps, operands before what is
/// computed of them.
type FormulaIdentity<'a, F> = (Function, F, &'a [Function]);

/// Functions with formulas that are the same in real numbers. Where such a function has no result,
/// a step has none on the exact values of its operands: `x + sqrt(x * x - 1)` is negative below -1.
const IDENTITIES: [FormulaIdentity<'_, &str>; 25] = {
    use Function::{
        Acos, Acosh, Add, Asin, Asinh, Atan2, Atanh, Cos, Cosh, Div, Dot, Exp, Floor, Fract,
        InverseSqrt, Length, Log, Mul, Neg, Normalize, Sin, Sinh, Sqrt, Sub, Tan, Tanh,
    };
    [
        (Sqrt, "1 / inverse_sqrt(x)", &[InverseSqrt, Div]),
        (InverseSqrt, "1 / sqrt(x)", &[Sqrt, Div]),
        (Fract, "x - floor(x)", &[Floor, Sub]),
        (Tan, "sin(x) / cos(x)", &[Sin, Cos, Div]),
        (Asin, "atan2(x, sqrt(1 - x * x))", &[Mul, Sub, Sqrt, Atan2]),
        (Acos, "atan2(sqrt(1 - x * x), x)", &[Mul, Sub, Sqrt, Atan2]),
        (Sinh, "(exp(x) - exp(-x)) * 0.5", &[Exp, Neg, Exp, Sub, Mul]),
        (Sinh, "exp(x) * 0.5 - exp(-x) * 0.5", &[Exp, Mul, Neg, Exp, Mul, Sub]),
        (Cosh, "(exp(x) + exp(-x)) * 0.5", &[Exp, Neg, Exp, Add, Mul]),
        (Cosh, "exp(x) * 0.5 + exp(-x) * 0.5", &[Exp, Mul, Neg, Exp, Mul, Add]),
        (Tanh, "sinh(x) / cosh(x)", &[Sinh, Cosh, Div]),
        (Asinh, "log(x + sqrt(x * x + 1))", &[Mul, Add, Sqrt, Add, Log]),
        (Acosh, "log(x + sqrt(x * x - 1))", &[Mul, Sub, Sqrt, Add, Log]),
        (Acosh, "log(x + sqrt((x + 1) * (x - 1)))", &[Add, Sub, Mul, Sqrt, Add, Log]),
        (Atanh, "log((1 + x) / (1 - x)) * 0.5", &[Add, Sub, Div, Log, Mul]),
        (Atanh, "0.5 * log((1 + x) / (1 - x))", &[Add, Sub, Div, Log, Mul]),
        // Of a single component.
        (Dot, "sum(x * y)", &[Mul]),
        (Length, "sqrt(sum(x * x))", &[Mul, Sqrt]),
        (Length, "sqrt(dot(x, x))", &[Dot, Sqrt]),
        (Normalize, "x / length(x)", &[Length, Div]),
        (Normalize, "x / sqrt(sum(x * x))", &[Mul, Sqrt, Div]),
        (Normalize, "x * rsq(sum(x * x))", &[Mul, InverseSqrt, Mul]),
        (Normalize, "x * rsq(dot(x, x))", &[Dot, InverseSqrt, Mul]),
        (Normalize, "x * inversesqrt(dot(x, x))", &[Dot, InverseSqrt, Mul]),
        (Normalize, "x * inverse_sqrt(dot(x, x))", &[Dot, InverseSqrt, Mul]),
    ]
};

/// The same, parsed.
static PARSED: LazyLock<Vec<FormulaIdentity<'_, Formula>>> = LazyLock::new(|| {
    let parsed = |(function, text, steps): &FormulaIdentity<'static, &str>| {
        Some((*function, text.parse().ok()?, *steps))
    };
    IDENTITIES.iter().filter_map(parsed).collect()
});

/// Whether a formula is the function itself.
pub(crate) fn is_identity(function: Function, formula: &ResolvedFormula) -> bool {
    let steps = || {
        formula.nodes.iter().filter_map(|node| {
            if let Node::Step(demand, _) = node { Some(demand.function) } else { None }
        })
    };
    PARSED.iter().any(|(of, known, functions)| {
        *of == function && *known == formula.formula && steps().eq(functions.iter().copied())
    })
}

/// How far the factor of a function that is a product may be off at least, where a formula is that
/// product: it is one of the two numbers around.
pub(crate) fn factor(function: Function, formula: &ResolvedFormula) -> Option<f64> {
    let exact = scale(function)?;
    let Node::Step(demand, arguments) = &formula.nodes[formula.root] else { return None };
    let [one, other] = arguments[..] else { return None };
    match (demand.function, &formula.nodes[one], &formula.nodes[other]) {
        (Function::Mul, Node::Operand(0), Node::Constant(around))
        | (Function::Mul, Node::Constant(around), Node::Operand(0)) => {
            let nearer = (exact - around.lo).min(around.hi - exact) - exact * 2.0 * f64::EPSILON;
            (nearer > 0.0).then_some(nearer)
        }
        _ => None,
    }
}

/// The factor of a function that is a product, nearly.
fn scale(function: Function) -> Option<f64> {
    match function {
        Function::Radians => Some(std::f64::consts::PI / 180.0),
        Function::Degrees => Some(180.0 / std::f64::consts::PI),
        _ => None,
    }
}
