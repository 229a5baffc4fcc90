//! `run` and `judge` on real drivers.

use serde_json::Value;

use crate::scene::{PROGRESS, default_report, ends, fpprobe, json};

/// Kernels that take a driver no more than a moment.
const FILTER: [&str; 3] = ["f32.f*", "f32.inverse_sqrt", "b10g11r11.load*"];

#[test]
fn a_run_leaves_report_and_page_and_says_the_same_twice() {
    let folder = tempfile::tempdir().unwrap();
    let report = |name: &str| {
        let out = folder.path().join(name);
        ends(fpprobe(&["swiftshader"]).arg("run").args(FILTER).arg("-o").arg(&out)).with(0);
        assert!(std::fs::metadata(out.join("report.html")).unwrap().len() > 1000);
        let text = std::fs::read_to_string(out.join("report.json")).unwrap();
        assert!(
            text.contains("\"fpprobe-report/2\"")
                && text.contains("\"file\": \"observations.parquet\"")
                && !text.contains("\"same_as\"")
        );
        json(&out.join("report.json"))
    };
    let (mut first, mut second) = (report("first"), report("second"));
    let observations = first["devices"][0]["observations"].as_array().unwrap();
    let others = observations.iter().filter(|observation| observation["outcome"] != "ran");
    // SwiftShader has no 16-bit and no 64-bit floats, and in which NaN an operation on two ends
    // depends on its module.
    assert!(
        others
            .clone()
            .all(|other| other["outcome"] == "unsupported" || other["outcome"] == "flaky")
    );
    assert!(observations.len() - others.count() > 10);
    assert_eq!(first["schema"], "fpprobe-report/1");
    assert!(!first["devices"][0]["profiles"].as_array().unwrap().is_empty());
    for report in [&mut first, &mut second] {
        for time in ["started", "finished"] {
            report[time] = Value::Null;
        }
    }
    assert_eq!(first.to_string(), second.to_string());
}

#[test]
fn first_verdicts_come_while_the_rest_is_measured() {
    for (driver, cause) in [
        ("lavapipe-25", "keeps f32 subnormals [d3d11 d3d10]"),
        ("swiftshader", "b10g11r11 store of storage images"),
    ] {
        let report = default_report(driver);
        let progress = std::fs::read_to_string(report.with_file_name(PROGRESS)).unwrap();
        let place =
            |text: &str| progress.find(text).unwrap_or_else(|| panic!("{text}: {progress}"));
        let (first, done) = (place("first verdicts, by 1"), place("]: done"));
        assert!(first < done, "{progress}");
        assert!(progress[first..done].contains(cause), "{progress}");
        assert_eq!(progress.matches("first verdicts").count(), 1);
    }
    // Who names kernels waits for them; a quick run is a first look itself.
    for arguments in [&["run", "f32.fmul"][..], &["run", "--quick"]] {
        let ended = ends(fpprobe(&["swiftshader"]).args(arguments));
        assert!(!ended.err.contains("first verdicts"), "{}", ended.err);
    }
}

#[test]
fn a_report_can_be_judged_again_without_its_device() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.json"), folder.path().join("new.json"));
    ends(fpprobe(&["swiftshader"]).arg("run").args(FILTER).arg("-o").arg(&old)).with(0);
    ends(fpprobe(&[]).arg("judge").arg(&old).arg("-o").arg(&new)).with(0);
    assert_eq!(json(&old), json(&new));
    ends(fpprobe(&[]).arg("judge").arg(&old).args(["--profile", "wgsl", "-o"]).arg(&new)).with(0);
    assert_eq!(json(&new)["devices"][0]["profiles"].as_array().unwrap().len(), 1);
    let text = std::fs::read_to_string(&old).unwrap();
    std::fs::write(&old, &text[..text.len() / 2]).unwrap();
    let ended = ends(fpprobe(&[]).arg("judge").arg(&old));
    ended.with(2);
    assert!(ended.err.contains("old.json"), "{}", ended.err);
}

#[test]
fn requirements_decide_the_status() {
    // What SwiftShader answers to a handful of kernels cannot fulfil a whole profile.
    let ended = ends(fpprobe(&["swiftshader"]).args(["run", "f32.fabs", "--require", "d3d11"]));
    ended.with(3);
    assert!(ended.err.contains("does not meet d3d11"), "{}", ended.err);
}

#[test]
fn formats_go_to_standard_output_alone() {
    for (format, start) in [("json", "{"), ("jsonl", "{"), ("html", "<!DOCTYPE html>"), ("md", "#")]
    {
        let ended = ends(fpprobe(&["swiftshader"]).args(["run", "f32.fabs", "--format", format]));
        assert!(
            ended.with(0).starts_with(start),
            "{format}: {}",
            &ended.out[..ended.out.len().min(80)]
        );
        assert!(ended.err.contains("1 kernel"), "progress goes to standard error: {}", ended.err);
    }
}

#[test]
fn colours_follow_the_environment_and_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "colour = \"always\"\n").unwrap();
    let coloured = |variables: &[(&str, &str)], configured: bool| {
        let mut command = fpprobe(&["swiftshader"]);
        if configured {
            command.arg("--config").arg(&config);
        }
        ends(command.args(["run", "f32.fabs"]).envs(variables.iter().copied()))
            .with(0)
            .contains('\u{1b}')
    };
    assert!(!coloured(&[], false), "a pipe is no terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], false));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false));
    assert!(coloured(&[("NO_COLOR", "1")], true), "the configuration has the last word");
}

#[test]
fn a_broken_driver_beside_a_good_one_leaves_the_run_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{").unwrap();
    let manifests = [broken.clone(), crate::scene::manifest("swiftshader")];
    let out = folder.path().join("report.json");
    let mut command = crate::scene::with_manifests(&manifests);
    ends(command.args(["run", "f32.fabs", "-o"]).arg(&out)).with(5);
    let report = json(&out);
    assert_eq!(report["incomplete"][0]["subject"], broken.display().to_string());
    assert_eq!(report["devices"][0]["observations"][0]["outcome"], "ran");
    let mut command = crate::scene::with_manifests(&manifests);
    ends(command.args(["run", "f32.fabs", "--device", "swiftshader"])).with(0);
}
