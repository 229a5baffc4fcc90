//! Results that depend on the run or on what a kernel is batched with.

use crate::faulty::{measured, run};
use crate::scene::{ends, fpprobe, json};

/// Wrong, but possible.
const WRONG: &str = "give 3f800000 in f32.sqrt when x is 40000000";

#[test]
fn wrong_in_the_second_run_alone_is_flaky() {
    let run = measured(&format!("{WRONG} second"));
    assert_eq!(run.outcome("f32.sqrt"), "flaky", "{}", run.detail("f32.sqrt"));
    assert_eq!(run.findings("flaky", "f32.sqrt"), 1, "{}", run.device()["findings"]);
    run.others_unharmed(&["f32.sqrt"]);
}

#[test]
fn wrong_always_is_an_answer() {
    let run = measured(WRONG);
    assert_eq!(run.outcome("f32.sqrt"), "ran");
    assert_ne!(run.out("f32.sqrt"), measured("").out("f32.sqrt"));
    run.others_unharmed(&["f32.sqrt"]);
}

#[test]
fn wrong_only_when_batched_is_a_finding_and_no_deviation() {
    let (right, run) = (measured(""), measured(&format!("{WRONG} company")));
    assert_eq!(run.findings("batch_dependent", "f32.sqrt"), 1, "{}", run.device()["findings"]);
    run.others_unharmed(&["f32.sqrt"]);
    // The isolated results are judged, and the report says so.
    assert_eq!(run.out("f32.sqrt"), right.out("f32.sqrt"));
    let isolated = run.device()["observations"].as_array().unwrap().iter().filter(|one| one["isolated"] == true);
    assert!(isolated.map(|one| &one["kernel"]).any(|kernel| kernel == "f32.sqrt"));
    assert_eq!(run.device()["profiles"], right.device()["profiles"]);
    // Evidence is the result that its command gives, against the one of the batch.
    let findings = run.device()["findings"].as_array().unwrap();
    let lane = findings.iter().find(|one| one["kind"] == "batch_dependent").map(|one| &one["evidence"][0]).unwrap();
    assert_eq!((&lane["out"], &lane["accepts"]["bits"][0]), (&"3fb504f3".into(), &"3f800000".into()), "{lane}");
    assert_eq!(lane["command"], "fpprobe eval f32.sqrt 40000000");
}

#[test]
fn a_report_that_is_judged_again_has_the_verdicts_of_the_run() {
    let run = measured(&format!("{WRONG} company"));
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old.json", "new.json"].map(|name| folder.path().join(name));
    std::fs::write(&old, run.report.to_string()).unwrap();
    ends(fpprobe(&[]).arg("judge").arg(&old).arg("-o").arg(&new)).with(0);
    let judged = json(&new);
    assert_eq!(judged["devices"][0]["profiles"], run.device()["profiles"]);
    assert_eq!(judged["devices"][0]["findings"], run.device()["findings"]);
}

#[test]
fn a_deviation_is_found_alone_too() {
    let kernels = ["f32.fabs", "f32.sqrt"];
    let run = run("give 7fc00000 in f32.sqrt when x is 40000000", &kernels, &["--profile", "d3d11"]);
    let profile = &run.device()["profiles"][0];
    assert_ne!(profile["counts"]["deviates"], 0, "{profile}");
    assert_eq!(run.findings("batch_dependent", ""), 0);
}
