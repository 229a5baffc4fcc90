//! What users get wrong: a clear message and exit status 2.

use std::io::pipe;
use std::process::Command;

use crate::scene::{ends, ends_reading, fpprobe};

/// The message of a program that ends with status 2 before it touches any driver.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let ended = ends(fpprobe(&[]).args(arguments));
    assert_eq!(ended.with(2), "", "standard output carries results only");
    ended.err
}

/// What prints to standard output, each in its own way.
const PRINTED: [&[&str]; 6] = [
    &["accepts", "d3d11", "f32.fabs", "80000000"],
    &["schema", "report"],
    &["kernels", "f32.fadd"],
    &["completions", "bash"],
    &["--help"],
    &["--version"],
];

#[test]
fn a_full_disk_is_named() {
    for arguments in PRINTED {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = ends(fpprobe(&[]).args(arguments).stdout(full));
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.err.contains("No space left"), "{arguments:?}: {}", ended.err);
    }
}

/// The program, started by a shell that has run this first.
fn after(script: &str, arguments: &[&str]) -> Command {
    let whole = fpprobe(&[]);
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{script} exec \"$0\" \"$@\""))
        .arg(whole.get_program())
        .args(arguments);
    command
}

#[test]
fn a_standard_output_that_is_closed_is_an_error_and_one_that_leads_nowhere_is_not() {
    for arguments in PRINTED {
        let ended = ends(&mut after("exec >&-;", arguments));
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(
            ended.err.contains("failed to write standard output: it is closed"),
            "{arguments:?}: {}",
            ended.err
        );
        assert_eq!(ends(&mut after("exec >/dev/null;", arguments)).code, Some(0), "{arguments:?}");
    }
}

#[test]
fn memory_that_is_not_there_is_an_internal_error() {
    // Enough to start, and not to read and judge everything; a thread that cannot be had is a
    // panic.
    let report =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../reports/tests/reports/v1-lavapipe-25.json");
    let status = |kibibytes: u32| {
        let mut command = after(&format!("ulimit -v {kibibytes};"), &["judge", report]);
        (kibibytes, command.output().unwrap().status.code())
    };
    let statuses: Vec<(u32, Option<i32>)> =
        (0..8).map(|step| status(60_000 + 15_000 * step)).collect();
    assert!(
        statuses.iter().all(|(_, status)| [Some(0), Some(1), Some(2), Some(3)].contains(status)),
        "{statuses:?}"
    );
    assert!(statuses.iter().any(|(_, status)| *status == Some(1)), "{statuses:?}");
}

#[test]
fn lines_that_are_no_cases_are_named_by_number() {
    let input = "{\"in\": [\"80000000\"]}\n{\"in\": 7}\n";
    let ended = ends_reading(fpprobe(&[]).args(["accepts", "d3d11", "f32.fabs"]), input);
    ended.with(2);
    assert!(ended.err.contains("line 2"), "{}", ended.err);
}

#[test]
fn configuration_mistakes_are_named_with_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let complaint = |text: &str| {
        std::fs::write(&path, text).unwrap();
        refused(&["--config", path.to_str().unwrap(), "list"])
    };
    for (text, parts) in [
        ("[workers]\njbos = 2\n", ["mine.toml", "line 2", "jbos"]),
        ("jobs = 2\n", ["mine.toml", "line 1", "jobs"]),
        ("\n[workers]\ntimeout = \"soon\"\n", ["mine.toml", "line 3", "timeout"]),
        ("format = \"yaml\"\n", ["mine.toml", "format", "jsonl"]),
        ("[workers\n", ["mine.toml", "line 1", "workers"]),
    ] {
        let message = complaint(text);
        for part in parts {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
    }
    assert!(
        refused(&["--config", "/nowhere/config.toml", "list"]).contains("/nowhere/config.toml")
    );
}

#[test]
fn profiles_with_mistakes_are_named_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, "id = \"own\"\ntitle = 7\n").unwrap();
    let message = refused(&["rules", path.to_str().unwrap()]);
    assert!(message.contains("own.toml") && message.contains('2'), "{message}");
    std::fs::write(&path, "id = \"d3d11\"\ntitle = \"t\"\nversion = \"1\"\nextends = \"d3d11\"\n")
        .unwrap();
    let message = refused(&["rules", path.to_str().unwrap()]);
    assert!(
        message.contains("`d3d11` is a built-in profile's: give this one an id of its own"),
        "{message}"
    );
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(refused(&["rules", path.to_str().unwrap()]).contains("UTF-8: save the file as such"));
    assert!(refused(&["rules", "d3d11.toml"]).contains("has an id without `.toml`"));
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    for arguments in [
        &["kernels"][..],
        &["schema"],
        &["completions", "bash"],
        &["man"],
        &["rules"],
        &["profiles"],
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let ended = ends(fpprobe(&[]).args(arguments).stdout(writer));
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_worker_is_not_for_users() {
    let ended = ends(fpprobe(&[]).arg("worker"));
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("started by fpprobe itself"), "{}", ended.err);
    assert!(!ends(fpprobe(&[]).arg("--help")).with(0).contains("worker "));
}
