//! The table: one row for each operation.

use rspirv::spirv::{GlslStd450Op as GLOp, Op as SpvOp};

use super::chain::{Chain, Link};
use super::code::{Arg, Blend, Code, FixedFunctionState, Inst, Step};
use super::function::{Function, Relation};
use super::{Components, Op, OperandType, Width};
use crate::atomic::AtomicForm;
use crate::format::Format;
use crate::interpolation::Interpolation;
use crate::matrix::MatrixUse;
use crate::subgroup::SubgroupForm;

use Format::{Bf16, Bool, E4m3, E5m2, F16, F32, F64, I32, U32};

const FLOATS: &[Format] = Format::FLOATS;
const HALF: &[Format] = &[F16];
const HALF_AND_SINGLE: &[Format] = &[F16, F32];
const SINGLE: &[Format] = &[F32];
/// Those of which there are dot products.
const DOTS: &[Format] = &[F16, F32, F64, Bf16];
const DOUBLE: &[Format] = &[F64];

const T: OperandType = OperandType { format: None, width: Width::Kernel };
const fn fixed(format: Format) -> OperandType {
    OperandType { format: Some(format), width: Width::Kernel }
}
const BOOL: OperandType = fixed(Bool);
const UINT: OperandType = fixed(U32);
const WORD: OperandType = OperandType { format: Some(U32), width: Width::Fixed(1) };
const PAIR: OperandType = OperandType { format: None, width: Width::Fixed(2) };
const QUAD: OperandType = OperandType { format: None, width: Width::Fixed(4) };
const WORDS: OperandType = OperandType { format: Some(U32), width: Width::Fixed(2) };
const SCALAR: OperandType = OperandType { format: None, width: Width::Fixed(1) };
const SQUARE: OperandType = OperandType { format: None, width: Width::Square };
const TEXEL: OperandType = OperandType { format: None, width: Width::Texel };
const TEXEL_VECTOR: OperandType = OperandType { format: Some(F32), width: Width::Channels };

const fn factor(part: MatrixUse) -> OperandType {
    OperandType { format: None, width: Width::Factor(part) }
}
const fn line(part: MatrixUse) -> OperandType {
    OperandType { format: None, width: Width::Line(part) }
}
const ELEMENTS: &[Format] = &[F16, Bf16, E4m3, E5m2, F32, I32, U32];
/// Floats that move; some do nothing else but become others.
const MOVED: &[Format] = Format::SCALAR_FLOATS;

const fn core(op: SpvOp) -> Code {
    Code::Inst(Inst::Core(op))
}
const fn saturated(op: SpvOp) -> Code {
    Code::Inst(Inst::Saturated(op))
}
const fn ext(op: GLOp) -> Code {
    Code::Inst(Inst::Ext(op))
}
const fn step(op: SpvOp, args: &'static [Arg]) -> Step {
    Step { inst: Inst::Core(op), args, result: T }
}
const fn ext_step(op: GLOp, args: &'static [Arg]) -> Step {
    Step { inst: Inst::Ext(op), args, result: T }
}
const fn step_to(op: SpvOp, args: &'static [Arg], result: OperandType) -> Step {
    Step { inst: Inst::Core(op), args, result }
}

#[expect(clippy::too_many_arguments, reason = "one argument a column of the table")]
const fn row(
    name: &'static str,
    formats: &'static [Format],
    params: &'static [OperandType],
    result: OperandType,
    code: Code,
    glsl: &'static str,
    function: Function,
    about: &'static str,
) -> Op {
    let glsl = if glsl.is_empty() { None } else { Some(glsl) };
    let (second, components) = (None, Components::Each);
    Op { name, formats, params, result, second, components, code, glsl, function, about }
}

impl Op {
    /// The row of an operation that gives a second result.
    const fn and(self, second: OperandType) -> Op {
        Op { second: Some(second), ..self }
    }

    /// The row of an operation that is not component-wise and exists at these widths.
    const fn whole(self, from: u32, to: u32) -> Op {
        Op { components: Components::Together(from, to), ..self }
    }
}

const fn compare(
    name: &'static str,
    op: SpvOp,
    relation: Relation,
    unordered: bool,
    glsl: &'static str,
    about: &'static str,
) -> Op {
    row(
        name,
        FLOATS,
        &[T, T],
        BOOL,
        core(op),
        glsl,
        Function::Compare { relation, unordered },
        about,
    )
}

const BOTH: &[Arg] = &[Arg::Param(0), Arg::Param(1)];
const NOT: Step = step_to(SpvOp::LogicalNot, &[Arg::Step(0)], BOOL);

/// The negation of an ordered comparison is the opposite unordered one.
const fn negated(
    name: &'static str,
    steps: &'static [Step],
    relation: Relation,
    glsl: &'static str,
    about: &'static str,
) -> Op {
    let function = Function::Compare { relation, unordered: true };
    row(name, FLOATS, &[T, T], BOOL, Code::Steps(steps), glsl, function, about)
}

/// A blit from texels of another format, or the same.
const fn convert(name: &'static str, from: &'static [OperandType], about: &'static str) -> Op {
    row(name, Format::COLORS, from, SCALAR, Code::TexelConvert, "", Function::Store, about)
        .whole(1, 1)
}

/// A line of a cooperative matrix that is loaded and stored.
const fn moved(
    name: &'static str,
    part: MatrixUse,
    line: &'static [OperandType],
    about: &'static str,
) -> Op {
    row(name, ELEMENTS, line, line[0], Code::MatrixLoadStore(part), "", Function::Move, about)
        .whole(1, 1)
}

/// An operation over a subgroup, of two operands.
const fn across(
    name: &'static str,
    op: SpvOp,
    form: SubgroupForm,
    function: Function,
    about: &'static str,
) -> Op {
    row(name, FLOATS, &[T, T], T, Code::Subgroup(op, form), "", function, about).whole(1, 1)
}

/// A sum or product over a subgroup that shows its order: the invocations that hold the masking and
/// the restoring value.
const fn order(
    name: &'static str,
    (op, function): (SpvOp, Function),
    form: SubgroupForm,
    about: &'static str,
) -> Op {
    row(name, FLOATS, &[WORD, WORD], SCALAR, Code::Subgroup(op, form), "", function, about)
        .whole(1, 1)
}

const OF_SUM: (SpvOp, Function) = (SpvOp::GroupNonUniformFAdd, Function::SummationOrder);
const OF_PRODUCT: (SpvOp, Function) = (SpvOp::GroupNonUniformFMul, Function::ProductOrder);

/// An atomic operation; the first operand is what the memory holds before, where the result depends
/// on that.
const fn atomic(
    name: &'static str,
    (op, form): (SpvOp, AtomicForm),
    params: &'static [OperandType],
    function: Function,
    about: &'static str,
) -> Op {
    row(name, FLOATS, params, T, Code::Atomic(op, form), "", function, about).whole(1, 1)
}

/// A derivative: what each invocation of a quad gets of the values that they hold.
const fn derivative(name: &'static str, op: SpvOp, about: &'static str) -> Op {
    let (code, function) = (Code::Derivative(op), Function::Sub);
    row(name, SINGLE, &[QUAD], QUAD, code, "", function, about).whole(1, 1)
}

/// An input of a fragment shader: what a fragment gets of what the vertices of its triangle hold.
const fn input(
    name: &'static str,
    interpolation: Interpolation,
    function: Function,
    about: &'static str,
) -> Op {
    row(name, SINGLE, &[T, T, T], T, Code::Interpolated(interpolation), "", function, about)
        .whole(1, 1)
}

/// Operations in a row, on x and y and perhaps z.
const fn chain(
    name: &'static str,
    formats: &'static [Format],
    (params, result): (&'static [OperandType], OperandType),
    steps: &'static [Step],
    links: &'static [Link],
    about: &'static str,
) -> Op {
    let multiplies = matches!(steps[0].inst, Inst::Core(SpvOp::FMul));
    let function = Function::Chain(Chain { multiplies, links });
    row(name, formats, params, result, Code::Steps(steps), "", function, about).whole(1, 1)
}

const SUM: Step = step(SpvOp::FAdd, BOTH);
const PRODUCT: Step = step(SpvOp::FMul, BOTH);
const SUM_OF_PAIRS: Step = step_to(SpvOp::FAdd, BOTH, PAIR);
const PRODUCT_OF_PAIRS: Step = step_to(SpvOp::FMul, BOTH, PAIR);
const FIRST: &[Arg] = &[Arg::Step(0)];
const QUANTIZED: Step = step(SpvOp::QuantizeToF16, FIRST);
const PACKED: Step = Step { inst: Inst::Ext(GLOp::PackHalf2x16), args: FIRST, result: WORD };

/// The first step's result in another format.
const fn first_to(format: Format) -> Step {
    step_to(SpvOp::FConvert, FIRST, fixed(format))
}

/// Every operation, in the order of the catalogue.
#[rustfmt::skip]
pub static OPS: &[Op] = &[
    // Arithmetic.
    row("fadd", FLOATS, &[T, T], T, core(SpvOp::FAdd), "$0 + $1", Function::Add, "x + y"),
    row("fsub", FLOATS, &[T, T], T, core(SpvOp::FSub), "$0 - $1", Function::Sub, "x - y"),
    row("fmul", FLOATS, &[T, T], T, core(SpvOp::FMul), "$0 * $1", Function::Mul, "x * y"),
    row("fdiv", FLOATS, &[T, T], T, core(SpvOp::FDiv), "$0 / $1", Function::Div, "x / y"),
    row("mul_rcp", FLOATS, &[T, T], T, Code::Steps(&[step(SpvOp::FDiv, &[Arg::One, Arg::Param(1)]), step(SpvOp::FMul, &[Arg::Param(0), Arg::Step(0)])]), "", Function::Div, "x * (1 / y)"),
    row("rcp", FLOATS, &[T], T, Code::Steps(&[step(SpvOp::FDiv, &[Arg::One, Arg::Param(0)])]), "", Function::Reciprocal, "1 / x"),
    row("fnegate", FLOATS, &[T], T, core(SpvOp::FNegate), "-$0", Function::Neg, "-x"),
    row("fma", FLOATS, &[T, T, T], T, ext(GLOp::Fma), "fma($0, $1, $2)", Function::MulAdd, "multiply and add, x * y + z, in one instruction"),
    row("fma_khr", FLOATS, &[T, T, T], T, core(SpvOp::FmaKHR), "", Function::MulAdd, "multiply and add, x * y + z, rounded once"),
    row("mul_then_add", FLOATS, &[T, T, T], T, Code::Steps(&[step(SpvOp::FMul, &[Arg::Param(0), Arg::Param(1)]), step(SpvOp::FAdd, &[Arg::Step(0), Arg::Param(2)])]), "$0 * $1 + $2", Function::MulAdd, "x * y + z, two instructions"),
    row("frem", FLOATS, &[T, T], T, core(SpvOp::FRem), "", Function::Rem, "remainder of the sign of x"),
    row("fmod", FLOATS, &[T, T], T, core(SpvOp::FMod), "mod($0, $1)", Function::Mod, "remainder of the sign of y"),
    row("x_minus_x", FLOATS, &[T], T, Code::Steps(&[step(SpvOp::FSub, &[Arg::Param(0), Arg::Param(0)])]), "$0 - $0", Function::SelfSub, "x - x"),
    row("x_over_x", FLOATS, &[T], T, Code::Steps(&[step(SpvOp::FDiv, &[Arg::Param(0), Arg::Param(0)])]), "$0 / $0", Function::SelfDiv, "x / x"),
    row("add_sub", FLOATS, &[T, T], T, Code::Steps(&[step(SpvOp::FAdd, &[Arg::Param(0), Arg::Param(1)]), step(SpvOp::FSub, &[Arg::Step(0), Arg::Param(0)])]), "($0 + $1) - $0", Function::AddSub, "(x + y) - x"),
    // Comparisons.
    compare("ford_equal", SpvOp::FOrdEqual, Relation::Equal, false, "$0 == $1", "x == y, false with NaN"),
    compare("ford_not_equal", SpvOp::FOrdNotEqual, Relation::NotEqual, false, "", "x != y, false with NaN"),
    compare("funord_not_equal", SpvOp::FUnordNotEqual, Relation::NotEqual, true, "$0 != $1", "x != y, true with NaN"),
    compare("ford_less_than", SpvOp::FOrdLessThan, Relation::Less, false, "$0 < $1", "x < y, false with NaN"),
    compare("ford_greater_than", SpvOp::FOrdGreaterThan, Relation::Greater, false, "$0 > $1", "x > y, false with NaN"),
    compare("ford_less_than_equal", SpvOp::FOrdLessThanEqual, Relation::LessEqual, false, "$0 <= $1", "x <= y, false with NaN"),
    compare("ford_greater_than_equal", SpvOp::FOrdGreaterThanEqual, Relation::GreaterEqual, false, "$0 >= $1", "x >= y, false with NaN"),
    compare("funord_equal", SpvOp::FUnordEqual, Relation::Equal, true, "", "x == y, true with NaN"),
    compare("funord_less_than", SpvOp::FUnordLessThan, Relation::Less, true, "", "x < y, true with NaN"),
    compare("funord_greater_than", SpvOp::FUnordGreaterThan, Relation::Greater, true, "", "x > y, true with NaN"),
    compare("funord_less_than_equal", SpvOp::FUnordLessThanEqual, Relation::LessEqual, true, "", "x <= y, true with NaN"),
    compare("funord_greater_than_equal", SpvOp::FUnordGreaterThanEqual, Relation::GreaterEqual, true, "", "x >= y, true with NaN"),
    negated("not_equal", &[step_to(SpvOp::FOrdEqual, BOTH, BOOL), NOT], Relation::NotEqual, "!($0 == $1)", "not (x == y), true with NaN"),
    negated("not_less_than", &[step_to(SpvOp::FOrdLessThan, BOTH, BOOL), NOT], Relation::GreaterEqual, "!($0 < $1)", "not (x < y), true with NaN"),
    negated("not_greater_than", &[step_to(SpvOp::FOrdGreaterThan, BOTH, BOOL), NOT], Relation::LessEqual, "!($0 > $1)", "not (x > y), true with NaN"),
    negated("not_less_than_equal", &[step_to(SpvOp::FOrdLessThanEqual, BOTH, BOOL), NOT], Relation::Greater, "!($0 <= $1)", "not (x <= y), true with NaN"),
    negated("not_greater_than_equal", &[step_to(SpvOp::FOrdGreaterThanEqual, BOTH, BOOL), NOT], Relation::Less, "!($0 >= $1)", "not (x >= y), true with NaN"),
    row("is_nan", FLOATS, &[T], BOOL, core(SpvOp::IsNan), "isnan($0)", Function::IsNan, "whether x is a NaN"),
    row("is_inf", FLOATS, &[T], BOOL, core(SpvOp::IsInf), "isinf($0)", Function::IsInf, "whether x is an infinity"),
    row("ne_self", FLOATS, &[T], BOOL, Code::Steps(&[step_to(SpvOp::FUnordNotEqual, &[Arg::Param(0), Arg::Param(0)], BOOL)]), "$0 != $0", Function::IsNan, "x != x, true with NaN"),
    // Minimum and maximum.
    row("fmin", FLOATS, &[T, T], T, ext(GLOp::FMin), "min($0, $1)", Function::Min, "minimum, NaN handling undefined"),
    row("fmax", FLOATS, &[T, T], T, ext(GLOp::FMax), "max($0, $1)", Function::Max, "maximum, NaN handling undefined"),
    row("fclamp", FLOATS, &[T, T, T], T, ext(GLOp::FClamp), "clamp($0, $1, $2)", Function::Clamp, "clamp(x, low, high), NaN handling undefined"),
    row("nmin", FLOATS, &[T, T], T, ext(GLOp::NMin), "", Function::Min, "minimum, a NaN operand gives the other"),
    row("nmax", FLOATS, &[T, T], T, ext(GLOp::NMax), "", Function::Max, "maximum, a NaN operand gives the other"),
    row("nclamp", FLOATS, &[T, T, T], T, ext(GLOp::NClamp), "", Function::Clamp, "clamp(x, low, high), a NaN operand gives the other"),
    row("saturate", FLOATS, &[T], T, Code::Steps(&[ext_step(GLOp::NClamp, &[Arg::Param(0), Arg::Zero, Arg::One])]), "", Function::Saturate, "clamp(x, 0, 1), a NaN gives 0"),
    row("saturate_fclamp", FLOATS, &[T], T, Code::Steps(&[ext_step(GLOp::FClamp, &[Arg::Param(0), Arg::Zero, Arg::One])]), "", Function::Saturate, "clamp(x, 0, 1), NaN handling undefined"),
    // Sign and rounding to an integral value.
    row("fabs", FLOATS, &[T], T, ext(GLOp::FAbs), "abs($0)", Function::Abs, "|x|"),
    row("fsign", FLOATS, &[T], T, ext(GLOp::FSign), "sign($0)", Function::Sign, "-1, 0 or 1"),
    row("floor", FLOATS, &[T], T, ext(GLOp::Floor), "floor($0)", Function::Floor, "towards minus infinity"),
    row("ceil", FLOATS, &[T], T, ext(GLOp::Ceil), "ceil($0)", Function::Ceil, "towards plus infinity"),
    row("trunc", FLOATS, &[T], T, ext(GLOp::Trunc), "trunc($0)", Function::Trunc, "towards zero"),
    row("round", FLOATS, &[T], T, ext(GLOp::Round), "round($0)", Function::Round, "to nearest, ties either way"),
    row("round_even", FLOATS, &[T], T, ext(GLOp::RoundEven), "roundEven($0)", Function::RoundEven, "to nearest, ties to even"),
    row("fract", FLOATS, &[T], T, ext(GLOp::Fract), "fract($0)", Function::Fract, "x - floor(x)"),
    row("modf", FLOATS, &[T], T, ext(GLOp::ModfStruct), "modf($0, second)", Function::Modf, "fraction and whole part, both of the sign of x").and(T),
    row("frexp", FLOATS, &[T], T, ext(GLOp::FrexpStruct), "frexp($0, second)", Function::Frexp, "significand of [0.5, 1) and exponent").and(fixed(I32)),
    // Interpolation and scaling.
    row("fmix", FLOATS, &[T, T, T], T, ext(GLOp::FMix), "mix($0, $1, $2)", Function::Mix, "x * (1 - z) + y * z"),
    row("step", FLOATS, &[T, T], T, ext(GLOp::Step), "step($0, $1)", Function::Step, "0 where y is below the edge x, else 1"),
    row("smooth_step", FLOATS, &[T, T, T], T, ext(GLOp::SmoothStep), "smoothstep($0, $1, $2)", Function::SmoothStep, "smooth from 0 at the edge x to 1 at the edge y"),
    row("ldexp", FLOATS, &[T, fixed(I32)], T, ext(GLOp::Ldexp), "ldexp($0, $1)", Function::Ldexp, "x * 2^n, n an integer"),
    // Roots and elementary functions.
    row("sqrt", FLOATS, &[T], T, ext(GLOp::Sqrt), "sqrt($0)", Function::Sqrt, "square root"),
    row("inverse_sqrt", FLOATS, &[T], T, ext(GLOp::InverseSqrt), "inversesqrt($0)", Function::InverseSqrt, "1 / square root"),
    row("rcp_inverse_sqrt", FLOATS, &[T], T, Code::Steps(&[ext_step(GLOp::InverseSqrt, &[Arg::Param(0)]), step(SpvOp::FDiv, &[Arg::One, Arg::Step(0)])]), "", Function::Sqrt, "1 / inversesqrt(x)"),
    row("rcp_sqrt", FLOATS, &[T], T, Code::Steps(&[ext_step(GLOp::Sqrt, &[Arg::Param(0)]), step(SpvOp::FDiv, &[Arg::One, Arg::Step(0)])]), "", Function::InverseSqrt, "1 / sqrt(x)"),
    row("exp", HALF_AND_SINGLE, &[T], T, ext(GLOp::Exp), "exp($0)", Function::Exp, "e^x"),
    row("exp2", HALF_AND_SINGLE, &[T], T, ext(GLOp::Exp2), "exp2($0)", Function::Exp2, "2^x"),
    row("log", HALF_AND_SINGLE, &[T], T, ext(GLOp::Log), "log($0)", Function::Log, "natural logarithm"),
    row("log2", HALF_AND_SINGLE, &[T], T, ext(GLOp::Log2), "log2($0)", Function::Log2, "binary logarithm"),
    row("sin", HALF_AND_SINGLE, &[T], T, ext(GLOp::Sin), "sin($0)", Function::Sin, "sine of radians"),
    row("cos", HALF_AND_SINGLE, &[T], T, ext(GLOp::Cos), "cos($0)", Function::Cos, "cosine of radians"),
    row("tan", HALF_AND_SINGLE, &[T], T, ext(GLOp::Tan), "tan($0)", Function::Tan, "tangent of radians"),
    row("asin", HALF_AND_SINGLE, &[T], T, ext(GLOp::Asin), "asin($0)", Function::Asin, "arc sine, undefined for |x| > 1"),
    row("acos", HALF_AND_SINGLE, &[T], T, ext(GLOp::Acos), "acos($0)", Function::Acos, "arc cosine, undefined for |x| > 1"),
    row("atan", HALF_AND_SINGLE, &[T], T, ext(GLOp::Atan), "atan($0)", Function::Atan, "arc tangent"),
    row("atan2", HALF_AND_SINGLE, &[T, T], T, ext(GLOp::Atan2), "atan($0, $1)", Function::Atan2, "arc tangent of x / y, operands in that order, in their quadrant"),
    row("sinh", HALF_AND_SINGLE, &[T], T, ext(GLOp::Sinh), "sinh($0)", Function::Sinh, "hyperbolic sine"),
    row("cosh", HALF_AND_SINGLE, &[T], T, ext(GLOp::Cosh), "cosh($0)", Function::Cosh, "hyperbolic cosine"),
    row("tanh", HALF_AND_SINGLE, &[T], T, ext(GLOp::Tanh), "tanh($0)", Function::Tanh, "hyperbolic tangent"),
    row("asinh", HALF_AND_SINGLE, &[T], T, ext(GLOp::Asinh), "asinh($0)", Function::Asinh, "inverse hyperbolic sine"),
    row("acosh", HALF_AND_SINGLE, &[T], T, ext(GLOp::Acosh), "acosh($0)", Function::Acosh, "inverse hyperbolic cosine, undefined for x < 1"),
    row("atanh", HALF_AND_SINGLE, &[T], T, ext(GLOp::Atanh), "atanh($0)", Function::Atanh, "inverse hyperbolic tangent, undefined for |x| >= 1"),
    row("radians", HALF_AND_SINGLE, &[T], T, ext(GLOp::Radians), "radians($0)", Function::Radians, "x * pi / 180"),
    row("degrees", HALF_AND_SINGLE, &[T], T, ext(GLOp::Degrees), "degrees($0)", Function::Degrees, "x * 180 / pi"),
    row("pow", HALF_AND_SINGLE, &[T, T], T, ext(GLOp::Pow), "pow($0, $1)", Function::Pow, "x^y, undefined for x < 0, and for x = 0 with y <= 0"),
    // Vectors.
    row("dot", DOTS, &[T, T], SCALAR, core(SpvOp::Dot), "dot($0, $1)", Function::Dot, "sum of the products of components").whole(2, 4),
    row("length", FLOATS, &[T], SCALAR, ext(GLOp::Length), "length($0)", Function::Length, "square root of the sum of squares").whole(1, 4),
    row("distance", FLOATS, &[T, T], SCALAR, ext(GLOp::Distance), "distance($0, $1)", Function::Distance, "length of x - y").whole(1, 4),
    row("normalize", FLOATS, &[T], T, ext(GLOp::Normalize), "normalize($0)", Function::Normalize, "x / length of x").whole(1, 4),
    row("cross", FLOATS, &[T, T], T, ext(GLOp::Cross), "cross($0, $1)", Function::Cross, "cross product").whole(3, 3),
    row("face_forward", FLOATS, &[T, T, T], T, ext(GLOp::FaceForward), "faceforward($0, $1, $2)", Function::FaceForward, "x where dot(z, y) < 0, else -x").whole(1, 4),
    row("reflect", FLOATS, &[T, T], T, ext(GLOp::Reflect), "reflect($0, $1)", Function::Reflect, "x - 2 dot(y, x) y").whole(1, 4),
    row("refract", FLOATS, &[T, T, SCALAR], T, ext(GLOp::Refract), "refract($0, $1, $2)", Function::Refract, "x refracted at the normal y by the ratio of indices z").whole(1, 4),
    row("vector_times_scalar", FLOATS, &[T, SCALAR], T, core(SpvOp::VectorTimesScalar), "$0 * $1", Function::Mul, "every component of x * y").whole(2, 4),
    // Square matrices.
    row("transpose", FLOATS, &[SQUARE], SQUARE, core(SpvOp::Transpose), "transpose($0)", Function::Transpose, "columns to rows").whole(2, 4),
    row("determinant", FLOATS, &[SQUARE], SCALAR, ext(GLOp::Determinant), "determinant($0)", Function::Determinant, "determinant").whole(2, 4),
    row("matrix_times_scalar", FLOATS, &[SQUARE, SCALAR], SQUARE, core(SpvOp::MatrixTimesScalar), "$0 * $1", Function::Mul, "every component of x * y").whole(2, 4),
    row("matrix_times_vector", FLOATS, &[SQUARE, T], T, core(SpvOp::MatrixTimesVector), "$0 * $1", Function::MatrixTimesVector, "linear combination of the columns of x").whole(2, 4),
    row("vector_times_matrix", FLOATS, &[T, SQUARE], T, core(SpvOp::VectorTimesMatrix), "$0 * $1", Function::VectorTimesMatrix, "dot products of x and the columns of y").whole(2, 4),
    row("matrix_times_matrix", FLOATS, &[SQUARE, SQUARE], SQUARE, core(SpvOp::MatrixTimesMatrix), "$0 * $1", Function::MatrixTimesMatrix, "matrix product").whole(2, 4),
    row("outer_product", FLOATS, &[T, T], SQUARE, core(SpvOp::OuterProduct), "outerProduct($0, $1)", Function::OuterProduct, "columns x * a component of y").whole(2, 4),
    // Conversions.
    row("fconvert_f16", &[F32, F64, Bf16, E4m3, E5m2], &[T], fixed(F16), core(SpvOp::FConvert), "", Function::ToFloat, "to binary16"),
    row("fconvert_f32", &[F16, F64, Bf16, E4m3, E5m2], &[T], fixed(F32), core(SpvOp::FConvert), "", Function::ToFloat, "to binary32"),
    row("fconvert_f64", &[F16, F32, Bf16], &[T], fixed(F64), core(SpvOp::FConvert), "", Function::ToFloat, "to binary64"),
    row("fconvert_bf16", &[F16, F32, F64, E4m3, E5m2], &[T], fixed(Bf16), core(SpvOp::FConvert), "", Function::ToFloat, "to bfloat16"),
    row("fconvert_e4m3", &[F16, Bf16, F32, F64, E5m2], &[T], fixed(E4m3), core(SpvOp::FConvert), "", Function::ToFloat, "to float8 E4M3, a NaN beyond its range"),
    row("fconvert_e4m3_saturated", &[F16, Bf16, F32, F64, E5m2], &[T], fixed(E4m3), saturated(SpvOp::FConvert), "", Function::ToFloat, "to float8 E4M3, the largest number beyond its range"),
    row("fconvert_e5m2", &[F16, Bf16, F32, F64, E4m3], &[T], fixed(E5m2), core(SpvOp::FConvert), "", Function::ToFloat, "to float8 E5M2, an infinity beyond its range"),
    row("fconvert_e5m2_saturated", &[F16, Bf16, F32, F64, E4m3], &[T], fixed(E5m2), saturated(SpvOp::FConvert), "", Function::ToFloat, "to float8 E5M2, the largest number beyond its range"),
    row("quantize_to_f16", SINGLE, &[T], T, core(SpvOp::QuantizeToF16), "", Function::QuantizeToF16, "to binary16 and back, subnormals of binary16 to zero"),
    row("narrow_widen", SINGLE, &[T], T, Code::Steps(&[step_to(SpvOp::FConvert, &[Arg::Param(0)], fixed(F16)), step(SpvOp::FConvert, &[Arg::Step(0)])]), "", Function::NarrowWiden, "to binary16 and back by two conversions"),
    row("convert_f_to_s", FLOATS, &[T], fixed(I32), core(SpvOp::ConvertFToS), "", Function::ToInteger, "to a signed integer, towards zero"),
    row("convert_f_to_u", FLOATS, &[T], fixed(U32), core(SpvOp::ConvertFToU), "", Function::ToInteger, "to an unsigned integer, towards zero"),
    row("clamp_convert_f_to_s", FLOATS, &[T], fixed(I32), Code::Steps(&[ext_step(GLOp::NClamp, &[Arg::Param(0), Arg::Least(I32), Arg::Most(I32)]), step_to(SpvOp::ConvertFToS, &[Arg::Step(0)], fixed(I32))]), "", Function::ToInteger, "to a signed integer, clamped to what it and the float have in common"),
    row("clamp_convert_f_to_u", FLOATS, &[T], fixed(U32), Code::Steps(&[ext_step(GLOp::NClamp, &[Arg::Param(0), Arg::Least(U32), Arg::Most(U32)]), step_to(SpvOp::ConvertFToU, &[Arg::Step(0)], fixed(U32))]), "", Function::ToInteger, "to an unsigned integer, clamped to what it and the float have in common"),
    row("convert_s_to_f", FLOATS, &[fixed(I32)], T, core(SpvOp::ConvertSToF), "", Function::FromSigned, "from a signed integer"),
    row("convert_u_to_f", FLOATS, &[fixed(U32)], T, core(SpvOp::ConvertUToF), "", Function::FromUnsigned, "from an unsigned integer"),
    row("pack_half_2x16", SINGLE, &[PAIR], WORD, ext(GLOp::PackHalf2x16), "packHalf2x16($0)", Function::PackHalf, "two binary32 to two binary16 in a word").whole(1, 1),
    row("unpack_half_2x16", SINGLE, &[WORD], PAIR, ext(GLOp::UnpackHalf2x16), "unpackHalf2x16($0)", Function::UnpackHalf, "two binary16 in a word to two binary32").whole(1, 1),
    row("pack_snorm_4x8", SINGLE, &[QUAD], WORD, ext(GLOp::PackSnorm4x8), "packSnorm4x8($0)", Function::PackNorm { bits: 8, signed: true }, "four of [-1, 1] to bytes of a word").whole(1, 1),
    row("pack_unorm_4x8", SINGLE, &[QUAD], WORD, ext(GLOp::PackUnorm4x8), "packUnorm4x8($0)", Function::PackNorm { bits: 8, signed: false }, "four of [0, 1] to bytes of a word").whole(1, 1),
    row("pack_snorm_2x16", SINGLE, &[PAIR], WORD, ext(GLOp::PackSnorm2x16), "packSnorm2x16($0)", Function::PackNorm { bits: 16, signed: true }, "two of [-1, 1] to halves of a word").whole(1, 1),
    row("pack_unorm_2x16", SINGLE, &[PAIR], WORD, ext(GLOp::PackUnorm2x16), "packUnorm2x16($0)", Function::PackNorm { bits: 16, signed: false }, "two of [0, 1] to halves of a word").whole(1, 1),
    row("unpack_snorm_4x8", SINGLE, &[WORD], QUAD, ext(GLOp::UnpackSnorm4x8), "unpackSnorm4x8($0)", Function::UnpackNorm { bits: 8, signed: true }, "bytes of a word to four of [-1, 1]").whole(1, 1),
    row("unpack_unorm_4x8", SINGLE, &[WORD], QUAD, ext(GLOp::UnpackUnorm4x8), "unpackUnorm4x8($0)", Function::UnpackNorm { bits: 8, signed: false }, "bytes of a word to four of [0, 1]").whole(1, 1),
    row("unpack_snorm_2x16", SINGLE, &[WORD], PAIR, ext(GLOp::UnpackSnorm2x16), "unpackSnorm2x16($0)", Function::UnpackNorm { bits: 16, signed: true }, "halves of a word to two of [-1, 1]").whole(1, 1),
    row("unpack_unorm_2x16", SINGLE, &[WORD], PAIR, ext(GLOp::UnpackUnorm2x16), "unpackUnorm2x16($0)", Function::UnpackNorm { bits: 16, signed: false }, "halves of a word to two of [0, 1]").whole(1, 1),
    row("pack_double_2x32", DOUBLE, &[WORDS], SCALAR, ext(GLOp::PackDouble2x32), "packDouble2x32($0)", Function::PackDouble, "two words to the binary64 of those bits").whole(1, 1),
    row("unpack_double_2x32", DOUBLE, &[SCALAR], WORDS, ext(GLOp::UnpackDouble2x32), "unpackDouble2x32($0)", Function::UnpackDouble, "a binary64 to two words, the low one first").whole(1, 1),
    // Operations in a row.
    chain("fadd_fconvert_f16", SINGLE, (&[T, T], fixed(F16)), &[SUM, first_to(F16)], &[Link::Round(F32), Link::Round(F16)], "x + y, converted to binary16"),
    chain("fmul_fconvert_f16", SINGLE, (&[T, T], fixed(F16)), &[PRODUCT, first_to(F16)], &[Link::Round(F32), Link::Round(F16)], "x * y, converted to binary16"),
    chain("fadd_fconvert_f32", DOUBLE, (&[T, T], fixed(F32)), &[SUM, first_to(F32)], &[Link::Round(F64), Link::Round(F32)], "x + y, converted to binary32"),
    chain("fmul_fconvert_f32", DOUBLE, (&[T, T], fixed(F32)), &[PRODUCT, first_to(F32)], &[Link::Round(F64), Link::Round(F32)], "x * y, converted to binary32"),
    chain("fadd_quantize_to_f16", SINGLE, (&[T, T], T), &[SUM, QUANTIZED], &[Link::Round(F32), Link::Quantize], "x + y, quantized to binary16"),
    chain("fmul_quantize_to_f16", SINGLE, (&[T, T], T), &[PRODUCT, QUANTIZED], &[Link::Round(F32), Link::Quantize], "x * y, quantized to binary16"),
    chain("fadd_pack_half_2x16", SINGLE, (&[PAIR, PAIR], WORD), &[SUM_OF_PAIRS, PACKED], &[Link::Round(F32), Link::Pack], "x + y of two components, packed as two binary16"),
    chain("fmul_pack_half_2x16", SINGLE, (&[PAIR, PAIR], WORD), &[PRODUCT_OF_PAIRS, PACKED], &[Link::Round(F32), Link::Pack], "x * y of two components, packed as two binary16"),
    chain("fadd_narrow_f16_fadd", SINGLE, (&[T, T, T], T), &[SUM, first_to(F16), step(SpvOp::FConvert, &[Arg::Step(1)]), step(SpvOp::FAdd, &[Arg::Step(2), Arg::Param(2)])], &[Link::Round(F32), Link::Round(F16), Link::Add, Link::Round(F32)], "x + y, converted to binary16 and back, + z"),
    chain("fadd_narrow_f32_fadd", DOUBLE, (&[T, T, T], T), &[SUM, first_to(F32), step(SpvOp::FConvert, &[Arg::Step(1)]), step(SpvOp::FAdd, &[Arg::Step(2), Arg::Param(2)])], &[Link::Round(F64), Link::Round(F32), Link::Add, Link::Round(F64)], "x + y, converted to binary32 and back, + z"),
    chain("fadd_quantize_fadd", SINGLE, (&[T, T, T], T), &[SUM, QUANTIZED, step(SpvOp::FAdd, &[Arg::Step(1), Arg::Param(2)])], &[Link::Round(F32), Link::Quantize, Link::Add, Link::Round(F32)], "x + y, quantized to binary16, + z"),
    chain("fadd_widen_fadd", HALF, (&[T, T, T], T), &[SUM, first_to(F32), step_to(SpvOp::FConvert, &[Arg::Param(2)], fixed(F32)), step_to(SpvOp::FAdd, &[Arg::Step(1), Arg::Step(2)], fixed(F32)), step(SpvOp::FConvert, &[Arg::Step(3)])], &[Link::Round(F16), Link::Add, Link::Round(F32), Link::Round(F16)], "x + y, converted to binary32, + z there, converted back"),
    chain("fmul_widen_f32_fadd", HALF, (&[T, T, fixed(F32)], fixed(F32)), &[PRODUCT, first_to(F32), step_to(SpvOp::FAdd, &[Arg::Step(1), Arg::Param(2)], fixed(F32))], &[Link::Round(F16), Link::Add, Link::Round(F32)], "x * y, converted to binary32, + z"),
    chain("fmul_widen_f64_fadd", SINGLE, (&[T, T, fixed(F64)], fixed(F64)), &[PRODUCT, first_to(F64), step_to(SpvOp::FAdd, &[Arg::Step(1), Arg::Param(2)], fixed(F64))], &[Link::Round(F32), Link::Add, Link::Round(F64)], "x * y, converted to binary64, + z"),
    // Bit movers.
    row("load_store", MOVED, &[T], T, Code::LoadStore, "$0", Function::Move, "load and store"),
    row("copy_object", MOVED, &[T], T, core(SpvOp::CopyObject), "", Function::Move, "OpCopyObject"),
    row("shuffle", MOVED, &[T], T, Code::Shuffle, "", Function::Move, "composite construct, vector shuffle, extract").whole(1, 1),
    row("bitcast", SINGLE, &[T], fixed(U32), core(SpvOp::Bitcast), "floatBitsToUint($0)", Function::Move, "float to uint, same bits"),
    row("select", MOVED, &[BOOL, T, T], T, core(SpvOp::Select), "$0 ? $1 : $2", Function::Choose, "OpSelect"),
    row("phi", MOVED, &[BOOL, T, T], T, Code::Phi, "", Function::Choose, "OpPhi behind a branch").whole(1, 1),
    row("select_uint", SINGLE, &[BOOL, UINT, UINT], UINT, core(SpvOp::Select), "$0 ? $1 : $2", Function::Choose, "OpSelect of unsigned integers").whole(1, 1),
    row("phi_uint", SINGLE, &[BOOL, UINT, UINT], UINT, Code::Phi, "", Function::Choose, "OpPhi of unsigned integers behind a branch").whole(1, 1),
    row("select_constants", MOVED, &[BOOL, T, T], T, Code::SelectConstants, "", Function::Choose, "OpSelect of constants by a condition known at run time").whole(1, 1),
    row("phi_constants", MOVED, &[BOOL, T, T], T, Code::PhiConstants, "", Function::Choose, "OpPhi of constants behind a branch known at run time").whole(1, 1),
    row("select_uint_constants", SINGLE, &[BOOL, UINT, UINT], UINT, Code::SelectConstants, "", Function::Choose, "OpSelect of integer constants by a condition known at run time").whole(1, 1),
    row("phi_uint_constants", SINGLE, &[BOOL, UINT, UINT], UINT, Code::PhiConstants, "", Function::Choose, "OpPhi of integer constants behind a branch known at run time").whole(1, 1),
    // Packed formats.
    row("store", Format::WRITTEN, &[TEXEL_VECTOR], SCALAR, Code::ImageWrite, "", Function::Store, "vector to texel").whole(1, 1),
    row("load", Format::PACKED, &[TEXEL], TEXEL_VECTOR, Code::ImageRead, "", Function::Load, "texel to vector").whole(1, 1),
    row("sample", Format::PACKED, &[TEXEL], TEXEL_VECTOR, Code::ImageSample, "", Function::Load, "texel to vector, by a sampler, nearest").whole(1, 1),
    row("blend_replace", Format::COLORS, &[TEXEL_VECTOR, SCALAR], SCALAR, Code::Blend(Blend::Replace), "", Function::Store, "vector to texel, blended: one times the vector, zero times what was there").whole(1, 1),
    row("blend_add", Format::SUMS, &[TEXEL_VECTOR, SCALAR], SCALAR, Code::Blend(Blend::Add), "", Function::Add, "vector to texel, blended: added to what was there").whole(1, 1),
    row("depth_clamp", Format::DEPTHS, &[TEXEL_VECTOR], SCALAR, Code::DepthClamp, "", Function::Store, "depth of a fragment, clamped to 0 and 1, to a texel").whole(1, 1),
    row("min_depth", Format::DEPTHS, &[fixed(F32)], SCALAR, Code::State(FixedFunctionState::MinDepth), "", Function::Store, "the least depth of a viewport to a texel").whole(1, 1),
    row("max_depth", Format::DEPTHS, &[fixed(F32)], SCALAR, Code::State(FixedFunctionState::MaxDepth), "", Function::Store, "the greatest depth of a viewport to a texel").whole(1, 1),
    row("blend_constants", Format::FLOAT_COLORS, &[TEXEL_VECTOR, SCALAR], SCALAR, Code::State(FixedFunctionState::BlendConstants), "", Function::Store, "blend constants to texel: times a source of ones, zero times what was there").whole(1, 1),
    row("border_color", Format::FLOAT_COLORS, &[TEXEL_VECTOR], TEXEL_VECTOR, Code::State(FixedFunctionState::BorderColor), "", Function::Move, "a sampler's border colour to a vector").whole(1, 1),
    convert("convert_rgba16f", &[fixed(Format::Rgba16f)], "texel of four binary16 to texel"),
    convert("convert_b10g11r11", &[fixed(Format::B10g11r11)], "texel of 11 and 10-bit floats to texel"),
    convert("convert_r32f", &[fixed(Format::R32f)], "texel of one binary32 to texel"),
    convert("convert_rgba8unorm", &[fixed(Format::Rgba8unorm)], "texel of four unsigned 8-bit fixed-point numbers to texel"),
    convert("convert_rgba8snorm", &[fixed(Format::Rgba8snorm)], "texel of four signed 8-bit fixed-point numbers to texel"),
    convert("convert_a2b10g10r10", &[fixed(Format::A2b10g10r10)], "texel of 10 and 2-bit fixed-point numbers to texel"),
    row("copy", Format::PACKED, &[TEXEL], TEXEL, Code::TexelCopy, "", Function::Move, "texel to texel").whole(1, 1),
    // Cooperative matrices.
    row("matrix_mul_add", ELEMENTS, &[factor(MatrixUse::A), factor(MatrixUse::B), factor(MatrixUse::Accumulator)], SCALAR, Code::MatrixMulAdd, "", Function::MatrixMulAdd, "row of A times column of B plus element of C").whole(1, 1),
    moved("matrix_load_store_a", MatrixUse::A, &[line(MatrixUse::A)], "a row of a matrix A, loaded and stored, with the gap behind it"),
    moved("matrix_load_store_b", MatrixUse::B, &[line(MatrixUse::B)], "a column of a matrix B, loaded and stored, with the gap behind it"),
    moved("matrix_load_store_c", MatrixUse::Accumulator, &[line(MatrixUse::Accumulator)], "a row of an accumulator, loaded and stored, with the gap behind it"),
    // Across a subgroup.
    across("subgroup_fmin", SpvOp::GroupNonUniformFMin, SubgroupForm::Reduce, Function::Min, "minimum of all invocations, of which two hold x and y"),
    across("subgroup_inclusive_fmin", SpvOp::GroupNonUniformFMin, SubgroupForm::Inclusive, Function::Min, "minimum of the invocations up to this one, of which two hold x and y"),
    across("subgroup_exclusive_fmin", SpvOp::GroupNonUniformFMin, SubgroupForm::Exclusive, Function::Min, "minimum of the invocations before this one, of which two hold x and y"),
    across("subgroup_clustered_fmin", SpvOp::GroupNonUniformFMin, SubgroupForm::Clustered, Function::Min, "minimum of a cluster of four invocations, of which two hold x and y"),
    across("subgroup_partly_fmin", SpvOp::GroupNonUniformFMin, SubgroupForm::Partly, Function::Min, "minimum of the active invocations, three of the subgroup's, of which two hold x and y"),
    across("subgroup_fmax", SpvOp::GroupNonUniformFMax, SubgroupForm::Reduce, Function::Max, "maximum of all invocations, of which two hold x and y"),
    across("subgroup_inclusive_fmax", SpvOp::GroupNonUniformFMax, SubgroupForm::Inclusive, Function::Max, "maximum of the invocations up to this one, of which two hold x and y"),
    across("subgroup_exclusive_fmax", SpvOp::GroupNonUniformFMax, SubgroupForm::Exclusive, Function::Max, "maximum of the invocations before this one, of which two hold x and y"),
    across("subgroup_clustered_fmax", SpvOp::GroupNonUniformFMax, SubgroupForm::Clustered, Function::Max, "maximum of a cluster of four invocations, of which two hold x and y"),
    across("subgroup_partly_fmax", SpvOp::GroupNonUniformFMax, SubgroupForm::Partly, Function::Max, "maximum of the active invocations, three of the subgroup's, of which two hold x and y"),
    across("subgroup_fadd", SpvOp::GroupNonUniformFAdd, SubgroupForm::Reduce, Function::Add, "sum of all invocations, of which two hold x and y"),
    across("subgroup_inclusive_fadd", SpvOp::GroupNonUniformFAdd, SubgroupForm::Inclusive, Function::Add, "sum of the invocations up to this one, of which two hold x and y"),
    across("subgroup_exclusive_fadd", SpvOp::GroupNonUniformFAdd, SubgroupForm::Exclusive, Function::Add, "sum of the invocations before this one, of which two hold x and y"),
    across("subgroup_clustered_fadd", SpvOp::GroupNonUniformFAdd, SubgroupForm::Clustered, Function::Add, "sum of a cluster of four invocations, of which two hold x and y"),
    across("subgroup_partly_fadd", SpvOp::GroupNonUniformFAdd, SubgroupForm::Partly, Function::Add, "sum of the active invocations, three of the subgroup's, of which two hold x and y"),
    across("subgroup_fmul", SpvOp::GroupNonUniformFMul, SubgroupForm::Reduce, Function::Mul, "product of all invocations, of which two hold x and y"),
    across("subgroup_inclusive_fmul", SpvOp::GroupNonUniformFMul, SubgroupForm::Inclusive, Function::Mul, "product of the invocations up to this one, of which two hold x and y"),
    across("subgroup_exclusive_fmul", SpvOp::GroupNonUniformFMul, SubgroupForm::Exclusive, Function::Mul, "product of the invocations before this one, of which two hold x and y"),
    across("subgroup_clustered_fmul", SpvOp::GroupNonUniformFMul, SubgroupForm::Clustered, Function::Mul, "product of a cluster of four invocations, of which two hold x and y"),
    across("subgroup_partly_fmul", SpvOp::GroupNonUniformFMul, SubgroupForm::Partly, Function::Mul, "product of the active invocations, three of the subgroup's, of which two hold x and y"),
    order("subgroup_order", OF_SUM, SubgroupForm::Reduce, "order of the sum of all invocations"),
    order("subgroup_inclusive_order", OF_SUM, SubgroupForm::Inclusive, "order of the sum of the invocations up to this one"),
    order("subgroup_exclusive_order", OF_SUM, SubgroupForm::Exclusive, "order of the sum of the invocations before this one"),
    order("subgroup_clustered_order", OF_SUM, SubgroupForm::Clustered, "order of the sum of a cluster of four invocations"),
    order("subgroup_partly_order", OF_SUM, SubgroupForm::Partly, "order of the sum of the active invocations, every second one"),
    order("subgroup_product_order", OF_PRODUCT, SubgroupForm::Reduce, "order of the product of all invocations"),
    order("subgroup_inclusive_product_order", OF_PRODUCT, SubgroupForm::Inclusive, "order of the product of the invocations up to this one"),
    order("subgroup_exclusive_product_order", OF_PRODUCT, SubgroupForm::Exclusive, "order of the product of the invocations before this one"),
    order("subgroup_clustered_product_order", OF_PRODUCT, SubgroupForm::Clustered, "order of the product of a cluster of four invocations"),
    order("subgroup_partly_product_order", OF_PRODUCT, SubgroupForm::Partly, "order of the product of the active invocations, every second one"),
    // Derivatives.
    derivative("dpdx", SpvOp::DPdx, "derivative along x of the values of a quad, fine or coarse"),
    derivative("dpdy", SpvOp::DPdy, "derivative along y of the values of a quad, fine or coarse"),
    derivative("dpdx_fine", SpvOp::DPdxFine, "derivative along x of the values of a quad, of each row its own"),
    derivative("dpdy_fine", SpvOp::DPdyFine, "derivative along y of the values of a quad, of each column its own"),
    derivative("dpdx_coarse", SpvOp::DPdxCoarse, "derivative along x of the values of a quad, perhaps one for both rows"),
    derivative("dpdy_coarse", SpvOp::DPdyCoarse, "derivative along y of the values of a quad, perhaps one for both columns"),
    // Inputs of fragment shaders.
    input("input_flat", Interpolation::Flat, Function::Move, "input of a fragment shader that is not interpolated: x, the value of the first vertex of a triangle"),
    input("input_smooth", Interpolation::Smooth, Function::Interpolate, "input of a fragment shader, interpolated with perspective where a triangle's vertices x, y, z weigh 1/2, 1/4, 1/4"),
    input("input_noperspective", Interpolation::NoPerspective, Function::Interpolate, "input of a fragment shader, interpolated without perspective where a triangle's vertices x, y, z weigh 1/2, 1/4, 1/4"),
    input("input_centroid", Interpolation::Centroid, Function::Interpolate, "input of a fragment shader, interpolated at the centroid where a triangle's vertices x, y, z weigh 1/2, 1/4, 1/4"),
    // Atomic.
    atomic("atomic_load", (SpvOp::AtomicLoad, AtomicForm::Original), &[T], Function::Move, "atomic load"),
    atomic("atomic_store", (SpvOp::AtomicStore, AtomicForm::Stored), &[T], Function::Move, "atomic store"),
    atomic("atomic_exchange", (SpvOp::AtomicExchange, AtomicForm::Stored), &[T], Function::Move, "what an atomic exchange stores"),
    atomic("atomic_exchange_original", (SpvOp::AtomicExchange, AtomicForm::Original), &[T], Function::Move, "what an atomic exchange returns: the value before"),
    atomic("atomic_fadd", (SpvOp::AtomicFAddEXT, AtomicForm::Stored), &[T, T], Function::Add, "what an atomic addition stores: x + y"),
    atomic("atomic_fadd_original", (SpvOp::AtomicFAddEXT, AtomicForm::Original), &[T, T], Function::Move, "what an atomic addition returns: x, the value before"),
    atomic("atomic_fadd_many", (SpvOp::AtomicFAddEXT, AtomicForm::Many), &[T, T, WORD], Function::AddMany, "x with y added z times, by all invocations of a work group at once"),
    atomic("atomic_fmin", (SpvOp::AtomicFMinEXT, AtomicForm::Stored), &[T, T], Function::Min, "what an atomic minimum stores"),
    atomic("atomic_fmin_original", (SpvOp::AtomicFMinEXT, AtomicForm::Original), &[T, T], Function::Move, "what an atomic minimum returns: x, the value before"),
    atomic("atomic_fmax", (SpvOp::AtomicFMaxEXT, AtomicForm::Stored), &[T, T], Function::Max, "what an atomic maximum stores"),
    atomic("atomic_fmax_original", (SpvOp::AtomicFMaxEXT, AtomicForm::Original), &[T, T], Function::Move, "what an atomic maximum returns: x, the value before"),
];
