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

#[test]
fn unknown_names_come_with_the_nearest() {
    assert!(refused(&["eval", "f32.inverse_sqr", "0"]).contains("`inverse_sqrt`"));
    assert!(refused(&["eval", "f23.fadd", "0", "0"]).contains("`f32`"));
    assert!(refused(&["run", "f32.fad*q"]).contains("f32.fadd"));
    assert!(refused(&["run", "--profile", "d3d1"]).contains("`d3d11`"));
    assert!(refused(&["run", "--require", "wgs"]).contains("`wgsl`"));
    assert!(refused(&["accepts", "d3d12", "f32.fadd", "0", "0"]).contains("`d3d11`"));
    assert!(refused(&["explain", "D32-188"]).contains("D32-18"));
    assert!(refused(&["explain", "G-225"]).contains("G-25"));
    assert!(refused(&["eval", "f32.fadd:controls=szin23", "0", "0"]).contains("`szin32`"));
    assert!(refused(&["frobnicate"]).contains("unrecognized subcommand"));
    assert!(refused(&["rnu"]).contains("a similar subcommand exists: 'run'"));
    assert!(refused(&["history", "lsit"]).contains("'list'"));
}

#[test]
fn bad_values_are_named() {
    assert!(refused(&["eval", "f32.fabs", "8000000g"]).contains("8000000g"));
    assert!(refused(&["eval", "f16.fabs", "12345"]).contains("f16"));
    assert!(refused(&["eval", "f32.fadd", "0"]).contains("operand"));
    assert!(
        refused(&["eval", "f32.fadd:controls=ftz32,dp32", "0", "0"]).contains("exclude each other")
    );
    assert!(refused(&["run", "--timeout", "0"]).contains("seconds"));
    assert!(refused(&["run", "--jobs", "0"]).contains("--jobs"));
    assert!(refused(&["run", "--format", "yaml"]).contains("jsonl"));
    assert!(refused(&["run", "-o", "report.yaml"]).contains(".json"));
    assert!(refused(&["judge", "/nowhere/report.json"]).contains("/nowhere/report.json"));
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
fn files_that_are_not_there_come_with_what_makes_them() {
    let folder = tempfile::tempdir().unwrap();
    let (none, place) = (folder.path().join("none.json"), folder.path().to_str().unwrap());
    let none = none.to_str().unwrap();
    for (arguments, advice) in [
        (&["judge", none][..], "`fpprobe run -o FILE.json` writes a report"),
        (&["diff", none, none], "`fpprobe history list` shows those that are kept"),
        (&["diff", place, place], "`fpprobe run -o FOLDER` writes one"),
        (&["judge", place], "`fpprobe run -o FOLDER` writes one"),
        (
            &["check", "--baseline", none],
            "`fpprobe baseline accept REPORT -o FILE --reason TEXT` writes one",
        ),
        (&["rules", "none.toml"], "`fpprobe profiles` lists it"),
        (
            &["run", "--require", none],
            "`fpprobe run --format vulkan-profile -o FILE.json` writes one",
        ),
        (&["--config", none, "list"], "every setting with its default"),
        (&["diff", "--last", "--store-path", place], "`fpprobe run`"),
        (&["history", "show", "last", "--store-path", place], "`fpprobe run`"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(advice), "{arguments:?}: {message}");
    }
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
