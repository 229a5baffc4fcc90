//! The gate against drivers that run less than they did: what does not run any more, or never ran
//! though the device claims to support it, is named and has a status.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::faulty::faulty;
use crate::scene::{Ended, ends, fpprobe, json};

/// Kernels of a few operations by many variants.
const KERNELS: [&str; 5] = ["f32.fabs*", "f32.floor*", "f32.ceil*", "f32.trunc*", "f32.fsign*"];

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    /// With the baseline of `SwiftShader` without faults.
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        let (run, report) = scene.run("calm", "");
        run.with(0);
        scene.accept(&report, &[]).with(0);
        std::fs::write(scene.path("empty.toml"), "schema = \"fpprobe-baseline/1\"\n").unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, name: &str, faults: &str) -> (Ended, PathBuf) {
        let report = self.path(&format!("{name}.json"));
        let mut command = faulty(&["swiftshader"], faults);
        (
            ends(command.arg("run").args(KERNELS).args(["--profile", "vulkan", "-o"]).arg(&report)),
            report,
        )
    }

    fn accept(&self, report: &Path, arguments: &[&str]) -> Ended {
        let mut command = fpprobe(&[]);
        command.args(["baseline", "accept", "--allow-tainted", "--reason", "known"]).arg(report);
        ends(command.arg("-o").arg(self.path("accepted.toml")).args(arguments))
    }

    fn check(&self, baseline: &str, report: &Path, arguments: &[&str]) -> Ended {
        let mut command = fpprobe(&[]);
        command
            .args(["check", "--allow-tainted", "--baseline"])
            .arg(self.path(baseline))
            .args(arguments);
        ends(command.arg(report))
    }
}

/// How many kernels ended so.
fn count(report: &Path, outcome: &str) -> usize {
    let report = json(report);
    let observations = report["devices"][0]["observations"].as_array().unwrap();
    observations.iter().filter(|one| one["outcome"] == outcome).count()
}

#[test]
fn kernels_that_a_driver_refuses_or_leaves_undone_close_the_gate_by_name() {
    let scene = Scene::new();
    let refuses = "return VK_ERROR_UNKNOWN in vkCreateComputePipelines share 95; \
        return VK_ERROR_UNKNOWN in vkCreateGraphicsPipelines share 95";
    for (name, faults, outcome, least) in
        [("refusing", refuses, "rejected", 10), ("idle", "skip share 30", "not_written", 3)]
    {
        let (run, report) = scene.run(name, faults);
        let failed = count(&report, outcome);
        assert!(failed >= least && count(&report, "ran") > 0, "{name}: {failed}");
        run.with(5);
        assert!(run.err.contains("claims to support what it does not run"), "{}", run.err);
        // The baseline knows that they ran.
        let checked = scene.check("accepted.toml", &report, &[]);
        assert!(
            checked.with(3).contains(&format!("{failed} kernels not run any more")),
            "{}",
            checked.out
        );
        let document = scene.check("accepted.toml", &report, &["--format", "json"]).document(3);
        let changes = document["changes"].as_array().unwrap().iter();
        let unrun: Vec<&Value> = changes.filter(|one| one["subject"] == "kernel").collect();
        assert_eq!(unrun.len(), failed);
        let ended = outcome.replace('_', " ");
        assert!(unrun.iter().all(|one| one["old"] == "ran" && one["new"] == *ended), "{unrun:?}");
        // One that knows nothing lets them pass no more, strictly or not.
        for arguments in [&[][..], &["--strict"]] {
            let ended = scene.check("empty.toml", &report, arguments);
            assert!(
                !ended.out.contains("passed:") || ended.out.contains("not passed"),
                "{}",
                ended.out
            );
            assert!([Some(3), Some(5)].contains(&ended.code), "{}", ended.out);
            assert!(ended.out.contains(&format!("{failed} kernels not run")), "{}", ended.out);
        }
        let junit = scene.check("accepted.toml", &report, &["--format", "junit"]);
        assert!(junit.with(3).contains(unrun[0]["id"].as_str().unwrap()), "{}", junit.out);
    }
}

#[test]
fn what_a_driver_never_ran_can_be_accepted_by_name() {
    let scene = Scene::new();
    std::fs::remove_file(scene.path("accepted.toml")).unwrap();
    let faults = "return VK_ERROR_UNKNOWN in vkCreateComputePipelines at f32.floor:width=3";
    let (run, report) = scene.run("one", faults);
    run.with(5);
    let accepted = scene.accept(&report, &[]);
    accepted.with(0);
    assert!(accepted.err.contains("1 kernel that does not run"), "{}", accepted.err);
    assert!(
        std::fs::read_to_string(scene.path("accepted.toml"))
            .unwrap()
            .contains("rejected f32.floor:width=3")
    );
    scene.check("accepted.toml", &report, &["--strict"]).with(0);
    // That it crashes now is another thing.
    let (_, crashing) =
        scene.run("crash", "crash in vkCreateComputePipelines at f32.floor:width=3");
    scene.check("accepted.toml", &crashing, &[]).with(5);
}

#[test]
fn a_device_of_the_baseline_that_is_not_there_closes_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let run = |drivers: &[&str], faults: &str, name: &str| {
        let mut command = faulty(drivers, faults);
        let store = ["--store-path".into(), path("store").into_os_string()];
        ends(
            command
                .args(["run", "f32.fabs", "--allow-tainted"])
                .args(store)
                .arg("-o")
                .arg(path(name)),
        )
    };
    let both = ["swiftshader", "lavapipe-25"];
    run(&both, "", "both.json").with(0);
    let mut accept = fpprobe(&[]);
    accept
        .args(["baseline", "accept", "--allow-tainted", "--reason", "known"])
        .arg(path("both.json"));
    ends(accept.arg("-o").arg(path("accepted.toml"))).with(0);
    let check = |name: &str, arguments: &[&str]| {
        let mut command = fpprobe(&[]);
        command
            .args(["check", "--allow-tainted", "--baseline"])
            .arg(path("accepted.toml"))
            .arg(path(name));
        ends(command.args(arguments))
    };
    check("both.json", &["--strict"]).with(0);
    // The driver refuses to start: its result is in the report, and since the store has its device
    // the run is incomplete.
    let refused = "return VK_ERROR_INCOMPATIBLE_DRIVER in vkCreateInstance on lavapipe-25";
    let one = run(&both, refused, "one.json");
    one.with(5);
    assert!(
        one.err.contains("VK_ERROR_INCOMPATIBLE_DRIVER") && one.err.contains("was measured on"),
        "{}",
        one.err
    );
    let incident: Value = json(&path("one.json"))["incomplete"][0].clone();
    assert!(incident["subject"].as_str().unwrap().contains("lavapipe-25"), "{incident}");
    assert!(
        incident["detail"]
            .as_str()
            .unwrap()
            .contains("vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER")
    );
    // Other commands that measure say it, too.
    let mut eval = faulty(&both, refused);
    eval.args([
        "--set",
        &format!("store.path={}", path("store").display()),
        "eval",
        "f32.fabs",
        "80000000",
    ]);
    let eval = ends(&mut eval);
    eval.with(0);
    assert!(eval.err.contains("was measured on"), "{}", eval.err);
    let missing = check("one.json", &[]);
    assert!(missing.with(3).contains("10005:0000: llvmpipe"), "{}", missing.out);
    // Who selects devices has requested those alone.
    let ended = ends(faulty(&both, refused).args(["run", "f32.fabs", "--device", "SwiftShader"]));
    ended.with(0);
    // Without a report of before it is a driver as most machines have some: told, and no failure.
    let mut command = faulty(&both, refused);
    command.args(["run", "f32.fabs", "--format", "json"]).env("XDG_STATE_HOME", path("nothing"));
    let alone = ends(&mut command);
    let report = alone.document(0);
    assert!(
        report["incomplete"][0]["detail"]
            .as_str()
            .unwrap()
            .starts_with("no device in this machine"),
        "{report}"
    );
    assert!(report["incomplete"][0].get("outcome").is_none());
    assert!(alone.err.contains("no device in this machine"), "{}", alone.err);
}

#[test]
fn what_is_said_of_a_driver_that_lists_no_device_names_the_call() {
    let mut command = faulty(
        &["swiftshader", "lavapipe-25"],
        "count vkEnumeratePhysicalDevices 0 on lavapipe-25",
    );
    let list = ends(command.args(["list", "--json"])).document(0);
    assert_eq!(list["idle"].as_array().unwrap().len(), 1);
    assert!(
        list["idle_reasons"][0].as_str().unwrap().contains("vkEnumeratePhysicalDevices"),
        "{list}"
    );
}
