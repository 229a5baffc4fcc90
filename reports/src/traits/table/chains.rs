//! Operations in a row: whether what one of them hands to the next is rounded.

use fpprobe_profiles::observed_behaviour::Aspect::Intermediates;

use super::super::TraitLook::Aspect;
use super::super::TraitRow;
use super::super::modes::{DEFAULT, NO_CONTRACTION, STRICT, TraitMode};
use super::{DOUBLE, HALF, SINGLE, row};

const ONCE: &str = "rounded twice, a result next to a midpoint is another than rounded once";
const REMOVED: &str =
    "a compiler that removes a narrowing hides the overflow and the loss that a program looks for";
const WIDENED: &str = "mixed-precision instructions take the exact product; others round it first";

/// Who may demand that each result is rounded.
const MODES: &[TraitMode] = &[DEFAULT, NO_CONTRACTION, STRICT];

/// Operations in a row.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "f32.narrowed_to_f16",
        SINGLE,
        "Is a sum or product of f32 rounded before it is converted to f16?",
        ONCE,
        Aspect(Intermediates, &["f32.fadd_fconvert_f16", "f32.fmul_fconvert_f16"]),
    )
    .under(MODES),
    row(
        "f64.narrowed_to_f32",
        DOUBLE,
        "Is a sum or product of f64 rounded before it is converted to f32?",
        ONCE,
        Aspect(Intermediates, &["f64.fadd_fconvert_f32", "f64.fmul_fconvert_f32"]),
    )
    .under(MODES),
    row(
        "f32.narrowed_by_quantize",
        SINGLE,
        "Is a sum or product of f32 rounded before quantizeToF16?",
        ONCE,
        Aspect(Intermediates, &["f32.fadd_quantize_to_f16", "f32.fmul_quantize_to_f16"]),
    )
    .under(MODES),
    row(
        "f32.narrowed_by_pack_half",
        SINGLE,
        "Is a sum or product of f32 rounded before packHalf2x16?",
        ONCE,
        Aspect(Intermediates, &["f32.fadd_pack_half_2x16", "f32.fmul_pack_half_2x16"]),
    )
    .under(MODES),
    row(
        "f32.narrowed_between_sums",
        SINGLE,
        "Is a sum of f32 that becomes f16 and f32 again rounded to f16 before it is added to?",
        REMOVED,
        Aspect(Intermediates, &["f32.fadd_narrow_f16_fadd"]),
    )
    .under(MODES),
    row(
        "f64.narrowed_between_sums",
        DOUBLE,
        "Is a sum of f64 that becomes f32 and f64 again rounded to f32 before it is added to?",
        REMOVED,
        Aspect(Intermediates, &["f64.fadd_narrow_f32_fadd"]),
    )
    .under(MODES),
    row(
        "f32.quantized_between_sums",
        SINGLE,
        "Is a sum of f32 quantized to f16 before it is added to, where quantizeToF16 stands there?",
        REMOVED,
        Aspect(Intermediates, &["f32.fadd_quantize_fadd"]),
    )
    .under(MODES),
    row(
        "f16.widened_between_sums",
        HALF,
        "Is a sum of f16 that is converted to f32 rounded to f16 before it is added to?",
        REMOVED,
        Aspect(Intermediates, &["f16.fadd_widen_fadd"]),
    )
    .under(MODES),
    row(
        "f16.widened_product",
        HALF,
        "Is a product of f16 that is converted to f32 rounded to f16 before it is added to?",
        WIDENED,
        Aspect(Intermediates, &["f16.fmul_widen_f32_fadd"]),
    )
    .under(MODES),
    row(
        "f32.widened_product",
        SINGLE,
        "Is a product of f32 that is converted to f64 rounded to f32 before it is added to?",
        WIDENED,
        Aspect(Intermediates, &["f32.fmul_widen_f64_fadd"]),
    )
    .under(MODES),
];
