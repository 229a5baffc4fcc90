//! Subnormals, rounding, contraction; whether the same operation answers alike in every variant.

use fpprobe_profiles::observed_behaviour::Aspect::{
    Overflow, Rounding, SubnormalOperands, SubnormalResults,
};

use super::super::TraitLook::{Agreement, Aspect, Bits, Error, Lanes, StrictMath};
use super::super::modes::{
    DEFAULT, FLUSH, NO_CONTRACTION, PRESERVE, PRESERVE_16, RTE, RTZ, STRICT,
};
use super::super::{TraitRow, Variation};
use super::{ANY, DOUBLE, FLOATS, FLUSHED, HALF, MINUS_ZERO, ONE, ROUNDED, SINGLE, row};

const MOVED: &str = "an operation that only moves or changes the sign should not touch a subnormal";
const FUSED: &str = "a fused operation gives other results than two that round each";
const LARGE: &str = "a division in two steps flushes the reciprocal of a number above 2^126";
const ANGLES: &str = "Vulkan bounds the error within pi alone; other texts bound more or nothing";

/// Subnormals, rounding, contraction, agreement of routes.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "{f}.subnormal_operands",
        FLOATS,
        "What becomes of subnormal operands?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.fadd", "{f}.fmul", "{f}.fma"]),
    )
    .under(&[DEFAULT, PRESERVE, FLUSH]),
    row(
        "{f}.subnormal_results",
        FLOATS,
        "What becomes of subnormal results?",
        FLUSHED,
        Aspect(SubnormalResults, &["{f}.fadd", "{f}.fmul", "{f}.fma"]),
    )
    .under(&[DEFAULT, PRESERVE, FLUSH]),
    row(
        "f32.subnormal_results",
        SINGLE,
        "What becomes of subnormal results?",
        "a mode for one width should change no other",
        Aspect(SubnormalResults, &["f32.fadd", "f32.fmul", "f32.fma"]),
    )
    .under(&[PRESERVE_16]),
    row(
        "{f}.subnormal_quotients",
        FLOATS,
        "What becomes of subnormal quotients?",
        FLUSHED,
        Aspect(SubnormalResults, &["{f}.fdiv"]),
    ),
    row(
        "f32.flushed_zero_sign",
        SINGLE,
        "Which sign has a flushed negative result?",
        FLUSHED,
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
        Bits(
            "f32.fabs",
            &[0x8040_0000],
            &[(0x0040_0000, "kept"), (0, "flushed"), (MINUS_ZERO, "flushed")],
        ),
    ),
    row(
        "f32.fnegate_of_subnormal",
        SINGLE,
        "Does fnegate keep a subnormal?",
        MOVED,
        Bits(
            "f32.fnegate",
            &[0x8040_0000],
            &[(0x0040_0000, "kept"), (0, "flushed"), (MINUS_ZERO, "flushed")],
        ),
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
        ROUNDED,
        Aspect(Rounding, &["{f}.fadd", "{f}.fmul"]),
    )
    .under(&[DEFAULT, RTE, RTZ]),
    row(
        "{f}.rounding_of_quotients",
        FLOATS,
        "Which way are quotients rounded?",
        ROUNDED,
        Aspect(Rounding, &["{f}.fdiv"]),
    ),
    row(
        "{f}.rounding_of_roots",
        FLOATS,
        "Which way are square roots rounded?",
        ROUNDED,
        Aspect(Rounding, &["{f}.sqrt"]),
    ),
    row(
        "{f}.overflow",
        FLOATS,
        "What do sums and products beyond the largest number give?",
        ROUNDED,
        Aspect(Overflow, &["{f}.fadd", "{f}.fmul"]),
    ),
    row(
        "f32.division_by_large",
        SINGLE,
        "Is x / y with |y| > 2^126 the quotient, or 0 for want of a reciprocal?",
        LARGE,
        // With |x| of at least 2^126 the quotient is a normal number.
        Lanes(
            "f32.fdiv",
            |case| is_normal(case[0]) && case[0] & MAGNITUDE >= LARGE_NUMBER && is_large(case[1]),
            |_, quotient| {
                if quotient & MAGNITUDE == 0 { "zero" } else { "quotient" }
            },
        ),
    ),
    row(
        "f32.division_by_itself",
        SINGLE,
        "Is x / x equal to 1?",
        ROUNDED,
        Lanes(
            "f32.fdiv",
            |case| is_normal(case[0]) && case[0] == case[1],
            |_, quotient| {
                if quotient == ONE { "one" } else { "other" }
            },
        ),
    ),
    row(
        "f32.division_by_one",
        SINGLE,
        "Is x / 1 equal to x?",
        ROUNDED,
        Lanes(
            "f32.fdiv",
            |case| is_normal(case[0]) && case[1] == ONE,
            |case, quotient| {
                if quotient == case[0] { "dividend" } else { "other" }
            },
        ),
    ),
    row(
        "f16.fma",
        HALF,
        "Is fma fused?",
        FUSED,
        Bits("f16.fma", &[0x3c01, 0x3c01, 0xbc02], &[(0x0010, "fused"), (0, "split")]),
    ),
    row(
        "f32.fma",
        SINGLE,
        "Is fma fused?",
        FUSED,
        Bits(
            "f32.fma",
            &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002],
            &[(0x2880_0000, "fused"), (0, "split")],
        ),
    )
    .under(&[DEFAULT, NO_CONTRACTION]),
    row(
        "f64.fma",
        DOUBLE,
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
        Bits(
            "f32.mul_then_add",
            &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002],
            &[(0x2880_0000, "fused"), (0, "split")],
        ),
    )
    .under(&[DEFAULT, NO_CONTRACTION, STRICT]),
    row(
        "f32.sin_error_within_pi",
        SINGLE,
        "What is the largest absolute error of sin within pi?",
        ANGLES,
        Error("f32.sin", 0, PI),
    ),
    row(
        "f32.sin_error_within_100_pi",
        SINGLE,
        "What is the largest absolute error of sin from pi to 100 pi?",
        ANGLES,
        Error("f32.sin", PI + 1, PI_100),
    ),
    row(
        "f32.sin_error_beyond_100_pi",
        SINGLE,
        "What is the largest absolute error of sin beyond 100 pi?",
        ANGLES,
        Error("f32.sin", PI_100 + 1, LARGEST),
    ),
    row(
        "f32.cos_error_within_pi",
        SINGLE,
        "What is the largest absolute error of cos within pi?",
        ANGLES,
        Error("f32.cos", 0, PI),
    ),
    row(
        "f32.cos_error_within_100_pi",
        SINGLE,
        "What is the largest absolute error of cos from pi to 100 pi?",
        ANGLES,
        Error("f32.cos", PI + 1, PI_100),
    ),
    row(
        "f32.cos_error_beyond_100_pi",
        SINGLE,
        "What is the largest absolute error of cos beyond 100 pi?",
        ANGLES,
        Error("f32.cos", PI_100 + 1, LARGEST),
    ),
    row(
        "strict_arithmetic",
        ANY,
        "Does FPFastMathDefault None hold for every operation?",
        "who requests it wants arithmetic that a compiler does not change",
        StrictMath,
    ),
    row(
        "constants_agree",
        ANY,
        "Does folding at compile time agree with run time?",
        "a program gives other results where an operand is known",
        Agreement(Variation::Constants),
    ),
    row("widths_agree", ANY, "Do scalars and vectors agree?", ROUNDED, Agreement(Variation::Width)),
    row(
        "stages_agree",
        ANY,
        "Do compute, fragment, vertex and geometry shaders agree?",
        ROUNDED,
        Agreement(Variation::Stage),
    ),
];

// Bits of binary32.
const MAGNITUDE: u64 = 0x7fff_ffff;
const LARGEST: u64 = 0x7f7f_ffff;
/// 2^126.
const LARGE_NUMBER: u64 = 0x7e80_0000;
const PI: u64 = 0x4049_0fdb;
const PI_100: u64 = 0x439d_1463;

fn is_normal(bits: u64) -> bool {
    (0x0080_0000..=LARGEST).contains(&(bits & MAGNITUDE))
}

fn is_large(bits: u64) -> bool {
    is_normal(bits) && bits & MAGNITUDE > LARGE_NUMBER
}
