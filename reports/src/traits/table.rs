//! The table of traits.

use fpprobe_profiles::observed_behaviour::Aspect::{Nan, Overflow, Rounding, SubnormalOperands, SubnormalResults};

use super::TraitLook::{Agreement, Aspect, Bits, NanBits, Number};
use super::{TraitLook, TraitRow, Variation};

const FLOATS: &[&str] = &["f16", "f32", "f64"];
const SINGLE: &[&str] = &["f32"];
/// What is not of one format.
const ANY: &[&str] = &[""];
const TEXELS: &[&str] = &["b10g11r11", "rgba16f", "e5b9g9r9", "rgba8unorm", "rgba8snorm", "a2b10g10r10"];
const SMALL_FLOATS: &[&str] = &["b10g11r11", "rgba16f"];

const NAN: u64 = 0x7fc0_0000;
const ONE: u64 = 0x3f80_0000;
const MINUS_ZERO: u64 = 0x8000_0000;

const fn row(
    id: &'static str,
    formats: &'static [&'static str],
    question: &'static str,
    why: &'static str,
    look: TraitLook,
) -> TraitRow {
    TraitRow { id, formats, question, why, look }
}

const FLUSH: &str = "D3D flushes 32-bit subnormals and keeps 16-bit ones; the other languages leave it open";
const ROUND: &str = "results of the same program differ from device to device where it does";
const MODES: &str = "an execution mode that has no effect must not be relied on";
const EXTREMES: &str = "D3D and IEEE 754-2008 return the number; OpFMin and OpFMax may return either";
const FOLDED: &str = "a compiler that assumes that there is no NaN removes the tests for one";
const UNDEFINED: &str = "no text but D3D's demands anything, so that no rule notices a change";
const NARROW: &str = "mixed precision and texture uploads depend on it";
const STORED: &str = "what a render target or image holds depends on it";
const INTEGERS: &str = "D3D saturates and takes NaN for 0; the other languages leave it open";
const MOVED: &str = "an operation that only moves or changes the sign should not touch a subnormal";
const FUSED: &str = "a fused operation gives other results than two that round each";

/// Every trait.
pub static TRAITS: &[TraitRow] = &[
    row(
        "{f}.subnormal_operands",
        FLOATS,
        "What becomes of subnormal operands?",
        FLUSH,
        Aspect(SubnormalOperands, &["{f}.fadd", "{f}.fmul", "{f}.fma"]),
    ),
    row(
        "{f}.subnormal_results",
        FLOATS,
        "What becomes of subnormal results?",
        FLUSH,
        Aspect(SubnormalResults, &["{f}.fadd", "{f}.fmul", "{f}.fma"]),
    ),
    row(
        "{f}.subnormal_quotients",
        FLOATS,
        "What becomes of subnormal quotients?",
        FLUSH,
        Aspect(SubnormalResults, &["{f}.fdiv"]),
    ),
    row(
        "{f}.subnormal_results_under_preserve",
        FLOATS,
        "Does DenormPreserve keep subnormal results?",
        MODES,
        Aspect(SubnormalResults, &["{f}.fmul:controls=dp{w}"]),
    ),
    row(
        "{f}.subnormal_results_under_flush",
        FLOATS,
        "Does DenormFlushToZero flush subnormal results?",
        MODES,
        Aspect(SubnormalResults, &["{f}.fmul:controls=ftz{w}"]),
    ),
    row(
        "f32.flushed_zero_sign",
        SINGLE,
        "Which sign has a flushed negative result?",
        FLUSH,
        Bits(
            "f32.fmul",
            &[0x8080_0000, 0x3f00_0000],
            &[(MINUS_ZERO, "negative"), (0, "positive"), (0x8040_0000, "not_flushed")],
        ),
    ),
    row(
        "f32.fabs_of_subnormal",
        SINGLE,
        "Does fabs keep a subnormal?",
        MOVED,
        Bits("f32.fabs", &[0x8040_0000], &[(0x0040_0000, "kept"), (0, "flushed"), (MINUS_ZERO, "flushed")]),
    ),
    row(
        "f32.fnegate_of_subnormal",
        SINGLE,
        "Does fnegate keep a subnormal?",
        MOVED,
        Bits("f32.fnegate", &[0x8040_0000], &[(0x0040_0000, "kept"), (0, "flushed"), (MINUS_ZERO, "flushed")]),
    ),
    row(
        "f32.select_of_subnormal",
        SINGLE,
        "Does select keep a subnormal?",
        MOVED,
        Bits("f32.select", &[1, 1, 0x4220_0000], &[(1, "kept"), (0, "flushed")]),
    ),
    row(
        "f32.phi_of_subnormal",
        SINGLE,
        "Does phi keep a subnormal?",
        MOVED,
        Bits("f32.phi", &[1, 1, 0x4220_0000], &[(1, "kept"), (0, "flushed")]),
    ),
    row(
        "{f}.rounding",
        FLOATS,
        "Which way are sums and products rounded?",
        ROUND,
        Aspect(Rounding, &["{f}.fadd", "{f}.fmul"]),
    ),
    row(
        "{f}.rounding_of_quotients",
        FLOATS,
        "Which way are quotients rounded?",
        ROUND,
        Aspect(Rounding, &["{f}.fdiv"]),
    ),
    row("{f}.rounding_of_roots", FLOATS, "Which way are square roots rounded?", ROUND, Aspect(Rounding, &["{f}.sqrt"])),
    row(
        "{f}.overflow",
        FLOATS,
        "What do sums and products beyond the largest number give?",
        ROUND,
        Aspect(Overflow, &["{f}.fadd", "{f}.fmul"]),
    ),
    row(
        "{f}.rounding_under_rte",
        FLOATS,
        "Which way are sums and products rounded under RoundingModeRTE?",
        MODES,
        Aspect(Rounding, &["{f}.fadd:controls=rte{w}", "{f}.fmul:controls=rte{w}"]),
    ),
    row(
        "{f}.rounding_under_rtz",
        FLOATS,
        "Which way are sums and products rounded under RoundingModeRTZ?",
        MODES,
        Aspect(Rounding, &["{f}.fadd:controls=rtz{w}", "{f}.fmul:controls=rtz{w}"]),
    ),
    row(
        "f32.division_by_large",
        SINGLE,
        "Is x / y with |y| > 2^126 the quotient, or 0 for want of a reciprocal?",
        "a division in two steps flushes the reciprocal",
        Bits("f32.fdiv", &[0x7f7f_ffff, 0x7f7f_ffff], &[(ONE, "quotient"), (0x3f7f_ffff, "quotient"), (0, "zero")]),
    ),
    row(
        "f16.fma",
        &["f16"],
        "Is fma fused?",
        FUSED,
        Bits("f16.fma", &[0x3c01, 0x3c01, 0xbc02], &[(0x0010, "fused"), (0, "split")]),
    ),
    row(
        "f32.fma",
        SINGLE,
        "Is fma fused?",
        FUSED,
        Bits("f32.fma", &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002], &[(0x2880_0000, "fused"), (0, "split")]),
    ),
    row(
        "f64.fma",
        &["f64"],
        "Is fma fused?",
        FUSED,
        Bits(
            "f64.fma",
            &[0x3ff0_0000_0000_0001, 0x3ff0_0000_0000_0001, 0xbff0_0000_0000_0002],
            &[(0x3970_0000_0000_0000, "fused"), (0, "split")],
        ),
    ),
    row(
        "f32.mul_then_add",
        SINGLE,
        "Is a product that is added to contracted into one operation?",
        FUSED,
        Bits("f32.mul_then_add", &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002], &[(0x2880_0000, "fused"), (0, "split")]),
    ),
    row(
        "f32.mul_then_add_under_no_contraction",
        SINGLE,
        "Does NoContraction keep a product and a sum apart?",
        MODES,
        Bits(
            "f32.mul_then_add:controls=nocontract",
            &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002],
            &[(0x2880_0000, "fused"), (0, "split")],
        ),
    ),
    row("{f}.fmin_of_nan", FLOATS, "What is fmin of a NaN and a number?", EXTREMES, Aspect(Nan, &["{f}.fmin"])),
    row("{f}.fmax_of_nan", FLOATS, "What is fmax of a NaN and a number?", EXTREMES, Aspect(Nan, &["{f}.fmax"])),
    row("{f}.nmin_of_nan", FLOATS, "What is nmin of a NaN and a number?", EXTREMES, Aspect(Nan, &["{f}.nmin"])),
    row("{f}.nmax_of_nan", FLOATS, "What is nmax of a NaN and a number?", EXTREMES, Aspect(Nan, &["{f}.nmax"])),
    row(
        "f32.fclamp_of_nan",
        SINGLE,
        "What is fclamp of a NaN to 0 and 1?",
        EXTREMES,
        Number("f32.fclamp", &[NAN, 0, ONE]),
    ),
    row(
        "f32.nclamp_of_nan",
        SINGLE,
        "What is nclamp of a NaN to 0 and 1?",
        EXTREMES,
        Number("f32.nclamp", &[NAN, 0, ONE]),
    ),
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
    ),
    row(
        "f32.nan_differs_from_itself",
        SINGLE,
        "Is x != x of a NaN true?",
        FOLDED,
        Bits("f32.ne_self", &[NAN], &[(1, "true"), (0, "false")]),
    ),
    row(
        "f32.not_less_than_nan",
        SINGLE,
        "Is !(NaN < 1) true?",
        FOLDED,
        Bits("f32.not_less_than", &[NAN, ONE], &[(1, "true"), (0, "false")]),
    ),
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
        FLUSH,
        Number("f32.inverse_sqrt", &[1]),
    ),
    row(
        "f32.rsq_of_negative",
        SINGLE,
        "What is inversesqrt(-1)?",
        UNDEFINED,
        Number("f32.inverse_sqrt", &[0xbf80_0000]),
    ),
    row(
        "f32.sqrt_of_negative_subnormal",
        SINGLE,
        "What is sqrt of the smallest negative subnormal?",
        FLUSH,
        Number("f32.sqrt", &[0x8000_0001]),
    ),
    row("f32.fract_of_infinity", SINGLE, "What is fract(infinity)?", UNDEFINED, Number("f32.fract", &[0x7f80_0000])),
    row("f32.log_of_subnormal", SINGLE, "What is log of the smallest subnormal?", UNDEFINED, Number("f32.log", &[1])),
    row("f32.log_of_negative", SINGLE, "What is log(-1)?", UNDEFINED, Number("f32.log", &[0xbf80_0000])),
    row("f32.log2_of_zero", SINGLE, "What is log2(0)?", "D3D demands -infinity", Number("f32.log2", &[0])),
    row(
        "f32.log2_of_subnormal",
        SINGLE,
        "What is log2 of the smallest subnormal?",
        UNDEFINED,
        Number("f32.log2", &[1]),
    ),
    row("f32.log2_of_negative", SINGLE, "What is log2(-1)?", UNDEFINED, Number("f32.log2", &[0xbf80_0000])),
    row("f32.pow_of_zero_and_zero", SINGLE, "What is pow(0, 0)?", UNDEFINED, Number("f32.pow", &[0, 0])),
    row(
        "f32.pow_of_negative_zero_and_zero",
        SINGLE,
        "What is pow(-0, 0)?",
        UNDEFINED,
        Number("f32.pow", &[MINUS_ZERO, 0]),
    ),
    row("f32.acosh_below_one", SINGLE, "What is acosh(0)?", UNDEFINED, Number("f32.acosh", &[0])),
    row("f32.asin_beyond_one", SINGLE, "What is asin(2)?", UNDEFINED, Number("f32.asin", &[0x4000_0000])),
    row(
        "f32.to_f16_rounding",
        SINGLE,
        "Which way is f32 to f16 rounded?",
        NARROW,
        Aspect(Rounding, &["f32.fconvert_f16"]),
    ),
    row(
        "f32.to_f16_overflow",
        SINGLE,
        "What does f32 to f16 give beyond 65504?",
        NARROW,
        Aspect(Overflow, &["f32.fconvert_f16"]),
    ),
    row(
        "f32.to_f16_subnormals",
        SINGLE,
        "Does f32 to f16 keep subnormal results?",
        NARROW,
        Aspect(SubnormalResults, &["f32.fconvert_f16"]),
    ),
    row("f32.to_f16_nan", SINGLE, "Does f32 to f16 keep a NaN?", NARROW, Aspect(Nan, &["f32.fconvert_f16"])),
    row(
        "f32.to_f16_rounding_under_rtz",
        SINGLE,
        "Which way is f32 to f16 rounded under RoundingModeRTZ?",
        MODES,
        Aspect(Rounding, &["f32.fconvert_f16:controls=rtz16"]),
    ),
    row(
        "f32.pack_half_rounding",
        SINGLE,
        "Which way does packHalf2x16 round?",
        NARROW,
        Aspect(Rounding, &["f32.pack_half_2x16"]),
    ),
    row(
        "f32.pack_half_overflow",
        SINGLE,
        "What does packHalf2x16 give beyond 65504?",
        NARROW,
        Aspect(Overflow, &["f32.pack_half_2x16"]),
    ),
    row(
        "f32.pack_half_subnormals",
        SINGLE,
        "Does packHalf2x16 keep subnormal results?",
        NARROW,
        Aspect(SubnormalResults, &["f32.pack_half_2x16"]),
    ),
    row("f32.pack_half_nan", SINGLE, "Does packHalf2x16 keep a NaN?", NARROW, Aspect(Nan, &["f32.pack_half_2x16"])),
    row(
        "f32.quantize_rounding",
        SINGLE,
        "Which way does quantizeToF16 round?",
        NARROW,
        Bits("f32.quantize_to_f16", &[0x3880_1001], &[(0x3880_2000, "nearest"), (0x3880_0000, "toward_zero")]),
    ),
    row(
        "f32.quantize_overflow",
        SINGLE,
        "What does quantizeToF16 give beyond 65504?",
        NARROW,
        Bits("f32.quantize_to_f16", &[0x477f_f000], &[(0x7f80_0000, "infinity"), (0x477f_e000, "largest_finite")]),
    ),
    row(
        "f32.narrow_and_widen",
        SINGLE,
        "Is f32 to f16 to f32 removed by the compiler?",
        NARROW,
        Bits(
            "f32.narrow_widen",
            &[0x3f80_0001],
            &[(0x3f80_0001, "removed"), (ONE, "carried_out"), (0x3f80_2000, "carried_out")],
        ),
    ),
    row(
        "f64.to_f16_rounding",
        &["f64"],
        "Which way is f64 to f16 rounded?",
        NARROW,
        Aspect(Rounding, &["f64.fconvert_f16"]),
    ),
    row(
        "f64.to_f16_overflow",
        &["f64"],
        "What does f64 to f16 give beyond 65504?",
        NARROW,
        Aspect(Overflow, &["f64.fconvert_f16"]),
    ),
    row(
        "f64.to_f32_rounding",
        &["f64"],
        "Which way is f64 to f32 rounded?",
        NARROW,
        Aspect(Rounding, &["f64.fconvert_f32"]),
    ),
    row(
        "f32.to_i32_of_nan",
        SINGLE,
        "What is a NaN as a signed integer?",
        INTEGERS,
        Number("f32.convert_f_to_s", &[NAN]),
    ),
    row(
        "f32.to_i32_beyond",
        SINGLE,
        "What is 2^31 as a signed integer?",
        INTEGERS,
        Number("f32.convert_f_to_s", &[0x4f00_0000]),
    ),
    row(
        "f32.to_u32_of_nan",
        SINGLE,
        "What is a NaN as an unsigned integer?",
        INTEGERS,
        Number("f32.convert_f_to_u", &[NAN]),
    ),
    row(
        "f32.to_u32_beyond",
        SINGLE,
        "What is 2^32 as an unsigned integer?",
        INTEGERS,
        Number("f32.convert_f_to_u", &[0x4f80_0000]),
    ),
    row(
        "f32.to_u32_of_negative",
        SINGLE,
        "What is -1 as an unsigned integer?",
        INTEGERS,
        Number("f32.convert_f_to_u", &[0xbf80_0000]),
    ),
    row(
        "f32.from_u32_rounding",
        SINGLE,
        "Which way are unsigned integers rounded to f32?",
        ROUND,
        Aspect(Rounding, &["f32.convert_u_to_f"]),
    ),
    row(
        "f32.from_i32_rounding",
        SINGLE,
        "Which way are signed integers rounded to f32?",
        ROUND,
        Aspect(Rounding, &["f32.convert_s_to_f"]),
    ),
    row("{f}.store_rounding", TEXELS, "Which way does a store round?", STORED, Aspect(Rounding, &["{f}.store"])),
    row(
        "{f}.store_overflow",
        TEXELS,
        "What does a store make of numbers beyond the range?",
        STORED,
        Aspect(Overflow, &["{f}.store"]),
    ),
    row("{f}.store_nan", TEXELS, "What does a store make of a NaN?", STORED, Aspect(Nan, &["{f}.store"])),
    row(
        "{f}.store_subnormals",
        SMALL_FLOATS,
        "Does a store keep subnormal results?",
        STORED,
        Aspect(SubnormalResults, &["{f}.store"]),
    ),
    row(
        "constants_agree",
        ANY,
        "Does folding at compile time agree with run time?",
        "a program gives other results where an operand is known",
        Agreement(Variation::Constants),
    ),
    row("widths_agree", ANY, "Do scalars and vectors agree?", ROUND, Agreement(Variation::Width)),
    row("stages_agree", ANY, "Do compute, fragment and vertex shaders agree?", ROUND, Agreement(Variation::Stage)),
];
