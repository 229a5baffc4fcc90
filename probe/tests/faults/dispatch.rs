//! Dispatches that are not executed, or not as asked.

use crate::faulty::{KERNELS, measured};

#[test]
fn what_was_not_executed_is_not_written() {
    let run = measured("skip");
    assert_eq!(run.code, 4, "{}", run.err);
    for kernel in KERNELS {
        assert_eq!(run.outcome(kernel), "not_written", "{kernel}");
    }
    run.nothing_passes();
}

#[test]
fn kernels_that_were_not_executed_cost_their_company_nothing() {
    let run = measured("skip at f32.sqrt");
    assert_eq!(run.outcome("f32.sqrt"), "not_written");
    run.others_unharmed(&["f32.sqrt"]);
}

#[test]
fn half_of_the_results_is_none() {
    let run = measured("half columns");
    for kernel in KERNELS {
        assert_eq!(run.outcome(kernel), "not_written", "{kernel}");
        assert!(run.observation(kernel).get("out").is_none(), "{kernel}");
    }
    run.nothing_passes();
}

/// Each leaves results unwritten in one of the two runs: the kernels of a module come in reverse
/// order in the second.
const ONCE: [&str; 2] = ["half rows company", "skip second"];

#[test]
fn results_that_were_written_in_one_run_only_are_reported() {
    for statement in ONCE {
        let run = measured(statement);
        for kernel in KERNELS.iter().filter(|kernel| run.outcome(kernel) != "ran") {
            assert!(
                ["flaky", "not_written"].contains(&run.outcome(kernel)),
                "{statement}: {kernel}"
            );
            assert!(run.detail(kernel).contains("poison"), "{statement}: {}", run.detail(kernel));
        }
    }
}

#[test]
fn poison_is_never_judged_as_an_answer() {
    for statement in ONCE {
        let run = measured(statement);
        for profile in run.device()["profiles"].as_array().unwrap() {
            let deviating = profile["rules"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|rule| rule["verdict"] == "deviates");
            let ids: Vec<&serde_json::Value> = deviating.map(|rule| &rule["id"]).collect();
            assert!(ids.is_empty(), "{statement}: {} deviates in {ids:?}", profile["id"]);
        }
    }
}

#[test]
fn results_that_something_else_has_overwritten_are_flaky() {
    // The shuffled second run has other cases in the same place.
    let run =
        measured("scribble 5 0 64 alone at f32.sqrt; crash in vkCreateComputePipelines company");
    assert_eq!(run.outcome("f32.sqrt"), "flaky", "{}", run.detail("f32.sqrt"));
    assert_eq!(run.findings("flaky", "f32.sqrt"), 1);
    run.others_unharmed(&["f32.sqrt"]);
}

#[test]
fn operands_that_something_has_overwritten_are_noticed() {
    let run = measured("scribble 1 0 64 at f32.sqrt");
    assert_eq!(run.outcome("f32.sqrt"), "crashed", "{}", run.detail("f32.sqrt"));
    run.incident("f32.sqrt", "crashed", "operands");
    run.others_unharmed(&["f32.sqrt"]);
}

#[test]
fn writing_past_the_end_is_noticed() {
    let run = measured("overrun 64 at f32.sqrt");
    assert!(!run.struck.is_empty());
    assert!(
        run.outcome("f32.sqrt") != "ran"
            || !run.device()["findings"].as_array().unwrap().is_empty(),
        "bytes behind the results were overwritten, and nobody says so"
    );
}
