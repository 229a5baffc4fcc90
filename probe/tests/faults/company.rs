//! Results that depend on the run or on what a kernel is batched with.

use crate::faulty::{KERNELS, RECOMPILING, measured, run};
use crate::scene::{ends, fpprobe, json};

/// Wrong, but possible.
const WRONG: &str = "give 3f800000 in f32.sqrt when x is 40000000";

/// A compiler that is wrong every second time is found where modules are compiled again: by one
/// seed in eight, and always where everything is measured. What was not compiled again is what the
/// first module gave.
#[test]
fn a_compiler_that_is_not_deterministic_is_found_in_modules_that_are_compiled_again() {
    let statement = format!("{WRONG} second");
    let right = measured("").out("f32.sqrt").clone();
    for seed in 0..8 {
        let run = run(&statement, &KERNELS, &["--timeout", "20", "--seed", &seed.to_string()]);
        let recompiled = run.device()["recompiled"].as_array();
        let recompiled =
            recompiled.is_some_and(|kernels| kernels.iter().any(|kernel| kernel == "f32.sqrt"));
        assert_eq!(recompiled, seed == RECOMPILING, "{seed}");
        let expected = if recompiled { ("flaky", 1) } else { ("ran", 0) };
        let found = (run.outcome("f32.sqrt"), run.findings("flaky", "f32.sqrt"));
        assert_eq!(found, expected, "{seed}: {}", run.detail("f32.sqrt"));
        assert!(recompiled || *run.out("f32.sqrt") == right);
        run.others_unharmed(&["f32.sqrt"]);
    }
    let all = run(&statement, &["f32.sqrt"], &["--timeout", "20", "--exhaustive"]);
    assert_eq!(all.outcome("f32.sqrt"), "flaky", "{}", all.detail("f32.sqrt"));
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
    let isolated = run.device()["observations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["isolated"] == true);
    assert!(isolated.map(|one| &one["kernel"]).any(|kernel| kernel == "f32.sqrt"));
    assert_eq!(run.device()["profiles"], right.device()["profiles"]);
    // Evidence is the result that its command gives, against the one of the batch.
    let findings = run.device()["findings"].as_array().unwrap();
    let lane = findings
        .iter()
        .find(|one| one["kind"] == "batch_dependent")
        .map(|one| &one["evidence"][0])
        .unwrap();
    assert_eq!(
        (&lane["out"], &lane["accepts"]["bits"][0]),
        (&"3fb504f3".into(), &"3f800000".into()),
        "{lane}"
    );
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
    let run =
        run("give 7fc00000 in f32.sqrt when x is 40000000", &kernels, &["--profile", "d3d11"]);
    let profile = &run.device()["profiles"][0];
    assert_ne!(profile["counts"]["deviates"], 0, "{profile}");
    assert_eq!(run.findings("batch_dependent", ""), 0);
}
