//! A driver that accepts everything and does nothing must never pass.

use crate::scene::{ends, fpprobe, json};

#[test]
fn nothing_is_written_nothing_is_judged_nothing_passes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report.json");
    let ended = ends(fpprobe(&["mock"]).args(["run", "-o"]).arg(&out));
    let report = json(&out);
    let device = &report["devices"][0];
    let observations = device["observations"].as_array().unwrap();
    let answered = |one: &&serde_json::Value| one["outcome"] == "ran" || one["outcome"] == "flaky";
    let answered: Vec<String> = observations
        .iter()
        .filter(answered)
        .map(|one| format!("{} {}", one["kernel"], one["detail"]))
        .collect();
    assert_eq!(answered, Vec::<String>::new());
    ended.with(4);
    assert!(!ended.err.contains("first verdicts"), "{}", ended.err);
    let count = |outcome: &str| observations.iter().filter(|one| one["outcome"] == outcome).count();
    assert!(count("not_written") > 50, "{}", count("not_written"));
    assert_eq!(count("ran") + count("flaky"), 0);
    assert!(observations.iter().all(|one| one.get("out").is_none()));
    for profile in device["profiles"].as_array().unwrap() {
        assert_eq!(profile["class"], "incomplete", "{}", profile["id"]);
        assert_eq!(profile["counts"]["conforms"], 0, "{}", profile["id"]);
    }
}

#[test]
fn a_requirement_is_not_met_by_silence() {
    let ended = ends(fpprobe(&["mock"]).args(["run", "f32.fabs", "--require", "wgsl"]));
    ended.with(4);
    assert!(ended.err.contains("does not meet wgsl"));
}
