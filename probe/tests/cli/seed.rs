//! Runs of one seed are the same, byte for byte; another seed measures the same device in another
//! way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::resume::timeless;
use crate::scene::{ends, fpprobe, json};

const KERNELS: [&str; 4] =
    ["f32.fadd", "f32.sqrt:width=2", "f32.sqrt:route=literal", "f32.sqrt:route=uniform"];

/// A run with these arguments: its report without times, and what its dispatches left in memory,
/// file by file.
fn run(folder: &Path, name: &str, arguments: &[&str]) -> (String, BTreeMap<String, Vec<u8>>) {
    let (out, dump) = (folder.join(name), folder.join(format!("{name}.raw")));
    let mut command = fpprobe(&["lavapipe-25"]);
    command
        .arg("run")
        .args(KERNELS)
        .args(arguments)
        .arg("-o")
        .arg(&out)
        .arg("--dump-raw")
        .arg(&dump);
    ends(&mut command).with(0);
    let device = fs::read_dir(&dump).unwrap().next().unwrap().unwrap().path();
    let files = fs::read_dir(device).unwrap().map(|file| file.unwrap());
    let files =
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()));
    (timeless(&out), files.collect())
}

#[test]
fn a_seed_repeats_a_run_byte_for_byte_and_another_varies_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (report, memory) = run(folder, "first", &["--seed", "7", "--random", "8"]);
    let (again, same) = run(folder, "again", &["--seed", "7", "--random", "8", "--jobs", "3"]);
    assert_eq!(report, again);
    assert!(memory == same, "memory of the same seed");
    let other = run(folder, "other", &["--seed", "8"]).1;
    // Which modules are compiled again, for a run of number 1, is the seed's matter, too.
    let names = |memory: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        memory.keys().filter(|name| !name.contains(".run1.")).cloned().collect()
    };
    assert_eq!(names(&memory), names(&other));
    assert_ne!(memory.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    // Constants that deviate run case by case, and the memory of one case is its result.
    let lists = memory
        .iter()
        .filter(|(name, _)| !name.contains("route=literal") && other.contains_key(*name));
    for (name, bytes) in lists {
        assert!(other[name] != *bytes, "{name} is the same under another seed");
    }
}

#[test]
fn reports_say_how_they_were_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (out, name) = (folder.path().join("report.json"), "Some Game");
    let mut command = fpprobe(&["lavapipe-25"]);
    command.args([
        "--set",
        &format!("drivers.application={name}"),
        "run",
        "f32.fadd",
        "f32.fadd:route=literal",
    ]);
    let text = ends(
        command
            .args(["--seed", "9", "--random", "5", "--stress", "-o"])
            .arg(&out)
            .args(["--format", "json"]),
    );
    text.with(0);
    let report = json(&out);
    assert_eq!(
        report["run"],
        serde_json::json!({ "seed": 9, "random": 5, "stress": true, "recompiled": "eighth" })
    );
    assert_eq!(report["devices"][0]["application"], name);
    // So does a comparison.
    let plain = folder.path().join("plain.json");
    ends(
        fpprobe(&["lavapipe-25"])
            .args(["run", "f32.fadd", "f32.fadd:route=literal", "-o"])
            .arg(&plain),
    )
    .with(0);
    let diff = ends(fpprobe(&[]).arg("diff").arg(&plain).arg(&out));
    let conditions = "(seed 9, 5 random cases of each kernel, under stress)";
    let said = diff.with(0).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(conditions) && said.contains("application fpprobe → Some Game"),
        "{said}"
    );
    let cases = |kernel: usize| {
        report["devices"][0]["observations"][kernel]["in"].as_str().unwrap().to_owned()
    };
    assert!(cases(0).ends_with("+5@9") && !cases(1).contains('+'), "{} {}", cases(0), cases(1));
    let list = |name: &str| report["inputs"][name].as_array().unwrap().len();
    let plain = cases(0).split_once('+').unwrap().0.to_owned();
    let whole = ends(fpprobe(&[]).args(["explain", "f32.fadd"])).out;
    assert!(
        whole.contains(&format!("{} cases by default: the list {plain}", list(&cases(0)) - 5)),
        "{whole}"
    );
}

#[test]
fn texel_buffers_are_measured_under_stress() {
    let folder = tempfile::tempdir().unwrap();
    for driver in ["lavapipe-25", "swiftshader"] {
        let out = folder.path().join(format!("{driver}.json"));
        let mut command = fpprobe(&[driver]);
        ends(command.args(["run", "r32f.load:route=texel_buffer", "--stress", "-o"]).arg(&out))
            .with(0);
        assert_eq!(json(&out)["devices"][0]["observations"][0]["outcome"], "ran", "{driver}");
    }
}
