//! Reading files that are and are not reports.

use std::fs;
use std::path::Path;

use fpprobe_reports::load::{LoadError, load, parse};
use fpprobe_reports::save::save;

use crate::fixture::{self, render};

fn message(bytes: &[u8]) -> String {
    parse(bytes, Path::new("old.json")).unwrap_err().to_string()
}

#[test]
fn a_written_report_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let report = fixture::report();
    let text = render("json", &report);
    save(&path, |out| out.write_all(text.as_bytes())).unwrap();
    assert_eq!(load(&path).unwrap(), report);
}

#[test]
fn a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("newer.json");
    let text = r#"{"devices": {"a": "form of the future"}, "schema": "fpprobe-report/3"}"#;
    fs::write(&path, text).unwrap();
    let error = load(&path).unwrap_err();
    assert!(matches!(error, LoadError::Newer { version: 3, .. }));
    assert!(
        error.to_string().contains("version 3") && error.to_string().contains("knows version 2"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_truncated_report_says_where_it_ends() {
    let text = render("json", &fixture::report());
    let error = message(&text.as_bytes()[..text.len() / 2]);
    assert!(
        error.contains("old.json: it ends in the middle, at line ") && error.contains("column"),
        "{error}"
    );
    // However short it is cut, it is a message and not a crash.
    for end in 0..400 {
        assert!(parse(&text.as_bytes()[..end], Path::new("old.json")).is_err());
    }
}

#[test]
fn other_files_are_distinguished() {
    assert!(message(b"MZ\x90").contains("not JSON"));
    assert!(message(b"{\"schema\": \"\xff\"}").contains("not JSON"));
    assert!(message(br#"{"name": "x"}"#).contains("its `schema` is missing"));
    assert!(message(br#"{"schema": 1}"#).contains("`schema`"));
    assert!(message(br#"{"schema": "https://example.org/caps"}"#).contains("example.org"));
    assert!(message(br#"{"schema": "fpprobe-report/0"}"#).contains("fpprobe-report/0"));
    let content = message(br#"{"schema": "fpprobe-report/1"}"#);
    assert!(content.contains("missing field") && content.contains("line 1"), "{content}");
    assert!(
        load(Path::new("/nonexistent/report.json"))
            .unwrap_err()
            .to_string()
            .contains("/nonexistent/report.json")
    );
}

#[test]
fn times_are_times() {
    let report = fixture::report();
    for time in [&report.started, &report.finished] {
        let text = render("json", &report).replace(&format!("\"{time}\""), "\"yesterday\"");
        let error = message(text.as_bytes());
        assert!(
            error.contains(r#""yesterday" is no time such as "2026-11-22T03:09:18Z" at line"#),
            "{error}"
        );
    }
}

#[test]
fn depth_is_limited() {
    let deep = format!(
        r#"{{"schema": "fpprobe-report/1", "x": {}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(message(deep.as_bytes()).contains("missing field"));
    let nested = format!("\"accepts\":{}{},\"old\":", "[".repeat(200), "]".repeat(200));
    let text = render("json", &fixture::report()).replacen("\"accepts\":", &nested, 1);
    assert!(message(text.as_bytes()).contains("recursion limit"));
}

#[test]
fn more_than_any_report_has_is_refused() {
    let mut report = fixture::report();
    let device = report.devices[0].clone();
    report.devices = vec![
        fpprobe_reports::model::Device {
            observations: Vec::new(),
            profiles: Vec::new(),
            ..device
        };
        257
    ];
    let error = message(render("json", &report).as_bytes());
    assert!(error.contains("it has 257 devices, and 256 are the most"), "{error}");
}

#[test]
fn numbers_at_their_limits_are_shown() {
    let mut report = fixture::report();
    for rule in report
        .devices
        .iter_mut()
        .flat_map(|device| &mut device.profiles)
        .flat_map(|profile| &mut profile.rules)
    {
        (rule.lanes, rule.failing) = (usize::MAX, usize::MAX);
    }
    for format in fpprobe_reports::render::FORMATS {
        assert!(!render(format.name, &report).is_empty());
    }
}
