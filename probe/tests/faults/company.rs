//! Answers that depend on the run or on the company.

use crate::faulty::{measured, run};

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
fn wrong_in_company_alone_is_a_finding() {
    let run = measured(&format!("{WRONG} company"));
    assert_eq!(run.findings("company", "f32.sqrt"), 1, "{}", run.device()["findings"]);
    run.others_unharmed(&["f32.sqrt"]);
}

#[test]
fn a_deviation_is_found_alone_too() {
    let kernels = ["f32.fabs", "f32.sqrt"];
    let run = run("give 7fc00000 in f32.sqrt when x is 40000000", &kernels, &["--profile", "d3d11"]);
    let profile = &run.device()["profiles"][0];
    assert_ne!(profile["counts"]["deviates"], 0, "{profile}");
    assert_eq!(run.findings("company", ""), 0);
}
