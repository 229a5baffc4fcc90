//! Derivatives of fragments on drivers that take different rows of a quad.

use crate::scene::{NEWER, ends, fpprobe, json};

/// Drivers, with the row of a quad that plain and coarse derivatives are of.
const DRIVERS: [(&str, &str); 4] =
    [("lavapipe-22", "own"), ("lavapipe-25", "own"), (NEWER, "own"), ("swiftshader", "first")];

#[test]
fn rows_are_named_and_differences_are_right() {
    for (driver, row) in DRIVERS {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("report.json");
        let mut run = fpprobe(&[driver]);
        ends(run.args(["run", "f32.dpd*", "-o"]).arg(&place)).with(0);
        let report = json(&place);
        let device = &report["devices"][0];
        let value = |id: &str| {
            let found = device["traits"].as_array().unwrap().iter().find(|one| one["id"] == id);
            found.unwrap()["run_time"]["value"].as_str().unwrap().to_owned()
        };
        for id in ["dpdx_row", "dpdy_column", "dpdx_coarse_row", "dpdy_coarse_column"] {
            assert_eq!(value(&format!("f32.{id}")), row, "{driver}: {id}");
        }
        let profiles = device["profiles"].as_array().unwrap();
        let rules =
            profiles.iter().find(|one| one["id"] == "vulkan").unwrap()["rules"].as_array().unwrap();
        let verdict = |id: &str| &rules.iter().find(|one| one["id"] == id).unwrap()["verdict"];
        for id in ["V-derivative-fine", "V-derivative-coarse"] {
            assert_eq!(verdict(id), "permitted", "{driver}: {id}");
        }
        assert_eq!(device["findings"], serde_json::json!([]), "{driver}");
    }
}
