//! NaN, infinities, zeros, and what texts leave undefined.

use fpprobe_profiles::observed_behaviour::Aspect::Nan;

use super::super::TraitLook::{Aspect, Bits, NanBits, Number};
use super::super::TraitRow;
use super::super::modes::{DEFAULT, KEEP_SPECIAL, STRICT};
use super::{
    FLOATS, FLUSHED, INFINITY, MINUS_ONE, MINUS_ZERO, NAN, NEGATIVE_INFINITY, ONE, SINGLE,
    UNDEFINED, row,
};

const EXTREMES: &str =
    "D3D and IEEE 754-2008 return the number; OpFMin and OpFMax may return either";
const FOLDED: &str = "a compiler that assumes that there is no NaN removes the tests for one";

/// NaN, infinities, zeros.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "{f}.fmin_of_nan",
        FLOATS,
        "What is fmin of a NaN and a number?",
        EXTREMES,
        Aspect(Nan, &["{f}.fmin"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "{f}.fmax_of_nan",
        FLOATS,
        "What is fmax of a NaN and a number?",
        EXTREMES,
        Aspect(Nan, &["{f}.fmax"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "{f}.nmin_of_nan",
        FLOATS,
        "What is nmin of a NaN and a number?",
        EXTREMES,
        Aspect(Nan, &["{f}.nmin"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "{f}.nmax_of_nan",
        FLOATS,
        "What is nmax of a NaN and a number?",
        EXTREMES,
        Aspect(Nan, &["{f}.nmax"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "f32.fclamp_of_nan",
        SINGLE,
        "What is fclamp of a NaN to 0 and 1?",
        EXTREMES,
        Number("f32.fclamp", &[NAN, 0, ONE]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "f32.nclamp_of_nan",
        SINGLE,
        "What is nclamp of a NaN to 0 and 1?",
        EXTREMES,
        Number("f32.nclamp", &[NAN, 0, ONE]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "{f}.nan_bits",
        FLOATS,
        "What becomes of the bits of a NaN in a sum?",
        "programs that keep data in NaNs, and comparisons of bits, depend on it",
        NanBits("{f}.fadd"),
    ),
    row(
        "f32.is_nan",
        SINGLE,
        "Is isnan of a NaN true?",
        FOLDED,
        Bits("f32.is_nan", &[NAN], &[(1, "true"), (0, "false")]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "f32.nan_differs_from_itself",
        SINGLE,
        "Is x != x of a NaN true?",
        FOLDED,
        Bits("f32.ne_self", &[NAN], &[(1, "true"), (0, "false")]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "f32.not_less_than_nan",
        SINGLE,
        "Is !(NaN < 1) true?",
        FOLDED,
        Bits("f32.not_less_than", &[NAN, ONE], &[(1, "true"), (0, "false")]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL, STRICT]),
    row(
        "f32.rsq_of_negative_zero",
        SINGLE,
        "What is inversesqrt(-0)?",
        "D3D demands -infinity",
        Number("f32.inverse_sqrt", &[MINUS_ZERO]),
    ),
    row(
        "f32.rsq_of_subnormal",
        SINGLE,
        "What is inversesqrt of the smallest subnormal?",
        FLUSHED,
        Number("f32.inverse_sqrt", &[1]),
    ),
    row(
        "f32.rsq_of_negative",
        SINGLE,
        "What is inversesqrt(-1)?",
        UNDEFINED,
        Number("f32.inverse_sqrt", &[MINUS_ONE]),
    ),
    row(
        "f32.sqrt_of_negative_subnormal",
        SINGLE,
        "What is sqrt of the smallest negative subnormal?",
        FLUSHED,
        Number("f32.sqrt", &[0x8000_0001]),
    ),
    row(
        "f32.fract_of_infinity",
        SINGLE,
        "What is fract(infinity)?",
        UNDEFINED,
        Number("f32.fract", &[INFINITY]),
    ),
    row(
        "f32.fract_of_negative_infinity",
        SINGLE,
        "What is fract(-infinity)?",
        UNDEFINED,
        Number("f32.fract", &[NEGATIVE_INFINITY]),
    ),
    row(
        "f32.log_of_subnormal",
        SINGLE,
        "What is log of the smallest subnormal?",
        UNDEFINED,
        Number("f32.log", &[1]),
    ),
    row(
        "f32.log_of_negative",
        SINGLE,
        "What is log(-1)?",
        UNDEFINED,
        Number("f32.log", &[MINUS_ONE]),
    ),
    row(
        "f32.log2_of_zero",
        SINGLE,
        "What is log2(0)?",
        "D3D demands -infinity",
        Number("f32.log2", &[0]),
    ),
    row(
        "f32.log2_of_subnormal",
        SINGLE,
        "What is log2 of the smallest subnormal?",
        UNDEFINED,
        Number("f32.log2", &[1]),
    ),
    row(
        "f32.log2_of_negative",
        SINGLE,
        "What is log2(-1)?",
        UNDEFINED,
        Number("f32.log2", &[MINUS_ONE]),
    ),
    row(
        "f32.pow_of_zero_and_zero",
        SINGLE,
        "What is pow(0, 0)?",
        UNDEFINED,
        Number("f32.pow", &[0, 0]),
    ),
    row(
        "f32.pow_of_zero_and_negative_zero",
        SINGLE,
        "What is pow(0, -0)?",
        UNDEFINED,
        Number("f32.pow", &[0, MINUS_ZERO]),
    ),
    row(
        "f32.pow_of_negative_zero_and_zero",
        SINGLE,
        "What is pow(-0, 0)?",
        UNDEFINED,
        Number("f32.pow", &[MINUS_ZERO, 0]),
    ),
    row(
        "f32.pow_of_negative_zeros",
        SINGLE,
        "What is pow(-0, -0)?",
        UNDEFINED,
        Number("f32.pow", &[MINUS_ZERO, MINUS_ZERO]),
    ),
    row("f32.acosh_below_one", SINGLE, "What is acosh(0)?", UNDEFINED, Number("f32.acosh", &[0])),
    row(
        "f32.acosh_of_negative",
        SINGLE,
        "What is acosh(-1)?",
        UNDEFINED,
        Number("f32.acosh", &[MINUS_ONE]),
    ),
    row(
        "f32.asin_beyond_one",
        SINGLE,
        "What is asin(2)?",
        UNDEFINED,
        Number("f32.asin", &[0x4000_0000]),
    ),
];
