//! `diff` on reports of real drivers: a driver update, and none.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::scene::{ends, fpprobe, json};

/// Kernels of every width that a driver update changed, and some that it did not.
const FILTER: [&str; 7] = [
    "f16.modf*",
    "f16.convert_f_to_*",
    "f32.narrow_widen*",
    "f32.fadd:route=*",
    "f32.pow",
    "f64.convert_f_to_s",
    "f64.fadd",
];

/// Measures a driver; what each dispatch leaves in memory goes beside the report.
fn measure(driver: &str, folder: &Path) {
    let dump = folder.join("raw");
    let mut run = fpprobe(&[driver]);
    run.arg("run").args(FILTER).arg("-o").arg(folder).arg("--dump-raw").arg(&dump);
    ends(&mut run).with(0);
}

/// What the script says that compares two dumps byte by byte, beside a diff.
fn compared(old: &Path, new: &Path, diff: &Path) -> Value {
    let device = |folder: &Path| {
        let devices: Vec<_> = std::fs::read_dir(folder.join("raw"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(devices.len(), 1);
        devices[0].clone()
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/raw/compare.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(device(old)).arg(device(new));
    let whole = diff.with_file_name("whole.json");
    std::fs::write(&whole, json(&new.join("report.json")).to_string()).unwrap();
    python.arg("--diff").arg(diff).arg("--report").arg(whole);
    ends(&mut python).document(0)
}

#[test]
fn a_driver_update_is_found_input_by_input() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["lavapipe-22", "lavapipe-25"].map(|driver| {
        let place = folder.path().join(driver);
        measure(driver, &place);
        place
    });
    let diff = folder.path().join("diff.json");
    ends(fpprobe(&[]).arg("diff").arg(&old).arg(&new).arg("-o").arg(&diff)).with(0);
    let script = compared(&old, &new, &diff);
    assert_eq!(script["wrong"], serde_json::json!([]));
    assert_eq!(script["inputs"], script["named_by_diff"]);
    let document = json(&diff);
    assert_eq!(document["schema"], "fpprobe-diff/2");
    assert_eq!(document["summary"]["lanes"], script["inputs"]);
    let device = &document["devices"][0];
    let of = |subject: &str| {
        let changes = device["changes"].as_array().unwrap().iter();
        changes.filter(|change| change["subject"] == subject).collect::<Vec<_>>()
    };
    let driver = of("identity")[0];
    assert_eq!(driver["id"], "driver.info");
    assert!(driver["old"].as_str().unwrap().contains("22.3.6"));
    let kernels = of("kernel");
    for format in ["f16.", "f32.", "f64."] {
        let of_format = |kernel: &&&Value| kernel["id"].as_str().unwrap().starts_with(format);
        assert!(
            kernels.iter().filter(of_format).any(|kernel| !kernel["lanes"].is_null()),
            "{format}"
        );
    }
    // The compiler of 25.0 folds away what makes a number narrow and wide again, where the rule
    // wants binary16's.
    assert_eq!(
        (&kernels[0]["kind"], &kernels[0]["id"]),
        (&"regressed".into(), &"f32.narrow_widen".into())
    );
    let lane = &kernels[0]["lanes"]["changed"][0];
    assert_eq!((&lane["old"], &lane["new"]), (&"00000000".into(), &lane["in"][0]));
    for (format, start) in [("text", "Changes"), ("html", "<!DOCTYPE html>"), ("md", "## ")] {
        let shown = ends(fpprobe(&[]).arg("diff").arg(&old).arg(&new).args(["--format", format]));
        assert!(shown.with(0).starts_with(start) && shown.out.contains("narrow_widen"), "{format}");
    }
}

#[test]
fn a_driver_measured_twice_has_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["first", "second"].map(|name| {
        let place = folder.path().join(name);
        measure("lavapipe-25", &place);
        place
    });
    let diff = folder.path().join("diff.json");
    ends(fpprobe(&[]).arg("diff").arg(&old).arg(&new).arg("-o").arg(&diff)).with(0);
    assert_eq!(compared(&old, &new, &diff)["inputs"], 0);
    let document = json(&diff);
    assert_eq!(
        (&document["summary"]["empty"], &document["summary"]["counts"]),
        (&true.into(), &serde_json::json!([]))
    );
    assert!(
        ends(fpprobe(&[]).arg("diff").arg(&old).arg(&new))
            .with(0)
            .contains("nothing changed on 1 device")
    );
}

#[test]
fn what_is_no_report_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ended = ends(fpprobe(&[]).arg("diff").arg(folder.path()).arg(folder.path()));
    ended.with(2);
    assert!(ended.err.contains("holds no report.json"), "{}", ended.err);
    let format = ends(fpprobe(&[]).arg("diff").args(["a.json", "b.json", "-o", "out.pdf"]));
    format.with(2);
    assert!(format.err.contains("known endings are .txt, .json, .html"), "{}", format.err);
}
