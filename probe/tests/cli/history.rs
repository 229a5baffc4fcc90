//! Reports that are kept: `run --store`, `history`, and where they go.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::scene::{ends, fpprobe, json};

/// A report of a real driver that the repository keeps.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/tests/reports/v1-lavapipe-25.json")
}

fn history(store: &Path) -> Command {
    let mut command = fpprobe(&[]);
    command.arg("history").arg("--store-path").arg(store);
    command
}

fn list(store: &Path) -> Value {
    ends(history(store).args(["list", "--json"])).document(0)
}

/// The only file of a store that is a report.
fn file(store: &Path) -> PathBuf {
    store.join(list(store)["reports"][0]["file"].as_str().unwrap())
}

#[test]
fn what_is_added_is_listed_shown_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let store = &folder.path().join("store");
    let empty = ends(history(store).arg("list"));
    assert_eq!(empty.with(0), "");
    assert!(
        empty.err.contains("no report in") && empty.err.contains("fpprobe run"),
        "{}",
        empty.err
    );
    let added = ends(history(store).arg("add").arg(kept()));
    added.with(0);
    assert!(added.err.starts_with("stored as "), "{}", added.err);
    assert!(ends(history(store).arg("add").arg(kept())).err.contains("was stored before"));
    let document = list(store);
    assert_eq!(
        (&document["schema"], document["reports"].as_array().unwrap().len()),
        (&"fpprobe-history/1".into(), 1)
    );
    let report = &document["reports"][0];
    let id = report["id"].as_str().unwrap();
    assert_eq!(report["devices"][0]["driver"], "llvmpipe");
    let shown = ends(history(store).args(["show", id, "--format", "json"])).document(0);
    assert_eq!(shown, json(&kept()));
    assert_eq!(ends(history(store).args(["show", "last", "--format", "json"])).document(0), shown);
    assert!(ends(history(store).args(["list", "--device", "LLVM"])).with(0).contains(id));
    assert_eq!(ends(history(store).args(["list", "--device", "geforce"])).with(0), "");
    assert_eq!(ends(history(store).args(["list", "--limit", "0"])).with(0), "");
    // A folder with a report is one.
    let whole = folder.path().join("whole");
    fs::create_dir(&whole).unwrap();
    fs::copy(kept(), whole.join("report.json")).unwrap();
    assert!(ends(history(store).arg("add").arg(&whole)).err.contains("was stored before"));
    // What reads a report reads a stored one.
    ends(fpprobe(&[]).arg("answers").arg(file(store))).with(0);
    let compared = ends(history(store).args(["compare", "last", id]));
    assert!(compared.with(0).contains("nothing changed"), "{}", compared.out);
    let alone = ends(fpprobe(&[]).args(["diff", "--last", "--store-path"]).arg(store));
    alone.with(2);
    assert!(alone.err.contains("it holds 1"), "{}", alone.err);
    assert!(ends(history(store).arg("verify")).with(0).contains("as stored: 1"));
    let missing = ends(history(store).args(["show", "last-1"]));
    missing.with(2);
    assert!(missing.err.contains("it holds 1"), "{}", missing.err);
    ends(history(store).args(["prune", "--keep-bytes", "0"])).with(2);
    ends(history(store).args(["prune", "--keep-count", "1"])).with(0);
    assert_eq!(list(store)["reports"].as_array().unwrap().len(), 1);
}

#[test]
fn damage_is_named_and_stays_until_it_is_asked_to_go() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    ends(history(store).arg("add").arg(kept())).with(0);
    let path = file(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let found = ends(history(store).arg("verify"));
    assert!(found.with(2).contains(&format!("damaged: {name}")), "{}", found.out);
    let shown = ends(history(store).args(["show", "last"]));
    shown.with(2);
    assert!(shown.err.contains(name) && path.exists(), "{}", shown.err);
    ends(history(store).args(["verify", "--set-aside", "--rebuild"])).with(2);
    assert!(!path.exists() && store.join("damaged").join(name).exists());
    assert!(ends(history(store).arg("verify")).with(0).contains("as stored: 0"));
}

#[test]
fn a_lost_report_is_reported_until_that_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = &folder.path().join("store");
    let none = ends(history(store).arg("verify"));
    none.with(2);
    assert!(none.err.contains("there is no store in"), "{}", none.err);
    ends(history(store).arg("add").arg(kept())).with(0);
    let path = file(store);
    let name = path.file_name().unwrap().to_str().unwrap();
    ends(history(store).arg("verify")).with(0);
    fs::remove_file(&path).unwrap();
    for _ in 0..2 {
        let lost = ends(history(store).arg("verify"));
        assert!(lost.with(2).contains(&format!("lost: {name}")), "{}", lost.out);
    }
    ends(history(store).args(["verify", "--rebuild"])).with(2);
    ends(history(store).arg("verify")).with(0);
    // The line of the log is lost, too, and the index still has it.
    let store = &folder.path().join("other");
    ends(history(store).arg("add").arg(kept())).with(0);
    let log = store.join("log.jsonl");
    let lines = fs::read_to_string(&log).unwrap();
    let end = lines.trim_end().rfind('\n').unwrap() + 1;
    fs::write(&log, &lines[..end]).unwrap();
    fs::remove_file(file(store)).unwrap();
    let lost = ends(history(store).arg("verify"));
    assert!(lost.with(2).contains(&format!("lost: {name}")), "{}", lost.out);
}

#[test]
fn a_report_from_the_future_is_a_warning_and_does_not_stay_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let store = &folder.path().join("store");
    let future = folder.path().join("future.json");
    let mut report = json(&kept());
    report["finished"] = "2999-01-01T00:00:00Z".into();
    fs::write(&future, report.to_string()).unwrap();
    let added = ends(history(store).arg("add").arg(&future));
    added.with(0);
    let ahead = file(store);
    let config = folder.path().join("config.toml");
    fs::write(&config, "[store]\nkeep_count = 1\n").unwrap();
    // What was stored just now is not what goes.
    ends(history(store).arg("--config").arg(&config).arg("add").arg(kept())).with(0);
    assert!(!ahead.exists());
    ends(history(store).args(["add"]).arg(&future)).with(0);
    let listed = ends(history(store).arg("list"));
    listed.with(0);
    assert!(listed.err.contains("ended in the future: the clock was ahead"), "{}", listed.err);
}

#[test]
fn who_writes_to_the_store_and_does_not_end_keeps_no_report_from_being_saved() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let lock = || {
        let file = fs::File::options().read(true).write(true).open(store.join("lock")).unwrap();
        file.lock().unwrap();
        file
    };
    ends(history(&store).arg("add").arg(kept())).with(0);
    let lock_held = lock();
    let refused = ends(history(&store).args(["--set", "store.wait=0.2", "add"]).arg(kept()));
    refused.with(2);
    assert!(
        refused.err.contains("is in use by a process that did not sign it")
            && refused.err.contains("gave up after 0.2 s"),
        "{}",
        refused.err
    );
    drop(lock_held);
    // It takes the lock while another measures.
    let mut command = fpprobe(&["swiftshader"]);
    command.env("TMPDIR", folder.path()).args([
        "--set",
        "store.wait=0.2",
        "-v",
        "run",
        "--jobs",
        "1",
        "f32.f*",
    ]);
    command.arg("--store-path").arg(&store).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    lines.by_ref().find(|line| line.contains(" kernels from ")).expect("it measures");
    let _held = lock();
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let saved = rest
        .iter()
        .find(|line| line.contains("the report is "))
        .unwrap_or_else(|| panic!("{rest:#?}"));
    let path =
        saved.split("the report is ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    assert_eq!(json(Path::new(path))["schema"], "fpprobe-report/1");
}

#[test]
fn a_tainted_report_is_kept_only_where_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tainted.json");
    let mut report = json(&kept());
    report["devices"][0]["taint"] = serde_json::json!(["layer VK_LAYER_X is active"]);
    fs::write(&path, report.to_string()).unwrap();
    let store = &folder.path().join("store");
    let refused = ends(history(store).arg("add").arg(&path));
    refused.with(2);
    assert!(
        refused.err.contains("VK_LAYER_X") && refused.err.contains("--allow-tainted"),
        "{}",
        refused.err
    );
    ends(history(store).args(["add", "--allow-tainted"]).arg(&path)).with(0);
    assert_eq!(list(store)["reports"][0]["tainted"], true);
}

#[test]
fn what_no_comparison_could_use_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = (folder.path().join("report.json"), folder.path().join("store"));
    let refused = |report: &Value| {
        fs::write(&path, report.to_string()).unwrap();
        let ended = ends(history(&store).arg("add").arg(&path));
        ended.with(2);
        ended.err
    };
    let mut empty = json(&kept());
    empty["devices"] = serde_json::json!([]);
    let message = refused(&empty);
    assert!(message.contains("holds no device"), "{message}");
    // Well-formed, but with an answer that the kernel cannot have given.
    let mut wrong = json(&kept());
    wrong["devices"][0]["observations"][0]["out"][0] = "00".into();
    let message = refused(&wrong);
    assert!(message.contains("f32.frexp") && message.contains("report.json"), "{message}");
    assert_eq!(list(&store)["reports"], serde_json::json!([]));
}

#[test]
fn a_run_is_kept_where_that_is_requested() {
    let folder = tempfile::tempdir().unwrap();
    let (state, service) = (folder.path().join("state"), folder.path().join("service"));
    let run = |arguments: &[&str], variable: &str, value: &Path| {
        let mut command = fpprobe(&["lavapipe-25"]);
        command
            .args(["run", "f32.fadd", "--profile", "wgsl"])
            .args(arguments)
            .env_remove("STATE_DIRECTORY");
        ends(command.env(variable, value).env_remove("FPPROBE_STORE_KEEP"))
    };
    run(&["--set", "store.keep=false"], "XDG_STATE_HOME", &state).with(0);
    assert!(!state.exists(), "nothing is kept against the configuration");
    let ended = run(&["--store"], "XDG_STATE_HOME", &state);
    ended.with(0);
    assert!(ended.err.contains("stored as "), "{}", ended.err);
    let reports = list(&state.join("fpprobe"))["reports"].clone();
    assert_eq!(
        (reports.as_array().unwrap().len(), &reports[0]["devices"][0]["driver"]),
        (1, &"llvmpipe".into())
    );
    // By configuration, in a folder of the service, and no more of them than it says.
    let config = folder.path().join("config.toml");
    fs::write(&config, "[store]\nkeep = true\nkeep_count = 1\n").unwrap();
    let config = ["--config", config.to_str().unwrap()];
    for _ in 0..2 {
        run(&config, "STATE_DIRECTORY", &service).with(0);
    }
    let kept = list(&service)["reports"].as_array().unwrap().len();
    assert_eq!(kept, 1);
    let last = file(&service);
    run(&[&config[..], &["--no-store"]].concat(), "STATE_DIRECTORY", &service).with(0);
    assert_eq!(file(&service), last);
    let kept_file = self::kept();
    // What is added by hand is held to the same limit, and is not what goes.
    fs::write(folder.path().join("config.toml"), "[store]\nkeep_count = 1\n").unwrap();
    ends(history(&service).args(config).arg("add").arg(kept_file)).with(0);
    assert_eq!(list(&service)["reports"].as_array().unwrap().len(), 1);
    assert!(file(&service) != last && !last.exists());
    // Who names a folder wants the report there.
    let named = folder.path().join("named");
    run(&["--store-path", named.to_str().unwrap()], "XDG_STATE_HOME", &state).with(0);
    assert_eq!(list(&named)["reports"].as_array().unwrap().len(), 1);
    // What cannot be kept is said before anything is measured.
    fs::write(folder.path().join("file"), "").unwrap();
    let ended = run(&["--store"], "STATE_DIRECTORY", &folder.path().join("file/store"));
    assert_eq!(ended.with(2), "");
    assert!(ended.err.contains("failed to create store"), "{}", ended.err);
}
