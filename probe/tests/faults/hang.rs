//! Drivers that never answer.

use std::time::{Duration, Instant};

use crate::faulty::{impatient, measured, run};

#[test]
fn a_hang_costs_its_kernel_and_nothing_else() {
    for statement in [
        "hang in vkCreateComputePipelines at f32.floor",
        "deaf in vkQueueSubmit at f32.floor",
        "return VK_TIMEOUT in vkWaitForFences at f32.floor",
    ] {
        let run = impatient(statement);
        assert_eq!(run.code, 5, "{statement}: {}", run.err);
        assert_eq!(run.outcome("f32.floor"), "hung", "{statement}");
        run.others_unharmed(&["f32.floor"]);
        run.nothing_passes();
        assert!(
            run.incidents().iter().any(|one| one["subject"] == "f32.floor"),
            "{:#?}",
            run.incidents()
        );
    }
}

#[test]
fn a_fence_that_never_comes_is_told_with_its_call() {
    let run = impatient("return VK_TIMEOUT in vkWaitForFences at f32.sqrt");
    run.incident("f32.sqrt", "hung", "vkWaitForFences");
}

#[test]
fn a_hang_that_does_not_come_back_costs_time_only() {
    let run = impatient("deaf in vkCreateShaderModule once ever");
    assert_eq!((run.code, run.struck.len()), (5, 1), "{}", run.err);
    run.others_unharmed(&[]);
}

#[test]
fn slow_is_not_hung() {
    let run = measured("sleep 1500 in vkCreateComputePipelines");
    assert_eq!(run.code, 0, "{}", run.err);
    run.others_unharmed(&[]);
}

#[test]
fn a_device_that_always_hangs_is_given_up_in_bounded_time() {
    let start = Instant::now();
    let run = run("hang in vkQueueSubmit", &["f32.f*"], &["--timeout", "1"]);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
    assert!(
        run.device()["observations"].as_array().unwrap().iter().all(|one| one["outcome"] != "ran")
    );
}
