//! A report as two files: what is written is read back, and what is no such pair is refused with a
//! message.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::load::{LoadError, ResultsError, load};
use fpprobe_reports::model::{Inputs, Outputs, StoredObservation, Value, Values};
use fpprobe_reports::record::Recorder;
use fpprobe_reports::{Report, files, schema, table};
use fpprobe_spirv::{Cases, Kernel, catalogue};
use serde_json::json;

use crate::fixture::{self, observation, render, without_answers};
use crate::schema_check::check;

/// A report of one device with these results.
fn report(observations: &[Observation]) -> Report {
    let (mut report, mut recorder) = (fixture::report(), Recorder::new());
    report.devices.truncate(1);
    report.devices[0].observations = recorder.device(observations);
    report.inputs = recorder.inputs_table();
    report
}

/// The report as it comes back from its files.
fn again(report: &Report) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    files::write(report, &path, true).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["observations.parquet", "report.json"]);
    load(&path).unwrap()
}

#[test]
fn a_report_comes_back_from_its_files() {
    let report = fixture::report();
    assert_eq!(again(&report), report);
    assert_eq!(render("json", &again(&report)), render("json", &report));
    let empty = Report { devices: Vec::new(), inputs: BTreeMap::new(), ..report };
    assert_eq!(again(&empty), empty);
}

#[test]
fn the_document_follows_its_schema() {
    let pair = Pair::new(&fixture::report());
    let text = fs::read_to_string(pair.0.path().join("report.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(check(&schema(), &document), Vec::<String>::new());
    assert_eq!(document["observations"]["rows"], table::rows(&pair.table()).unwrap());
    assert_eq!(
        (&document["inputs"], &document["devices"][0]["observations"]),
        (&json!(null), &json!(null))
    );
}

#[test]
fn every_kernel_comes_back() {
    let twist = |index: usize| [0, 0, 7][index % 3];
    let wide = |plain: Kernel| [1, 2, 3].map(|width| Kernel { width, ..plain });
    let kernels =
        catalogue::plain().into_iter().flat_map(wide).filter_map(|kernel| kernel.checked().ok());
    let kernels: Vec<Kernel> = kernels.collect();
    assert!(kernels.len() > 1000, "{}", kernels.len());
    let mut observations: Vec<Observation> = kernels
        .iter()
        .enumerate()
        .map(|(index, kernel)| observation(&kernel.to_string(), twist(index)))
        .collect();
    for (index, one) in observations.iter_mut().enumerate() {
        match index % 5 {
            1 => one.cases.name = String::new(),
            2 => {
                one.outcome = Outcome::Flaky;
                let last = one.out.len() - 1;
                let changed = one.out.iter().enumerate().map(|(place, bits)| {
                    bits ^ u64::from(place == last && index % 2 == 1) ^ u64::from(place == 0)
                });
                one.second = Some(changed.collect());
            }
            3 => {
                (one.outcome, one.detail, one.out) =
                    (Outcome::Rejected, format!("call {index}"), Arc::default());
            }
            _ => {}
        }
    }
    observations.push(Observation {
        cases: Cases::new("", 2, vec![]),
        out: Arc::default(),
        ..observation("f32.fadd:route=push", 0)
    });
    let mut report = report(&observations);
    report.devices[0].observations[4].isolated = true;
    let same = |report: &Report| {
        let all = report.devices[0].observations.iter();
        all.filter(|one| matches!(one.out, Some(Outputs::SameAs { .. }))).count()
    };
    assert!(same(&report) > 100, "{}", same(&report));
    assert_eq!(again(&report), report);
}

#[test]
fn kernels_of_other_versions_come_back() {
    let mut report = report(&[observation("f32.fadd", 0)]);
    let values = |text: &str| serde_json::from_str::<Values>(text).unwrap();
    let other = |kernel: &str, inputs: &str, out: Option<&str>| StoredObservation {
        kernel: kernel.to_owned(),
        inputs: Inputs::Cases(values(inputs)),
        out: out.map(|out| Outputs::Values(values(out))),
        outcome: if out.is_some() { Outcome::Ran } else { Outcome::Crashed },
        detail: String::new(),
        isolated: false,
        second: Vec::new(),
    };
    let mut flaky = other(
        "f8.new",
        r#"[[["00","01"],"1"],[["02","03"],"0"]]"#,
        Some(r#"[["00","01"],["02","03"]]"#),
    );
    flaky.outcome = Outcome::Flaky;
    flaky.second = vec![(1, serde_json::from_str::<Value>(r#"["02","ff"]"#).unwrap())];
    report.devices[0].observations.extend([
        flaky,
        other("f8.newer", r#"[["00"]]"#, None),
        other("f8.empty", "[]", Some("[]")),
    ]);
    assert_eq!(again(&report), report);
    // Values without a common form are left out.
    report.devices[0].observations.push(other(
        "f8.mixed",
        r#"[["00"],["000"]]"#,
        Some(r#"["00","00"]"#),
    ));
    assert_eq!(again(&report).devices[0].observations.len(), 4);
}

#[test]
fn a_file_name_leads_to_the_table_beside_it() {
    let (folder, report) = (tempfile::tempdir().unwrap(), fixture::report());
    for (document, results) in [
        ("a.json", "a.parquet"),
        ("b", "b.parquet"),
        ("c.parquet", "c.parquet.parquet"),
        ("d.e", "d.e.parquet"),
    ] {
        files::write(&report, &folder.path().join(document), false).unwrap();
        assert!(folder.path().join(results).is_file(), "{results}");
        assert_eq!(load(&folder.path().join(document)).unwrap(), report);
    }
    let mut twice = report.clone();
    twice.devices[1] = twice.devices[0].clone();
    let error = files::write(&twice, &folder.path().join("twice.json"), false).unwrap_err();
    assert!(error.to_string().contains("two devices have the key"), "{error}");
    assert!(!folder.path().join("twice.json").exists());
}

/// A report's two files, and what is said of it when the second is this.
struct Pair(tempfile::TempDir);

impl Pair {
    fn new(report: &Report) -> Pair {
        let folder = tempfile::tempdir().unwrap();
        files::write(report, &folder.path().join("report.json"), true).unwrap();
        Pair(folder)
    }

    fn table(&self) -> Vec<u8> {
        fs::read(self.0.path().join("observations.parquet")).unwrap()
    }

    fn error(&self, table: &[u8]) -> (ResultsError, String) {
        fs::write(self.0.path().join("observations.parquet"), table).unwrap();
        self.message()
    }

    fn message(&self) -> (ResultsError, String) {
        let error = load(&self.0.path().join("report.json")).unwrap_err();
        let message = error.to_string();
        let LoadError::Results { cause, .. } = error else { panic!("{message}") };
        assert!(
            message.contains("report.json: its results in ")
                && message.contains("observations.parquet"),
            "{message}"
        );
        (cause, message)
    }
}

#[test]
fn what_is_not_the_reports_table_is_told_apart() {
    let small = report(&[observation("f32.fadd", 0)]);
    let pair = Pair::new(&small);
    let own = pair.table();
    let (cause, message) = pair.error(&Pair::new(&report(&[observation("f32.sqrt", 0)])).table());
    assert!(matches!(cause, ResultsError::Digest), "{message}");
    assert!(message.contains("SHA-256") && message.contains("copied together"), "{message}");
    let (cause, message) = pair.error(&Pair::new(&fixture::report()).table());
    assert!(
        matches!(cause, ResultsError::Foreign { expected: 2, .. })
            && message.contains("of another report"),
        "{message}"
    );
    for length in [4, own.len() / 2, own.len() - 1] {
        let (_, message) = pair.error(&own[..length]);
        assert!(
            message.contains("it is truncated") && message.contains("measure again"),
            "{length}: {message}"
        );
    }
    assert!(pair.error(b"{}").1.contains("it is no Parquet file"));
    fs::remove_file(pair.0.path().join("observations.parquet")).unwrap();
    let (cause, message) = pair.message();
    assert!(
        matches!(cause, ResultsError::Read(_)) && message.contains("copied together"),
        "{message}"
    );
}

#[test]
fn a_document_leads_to_no_other_folder() {
    let pair = Pair::new(&fixture::report());
    let path = pair.0.path().join("report.json");
    let text = fs::read_to_string(&path).unwrap();
    for name in ["../observations.parquet", "/etc/passwd", "", ".", "..", "a/b"] {
        fs::write(&path, text.replace("\"observations.parquet\"", &json!(name).to_string()))
            .unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains("does not name the file"), "{name}: {error}");
    }
}

#[test]
fn a_newer_pair_is_refused_and_left_alone() {
    let pair = Pair::new(&fixture::report());
    let path = pair.0.path().join("report.json");
    let text = fs::read_to_string(&path).unwrap().replace("fpprobe-report/2", "fpprobe-report/3");
    fs::write(&path, &text).unwrap();
    fs::remove_file(pair.0.path().join("observations.parquet")).unwrap();
    assert!(matches!(load(&path).unwrap_err(), LoadError::Newer { version: 3, .. }));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// Reads a table whose digest is right, whatever it holds.
fn read(bytes: &[u8], report: &Report) -> Result<Report, String> {
    let mut report = report.clone();
    report.devices.iter_mut().for_each(|device| device.observations.clear());
    report.inputs = table::read(bytes, &mut report.devices).map_err(|error| error.to_string())?.0;
    Ok(report)
}

#[test]
fn a_table_with_any_byte_changed_is_refused_or_read() {
    let report = report(&[
        observation("f32.fadd", 0),
        observation("f32.fadd:width=2", 1),
        without_answers("f32.exp", Outcome::Crashed, "x"),
    ]);
    let (bytes, rows) = table::write(&report).unwrap();
    assert_eq!((table::rows(&bytes), rows), (Ok(rows), 2 + 4 + 2));
    assert_eq!(read(&bytes, &report).unwrap(), report);
    let mut refused = 0;
    for place in 0..bytes.len() {
        for bit in [0x01, 0x40, 0x80] {
            let mut changed = bytes.clone();
            changed[place] ^= bit;
            refused += usize::from(read(&changed, &report).is_err());
        }
        assert!(read(&bytes[..place], &report).is_err());
    }
    assert!(refused > bytes.len(), "{refused} of {}", bytes.len() * 3);
}

#[test]
fn a_page_that_promises_too_much_is_not_unpacked() {
    let report = report(&[observation("f32.fadd", 0)]);
    let bytes = table::write(&report).unwrap().0;
    // The head of the first page of each chunk begins with its kind and its size: make that almost
    // 2 GiB.
    let (mut changed, mut heads) = (bytes.clone(), 0);
    for place in 0..bytes.len() - 4 {
        if bytes[place] == 0x15
            && [0, 4].contains(&bytes[place + 1])
            && bytes[place + 2] == 0x15
            && bytes[place + 4] == 0x15
        {
            changed.splice(place + 3..place + 4, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
            heads += 1;
            let error = read(&changed, &report).unwrap_err();
            assert!(error.contains("cannot be unpacked") || error.contains("truncated"), "{error}");
            changed.clone_from(&bytes);
        }
    }
    assert!(heads > 10, "{heads}");
}

#[test]
fn a_table_of_other_devices_is_refused() {
    let mut report = fixture::report();
    let bytes = table::write(&report).unwrap().0;
    report.devices[1].identity.key = "another".into();
    let error = read(&bytes, &report).unwrap_err();
    assert!(
        error.contains("pci:0000:01:00.0@5c1f09ab") && error.contains("the report has no device"),
        "{error}"
    );
}

#[test]
fn files_of_version_2_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports/v2-lavapipe-25.json");
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports/v1-lavapipe-25.json");
    assert_eq!(load(&path).unwrap(), load(&whole).unwrap());
}
