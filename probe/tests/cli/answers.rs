//! `answers` on real drivers, and from a report.

use serde_json::Value;

use crate::scene::{ends, fpprobe};

fn answer<'a>(document: &'a Value, id: &str) -> &'a str {
    let answers = document["devices"][0]["answers"].as_array().unwrap();
    answers.iter().find(|answer| answer["id"] == id).unwrap()["answer"].as_str().unwrap()
}

/// What is known of lavapipe, each point shown by `eval`: the compiler leaves out a conversion to
/// 16 bits and back, but not under `FPFastMathDefault` None; stores to R11G11B10 truncate; nothing
/// is flushed.
#[test]
fn questions_have_answers_with_lanes_that_show_them() {
    let document = ends(fpprobe(&["lavapipe-25"]).args([
        "--set",
        "workers.timeout=60",
        "answers",
        "--format",
        "json",
    ]))
    .document(0);
    assert_eq!(document["schema"], "fpprobe-answers/1");
    assert_eq!(document["devices"][0]["answers"].as_array().unwrap().len(), 19);
    let says = |id: &str, part: &str| {
        let answer = answer(&document, id);
        assert!(answer.contains(part), "{id}: {answer}");
    };
    says("Q01", "f32.to_f16_rounding, f32.to_f16_rounding_under_rte, f32.pack_half_rounding");
    says(
        "Q02",
        "f32.narrow_and_widen: removed; f32.narrow_and_widen_under_no_fast_math: carried out",
    );
    says("Q03", "f32.subnormal_results_under_preserve_16: not offered");
    says("Q05", "f32.flushed_zero_sign: not flushed");
    says("Q08", "f32.rsq_of_negative_zero: negative infinity");
    says("Q09", "b10g11r11.store_rounding: ");
    says("Q12", "f32.sin_error_within_pi");
    says("Q16", "f32.mul_then_add_under_no_contraction");
    says(
        "Q19",
        "f32.pow_of_zero_and_zero, f32.pow_of_zero_and_negative_zero, f32.pow_of_negative_zeros: zero",
    );
    let shown = document["devices"][0]["answers"][7]["evidence"].as_array().unwrap();
    assert!(
        shown.iter().any(|lane| lane["command"] == "fpprobe eval f32.inverse_sqrt 80000000"),
        "{shown:?}"
    );
}

#[test]
fn a_report_answers_without_its_device() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    ends(fpprobe(&["swiftshader"]).args(["run", "f32.fmul", "f32.fnegate", "-o"]).arg(&report))
        .with(0);
    let document =
        ends(fpprobe(&[]).arg("answers").arg(&report).args(["--format", "json"])).document(0);
    let moved = answer(&document, "Q05");
    assert_eq!(moved, "f32.flushed_zero_sign: negative; f32.fnegate_of_subnormal: flushed");
    assert_eq!(answer(&document, "Q12"), "not measured");
    let text = ends(fpprobe(&[]).arg("answers").arg(&report));
    text.with(0);
    assert!(text.out.contains("Q05  Which sign has a flushed zero"), "{}", text.out);
    ends(fpprobe(&[]).arg("answers").arg(folder.path().join("none.json"))).with(2);
}
