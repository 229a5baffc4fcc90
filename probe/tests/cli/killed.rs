//! Workers killed or stopped from outside in mid-run cost nothing but time.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::scene::{ends, fpprobe, json};

/// Kernels enough for dozens of batches of one.
const FILTER: &str = "f32.fm*";

/// The program with one worker and one kernel in a module.
fn slow(folder: &Path, driver: &str, timeout: &str, out: &Path) -> Command {
    let config = folder.join("config.toml");
    std::fs::write(&config, "[workers]\nbatch = 1\njobs = 1\n").unwrap();
    let mut command = fpprobe(&[driver]);
    command
        .arg("--config")
        .arg(&config)
        .args(["-v", "run", "--timeout", timeout, FILTER, "-o"])
        .arg(out);
    command
}

/// A run that was disturbed beside one that was not.
struct Disturbed {
    code: i32,
    err: String,
    calm: Value,
    report: Value,
}

/// Starts a run and sends the worker this signal at the fifth request.
fn disturbed(driver: &str, signal: &str) -> Disturbed {
    // Only a worker that is stopped has to be waited for.
    let timeout = if signal == "-STOP" { "5" } else { "60" };
    let folder = tempfile::tempdir().unwrap();
    let (calm, out) = (folder.path().join("calm.json"), folder.path().join("disturbed.json"));
    ends(&mut slow(folder.path(), driver, "60", &calm)).with(0);
    let mut command = slow(folder.path(), driver, timeout, &out);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let selected = |line: &String| line.starts_with("worker ") && line.contains(" kernels from ");
    let line = lines
        .by_ref()
        .map(Result::unwrap)
        .filter(selected)
        .nth(4)
        .expect("the run has five batches");
    let worker = line.split(' ').nth(1).unwrap().trim_end_matches(':').to_owned();
    assert!(Command::new("kill").args([signal, &worker]).status().unwrap().success());
    let mut err = String::new();
    for line in lines {
        err += &(line.unwrap() + "\n");
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    assert!(!err.contains("panicked"), "{err}");
    Disturbed { code, err, calm: json(&calm), report: json(&out) }
}

/// Everything is there, exactly as without the disturbance; the report says what happened.
fn unharmed(driver: &str, signal: &str, outcome: &str, words: &str) {
    let Disturbed { code, calm, report, .. } = disturbed(driver, signal);
    assert_eq!(code, 5);
    let (calm, device) = (&calm["devices"][0], &report["devices"][0]);
    assert_eq!(device["observations"], calm["observations"]);
    assert_eq!(device["profiles"], calm["profiles"]);
    assert_eq!(calm["incomplete"].as_array().unwrap().len(), 0);
    let incidents = device["incomplete"].as_array().unwrap();
    assert_eq!(incidents.len(), 1, "{incidents:?}");
    assert_eq!(incidents[0]["outcome"], outcome);
    assert!(incidents[0]["detail"].as_str().unwrap().contains(words), "{incidents:?}");
}

#[test]
fn a_worker_killed_from_outside_leaves_the_report_as_it_would_have_been() {
    let Disturbed { code, err, mut calm, mut report } = disturbed("swiftshader", "-KILL");
    let incidents = report["devices"][0]["incomplete"].take();
    report["devices"][0]["incomplete"] = Value::Array(Vec::new());
    let named = incidents[0]["detail"].as_str().unwrap_or_default();
    assert!(
        named.starts_with("1 worker was ended from outside") && named.contains("SIGKILL"),
        "{incidents}"
    );
    assert!(
        named.contains("while measuring f32.f") && incidents.as_array().unwrap().len() == 1,
        "{incidents}"
    );
    assert_eq!(code, 5);
    assert!(
        err.contains("the worker was killed by SIGKILL") && err.contains("it is asked again"),
        "{err}"
    );
    for report in [&mut calm, &mut report] {
        (report["started"], report["finished"]) = (Value::Null, Value::Null);
    }
    // Neither device nor kernel is to blame, and nothing else is different.
    assert_eq!(report, calm);
}

#[test]
fn a_worker_has_a_limit_of_memory_and_ends_before_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report.json");
    let mut command = slow(folder.path(), "swiftshader", "60", &out);
    command.env("FPPROBE_WORKERS_MEMORY", "700");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.by_ref().find(|line| line.contains(" kernels from ")).unwrap();
    let worker = line.split(' ').nth(1).unwrap().trim_end_matches(':').to_owned();
    let about = |name: &str| std::fs::read_to_string(format!("/proc/{worker}/{name}")).unwrap();
    let (limits, badness) = (about("limits"), about("oom_score_adj"));
    lines.for_each(drop);
    assert_eq!((child.wait().unwrap().code(), badness.trim()), (Some(0), "500"));
    let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
    assert!(data.contains(&(700 << 20).to_string()), "{data}");
    // One that is too low for any driver.
    let mut command = slow(folder.path(), "swiftshader", "60", &out);
    let ended = ends(command.env("FPPROBE_WORKERS_MEMORY", "12"));
    assert!(
        [Some(4), Some(5)].contains(&ended.code)
            && ended.err.contains("`workers.memory` allows it 12 MiB"),
        "{}",
        ended.err
    );
}

#[test]
fn a_worker_stopped_on_swiftshader() {
    unharmed("swiftshader", "-STOP", "hung", "no answer within 5 s");
}

#[test]
fn a_worker_crashed_on_lavapipe() {
    unharmed("lavapipe-25", "-ABRT", "crashed", "SIGABRT");
}

#[test]
fn workers_do_not_outlive_a_killed_supervisor() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report.json");
    let mut child = slow(folder.path(), "swiftshader", "60", &out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line =
        lines.by_ref().map(Result::unwrap).find(|line| line.contains(" kernels from ")).unwrap();
    let worker = line.split(' ').nth(1).unwrap().trim_end_matches(':').to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let removed = || {
        let mut state = String::new();
        let stat = std::fs::File::open(format!("/proc/{worker}/stat"));
        let read = stat.and_then(|mut file| file.read_to_string(&mut state));
        // A zombie that its new parent has yet to reap runs nothing any more.
        read.is_err() || state.contains(") Z ")
    };
    while !removed() {
        assert!(std::time::Instant::now() < deadline, "worker {worker} is still there");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!out.exists(), "half a report is no report");
}
