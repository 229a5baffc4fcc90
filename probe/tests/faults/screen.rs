//! `screen` on devices whose results are now and then others. Each fault that is random is expected
//! to strike so often that a measured rate outside of half and twice the true one is no accident
//! (Poisson, 40 expected: 1 in 3,000).

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::faulty::faulty;
use crate::scene::{ends, fpprobe, json};

/// Strikes that are expected at least.
const EXPECTED: f64 = 40.0;

/// A screening with these statements.
fn screening(folder: &Path, statements: &str, arguments: &[&str]) -> Command {
    let mut command = faulty(&["lavapipe-25"], statements);
    command.env("FPPROBE_FAULTS_STATE", folder).arg("screen").args(arguments);
    command.arg("-o").arg(folder.join("screen.json"));
    command
}

/// Its only device, and its exit status.
fn screened(folder: &Path, statements: &str, arguments: &[&str]) -> (Value, Option<i32>) {
    let ended = ends(&mut screening(folder, statements, arguments));
    assert!(folder.join("screen.json").exists(), "{}", ended.err);
    (json(&folder.join("screen.json"))["devices"][0].clone(), ended.code)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The only finding of a screening that is long enough for the strikes at this rate of all results;
/// 60 s at most.
#[track_caller]
fn struck(statement: &str, rate: f64) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for seconds in ["6s", "15s", "35s"] {
        let (device, code) = screened(folder.path(), statement, &["f32.fabs", "--for", seconds]);
        let expected = number(&device["results"]) * rate;
        if expected < EXPECTED {
            continue;
        }
        assert_eq!(code, Some(3), "{expected} expected: {device}");
        let findings = device["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{device}");
        let finding = &findings[0];
        assert_eq!(
            (&finding["kernel"], &finding["class"]),
            (&"f32.fabs".into(), &"intermittent".into()),
            "{finding}"
        );
        let found = number(&finding["rate"]) / rate;
        assert!(
            (0.5..2.0).contains(&found),
            "{expected} expected, {found} times as many: {finding}"
        );
        assert!(number(&finding["reproduction_rate"]) < 0.5, "{finding}");
        return finding.clone();
    }
    panic!("there were not enough results in 35 s to expect {EXPECTED} strikes at {rate}");
}

#[test]
fn rare_flips_are_found_with_their_rate_and_inputs() {
    let finding = struck("strike 1e-7", 1e-7);
    let list = finding["list"].as_array().unwrap();
    let located = list.iter().filter(|failure| failure["in"].is_array()).count();
    assert!(located * 2 > list.len(), "{finding}");
    // What fabs gives for these operands is known.
    for failure in list.iter().filter(|failure| failure["in"].is_array()) {
        let bits = |value: &Value| u32::from_str_radix(value.as_str().unwrap(), 16).unwrap();
        let (operand, right) = (bits(&failure["in"][0]), bits(&failure["expected"]));
        let is_nan = operand & 0x7fff_ffff > 0x7f80_0000;
        assert!(right == operand & 0x7fff_ffff || is_nan && right == 0x7fc0_0000, "{failure}");
        assert_ne!(bits(&failure["out"]), right, "{failure}");
    }
    assert!(finding.get("lane").is_none(), "{finding}");
}

#[test]
fn a_lane_that_fails_is_named() {
    // A 32nd of all results.
    let finding = struck("strike 1e-5 lane 7", 1e-5 / 32.0);
    assert_eq!(finding["lane"], serde_json::json!([7, 32]), "{finding}");
}

#[test]
fn what_fails_after_many_dispatches_has_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let (device, code) =
        screened(folder.path(), "strike 1e-6 from 40 ever", &["f32.fabs", "--for", "20s"]);
    assert_eq!(code, Some(3), "{device}");
    let finding = &device["findings"][0];
    // By the count of dispatches, not by the clock: in the first of them nothing failed.
    let first = number(&finding["time_to_failure_s"]);
    assert!(first > 0.2 && first <= number(&finding["last_failure_s"]), "{finding}");
    assert_eq!(finding["class"], "intermittent", "{finding}");
}

#[test]
fn what_fails_in_the_heat_has_its_temperature() {
    let folder = tempfile::tempdir().unwrap();
    let sensor = folder.path().join("class/hwmon/hwmon0");
    std::fs::create_dir_all(&sensor).unwrap();
    std::fs::write(sensor.join("name"), "k10temp\n").unwrap();
    let file = sensor.join("temp1_input");
    let heat = |degrees: &str| {
        std::fs::write(folder.path().join("next"), degrees).unwrap();
        std::fs::rename(folder.path().join("next"), &file).unwrap();
    };
    heat("52000");
    let statement = format!("strike 1e-6 above 70000 {}", file.display());
    let sys = folder.path().to_str().unwrap();
    let mut command =
        screening(folder.path(), &statement, &["f32.fabs", "--for", "16s", "--sys", sys]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_secs(8));
    heat("74000");
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
    let device = json(&folder.path().join("screen.json"))["devices"][0].clone();
    assert_eq!(device["findings"][0]["temperature_c"], serde_json::json!([74.0, 74.0]), "{device}");
    assert_eq!(device["rounds"][0]["sensors"]["temperature_c"], 52.0, "{device}");
}

#[test]
fn one_wrong_input_of_all_is_persistent_where_a_reference_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("sound.json");
    let mut sweep = fpprobe(&["lavapipe-25"]);
    // The block that the input is in.
    sweep
        .args([
            "sweep",
            "f32.floor",
            "--fingerprint",
            "--normalise-nan",
            "--shard",
            "1029/4096",
            "-o",
        ])
        .arg(&reference);
    ends(&mut sweep).with(0);
    let arguments = ["f32.floor", "--for", "30s", "--reference", reference.to_str().unwrap()];
    let (device, code) =
        screened(folder.path(), "give r+1 in f32.floor when x is 40490fdb", &arguments);
    assert_eq!(code, Some(3), "{device}");
    let finding = &device["findings"][0];
    let expected = ("persistent", 1.0, "40490fdb", "40400000", "40400001");
    let failure = &finding["list"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = (
        text(&finding["class"]),
        number(&finding["reproduction_rate"]),
        text(&failure["in"][0]),
        text(&failure["expected"]),
        text(&failure["out"]),
    );
    assert_eq!((found.0.as_str(), found.1, &*found.2, &*found.3, &*found.4), expected, "{finding}");
    // One result of all.
    let share = number(&finding["failed"]) / number(&device["results"]);
    assert!((0.5..2.0).contains(&(number(&finding["rate"]) / share)), "{finding}");
    assert_eq!(
        (&failure["block"], &failure["times"]),
        (&1028.into(), &finding["failed"]),
        "{finding}"
    );
}

#[test]
fn lists_of_cases_are_compared_with_what_is_expected_and_with_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let expected = folder.path().join("expected.json");
    ends(fpprobe(&["lavapipe-25"]).args(["gate", "--record", "--expect"]).arg(&expected)).with(0);
    let known = ["f32.fadd", "f32.fmul", "--for", "15s", "--expect", expected.to_str().unwrap()];
    let wrong = "give r+1 in f32.fadd when x is 3f800000 and y is 3f800000";
    let (device, code) = screened(folder.path(), wrong, &known);
    assert_eq!(code, Some(3), "{device}");
    assert_eq!(
        (device["findings"].as_array().unwrap().len(), &device["kernels"]["listed"]),
        (1, &2.into()),
        "{device}"
    );
    let finding = &device["findings"][0];
    assert_eq!(
        (&finding["kernel"], &finding["class"]),
        (&"f32.fadd".into(), &"persistent".into()),
        "{finding}"
    );
    let (device, code) =
        screened(folder.path(), "queues 2; other-queue wrong", &["f32.fadd", "--for", "10s"]);
    assert_eq!(code, Some(3), "{device}");
    let failure = &device["findings"][0]["list"][0];
    assert!(failure["in"].is_array() && failure["out"] != failure["expected"], "{device}");
}

#[test]
fn a_worker_that_dies_or_hangs_costs_no_finding() {
    for (statement, part) in [("crash", "SIGSEGV"), ("hang", "no answer")] {
        let folder = tempfile::tempdir().unwrap();
        let statements = format!("strike 1e-6; {statement} in vkQueueSubmit nth 40 ever");
        let arguments = ["f32.fabs", "--for", "20s", "--set", "workers.timeout=4"];
        let (device, code) = screened(folder.path(), &statements, &arguments);
        assert_eq!(code, Some(3), "{device}");
        assert_eq!(device["findings"].as_array().unwrap().len(), 1, "{statement}: {device}");
        assert!(
            device["incomplete"].to_string().contains(part),
            "{statement}: {}",
            device["incomplete"]
        );
        // It went on afterwards.
        let rounds = device["rounds"].as_array().unwrap();
        assert!(
            number(&rounds.last().unwrap()["results"]) > 0.0 && rounds.len() > 2,
            "{statement}: {device}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let always = "crash in vkCreateComputePipelines at f32.fabs";
    let (device, code) =
        screened(folder.path(), always, &["f32.fabs", "f32.floor", "--for", "10s"]);
    assert_eq!(code, Some(5), "{device}");
    assert!(
        number(&device["results"]) > 0.0 && device["findings"] == serde_json::json!([]),
        "{device}"
    );
}

#[test]
fn what_was_never_run_is_not_called_the_same() {
    // SwiftShader has no binary64.
    let ended = ends(fpprobe(&["swiftshader"]).args(["screen", "f64.fadd", "--for", "2s"]));
    let text = ended.with(4);
    assert!(text.contains("nothing was run: ") && text.contains("shaderFloat64"), "{text}");
}

#[test]
fn nothing_differs_on_sound_drivers() {
    for driver in ["lavapipe-25", "swiftshader"] {
        let ended = ends(fpprobe(&[driver]).args([
            "screen",
            "--for",
            "25s",
            "--load",
            "--set",
            "workers.timeout=60",
        ]));
        let text = ended.with(0);
        assert!(text.contains("nothing differs: ") && text.lines().count() <= 6, "{text}");
    }
}
