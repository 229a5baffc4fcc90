//! A table of bad behaviour: what was injected, what the report said of it, what it cost, how the
//! program ended. `cargo test -p fpprobe --test faults table -- --nocapture` prints it.

use crate::faulty::{KERNELS, RECOMPILING, Run, run};

/// Statement; outcome of the kernel that it is about, `ran` where nothing came of it; exit status.
const TABLE: [(&str, &str, i32); 29] = [
    ("crash in vkCreateComputePipelines at f32.sqrt", "crashed", 5),
    ("crash SIGABRT in vkQueueSubmit at f32.sqrt", "crashed", 5),
    ("crash SIGFPE in vkWaitForFences at f32.sqrt", "crashed", 5),
    ("crash in vkCreateComputePipelines at f32.sqrt company", "ran", 5),
    ("crash in vkCreateComputePipelines at f32.sqrt once ever", "ran", 5),
    ("crash SIGKILL in vkQueueSubmit at f32.sqrt once ever", "ran", 5),
    ("exit 3 in vkCreateShaderModule at f32.sqrt", "crashed", 5),
    ("hang in vkCreateComputePipelines at f32.sqrt", "hung", 5),
    ("deaf in vkCreateComputePipelines at f32.sqrt", "hung", 5),
    ("return VK_TIMEOUT in vkWaitForFences at f32.sqrt", "hung", 5),
    ("return VK_ERROR_DEVICE_LOST in vkQueueSubmit at f32.sqrt", "device_lost", 5),
    ("return VK_ERROR_DEVICE_LOST in vkWaitForFences at f32.sqrt once ever", "ran", 5),
    (
        "return VK_ERROR_OUT_OF_HOST_MEMORY in vkCreateComputePipelines at f32.sqrt",
        "out_of_memory",
        5,
    ),
    ("return VK_ERROR_OUT_OF_DEVICE_MEMORY in vkQueueSubmit at f32.sqrt once ever", "ran", 5),
    ("return VK_ERROR_INVALID_SHADER_NV in vkCreateComputePipelines at f32.sqrt", "rejected", 5),
    ("return VK_ERROR_UNKNOWN in vkCreateShaderModule once ever", "ran", 0),
    ("skip at f32.sqrt", "not_written", 5),
    ("skip at f32.sqrt company", "ran", 0),
    // f32.sqrt is in the first of these shares and in the last.
    ("return VK_ERROR_UNKNOWN in vkCreateComputePipelines share 95 at f32.sqrt", "rejected", 5),
    ("skip share 30 at f32.sqrt", "ran", 0),
    ("skip share 99 at f32.sqrt", "not_written", 5),
    ("half columns at f32.sqrt", "not_written", 5),
    ("half rows at f32.sqrt company", "ran", 0),
    ("overrun 64 at f32.sqrt", "crashed", 5),
    ("scribble 1 0 64 at f32.sqrt", "crashed", 5),
    ("flood stderr 100000000 in vkCreateShaderModule at f32.sqrt", "ran", 0),
    ("flood stdout 100000000 in vkCreateShaderModule at f32.sqrt", "ran", 0),
    ("give r.noisy in f32.sqrt", "flaky", 0),
    ("string deviceName \\xff\\e[31m<b>=1+1", "ran", 0),
];

/// What the report says in one place or another.
fn said(run: &Run) -> String {
    let incidents =
        run.incidents().into_iter().map(|one| format!("{}: {}", one["subject"], one["detail"]));
    let findings =
        run.device()["findings"].as_array().unwrap().iter().map(|one| one["text"].to_string());
    let detail = (run.outcome("f32.sqrt") != "ran").then(|| run.detail("f32.sqrt").to_owned());
    let all: Vec<String> = detail.into_iter().chain(incidents).chain(findings).collect();
    all.join("; ")
}

#[test]
fn bad_behaviour_costs_what_it_is_about_and_nothing_else() {
    println!(
        "| injected | said of f32.sqrt | other kernels lost | exit | in words |\n|---|---|---|---|---|"
    );
    for (statement, outcome, code) in TABLE {
        let run = run(statement, &KERNELS, &["--timeout", "3", "--seed", &RECOMPILING.to_string()]);
        let others = KERNELS.iter().filter(|kernel| **kernel != "f32.sqrt");
        let lost = others.filter(|kernel| run.outcome(kernel) != "ran").count();
        println!(
            "| `{statement}` | {} | {lost} | {} | {} |",
            run.outcome("f32.sqrt"),
            run.code,
            said(&run)
        );
        assert_eq!(
            (run.outcome("f32.sqrt"), run.code, lost),
            (outcome, code, 0),
            "{statement}: {}",
            run.err
        );
        run.others_unharmed(&["f32.sqrt"]);
        // What costs nothing is reported all the same: in the report where the driver is to blame,
        // else on standard error.
        let is_reported = !said(&run).is_empty()
            || run.err.contains("killed by SIGKILL")
            || statement.starts_with("flood");
        assert!(is_reported || statement.starts_with("string"), "{statement}: {}", run.err);
    }
}

/// Lies that strike whole modules, and are rare or depend on how a kernel is run: statement;
/// arguments; outcome of the only kernel.
const RARE: [(&str, &[&str], &str); 11] = [
    ("", &[], "ran"),
    ("", &["--stress"], "ran"),
    ("queues 2", &["--stress"], "ran"),
    ("flip 0.01", &[], "flaky"),
    ("give r+1 in f32.sqrt by local64", &[], "flaky"),
    ("redispatch wrong", &[], "flaky"),
    ("redispatch stale", &[], "flaky"),
    ("queues 2; other-queue wrong", &[], "ran"),
    ("queues 2; other-queue wrong", &["--stress"], "flaky"),
    ("redispatch wrong", &["--seed", "77"], "flaky"),
    ("redispatch stale", &["--seed", "77"], "flaky"),
];

#[test]
fn lies_that_are_rare_or_depend_on_how_a_kernel_is_run_are_found() {
    println!("| injected | arguments | f32.sqrt | exit | in words |\n|---|---|---|---|---|");
    let calm = run("", &["f32.sqrt"], &[]);
    for (statement, arguments, outcome) in RARE {
        let seed = RECOMPILING.to_string();
        let seed = if arguments.contains(&"--seed") { &[][..] } else { &["--seed", &seed] };
        let run = run(statement, &["f32.sqrt"], &[arguments, seed].concat());
        let text = arguments.join(" ");
        println!(
            "| `{statement}` | `{text}` | {} | {} | {} |",
            run.outcome("f32.sqrt"),
            run.code,
            said(&run)
        );
        assert_eq!(
            (run.outcome("f32.sqrt"), run.code),
            (outcome, 0),
            "{statement} {text}: {}",
            run.err
        );
        assert_eq!(
            run.findings("flaky", "f32.sqrt"),
            usize::from(outcome == "flaky"),
            "{statement} {text}"
        );
        if outcome == "ran" {
            assert_eq!(run.out("f32.sqrt"), calm.out("f32.sqrt"), "{statement} {text}");
        }
    }
}

#[test]
fn a_fault_of_any_local_size_is_found_by_some_seed() {
    for size in [32, 96, 128, 256] {
        let statement = format!("give r+1 in f32.sqrt by local{size}");
        let found = |seed: u64| {
            run(&statement, &["f32.sqrt"], &["--seed", &seed.to_string()]).outcome("f32.sqrt")
                == "flaky"
        };
        assert!((1..16).any(|round| found(8 * round + RECOMPILING)), "{size}");
    }
}
