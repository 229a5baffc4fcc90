//! Conversions between formats of numbers, to integers, and to texels.

use fpprobe_profiles::observed_behaviour::Aspect::{
    Infinity, Nan, Overflow, Rounding, SubnormalResults,
};

use super::super::TraitLook::{Aspect, Bits, Component, Number};
use super::super::TraitRow;
use super::super::modes::{DEFAULT, RTE_16, RTZ_16, STRICT};
use super::{DOUBLE, INFINITY, MINUS_ONE, NAN, NEGATIVE_INFINITY, ONE, ROUNDED, SINGLE, row};

const TEXELS: &[&str] =
    &["b10g11r11", "rgba16f", "e5b9g9r9", "rgba8unorm", "rgba8snorm", "a2b10g10r10"];
const SMALL_FLOATS: &[&str] = &["b10g11r11", "rgba16f"];
const PACKED_FLOATS: &[&str] = &["b10g11r11"];
const NORMALIZED: &[&str] = &["rgba8unorm", "rgba8snorm"];
const DEPTHS: &[&str] = &["d16unorm", "d32f"];

const NARROW: &str = "mixed precision and texture uploads depend on it";
const MODELS: &str = "weights and activations of models differ from device to device where it does";
const STORED: &str = "what a render target or image holds depends on it";
const INTEGERS: &str = "D3D saturates and takes NaN for 0; the other languages leave it open";

/// Conversions, and stores of texels.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "f32.to_f16_rounding",
        SINGLE,
        "Which way is f32 to f16 rounded?",
        NARROW,
        Aspect(Rounding, &["f32.fconvert_f16"]),
    )
    .under(&[DEFAULT, RTE_16, RTZ_16]),
    row(
        "f32.to_f16_overflow",
        SINGLE,
        "What does f32 to f16 give beyond 65504?",
        NARROW,
        Aspect(Overflow, &["f32.fconvert_f16"]),
    )
    .under(&[DEFAULT, RTE_16, RTZ_16]),
    row(
        "f32.to_f16_subnormals",
        SINGLE,
        "Does f32 to f16 keep subnormal results?",
        NARROW,
        Aspect(SubnormalResults, &["f32.fconvert_f16"]),
    ),
    row(
        "f32.to_f16_nan",
        SINGLE,
        "Does f32 to f16 keep a NaN?",
        NARROW,
        Aspect(Nan, &["f32.fconvert_f16"]),
    ),
    row(
        "f32.to_bf16_rounding",
        SINGLE,
        "Which way is f32 to bf16 rounded?",
        MODELS,
        Aspect(Rounding, &["f32.fconvert_bf16"]),
    ),
    row(
        "f32.to_bf16_overflow",
        SINGLE,
        "What does f32 to bf16 give beyond the largest bf16?",
        MODELS,
        Aspect(Overflow, &["f32.fconvert_bf16"]),
    ),
    row(
        "f32.to_bf16_subnormals",
        SINGLE,
        "Does f32 to bf16 keep subnormal results?",
        MODELS,
        Aspect(SubnormalResults, &["f32.fconvert_bf16"]),
    ),
    row(
        "f32.to_bf16_nan",
        SINGLE,
        "Does f32 to bf16 keep a NaN?",
        MODELS,
        Aspect(Nan, &["f32.fconvert_bf16"]),
    )
    .under(&[DEFAULT, STRICT]),
    // The least subnormal.
    row(
        "bf16.to_f32_subnormals",
        &["bf16"],
        "Does bf16 to f32 keep subnormals?",
        MODELS,
        Bits("bf16.fconvert_f32", &[1], &[(0x1_0000, "kept"), (0, "flushed")]),
    ),
    row(
        "f32.to_e4m3_rounding",
        SINGLE,
        "Which way is f32 to e4m3 rounded?",
        MODELS,
        Aspect(Rounding, &["f32.fconvert_e4m3"]),
    ),
    // 2^30, far beyond.
    row(
        "f32.to_e4m3_beyond",
        SINGLE,
        "What does f32 to e4m3 give beyond 448?",
        MODELS,
        Bits(
            "f32.fconvert_e4m3",
            &[0x4e80_0000],
            &[(0x7f, "nan"), (0xff, "nan"), (0x7e, "largest_finite")],
        ),
    ),
    row(
        "f32.to_e4m3_subnormals",
        SINGLE,
        "Does f32 to e4m3 keep subnormal results?",
        MODELS,
        Aspect(SubnormalResults, &["f32.fconvert_e4m3"]),
    ),
    row(
        "f32.to_e5m2_rounding",
        SINGLE,
        "Which way is f32 to e5m2 rounded?",
        MODELS,
        Aspect(Rounding, &["f32.fconvert_e5m2"]),
    ),
    row(
        "f32.to_e5m2_beyond",
        SINGLE,
        "What does f32 to e5m2 give beyond 57344?",
        MODELS,
        Bits("f32.fconvert_e5m2", &[0x4e80_0000], &[(0x7c, "infinity"), (0x7b, "largest_finite")]),
    ),
    row(
        "f32.to_e5m2_subnormals",
        SINGLE,
        "Does f32 to e5m2 keep subnormal results?",
        MODELS,
        Aspect(SubnormalResults, &["f32.fconvert_e5m2"]),
    ),
    row(
        "e4m3.to_f32_subnormals",
        &["e4m3"],
        "Does e4m3 to f32 keep subnormals?",
        MODELS,
        Bits("e4m3.fconvert_f32", &[1], &[(0x3b00_0000, "kept"), (0, "flushed")]),
    ),
    row(
        "e5m2.to_f32_subnormals",
        &["e5m2"],
        "Does e5m2 to f32 keep subnormals?",
        MODELS,
        Bits("e5m2.fconvert_f32", &[1], &[(0x3780_0000, "kept"), (0, "flushed")]),
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
    row(
        "f32.pack_half_nan",
        SINGLE,
        "Does packHalf2x16 keep a NaN?",
        NARROW,
        Aspect(Nan, &["f32.pack_half_2x16"]),
    ),
    // One ulp of binary32 above the midpoint between 2^-14 and the next value of binary16; 65520;
    // 2^-24.
    row(
        "f32.quantize_rounding",
        SINGLE,
        "Which way does quantizeToF16 round?",
        NARROW,
        Bits(
            "f32.quantize_to_f16",
            &[0x3880_1001],
            &[(0x3880_2000, "nearest"), (0x3880_0000, "toward_zero")],
        ),
    ),
    row(
        "f32.quantize_overflow",
        SINGLE,
        "What does quantizeToF16 give beyond 65504?",
        NARROW,
        Bits(
            "f32.quantize_to_f16",
            &[0x477f_f000],
            &[(INFINITY, "infinity"), (0x477f_e000, "largest_finite")],
        ),
    ),
    row(
        "f32.quantize_subnormals",
        SINGLE,
        "Does quantizeToF16 keep subnormal results?",
        NARROW,
        Bits("f32.quantize_to_f16", &[0x3380_0000], &[(0x3380_0000, "kept"), (0, "flushed")]),
    ),
    row(
        "f32.quantize_nan",
        SINGLE,
        "What does quantizeToF16 make of a NaN?",
        NARROW,
        Number("f32.quantize_to_f16", &[0x7f80_0001]),
    ),
    // 1 + 2^-23 is no value of binary16, which has 10 bits of fraction.
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
    )
    .under(&[DEFAULT, STRICT]),
    row(
        "f64.to_f16_rounding",
        DOUBLE,
        "Which way is f64 to f16 rounded?",
        NARROW,
        Aspect(Rounding, &["f64.fconvert_f16"]),
    ),
    row(
        "f64.to_f16_overflow",
        DOUBLE,
        "What does f64 to f16 give beyond 65504?",
        NARROW,
        Aspect(Overflow, &["f64.fconvert_f16"]),
    ),
    row(
        "f64.to_f32_rounding",
        DOUBLE,
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
        "f32.to_i32_of_negative_infinity",
        SINGLE,
        "What is -infinity as a signed integer?",
        INTEGERS,
        Number("f32.convert_f_to_s", &[NEGATIVE_INFINITY]),
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
        Number("f32.convert_f_to_u", &[MINUS_ONE]),
    ),
    row(
        "f32.from_u32_rounding",
        SINGLE,
        "Which way are unsigned integers rounded to f32?",
        ROUNDED,
        Aspect(Rounding, &["f32.convert_u_to_f"]),
    ),
    row(
        "f32.from_i32_rounding",
        SINGLE,
        "Which way are signed integers rounded to f32?",
        ROUNDED,
        Aspect(Rounding, &["f32.convert_s_to_f"]),
    ),
    row(
        "f32.pack_unorm_of_nan",
        SINGLE,
        "What does packUnorm4x8 make of a NaN?",
        STORED,
        Component("f32.pack_unorm_4x8", NAN),
    ),
    row(
        "f32.pack_snorm_of_nan",
        SINGLE,
        "What does packSnorm4x8 make of a NaN?",
        STORED,
        Component("f32.pack_snorm_4x8", NAN),
    ),
    row(
        "{f}.store_rounding",
        TEXELS,
        "Which way does a store round?",
        STORED,
        Aspect(Rounding, &["{f}.store"]),
    ),
    row(
        "{f}.store_overflow",
        TEXELS,
        "What does a store make of numbers beyond the range?",
        STORED,
        Aspect(Overflow, &["{f}.store"]),
    ),
    row(
        "{f}.store_infinity",
        TEXELS,
        "What does a store make of an infinity?",
        STORED,
        Aspect(Infinity, &["{f}.store"]),
    ),
    row(
        "{f}.store_nan",
        TEXELS,
        "What does a store make of a NaN?",
        STORED,
        Aspect(Nan, &["{f}.store"]),
    ),
    row(
        "{f}.store_subnormals",
        SMALL_FLOATS,
        "Does a store keep subnormal results?",
        STORED,
        Aspect(SubnormalResults, &["{f}.store"]),
    ),
    row(
        "{f}.store_of_65280",
        PACKED_FLOATS,
        "What does a store make of 65280, between the largest number and infinity?",
        STORED,
        Component("{f}.store", 0x477f_0000),
    ),
    row(
        "{f}.store_of_negative",
        PACKED_FLOATS,
        "What does a store make of -1, where the format has no sign?",
        STORED,
        Component("{f}.store", MINUS_ONE),
    ),
    row(
        "{f}.depth_clamp_of_nan",
        DEPTHS,
        "What does the clamp of a depth make of a NaN?",
        STORED,
        Component("{f}.depth_clamp", NAN),
    ),
    row(
        "{f}.store_of_one_half",
        NORMALIZED,
        "Which of two codes does a store make of 0.5, which lies between them?",
        STORED,
        Component("{f}.store", 0x3f00_0000),
    ),
];
