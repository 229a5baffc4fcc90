//! Reports that earlier versions wrote can still be read and shown: each is kept in
//! `tests/reports`, and never changed.

use std::fs;
use std::path::Path;

use fpprobe_reports::load::load;
use fpprobe_reports::model::SCHEMA;
use fpprobe_reports::render::FORMATS;
use fpprobe_reports::{Report, record};

use crate::fixture;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reports");

#[test]
fn every_earlier_report_is_read_and_shown() {
    let mut files: Vec<_> =
        fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_none_or(|ending| ending != "parquet"));
    files.sort();
    for path in &files {
        let report = load(path).unwrap_or_else(|error| panic!("{error}"));
        for device in &report.devices {
            let recorded = record::read_device(&device.observations, &report.inputs).unwrap();
            assert!(!recorded.observations.is_empty(), "{}", path.display());
        }
        for format in FORMATS {
            assert!(
                !fixture::render(format.name, &report).is_empty(),
                "{} of {}",
                format.name,
                path.display()
            );
        }
    }
    // Each version has one as JSON, and the first one as the store keeps it.
    let versions: u32 = SCHEMA.rsplit('/').next().unwrap().parse().unwrap();
    let has = |version: u32, ending: &str| {
        files.iter().any(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&format!("v{version}-")))
                && path.to_string_lossy().ends_with(ending)
        })
    };
    for version in 1..=versions {
        let stored = version > 1 || has(version, ".fpreport");
        assert!(has(version, ".json") && stored, "{FOLDER} lacks reports of version {version}");
    }
}

#[test]
fn a_report_of_a_real_driver_says_what_it_said() {
    let json = load(&Path::new(FOLDER).join("v1-lavapipe-25.json")).unwrap();
    let stored = load(&Path::new(FOLDER).join("v1-lavapipe-25.fpreport")).unwrap();
    assert_eq!(json, stored);
    let Report { devices, .. } = json;
    assert_eq!(devices[0].identity.driver.name, "llvmpipe");
    assert!(
        devices[0].profiles.iter().any(|profile| profile.rules.iter().any(|rule| rule.failing > 0))
    );
}
