//! `answers` on real drivers, and from a report.

use serde_json::Value;

use crate::scene::{ends, fpprobe};

fn answer<'a>(document: &'a Value, id: &str) -> &'a str {
    let answers = document["devices"][0]["answers"].as_array().unwrap();
    answers.iter().find(|answer| answer["id"] == id).unwrap()["answer"].as_str().unwrap()
}

/// What is known of lavapipe, each point shown by `eval`: the compiler leaves out a conversion to 16 bits and back, but
/// not under `FPFastMathDefault` None; stores to R11G11B10 truncate; nothing is flushed.
#[test]
fn questions_have_answers_with_lanes_that_show_them() {
    let document = ends(fpprobe(&["lavapipe-25"]).args(["--set", "workers.timeout=60", "answers", "--format", "json"]))
        .document(0);
    assert_eq!(document["schema"], "fpprobe-answers/1");
    assert_eq!(document["devices"][0]["answers"].as_array().unwrap().len(), 19);
    let says = |id: &str, part: &str| {
        let answer = answer(&document, id);
        assert!(answer.contains(part), "{id}: {answer}");
    };
    says("Q01", "fconvert_f16, fconvert_f16 under RTE, pack_half_2x16: rounds to nearest even, overflows to infinity");
    says("Q02", "elided");
    says("Q02", "under FPFastMathDefault None: carried out");
    says("Q03", "fadd, fmul, fma: reads subnormals as they are, keeps subnormal results");
    says("Q05", "does not arise");
    says("Q08", "rsq(-0): ff800000 (-inf)");
    says("Q09", "rounds towards zero, overflows to the largest finite value, keeps subnormal results");
    says("Q16", "rounds twice");
    says("Q19", "pow(0, 0), pow(0, -0), pow(-0, 0), pow(-0, -0): 00000000 (0)");
    assert!(!answer(&document, "Q19").contains("not measured"), "{}", answer(&document, "Q19"));
    let shown = document["devices"][0]["answers"][7]["evidence"].as_array().unwrap();
    assert!(shown.iter().any(|lane| lane["command"] == "fpprobe eval f32.inverse_sqrt 80000000"), "{shown:?}");
}

#[test]
fn a_report_answers_without_its_device() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    ends(fpprobe(&["swiftshader"]).args(["run", "f32.fmul", "f32.fnegate", "-o"]).arg(&report)).with(0);
    let document = ends(fpprobe(&[]).arg("answers").arg(&report).args(["--format", "json"])).document(0);
    let moved = answer(&document, "Q05");
    assert!(moved.contains("a flushed negative result: keeps its sign"), "{moved}");
    assert!(moved.contains("fnegate: gives 00000000 for 80400000"), "{moved}");
    assert!(moved.contains("not measured"), "{moved}");
    let text = ends(fpprobe(&[]).arg("answers").arg(&report));
    text.with(0);
    assert!(text.out.contains("Q05  Which sign has a flushed zero"), "{}", text.out);
    ends(fpprobe(&[]).arg("answers").arg(folder.path().join("none.json"))).with(2);
}
