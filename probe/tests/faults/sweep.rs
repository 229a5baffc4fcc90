//! Sweeps of a device that is wrong at one input, that fails in between, or that is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::faulty::faulty;
use crate::scene::{Ended, ends, json};

const DRIVER: &str = "lavapipe-25";

/// A sweep with these statements that writes its report into this file of the folder.
fn sweep(folder: &Path, statements: &str, name: &str, arguments: &[&str]) -> Command {
    let mut command = faulty(&[DRIVER], statements);
    command.arg("sweep").args(arguments).arg("-o").arg(folder.join(name));
    command.env("FPPROBE_FAULTS_STATE", folder);
    command
}

fn swept(folder: &Path, statements: &str, name: &str, arguments: &[&str]) -> Ended {
    ends(&mut sweep(folder, statements, name, arguments))
}

/// A sweep in a process of its own, with its journal, which has several records of a kind.
fn under_way(
    folder: &Path,
    statements: &str,
    name: &str,
    arguments: &[&str],
    kind: &str,
) -> (Child, PathBuf) {
    let mut command = sweep(folder, statements, &format!("{name}.json"), arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (journal, begun) = (folder.join(format!("{name}.journal")), Instant::now());
    while std::fs::read_to_string(&journal).unwrap_or_default().matches(kind).count() < 4 {
        assert!(begun.elapsed() < Duration::from_mins(1), "there is no journal");
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, journal)
}

#[track_caller]
fn same(folder: &Path, one: &str, other: &str) {
    let read = |name: &str| {
        std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for ending in ["json", "fingerprint"] {
        assert!(
            read(&format!("{one}.{ending}")) == read(&format!("{other}.{ending}")),
            "{one} and {other}: {ending}"
        );
    }
}

#[test]
fn a_fault_of_one_ulp_at_one_input_is_found_by_the_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    swept(folder, "", "old.json", &["f32.sqrt", "f16.fadd", "--fingerprint"]).with(0);
    let old = folder.join("old.fingerprint");
    let faults = "give r+1 in f32.sqrt when x is 40490fdb\ngive r-1 in f16.fadd when x is 3c01 and y is bc02";
    let arguments = ["f32.sqrt", "f16.fadd", "--fingerprint", "--resolve", old.to_str().unwrap()];
    swept(folder, faults, "new.json", &arguments).with(0);
    let report = json(&folder.join("new.json"));
    for (place, input, before, after) in
        [(0, &["3c01", "bc02"][..], "9400", "93ff"), (1, &["40490fdb"][..], "3fe2dfc5", "3fe2dfc6")]
    {
        let changes = &report["devices"][0]["kernels"][place]["changes"];
        assert_eq!(changes["inputs"], 1, "{changes}");
        assert_eq!(changes["compared"], 4096);
        assert_eq!(changes["unresolved"], serde_json::json!([]));
        let change = &changes["list"][0];
        assert_eq!(change["in"], serde_json::json!(input), "{change}");
        assert_eq!((&change["old"], &change["new"]), (&before.into(), &after.into()), "{change}");
    }
}

#[test]
fn a_fault_of_one_ulp_at_one_input_is_found_by_judging() {
    let folder = tempfile::tempdir().unwrap();
    // The block that the input is in.
    let arguments = ["f32.floor", "--profile", "wgsl", "--shard", "1029/4096"];
    swept(folder.path(), "", "calm.json", &arguments).with(0);
    swept(folder.path(), "give r+1 in f32.floor when x is 40490fdb", "faulty.json", &arguments)
        .with(0);
    let statistics = |name: &str| {
        json(&folder.path().join(name))["devices"][0]["kernels"][0]["verified"].clone()
    };
    assert_eq!(
        (&statistics("calm.json")["inputs"], &statistics("calm.json")["deviating"]),
        (&(1 << 20).into(), &0.into())
    );
    let faulty = statistics("faulty.json");
    assert_eq!(faulty["deviating"], 1, "{faulty}");
    let run = &faulty["runs"][0];
    assert_eq!((&run["first"], &run["length"]), (&0x4049_0fdb.into(), &1.into()), "{run}");
    assert_eq!(run["result"], 0x4040_0001, "{run}");
}

#[test]
fn a_fault_of_one_ulp_at_one_pair_is_found_by_judging() {
    let folder = tempfile::tempdir().unwrap();
    // The block that the pair is in.
    let arguments =
        ["f16.fadd", "--profile", "d3d11", "--profile", "vulkan", "--shard", "961/4096"];
    for (name, faults, deviating) in [
        ("calm.json", "", 0),
        ("faulty.json", "give r-1 in f16.fadd when x is 3c01 and y is bc02", 1),
    ] {
        swept(folder.path(), faults, name, &arguments).with(0);
        let statistics = &json(&folder.path().join(name))["devices"][0]["kernels"][0]["verified"];
        assert_eq!(
            (&statistics["inputs"], &statistics["deviating"]),
            (&(1 << 20).into(), &deviating.into()),
            "{statistics}"
        );
        if deviating > 0 {
            let run = &statistics["runs"][0];
            assert_eq!((&run["first"], &run["length"]), (&0x3c01_bc02.into(), &1.into()), "{run}");
            assert_eq!(run["result"], 0x93ff, "{run}");
        }
    }
}

/// Digests spare the handing over of results. What is known to differ by them is looked at whatever
/// ends them.
#[test]
fn blocks_that_do_not_agree_are_looked_at_however_requesting_digests_ends() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = "give r+1 in f32.floor when x is 40490fdb";
    let refused = format!(
        "{wrong}\nreturn VK_ERROR_INITIALIZATION_FAILED in vkCreateComputePipelines once ever"
    );
    let skipped = format!("{wrong}\nskip nth 6 ever");
    for (name, statements, shard) in
        [("refused", refused, "1029/4096"), ("skipped", skipped, "129/512")]
    {
        let (file, arguments) =
            (format!("{name}.json"), ["f32.floor", "--profile", "wgsl", "--shard", shard]);
        swept(folder.path(), &statements, &file, &[&arguments[..], &["--dispatch", "10"]].concat());
        let statistics = &json(&folder.path().join(file))["devices"][0]["kernels"][0]["verified"];
        assert_eq!(statistics["deviating"], 1, "{name}: {statistics}");
        assert_eq!(statistics["runs"][0]["first"], 0x4049_0fdb, "{name}: {statistics}");
    }
}

#[test]
fn a_killed_sweep_goes_on_at_its_block_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (slow, arguments) =
        ("sleep 30 in vkQueueSubmit", ["f32.fabs", "f32.sqrt", "--fingerprint"]);
    swept(folder, slow, "whole.json", &arguments).with(0);
    let (mut child, journal) = under_way(folder, slow, "killed", &arguments, "\"digests\"");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.join("killed.json").exists());
    // What names no device has begun nothing.
    let nobody =
        swept(folder, slow, "nobody.json", &["f32.fabs", "--fingerprint", "--device", "nobody"]);
    nobody.with(2);
    assert!(nobody.err.contains("[Mesa "), "{}", nobody.err);
    assert!(!folder.join("nobody.journal").exists());
    let other = swept(folder, slow, "killed.json", &["f32.fabs", "--fingerprint"]);
    other.with(2);
    assert!(other.err.contains("another sweep that was not finished"), "{}", other.err);
    // One of which nothing was done yet is in nobody's way.
    let begun = fs::read_to_string(&journal).unwrap().lines().next().unwrap().to_owned() + "\n";
    fs::write(folder.join("begun.journal"), begun).unwrap();
    swept(folder, slow, "begun.json", &["f32.fabs", "--fingerprint"]).with(0);
    let ended = swept(folder, slow, "killed.json", &arguments);
    ended.with(0);
    assert!(ended.err.contains("blocks are known"), "{}", ended.err);
    same(folder, "whole", "killed");
    assert!(!journal.exists());
}

#[test]
fn a_judged_sweep_that_was_ended_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (slow, arguments) =
        ("sleep 30 in vkQueueSubmit", ["f32.floor", "--profile", "vulkan", "--shard", "1/64"]);
    swept(folder, slow, "whole.json", &arguments).with(0);
    let (mut child, journal) = under_way(folder, slow, "ended", &arguments, "\"intent\"");
    assert!(
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success()
    );
    child.wait().unwrap();
    let ended = swept(folder, slow, "ended.json", &arguments);
    ended.with(0);
    assert!(
        ended.err.contains("blocks are known") && !ended.err.contains(" 0 blocks"),
        "{}",
        ended.err
    );
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(read("whole.json") == read("ended.json"));
    assert!(!journal.exists());
}

#[test]
fn a_worker_that_crashes_costs_nothing_but_time() {
    let folder = tempfile::tempdir().unwrap();
    swept(folder.path(), "", "calm.json", &["f32.fabs", "--fingerprint"]).with(0);
    let crashing = swept(
        folder.path(),
        "crash in vkQueueSubmit nth 3 ever",
        "crash.json",
        &["f32.fabs", "--fingerprint"],
    );
    crashing.with(5);
    let kernel = |name: &str| json(&folder.path().join(name))["devices"][0]["kernels"][0].clone();
    assert_eq!(kernel("crash.json")["root"], kernel("calm.json")["root"]);
    assert!(
        kernel("crash.json")["incomplete"][0].as_str().unwrap().contains("SIGSEGV"),
        "{}",
        kernel("crash.json")
    );
}

/// Asked again and again it fails at its first block: it is given up, and named.
#[test]
fn a_kernel_that_always_takes_its_worker_down_costs_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (statement, output) in [
        ("crash in vkCreateComputePipelines at f32.floor", "SIGSEGV"),
        ("crash in vkQueueSubmit at f32.floor", "SIGSEGV"),
        ("hang in vkQueueSubmit at f32.floor", "no answer"),
        ("return VK_ERROR_DEVICE_LOST in vkQueueSubmit at f32.floor", "VK_ERROR_DEVICE_LOST"),
    ] {
        let arguments = ["f32.fabs", "f32.floor", "f32.sqrt", "--fingerprint", "--timeout", "2"];
        let ended = swept(folder.path(), statement, "given-up.json", &arguments);
        ended.with(5);
        let kernels = json(&folder.path().join("given-up.json"))["devices"][0]["kernels"].clone();
        let has_root = |place: usize| kernels[place].get("root").is_some();
        assert_eq!([0, 1, 2].map(has_root), [true, false, true], "{statement}: {kernels}");
        assert_eq!(kernels[1]["kernel"], "f32.floor");
        assert!(
            kernels[1]["incomplete"].to_string().contains(output),
            "{statement}: {}",
            kernels[1]["incomplete"]
        );
        std::fs::remove_file(folder.path().join("given-up.journal")).unwrap();
    }
}

#[test]
fn results_that_were_never_written_are_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["f16.sin", "f32.sin", "--profile", "vulkan", "--shard", "1100/4096"];
    for statement in ["half rows", "skip"] {
        let ended = swept(folder.path(), statement, "half.json", &arguments);
        assert!(matches!(ended.code, Some(4 | 5)), "{:?}: {}", ended.code, ended.err);
        let kernel = json(&folder.path().join("half.json"))["devices"][0]["kernels"][1].clone();
        assert!(kernel["incomplete"].to_string().contains("not written"), "{statement}: {kernel}");
        assert_eq!(kernel["verified"]["inputs"], 0, "{kernel}");
        std::fs::remove_file(folder.path().join("half.journal")).unwrap();
    }
}

#[test]
fn work_groups_that_are_left_out_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    for statement in ["half rows", "half columns", "skip"] {
        let ended =
            swept(folder.path(), statement, "half.json", &["f16.sin", "f32.fabs", "--fingerprint"]);
        assert!(matches!(ended.code, Some(4 | 5)), "{:?}: {}", ended.code, ended.err);
        let kernel = json(&folder.path().join("half.json"))["devices"][0]["kernels"][1].clone();
        assert!(kernel["incomplete"].to_string().contains("not written"), "{statement}: {kernel}");
        assert!(kernel.get("root").is_none());
        std::fs::remove_file(folder.path().join("half.journal")).unwrap();
    }
}

/// One in a hundred thousand words flips a bit: that is no deviation of any input.
#[test]
fn what_deviates_once_is_unstable_and_has_its_rate() {
    let folder = tempfile::tempdir().unwrap();
    // Operands from 1 on.
    let arguments = ["f32.sin", "--profile", "vulkan", "--shard", "1017/4096"];
    swept(folder.path(), "", "calm.json", &arguments).with(0);
    let output = swept(folder.path(), "flip 0.00001", "flipped.json", &arguments);
    let kernel = |name: &str| json(&folder.path().join(name))["devices"][0]["kernels"][0].clone();
    let (calm, flipped) = (kernel("calm.json"), kernel("flipped.json"));
    assert!(calm.get("unstable").is_none(), "{calm}");
    assert_eq!(flipped["verified"]["deviating"], calm["verified"]["deviating"], "{flipped}");
    let unstable = &flipped["unstable"];
    let (inputs, rate) = (unstable["inputs"].as_u64().unwrap(), unstable["rate"].as_f64().unwrap());
    assert!((5..200).contains(&inputs) && (2e-6..5e-5).contains(&rate), "{unstable}");
    assert_eq!(
        (&unstable["compared"], &unstable["blocks"]),
        (&(1 << 20).into(), &serde_json::json!([[1016, 1]]))
    );
    assert_eq!(unstable["list"][0]["out"].as_array().unwrap().len(), 3, "{unstable}");
    let mut text = faulty(&[DRIVER], "flip 0.00001");
    let text = ends(text.env("FPPROBE_FAULTS_STATE", folder.path()).arg("sweep").args(arguments));
    assert!(
        text.with(0).contains("unstable: ") && text.out.contains("rate "),
        "{}\n{}",
        text.out,
        output.err
    );
}

/// What is wrong each time stays a deviation.
#[test]
fn fingerprints_are_taken_twice_and_blocks_that_differ_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["f32.fabs", "--fingerprint"];
    swept(folder.path(), "", "calm.json", &arguments).with(0);
    swept(folder.path(), "", "once.json", &["f32.fabs", "--fingerprint", "--once"]).with(0);
    let flips = "flip 0.0004 sums";
    swept(folder.path(), flips, "flipped.json", &arguments);
    swept(folder.path(), flips, "flipped-once.json", &["f32.fabs", "--fingerprint", "--once"])
        .with(0);
    let kernel = |name: &str| json(&folder.path().join(name))["devices"][0]["kernels"][0].clone();
    let (calm, flipped) = (kernel("calm.json"), kernel("flipped.json"));
    assert_eq!(kernel("once.json"), calm, "two passes find what one does");
    let named = flipped["unstable"]["blocks"].as_array().unwrap();
    assert!(!named.is_empty(), "{flipped}");
    // Two of three agree, but for a block that is struck twice.
    assert!(flipped.get("root").is_none_or(|root| *root == calm["root"]), "{flipped}");
    assert!(kernel("flipped-once.json").get("unstable").is_none());
    let old = folder.path().join("flipped.fingerprint");
    let resolve = ["f32.fabs", "--fingerprint", "--resolve", old.to_str().unwrap()];
    swept(folder.path(), "", "resolved.json", &resolve).with(0);
    assert_eq!(kernel("resolved.json")["changes"]["inputs"], 0, "flips are not in the fingerprint");
}
