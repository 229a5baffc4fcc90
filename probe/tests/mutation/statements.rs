//! The fault layer's arithmetic itself: each kind of statement computes what its documentation
//! says.

use serde_json::json;

use crate::DRIVER;
use crate::faulty::faulty;
use crate::scene::ends;

/// Statements, a kernel, its operands, its result.
const ROWS: &[(&str, &str, &[&str], &str)] = &[
    // 1 - 2^-149, 2 - 2^-23 squared, an overflow, 2 / 3, sqrt(3): one below what rounds to
    // nearest.
    ("round toward zero in f32.fadd", "f32.fadd", &["3f800000", "80000001"], "3f7fffff"),
    ("round toward zero in f32.fsub", "f32.fsub", &["3f800000", "00000001"], "3f7fffff"),
    ("round toward zero in f32.fadd", "f32.fadd", &["3f800000", "00000001"], "3f800000"),
    ("round toward zero in f32.fmul", "f32.fmul", &["3fffffff", "3fffffff"], "407ffffe"),
    ("round toward zero in f32.fmul", "f32.fmul", &["7f7fffff", "40000000"], "7f7fffff"),
    ("round toward zero in f32.fmul", "f32.fmul", &["7f800000", "40000000"], "7f800000"),
    ("round toward zero in f32.fdiv", "f32.fdiv", &["40000000", "40400000"], "3f2aaaaa"),
    ("round toward zero in f32.sqrt", "f32.sqrt", &["40400000"], "3fddb3d7"),
    ("round toward zero in f32.fconvert_f16", "f32.fconvert_f16", &["3f801fff"], "3c00"),
    (
        "round toward zero in f32.pack_half_2x16",
        "f32.pack_half_2x16",
        &["477fffff,3f801fff"],
        "3c007bff",
    ),
    (
        "round toward zero in f64.fconvert_f32",
        "f64.fconvert_f32",
        &["3ff0000fffffffff"],
        "3f80007f",
    ),
    // 2^24 + 3, -(2^24 + 3), 2^32 - 1; and 1 - 2^-149.
    ("round toward zero in f32.convert_s_to_f", "f32.convert_s_to_f", &["01000003"], "4b800001"),
    ("round toward zero in f32.convert_s_to_f", "f32.convert_s_to_f", &["fefffffd"], "cb800001"),
    ("round toward zero in f32.convert_u_to_f", "f32.convert_u_to_f", &["ffffffff"], "4f7fffff"),
    ("round toward zero in f32.fract", "f32.fract", &["80000001"], "3f7fffff"),
    ("round to nearest in f16.inverse_sqrt", "f16.inverse_sqrt", &["0401"], "57ff"),
    // The same of a mode; without the claim the driver lacks it.
    ("claim rtz32", "f32.fadd:controls=rtz32", &["3f800000", "80000001"], "3f7fffff"),
    ("claim rtz32 ignored", "f32.fadd:controls=rtz32", &["3f800000", "80000001"], "3f800000"),
    ("claim ftz32", "f32.fmul:controls=ftz32", &["80000300", "78000000"], "80000000"),
    (
        "claim ftz32\nflush f32 results without sign",
        "f32.fmul:controls=ftz32",
        &["80800000", "3f000000"],
        "80000000",
    ),
    ("flush f32 results without sign", "f32.fmul", &["80800000", "3f000000"], "00000000"),
    (
        "flush f32 results unless szin32",
        "f32.fmul:controls=szin32",
        &["00800000", "3f000000"],
        "00400000",
    ),
    (
        "flush f32 results under szin32",
        "f32.fmul:controls=szin32",
        &["00800000", "3f000000"],
        "00000000",
    ),
    // (1 + 2^-23)^2 - (1 + 2^-22), in one rounding.
    (
        "fuse in f32.fadd",
        "f32.mul_then_add:controls=nocontract",
        &["3f800001", "3f800001", "bf800002"],
        "28800000",
    ),
    // (1 + 2^-12) - 1, without the conversion between.
    (
        "drop in f16.fconvert_f32",
        "f32.fadd_narrow_f16_fadd",
        &["3f800000", "39800000", "bf800000"],
        "39800000",
    ),
    (
        "drop in f32.quantize_to_f16",
        "f32.fadd_quantize_fadd",
        &["3f800000", "39800000", "bf800000"],
        "39800000",
    ),
    // (1 + 2^-10)^2 - (1 + 2^-9), of which binary16 holds the product in part.
    ("fuse in f32.fadd", "f16.fmul_widen_f32_fadd", &["3c01", "3c01", "bf804000"], "35800000"),
    // 2^127 / 2^127: the reciprocal, 2^-127, is flushed.
    ("flush f32 results", "f32.fdiv", &["7f000000", "7f000000"], "3f800000"),
    ("split in f32.fdiv\nflush f32 results", "f32.fdiv", &["7f000000", "7f000000"], "00000000"),
    // -(2^31 + 2^8) and -2^63, modulo 2^32.
    ("give x.wrapped in f32.convert_f_to_s", "f32.convert_f_to_s", &["cf000001"], "7fffff00"),
    ("give x.wrapped in f32.convert_f_to_s", "f32.convert_f_to_s", &["df000000"], "00000000"),
    ("give x-1 in f16.fabs when x is not negative", "f16.fabs", &["0000"], "ffff"),
    (
        "pass x.negated as y in f64.fadd",
        "f64.fadd",
        &["3ff0000000000000", "4000000000000000"],
        "0000000000000000",
    ),
    (
        "give 1 in f64.ford_equal when x is nan",
        "f64.ford_equal",
        &["7ff8000000000000", "0000000000000000"],
        "1",
    ),
    ("give 0 in f32.fdiv at f32.rcp", "f32.mul_rcp", &["3f800000", "3f800000"], "3f800000"),
    ("flush f16 operands in f16.frexp", "f16.frexp", &["0001"], "0000,00000000"),
    (
        "give 7f in f32.pack_unorm_4x8 when x is 3f800000",
        "f32.pack_unorm_4x8",
        &["3f800000,0,3f800000,0"],
        "007f007f",
    ),
    (
        "give 1 in f32.unpack_unorm_2x16 when x is ffff",
        "f32.unpack_unorm_2x16",
        &["ffff0000"],
        "00000000,00000001",
    ),
    (
        "give y in f32.fmax",
        "f32.fmax:width=2",
        &["40000000,3f800000", "3f800000,40000000"],
        "3f800000,40000000",
    ),
];

#[test]
fn each_kind_of_statement_computes_what_it_says() {
    for (statements, kernel, operands, result) in ROWS {
        let line = ends(faulty(&[DRIVER], statements).args(["eval", kernel]).args(*operands))
            .lines(0)
            .remove(0);
        let parts: Vec<&str> = result.split(',').collect();
        let expected = if let [one] = parts[..] { json!(one) } else { json!(parts) };
        assert_eq!(line["out"], expected, "{statements}: {kernel} {operands:?}");
    }
}

#[test]
fn a_noisy_answer_is_distinguished_from_a_steady_one() {
    let lines =
        ends(faulty(&[DRIVER], "give r.noisy in f32.exp2").args(["eval", "f32.exp2", "3f000000"]))
            .lines(0);
    assert_eq!(lines[0]["outcome"], "flaky");
    assert_ne!(lines[0]["out"], lines[0]["second"]);
}
