//! The mathematical functions that operations compute.

use super::chain::Chain;

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
    Tan,
    Asin,
    Acos,
    Atan,
    /// Of `y / x`, operands y and x, in the quadrant of (x, y).
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Pow,
    /// `x - y * trunc(x / y)`.
    Rem,
    /// `x - y * floor(x / y)`.
    Mod,
    /// To nearest; of a tie either neighbour.
    Round,
    /// `x * pi / 180`.
    Radians,
    /// `x * 180 / pi`.
    Degrees,
    /// `x * (1 - z) + y * z`.
    Mix,
    /// 0 where operand 1 is below operand 0 (the edge), else 1.
    Step,
    /// `t * t * (3 - 2 t)`, `t = clamp((x - low) / (high - low), 0, 1)`, operands low, high, x.
    SmoothStep,
    /// `x * 2^n`, n an integer.
    Ldexp,
    /// Fraction and whole part, both of the sign of x.
    Modf,
    /// Significand in [0.5, 1) and exponent.
    Frexp,
    IsNan,
    IsInf,
    /// To binary16 and back, subnormals of binary16 flushed.
    QuantizeToF16,
    /// `x - x`, both the same value.
    SelfSub,
    /// `x / x`, both the same value.
    SelfDiv,
    /// `(x + y) - x`.
    AddSub,
    /// To binary16 and back.
    NarrowWiden,
    /// The sum of the products of the components.
    Dot,
    Length,
    Distance,
    Normalize,
    Cross,
    FaceForward,
    Reflect,
    Refract,
    Determinant,
    Transpose,
    MatrixTimesVector,
    VectorTimesMatrix,
    MatrixTimesMatrix,
    OuterProduct,
    /// `a*b + c`.
    MulAdd,
    Min,
    Max,
    Clamp,
    /// `min(1, max(0, x))`.
    Saturate,
    /// A comparison; `unordered` ones are true where an operand is NaN.
    Compare {
        relation: Relation,
        unordered: bool,
    },
    /// Conversion to the result's float format.
    ToFloat,
    /// Conversion to the result's integer format, towards zero.
    ToInteger,
    /// Conversion of a signed integer to the result's float format.
    FromSigned,
    /// Conversion of an unsigned integer to the result's float format.
    FromUnsigned,
    /// Two floats to two binary16 encodings in one word, the first in the low half.
    PackHalf,
    /// The reverse.
    UnpackHalf,
    /// A vector to fixed-point numbers side by side in a word, the first lowest: `bits` each, of
    /// [-1, 1] where signed, else of [0, 1].
    PackNorm {
        bits: u32,
        signed: bool,
    },
    /// The reverse.
    UnpackNorm {
        bits: u32,
        signed: bool,
    },
    /// Two words, the low one first, to the double of those bits.
    PackDouble,
    /// The reverse.
    UnpackDouble,
    /// A vector to a texel of the kernel's packed format.
    Store,
    /// A texel to a vector.
    Load,
    /// An element of a product of matrices plus one of a third.
    MatrixMulAdd,
    /// A sum of one summand of each invocation of a subgroup, of which two invocations hold other
    /// ones.
    SummationOrder,
    /// The same of a product.
    ProductOrder,
    /// `x + n * y`, the sum of x and of y added n times.
    AddMany,
    /// `x / 2 + y / 4 + z / 4`, interpolated between the vertices of a triangle.
    Interpolate,
    /// A sum or product, and what it is converted to or added to.
    Chain(Chain),
}

impl Function {
    /// Whether the result is a word of two binary16 encodings.
    pub fn packs_halves(self) -> bool {
        self == Function::PackHalf || matches!(self, Function::Chain(chain) if chain.is_packed())
    }

    /// Whether a result between its operations may be left unrounded.
    pub fn has_intermediates(self) -> bool {
        matches!(self, Function::MulAdd | Function::Chain(_))
    }
}
