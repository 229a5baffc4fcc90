//! What a profile says of one format: what may happen to subnormals, zeros, NaNs and infinities
//! around an operation.
//!
//! Profiles write environments as TOML tables; an operation or a rule may override single keys.

use serde::Deserialize;

/// What happens to a subnormal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subnormals {
    /// It counts as the number it is.
    Keep,
    /// It counts as zero.
    Flush,
    /// Either, for each operand and result anew.
    Either,
}

/// Which sign a zero has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// The one it ought to have.
    Exact,
    /// Either one; an operand's -0 may be read as +0.
    Either,
}

/// What an operation does with a NaN operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nan {
    /// Gives a NaN, whichever.
    Nan,
    /// Gives the other operand (minimum and maximum).
    Other,
    /// Gives either: a NaN, or the other operand.
    Either,
    /// Gives anything.
    Any,
}

/// What an operation on numbers gives where it has no mathematical result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invalid {
    /// A NaN, whichever.
    Nan,
    /// A NaN or an infinity of either sign.
    NanOrInfinite,
    /// Anything.
    Any,
}

/// What a move does with the bits of a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NanBits {
    /// Keeps them.
    Keep,
    /// Keeps them, or sets the quiet bit.
    Quieten,
    /// Gives any NaN.
    Free,
}

/// What becomes of a finite result beyond the largest finite value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overflow {
    /// What rounding gives.
    Round,
    /// The largest finite value.
    Saturate,
    /// That or infinity.
    Either,
    /// What rounding gives; instead of infinity also the largest finite value.
    RoundOrSaturate,
    /// Infinity, or NaN where the format has none; less than a unit beyond the largest finite value
    /// also what rounding gives.
    Leave,
    /// The largest finite value, of an infinity as well.
    Clamp,
}

/// What a conversion to an integer does with NaN and out of range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integer {
    /// NaN gives 0, the rest the nearest integer of the type.
    Saturate,
    /// NaN gives anything, the rest the nearest integer of the type that is also a value of the
    /// float's format (WGSL, "Floating Point Conversion").
    Representable,
    /// Anything.
    Any,
}

/// What becomes of infinities.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NonFinite {
    /// They are values as in IEEE 754.
    Ieee,
    /// Once an operand or a possible result is not finite, anything goes (WGSL, finite math
    /// assumption).
    Any,
}

/// Which of two zeros of opposite sign minimum and maximum give.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZeroOrder {
    /// Either.
    #[default]
    Any,
    /// -0 counts as smaller than +0 (IEEE 754-2019, 9.6).
    Ieee,
    /// The first operand.
    First,
    /// The second operand.
    Second,
}

/// How `x*y + z` is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contraction {
    /// Fused or not.
    #[default]
    Either,
    /// One rounding.
    Fused,
    /// A multiplication and an addition, each rounded.
    Separate,
}

/// The environment of one format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Subnormal operands.
    pub subnormal_inputs: Subnormals,
    /// Subnormal results.
    pub subnormal_results: Subnormals,
    /// Sign of a flushed zero.
    pub flushed_sign: Sign,
    /// Sign of any other zero.
    pub zero_sign: Sign,
    /// A NaN operand.
    pub nan_operand: Nan,
    /// An invalid operation on numbers: `inf - inf`, `sqrt(-1)`.
    pub invalid: Invalid,
    /// A pole (1/0, log 0, 1/sqrt 0) may also give NaN.
    pub pole_nan: bool,
    /// NaN through a move.
    pub nan_bits: NanBits,
    /// Overflow.
    pub overflow: Overflow,
    /// Conversion to an integer.
    pub integer: Integer,
    /// Infinities.
    pub non_finite: NonFinite,
    /// Minimum and maximum of +0 and -0.
    #[serde(default)]
    pub zero_order: ZeroOrder,
    /// Multiply-add.
    #[serde(default)]
    pub contraction: Contraction,
}

impl Environment {
    /// Everything is allowed.
    pub const OPEN: Environment = Environment {
        subnormal_inputs: Subnormals::Either,
        subnormal_results: Subnormals::Either,
        flushed_sign: Sign::Either,
        zero_sign: Sign::Either,
        nan_operand: Nan::Any,
        invalid: Invalid::Any,
        pole_nan: true,
        nan_bits: NanBits::Free,
        overflow: Overflow::Either,
        integer: Integer::Any,
        non_finite: NonFinite::Any,
        zero_order: ZeroOrder::Any,
        contraction: Contraction::Either,
    };

    /// IEEE 754 with nothing left open but a NaN's bits and a zero that cancels out.
    pub const IEEE: Environment = Environment {
        subnormal_inputs: Subnormals::Keep,
        subnormal_results: Subnormals::Keep,
        flushed_sign: Sign::Exact,
        zero_sign: Sign::Exact,
        nan_operand: Nan::Nan,
        invalid: Invalid::Nan,
        pole_nan: false,
        nan_bits: NanBits::Keep,
        overflow: Overflow::Round,
        integer: Integer::Saturate,
        non_finite: NonFinite::Ieee,
        zero_order: ZeroOrder::Ieee,
        contraction: Contraction::Fused,
    };
}

/// The unit in the last place a profile speaks of, which matters at powers of two only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ulp {
    /// Of the binade that holds the exact result: the larger one at a power of two (D3D, GL).
    Binade,
    /// Between the two neighbours that enclose it: the smaller one (Vulkan, WGSL).
    Vulkan,
}
