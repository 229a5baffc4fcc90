//! The table of operations: one row declares an operation once, for kernels, oracle, listing and documentation.

use std::fmt;

use rspirv::spirv::{GlslStd450Op as GLOp, Op as SpvOp};

use crate::format::Format;

/// One operation that a kernel can ask for.
#[derive(Debug)]
pub struct Op {
    /// SPIR-V's or GLSL.std.450's name in `snake_case`, without the `Op` prefix; a plain name for composite questions.
    pub name: &'static str,
    /// Formats it exists for.
    pub formats: &'static [Format],
    /// Operands, in order.
    pub params: &'static [Operand],
    /// Result.
    pub result: Operand,
    /// How it is spelled in SPIR-V.
    pub code: Code,
    /// How GLSL spells it, `$0`, `$1` being the operands; `None` where GLSL cannot.
    pub glsl: Option<&'static str>,
    /// The mathematical function it computes.
    pub function: Function,
    /// One line for listings.
    pub about: &'static str,
}

/// Type of an operand or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Element format; `None` is the kernel's own.
    pub format: Option<Format>,
    /// Number of components.
    pub width: Width,
}

/// Number of components of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// The kernel's width.
    Kernel,
    /// Always this many.
    Fixed(u32),
    /// One for each channel of the kernel's packed format.
    Channels,
}

/// A SPIR-V instruction: core or GLSL.std.450.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inst {
    /// A core instruction.
    Core(SpvOp),
    /// An instruction of the GLSL.std.450 set.
    Ext(GLOp),
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inst::Core(op) => write!(f, "Op{op:?}"),
            Inst::Ext(op) => write!(f, "GLSL.std.450 {op:?}"),
        }
    }
}

/// An argument of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The operation's operand of this number.
    Param(usize),
    /// The result of an earlier step.
    Step(usize),
    /// The constant 1.0 of the step's format.
    One,
}

/// One instruction of a composite operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What is executed.
    pub inst: Inst,
    /// On what.
    pub args: &'static [Arg],
    /// Type of its result.
    pub result: Operand,
}

/// How an operation is spelled in SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// One instruction on all operands in order.
    Inst(Inst),
    /// Several instructions; the last one's result is the operation's.
    Steps(&'static [Step]),
    /// The operand as loaded is stored.
    LoadStore,
    /// `OpPhi` of operands 1 and 2, chosen by a branch on operand 0.
    Phi,
    /// The operand goes through `OpCompositeConstruct`, `OpVectorShuffle` and `OpCompositeExtract`.
    Shuffle,
    /// `OpImageWrite` to a storage image.
    ImageWrite,
    /// `OpImageRead` of a storage image.
    ImageRead,
}

/// Comparison relations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
}

/// The mathematical function that an operation computes; the oracle implements each once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are the mathematical functions")]
pub enum Function {
    /// Bits of the operand unchanged.
    Move,
    /// Bits of operand 1 where operand 0 is true, else of operand 2.
    Choose,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Abs,
    Sign,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    Fract,
    Sqrt,
    InverseSqrt,
    Reciprocal,
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    /// `a*b + c`.
    MulAdd,
    Min,
    Max,
    Clamp,
    /// A comparison; `unordered` ones are true where an operand is NaN.
    Compare {
        relation: Relation,
        unordered: bool,
    },
    /// Conversion to the result's float format.
    ToFloat,
    /// Conversion to the result's integer format, towards zero.
    ToInteger,
    /// Two floats to two binary16 encodings in one word, the first in the low half.
    PackHalf,
    /// The reverse.
    UnpackHalf,
    /// A vector to a texel of the kernel's packed format.
    Store,
    /// A texel to a vector.
    Load,
}

use Format::{B10g11r11, Bool, F16, F32, F64, I32, U32};

const FLOATS: &[Format] = &[F16, F32, F64];
const HALF_AND_SINGLE: &[Format] = &[F16, F32];
const SINGLE: &[Format] = &[F32];
const PACKED: &[Format] = &[B10g11r11];

const T: Operand = Operand { format: None, width: Width::Kernel };
const fn fixed(format: Format) -> Operand {
    Operand { format: Some(format), width: Width::Kernel }
}
const BOOL: Operand = fixed(Bool);
const WORD: Operand = Operand { format: Some(U32), width: Width::Fixed(1) };
const PAIR: Operand = Operand { format: None, width: Width::Fixed(2) };
const TEXEL: Operand = Operand { format: None, width: Width::Fixed(1) };
const TEXEL_VECTOR: Operand = Operand { format: Some(F32), width: Width::Channels };

const fn core(op: SpvOp) -> Code {
    Code::Inst(Inst::Core(op))
}
const fn ext(op: GLOp) -> Code {
    Code::Inst(Inst::Ext(op))
}
const fn step(op: SpvOp, args: &'static [Arg]) -> Step {
    Step { inst: Inst::Core(op), args, result: T }
}

#[expect(clippy::too_many_arguments, reason = "one argument a column of the table")]
const fn row(
    name: &'static str,
    formats: &'static [Format],
    params: &'static [Operand],
    result: Operand,
    code: Code,
    glsl: &'static str,
    function: Function,
    about: &'static str,
) -> Op {
    let glsl = if glsl.is_empty() { None } else { Some(glsl) };
    Op { name, formats, params, result, code, glsl, function, about }
}

const fn compare(
    name: &'static str,
    op: SpvOp,
    relation: Relation,
    unordered: bool,
    glsl: &'static str,
    about: &'static str,
) -> Op {
    row(name, FLOATS, &[T, T], BOOL, core(op), glsl, Function::Compare { relation, unordered }, about)
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
    row("fma", FLOATS, &[T, T, T], T, ext(GLOp::Fma), "fma($0, $1, $2)", Function::MulAdd, "x * y + z, one instruction"),
    row("mul_then_add", FLOATS, &[T, T, T], T, Code::Steps(&[step(SpvOp::FMul, &[Arg::Param(0), Arg::Param(1)]), step(SpvOp::FAdd, &[Arg::Step(0), Arg::Param(2)])]), "", Function::MulAdd, "x * y + z, two instructions"),
    // Comparisons.
    compare("ford_equal", SpvOp::FOrdEqual, Relation::Equal, false, "$0 == $1", "x == y, false with NaN"),
    compare("ford_not_equal", SpvOp::FOrdNotEqual, Relation::NotEqual, false, "", "x != y, false with NaN"),
    compare("funord_not_equal", SpvOp::FUnordNotEqual, Relation::NotEqual, true, "$0 != $1", "x != y, true with NaN"),
    compare("ford_less_than", SpvOp::FOrdLessThan, Relation::Less, false, "$0 < $1", "x < y, false with NaN"),
    compare("ford_greater_than", SpvOp::FOrdGreaterThan, Relation::Greater, false, "$0 > $1", "x > y, false with NaN"),
    compare("ford_less_than_equal", SpvOp::FOrdLessThanEqual, Relation::LessEqual, false, "$0 <= $1", "x <= y, false with NaN"),
    compare("ford_greater_than_equal", SpvOp::FOrdGreaterThanEqual, Relation::GreaterEqual, false, "$0 >= $1", "x >= y, false with NaN"),
    // Minimum and maximum.
    row("fmin", FLOATS, &[T, T], T, ext(GLOp::FMin), "min($0, $1)", Function::Min, "minimum, NaN handling undefined"),
    row("fmax", FLOATS, &[T, T], T, ext(GLOp::FMax), "max($0, $1)", Function::Max, "maximum, NaN handling undefined"),
    row("fclamp", FLOATS, &[T, T, T], T, ext(GLOp::FClamp), "clamp($0, $1, $2)", Function::Clamp, "clamp(x, low, high), NaN handling undefined"),
    row("nmin", FLOATS, &[T, T], T, ext(GLOp::NMin), "", Function::Min, "minimum, a NaN operand gives the other"),
    row("nmax", FLOATS, &[T, T], T, ext(GLOp::NMax), "", Function::Max, "maximum, a NaN operand gives the other"),
    row("nclamp", FLOATS, &[T, T, T], T, ext(GLOp::NClamp), "", Function::Clamp, "clamp(x, low, high), a NaN operand gives the other"),
    // Sign and rounding to an integral value.
    row("fabs", FLOATS, &[T], T, ext(GLOp::FAbs), "abs($0)", Function::Abs, "|x|"),
    row("fsign", FLOATS, &[T], T, ext(GLOp::FSign), "sign($0)", Function::Sign, "-1, 0 or 1"),
    row("floor", FLOATS, &[T], T, ext(GLOp::Floor), "floor($0)", Function::Floor, "towards minus infinity"),
    row("ceil", FLOATS, &[T], T, ext(GLOp::Ceil), "ceil($0)", Function::Ceil, "towards plus infinity"),
    row("trunc", FLOATS, &[T], T, ext(GLOp::Trunc), "trunc($0)", Function::Trunc, "towards zero"),
    row("round_even", FLOATS, &[T], T, ext(GLOp::RoundEven), "roundEven($0)", Function::RoundEven, "to nearest, ties to even"),
    row("fract", FLOATS, &[T], T, ext(GLOp::Fract), "fract($0)", Function::Fract, "x - floor(x)"),
    // Roots and elementary functions.
    row("sqrt", FLOATS, &[T], T, ext(GLOp::Sqrt), "sqrt($0)", Function::Sqrt, "square root"),
    row("inverse_sqrt", FLOATS, &[T], T, ext(GLOp::InverseSqrt), "inversesqrt($0)", Function::InverseSqrt, "1 / square root"),
    row("exp", HALF_AND_SINGLE, &[T], T, ext(GLOp::Exp), "exp($0)", Function::Exp, "e^x"),
    row("exp2", HALF_AND_SINGLE, &[T], T, ext(GLOp::Exp2), "exp2($0)", Function::Exp2, "2^x"),
    row("log", HALF_AND_SINGLE, &[T], T, ext(GLOp::Log), "log($0)", Function::Log, "natural logarithm"),
    row("log2", HALF_AND_SINGLE, &[T], T, ext(GLOp::Log2), "log2($0)", Function::Log2, "binary logarithm"),
    row("sin", HALF_AND_SINGLE, &[T], T, ext(GLOp::Sin), "sin($0)", Function::Sin, "sine of radians"),
    row("cos", HALF_AND_SINGLE, &[T], T, ext(GLOp::Cos), "cos($0)", Function::Cos, "cosine of radians"),
    // Conversions.
    row("fconvert_f16", &[F32, F64], &[T], fixed(F16), core(SpvOp::FConvert), "", Function::ToFloat, "to binary16"),
    row("fconvert_f32", &[F16, F64], &[T], fixed(F32), core(SpvOp::FConvert), "", Function::ToFloat, "to binary32"),
    row("fconvert_f64", &[F16, F32], &[T], fixed(F64), core(SpvOp::FConvert), "", Function::ToFloat, "to binary64"),
    row("convert_f_to_s", FLOATS, &[T], fixed(I32), core(SpvOp::ConvertFToS), "", Function::ToInteger, "to a signed integer, towards zero"),
    row("convert_f_to_u", FLOATS, &[T], fixed(U32), core(SpvOp::ConvertFToU), "", Function::ToInteger, "to an unsigned integer, towards zero"),
    row("pack_half_2x16", SINGLE, &[PAIR], WORD, ext(GLOp::PackHalf2x16), "packHalf2x16($0)", Function::PackHalf, "two binary32 to two binary16 in a word"),
    row("unpack_half_2x16", SINGLE, &[WORD], PAIR, ext(GLOp::UnpackHalf2x16), "unpackHalf2x16($0)", Function::UnpackHalf, "two binary16 in a word to two binary32"),
    // Bit movers.
    row("load_store", FLOATS, &[T], T, Code::LoadStore, "$0", Function::Move, "load and store"),
    row("copy_object", FLOATS, &[T], T, core(SpvOp::CopyObject), "", Function::Move, "OpCopyObject"),
    row("shuffle", FLOATS, &[T], T, Code::Shuffle, "", Function::Move, "composite construct, vector shuffle, extract"),
    row("bitcast", SINGLE, &[T], fixed(U32), core(SpvOp::Bitcast), "floatBitsToUint($0)", Function::Move, "float to uint, same bits"),
    row("select", FLOATS, &[BOOL, T, T], T, core(SpvOp::Select), "$0 ? $1 : $2", Function::Choose, "OpSelect"),
    row("phi", FLOATS, &[BOOL, T, T], T, Code::Phi, "", Function::Choose, "OpPhi behind a branch"),
    // Packed formats.
    row("store", PACKED, &[TEXEL_VECTOR], TEXEL, Code::ImageWrite, "", Function::Store, "vector to texel"),
    row("load", PACKED, &[TEXEL], TEXEL_VECTOR, Code::ImageRead, "", Function::Load, "texel to vector"),
];

impl Op {
    /// The operation of this name.
    pub fn find(name: &str) -> Option<&'static Op> {
        OPS.iter().find(|op| op.name == name)
    }

    /// Whether it works component by component, and so exists at every width.
    pub fn is_componentwise(&self) -> bool {
        self.code != Code::Phi
            && self.code != Code::Shuffle
            && self.params.iter().chain([&self.result]).all(|operand| operand.width == Width::Kernel)
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Op {}
