//! Runs on failing devices, continued when the device fails no more.

use std::path::Path;
use std::process::Command;

use crate::faulty::{KERNELS, faulty, run};
use crate::scene::{ends, json};

/// One kernel in a module, two workers, given up after the second failure in a row.
fn nervous(folder: &Path) -> std::path::PathBuf {
    let config = folder.join("config.toml");
    std::fs::write(&config, "[workers]\nbatch = 1\njobs = 2\nfailures = 1\n").unwrap();
    config
}

fn resume(folder: &Path, config: &Path, statements: &str) -> Command {
    let mut command = faulty(&["swiftshader"], statements);
    command.arg("--config").arg(config).args(["run", "--resume"]).arg(folder.join("out"));
    command
}

#[test]
fn a_device_that_was_given_up_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let config = nervous(folder.path());
    let mut first = faulty(&["swiftshader"], "crash in vkCreateComputePipelines at f32.s*|f32.f*");
    first.arg("--config").arg(&config).args(["run", "f32.*", "-o"]).arg(folder.path().join("out"));
    let ended = ends(&mut first);
    assert!(ended.err.contains("given up"), "{}", ended.err);
    let report = json(&folder.path().join("out/report.json"));
    let device = &report["devices"][0];
    let observations = device["observations"].as_array().unwrap();
    assert!(
        observations.iter().all(|one| one["outcome"] != "crashed" || one["detail"] != ""),
        "who failed is named"
    );
    assert!(device["incomplete"].to_string().contains("--resume"), "{}", device["incomplete"]);

    ends(&mut resume(folder.path(), &config, "")).with(5);
    let report = json(&folder.path().join("out/report.json"));
    let all = report["devices"][0]["observations"].as_array().unwrap();
    assert!(
        all.len() > observations.len() && all.len() > 90,
        "{} of {}",
        observations.len(),
        all.len()
    );
    assert!(!folder.path().join("out/journal.jsonl").exists());
}

#[test]
fn answers_made_with_a_layer_are_not_taken_for_the_drivers_own() {
    let folder = tempfile::tempdir().unwrap();
    let config = nervous(folder.path());
    let mut first = faulty(
        &["swiftshader"],
        "give 42 in f32.fadd; crash in vkCreateComputePipelines at f32.s*",
    );
    first.arg("--config").arg(&config).args(["run", "f32.*", "-o"]).arg(folder.path().join("out"));
    ends(&mut first);
    let mut bare = resume(folder.path(), &config, "");
    let ended = ends(bare.env_remove("VK_INSTANCE_LAYERS"));
    ended.with(2);
    assert!(
        ended.err.contains(fpprobe_fault_layer::NAME) || ended.err.contains("layer"),
        "{}",
        ended.err
    );
}

#[test]
fn a_device_with_room_for_one_worker_is_measured_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[workers]\nbatch = 1\njobs = 2\n").unwrap();
    let statement = "return VK_ERROR_INITIALIZATION_FAILED in vkCreateDevice from 2 ever\nsleep 300 in vkQueueSubmit";
    let run = run(statement, &KERNELS, &["--config", config.to_str().unwrap(), "--timeout", "20"]);
    assert!(run.struck.len() > 2, "{}", run.err);
    run.others_unharmed(&[]);
}
