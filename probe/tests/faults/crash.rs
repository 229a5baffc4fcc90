//! Drivers that take their process with them.

use serde_json::Value;

use crate::faulty::{cramped, measured, run};

#[test]
fn a_crash_costs_its_kernel_and_nothing_else() {
    for call in [
        "vkCreateShaderModule",
        "vkCreateComputePipelines",
        "vkCmdDispatch",
        "vkQueueSubmit",
        "vkWaitForFences",
    ] {
        let run = measured(&format!("crash in {call} at f32.floor"));
        assert_eq!(run.code, 5, "{call}: {}", run.err);
        assert_eq!(run.outcome("f32.floor"), "crashed");
        run.incident("f32.floor", "crashed", "SIGSEGV");
        run.others_unharmed(&["f32.floor"]);
        run.nothing_passes();
    }
}

#[test]
fn the_report_says_how_the_process_ended() {
    for (statement, words) in [
        ("crash SIGABRT in vkCreateComputePipelines at f32.sqrt", "SIGABRT"),
        ("crash SIGILL in vkCreateComputePipelines at f32.sqrt", "SIGILL"),
        ("crash SIGBUS in vkQueueSubmit at f32.sqrt", "SIGBUS"),
        ("exit 3 in vkCreateComputePipelines at f32.sqrt", "status 3"),
        ("exit 0 in vkCreateComputePipelines at f32.sqrt", "status 0"),
    ] {
        let run = measured(statement);
        assert_eq!(run.code, 5, "{statement}: {}", run.err);
        run.incident("f32.sqrt", "crashed", words);
        run.others_unharmed(&["f32.sqrt"]);
    }
}

#[test]
fn two_kernels_of_a_module_that_crash_are_both_named() {
    let run = measured("crash in vkCreateComputePipelines at f32.ceil|f32.sqrt");
    assert_eq!(run.code, 5);
    for kernel in ["f32.ceil", "f32.sqrt"] {
        run.incident(kernel, "crashed", "SIGSEGV");
    }
    run.others_unharmed(&["f32.ceil", "f32.sqrt"]);
}

#[test]
fn a_crash_that_does_not_come_back_costs_nothing() {
    let run = measured("crash in vkQueueSubmit once ever");
    assert_eq!(run.code, 5, "{}", run.err);
    assert_eq!(run.struck, ["crash in vkQueueSubmit once ever"]);
    run.others_unharmed(&[]);
    assert_eq!(run.incidents().len(), 1, "{:#?}", run.incidents());
}

#[test]
fn a_crash_only_when_batched_costs_nothing() {
    let run = measured("crash in vkCreateComputePipelines company");
    assert_eq!(run.code, 5, "{}", run.err);
    run.others_unharmed(&[]);
}

#[test]
fn a_device_that_cannot_be_opened_is_given_up() {
    let run = measured("crash in vkCreateDevice");
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.struck.len() < 20, "it was tried {} times", run.struck.len());
    run.nothing_passes();
    let once = measured("crash in vkCreateDevice once ever");
    assert_eq!(once.code, 5, "{}", once.err);
    once.others_unharmed(&[]);
}

#[test]
fn a_device_on_which_everything_crashes_is_given_up() {
    let run = run(
        "crash in vkCreateComputePipelines; crash in vkCreateGraphicsPipelines",
        &["f32.f*"],
        &["--timeout", "20"],
    );
    assert_eq!(run.code, 4, "{}", run.err);
    // The filter picks more than a hundred kernels.
    assert!(run.struck.len() < 50, "it was tried {} times", run.struck.len());
    let observations = run.device()["observations"].as_array().unwrap();
    // What the device does not support it says without a pipeline.
    let is_reported = |one: &Value| one["outcome"] == "crashed" || one["outcome"] == "unsupported";
    assert!(observations.iter().all(is_reported), "who was not asked has no observation");
    assert!(
        run.incidents().iter().any(|one| one["detail"].as_str().unwrap().contains("given up with")),
        "{}",
        run.err
    );
}

#[test]
fn a_crash_while_cleaning_up_is_no_failure_for_the_answers() {
    let run = measured("crash in vkDestroyDevice; crash in vkDestroyInstance");
    run.others_unharmed(&[]);
    assert_eq!(run.code, 0, "workers end without cleaning up: {}", run.err);
}

#[test]
fn memory_that_there_is_not_costs_its_kernel() {
    // A driver that cannot have what it wants ends its process, as most do.
    let run = cramped(4 << 20, "eat 0xffffffff in vkCreateComputePipelines at f32.sqrt");
    assert_eq!(run.code, 5, "{}", run.err);
    run.incident("f32.sqrt", "crashed", "SIGABRT");
    run.others_unharmed(&["f32.sqrt"]);
}
