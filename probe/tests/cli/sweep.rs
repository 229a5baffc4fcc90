//! Sweeps on real drivers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use fpprobe_reports::sweep::Fingerprint;
use serde_json::Value;

use crate::resume::cramped;
use crate::scene::{ends, fpprobe, json};

/// A sweep that writes its report into this place of the folder.
fn sweep(drivers: &[&str], folder: &Path, name: &str, arguments: &[&str]) -> Command {
    let mut command = fpprobe(drivers);
    command.arg("sweep").args(arguments).arg("-o").arg(folder.join(name));
    command
}

fn merge(folder: &Path, name: &str, parts: &[&str]) -> Command {
    let mut command = fpprobe(&[]);
    command
        .arg("merge")
        .args(parts.iter().map(|part| folder.join(part)))
        .arg("-o")
        .arg(folder.join(name));
    command
}

/// The whole, and its thirds.
const THIRDS: [&str; 4] = ["1/1", "1/3", "2/3", "3/3"];

/// Parts merge to the same bytes as the whole, in every file.
#[track_caller]
fn parts_are_the_whole(arguments: &[&str], [whole, parts @ ..]: [&str; 4], files: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    ends(sweep(&["lavapipe-25"], folder, "whole", arguments).args(["--shard", whole])).with(0);
    let parts = parts.map(|shard| {
        let name = shard.replace('/', "-");
        ends(sweep(&["lavapipe-25"], folder, &name, arguments).args(["--shard", shard])).with(0);
        name
    });
    let [one, two, three] = &parts;
    // Where these are not all parts, the others are missed.
    let lacks = if whole == "1/1" { 0 } else { 5 };
    ends(&mut merge(folder, "merged", &[three, one, two])).with(lacks);
    for file in files {
        let read = |of: &str| std::fs::read(folder.join(of).join(file)).unwrap();
        assert!(read("whole") == read("merged"), "{file} differs");
        assert!(read("whole") != read(one), "{file} has nothing in it");
    }
    let twice = ends(&mut merge(folder, "twice", &[one, two, one]));
    twice.with(2);
    assert!(twice.err.contains("no block in common"), "{}", twice.err);
}

#[test]
fn a_sweep_takes_room_for_two_dispatches_whatever_it_may_take() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["f32.sin", "--shard", "1/4096", "--memory", "65536"];
    let run = sweep(&["lavapipe-25"], folder.path(), "sin", &arguments);
    for limit in ["-v 8000000", "-f 65536"] {
        ends(&mut cramped(&run, limit)).with(0);
    }
}

#[test]
fn a_sweep_that_keeps_nothing_is_no_failure() {
    let ended = ends(fpprobe(&["lavapipe-25"]).args(["sweep", "f16.sqrt", "--raw"]));
    ended.with(0);
    assert!(!ended.err.contains("not every block"), "{}", ended.err);
}

#[test]
fn parts_of_fingerprints_merge_to_the_whole() {
    let arguments = ["f16.sin", "f32.floor", "f16.fmul", "--fingerprint"];
    parts_are_the_whole(&arguments, THIRDS, &["sweep.json", "sweep.html", "sweep.fingerprint"]);
}

#[test]
fn parts_of_what_was_judged_merge_to_the_whole() {
    let arguments = [
        "f16.sin",
        "f16.exp2",
        "f16.log",
        "f16.inverse_sqrt",
        "--profile",
        "d3d11",
        "--profile",
        "vulkan",
    ];
    parts_are_the_whole(&arguments, THIRDS, &["sweep.json", "sweep.html"]);
    // Parts of one kernel: four blocks of it stand for the whole.
    let shares = ["255/1024", "763/3072", "764/3072", "765/3072"];
    parts_are_the_whole(
        &["f32.floor", "--profile", "vulkan"],
        shares,
        &["sweep.json", "sweep.html"],
    );
}

#[test]
fn parts_tell_once_what_a_device_lacks() {
    // SwiftShader has no 16-bit arithmetic.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let arguments = ["f16.sin", "f32.fabs:controls=ftz16", "f32.fabs", "--fingerprint", "--once"];
    ends(&mut sweep(&["swiftshader"], folder, "whole", &arguments)).with(0);
    for shard in ["1/2", "2/2"] {
        ends(sweep(&["swiftshader"], folder, &shard[..1], &arguments).args(["--shard", shard]))
            .with(0);
    }
    ends(&mut merge(folder, "merged", &["1", "2"])).with(0);
    let read = |of: &str| std::fs::read_to_string(folder.join(of).join("sweep.json")).unwrap();
    assert!(read("whole").contains("unsupported: ") && read("whole") == read("merged"));
}

#[test]
fn what_changed_between_two_drivers_is_what_they_answer() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.fingerprint");
    let both = ["lavapipe-22", "lavapipe-25"];
    let arguments = ["f32.modf", "f32.sqrt", "--fingerprint", "--device", "0"];
    ends(&mut sweep(&both, folder.path(), "old.json", &arguments)).with(0);
    let arguments = [
        "f32.modf",
        "f32.sqrt",
        "--fingerprint",
        "--device",
        "1",
        "--resolve",
        old.to_str().unwrap(),
    ];
    ends(&mut sweep(&both, folder.path(), "new.json", &arguments)).with(0);
    let report = json(&folder.path().join("new.json"));
    let kernels = &report["devices"][0]["kernels"];
    let (modf, sqrt) = (&kernels[0]["changes"], &kernels[1]["changes"]);
    assert_eq!((&sqrt["inputs"], &sqrt["blocks"]), (&0.into(), &serde_json::json!([])));
    assert_eq!(
        (&modf["resolution"], &modf["unresolved"]),
        (&"asked".into(), &serde_json::json!([]))
    );
    assert!(modf["inputs"].as_u64().unwrap() > 1_000_000, "{}", modf["inputs"]);
    for change in [&modf["list"][0], &modf["list"][1], &modf["list"][999]] {
        let input = change["in"][0].as_str().unwrap();
        let answers: Vec<Value> = ends(fpprobe(&both).args(["eval", "f32.modf", input])).lines(0);
        let out: Vec<&Value> = answers.iter().map(|line| &line["out"]).collect();
        assert_eq!(out, [&change["old"], &change["new"]], "{change}");
        assert_ne!(out[0], out[1]);
    }
}

/// Numbers of the inputs in a file of bits, and how many bits it has.
fn bits(path: &Path) -> (u64, BTreeSet<u64>) {
    const ZEROS: [u8; 4096] = [0; 4096];
    let packed =
        std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let bytes = zstd::stream::decode_all(packed).unwrap();
    // Nearly all of half a gigabyte is zeros.
    let mut set = BTreeSet::new();
    for (block, bytes) in (0_u64..).zip(bytes.chunks(4096)) {
        if *bytes == ZEROS[..bytes.len()] {
            continue;
        }
        for (place, byte) in (block * 4096..).zip(bytes) {
            set.extend((0..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| place * 8 + bit));
        }
    }
    (bytes.len() as u64 * 8, set)
}

#[test]
fn every_input_that_changed_is_in_a_file_and_parts_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let both = ["lavapipe-22", "lavapipe-25"];
    // The last two blocks, of NaNs.
    let measured = ["f32.modf", "--fingerprint"];
    ends(sweep(&both, folder, "old/", &measured).args(["--shard", "2048/2048", "--device", "0"]))
        .with(0);
    let old = folder.join("old");
    for (name, shard) in [("whole", "2048/2048"), ("1", "4095/4096"), ("2", "4096/4096")] {
        let resolve = ["--shard", shard, "--device", "1", "--resolve", old.to_str().unwrap()];
        let ended = ends(sweep(&both, folder, &format!("{name}/"), &measured).args(resolve));
        ended.with(0);
        assert!(ended.err.contains("sweep.changed/, a bit for each input"), "{}", ended.err);
    }
    let device = &json(&folder.join("whole/sweep.json"))["devices"][0];
    let list = format!("sweep.changed/{}/f32.modf.zst", device["key"].as_str().unwrap());
    let (inputs, set) = bits(&folder.join("whole").join(&list));
    let changes = &device["kernels"][0]["changes"];
    assert_eq!((inputs, changes["inputs"].as_u64()), (1 << 32, Some(set.len() as u64)));
    for run in changes["runs"].as_array().unwrap() {
        let (first, count) = (run[0].as_u64().unwrap(), run[1].as_u64().unwrap());
        assert!(set.range(first..first + count).count() as u64 == count, "{run}");
    }

    // The other blocks are missed.
    ends(&mut merge(folder, "merged/", &["2", "1"])).with(5);
    for file in ["sweep.json", &list] {
        let read = |of: &str| std::fs::read(folder.join(of).join(file)).unwrap();
        assert!(read("whole") == read("merged"), "{file} differs");
    }
    std::fs::remove_file(folder.join("2").join(&list)).unwrap();
    let without = ends(&mut merge(folder, "without/", &["1", "2"]));
    without.with(5);
    assert!(
        without.err.contains("is missing") && !folder.join("without").join(&list).exists(),
        "{}",
        without.err
    );

    // What an earlier sweep left does not belong to the next report.
    ends(sweep(&both, folder, "merged/", &measured).args(["--shard", "1/4096", "--device", "0"]))
        .with(0);
    assert!(!folder.join("merged/sweep.changed").exists());
}

#[test]
fn a_budget_is_kept_and_its_share_told() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["f32.sin", "--profile", "vulkan", "--budget", "1s", "--seed", "7"];
    ends(&mut sweep(&["lavapipe-25"], folder.path(), "part.json", &arguments)).with(0);
    let kernel = json(&folder.path().join("part.json"))["devices"][0]["kernels"][0].clone();
    let measured: Vec<(u64, u64)> = kernel["asked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|range| (range[0].as_u64().unwrap(), range[1].as_u64().unwrap()))
        .collect();
    let count: u64 = measured.iter().map(|(_, count)| count).sum();
    assert!((1..4096).contains(&count), "{count}");
    assert_eq!(kernel["verified"]["inputs"], count << 20);
    let eighths: std::collections::BTreeSet<u64> =
        measured.iter().map(|(first, _)| first / 512).collect();
    assert_eq!(eighths.len() as u64, count.min(8), "{measured:?}");
}

/// The digests of one kernel, with NaNs of one kind.
fn digests(folder: &Path, kernel: &str, budget: &[&str]) -> BTreeMap<u64, [u32; 3]> {
    let arguments = [&[kernel, "--fingerprint", "--once", "--normalise-nan"], budget].concat();
    ends(&mut sweep(&["lavapipe-25"], folder, "digests/", &arguments)).with(0);
    let file = folder.join("digests/sweep.fingerprint");
    Fingerprint::read(&file).unwrap().prints.remove(0).bundles
}

#[test]
fn a_vast_domain_is_sampled_and_an_operand_above_32_bits_counts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // With this seed the sample begins with 1 * b + c, where b is from 0200 to 02ff.
    let sampled = digests(folder, "f16.fma", &["--budget", "4s", "--seed", "19451"]);
    let sums = digests(folder, "f16.fadd", &[]);
    let bundle = (0x200..0x300).fold([0_u32; 3], |sum, block| {
        std::array::from_fn(|one| sum[one].wrapping_add(sums[&block][one]))
    });
    assert_eq!(sampled[&0x3_c002], bundle);
    assert_ne!(bundle, [0; 3]);
    let kernel = json(&folder.join("digests/sweep.json"))["devices"][0]["kernels"][0].clone();
    assert_eq!(
        (kernel["inputs"].as_u64(), kernel["kernel"].as_str()),
        (Some(1 << 32), Some("f16.fadd"))
    );

    let plan = ["sweep", "f16.fma", "--fingerprint", "--once", "--plan", "1000"];
    let planned = ends(fpprobe(&["lavapipe-25"]).args(plan));
    let out = planned.with(0);
    for part in [
        "2^48 inputs",
        "1 device",
        "1000 devices",
        "fpprobe sweep f16.fma --fingerprint --once --shard I/",
    ] {
        assert!(out.contains(part), "{out}");
    }
}

#[test]
fn what_cannot_be_swept_is_refused_with_what_can() {
    let refused = |arguments: &[&str]| {
        let ended = ends(fpprobe(&[]).arg("sweep").args(arguments));
        assert_eq!(ended.with(2), "");
        ended.err
    };
    assert!(refused(&["f32.fadd"]).contains("64 bits"));
    let vast = refused(&["f16.fma"]);
    assert!(["--shard", "--budget", "--plan"].iter().all(|way| vast.contains(way)), "{vast}");
    assert!(refused(&["f64.s*"]).contains("no kernel matches"));
    assert!(refused(&["f32.sqrt:route=push"]).contains("route"));
    assert!(
        refused(&["f32.modf"]).contains("take a fingerprint")
            || refused(&["f32.modf"]).contains("several results")
    );
    assert!(refused(&["f32.sqrt", "--shard", "0/3"]).contains("2/8"));
    assert!(refused(&["f32.sqrt", "--budget", "soon"]).contains("30s"));
    assert!(
        refused(&["f32.sqrt", "--fingerprint", "--resolve", "/nowhere/x"]).contains("/nowhere/x")
    );
    assert!(refused(&["f32.sqrt", "--resolve", "x"]).contains("--fingerprint"));
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("foreign.fingerprint");
    std::fs::write(&foreign, "{}").unwrap();
    assert!(
        refused(&["f32.sqrt", "--fingerprint", "--resolve", foreign.to_str().unwrap()])
            .contains("does not begin")
    );
    let merged = ends(fpprobe(&[]).arg("merge").arg(&foreign));
    merged.with(2);
    assert!(merged.err.contains("schema"), "{}", merged.err);
}
