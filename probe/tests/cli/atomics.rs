//! Atomic operations on drivers that treat subnormals differently, and on one that has none.

use crate::scene::{NEWER, ends, fpprobe, json};

/// Drivers, and what becomes of subnormals in a sum; `None` where there are no such operations.
const DRIVERS: [(&str, Option<&str>); 4] = [
    ("lavapipe-22", Some("kept")),
    ("lavapipe-25", Some("kept")),
    (NEWER, Some("flushed")),
    ("swiftshader", None),
];

#[test]
fn each_memory_has_its_traits_and_numbers_are_right() {
    for (driver, subnormals) in DRIVERS {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("report.json");
        let mut run = fpprobe(&[driver]);
        ends(run.args(["--set", "workers.timeout=60", "run", "*.atomic_*", "-o"]).arg(&place))
            .with(if subnormals.is_some() { 0 } else { 4 });
        let report = json(&place);
        let device = &report["devices"][0];
        let value = |id: String| {
            let found = device["traits"].as_array().unwrap().iter().find(|one| one["id"] == id);
            found.map(|one| one["run_time"]["value"].as_str().unwrap().to_owned())
        };
        for memory in ["", "shared_", "image_"] {
            let sum = value(format!("f32.{memory}atomic_sum_of_subnormals"));
            assert_eq!(sum.as_deref(), subnormals.or(Some("not_offered")), "{driver} {memory}");
            // The value that was there stays.
            let zeros =
                ["fmin", "fmax"].map(|op| value(format!("f32.{memory}atomic_{op}_of_zeros")));
            let expected = subnormals.map_or(["not_offered"; 2], |_| ["zero", "negative_zero"]);
            assert_eq!(zeros.each_ref().map(|one| one.as_deref().unwrap()), expected, "{driver}");
        }
        let profiles = device["profiles"].as_array().unwrap();
        let rules =
            profiles.iter().find(|one| one["id"] == "vulkan").unwrap()["rules"].as_array().unwrap();
        let own = rules.iter().filter(|one| one["id"].as_str().unwrap().starts_with("V-atomic-"));
        for rule in own {
            assert!(rule["verdict"] != "deviates", "{driver}: {rule:#}");
            let always = ["V-atomic-add", "V-atomic-many", "V-atomic-original"];
            if always.iter().any(|id| rule["id"] == *id) {
                assert_eq!(rule["verdict"] == "unsupported", subnormals.is_none(), "{driver}");
            }
        }
        // Which of two NaNs a sum takes depends on the processor's instruction, and on the lane.
        for finding in device["findings"].as_array().unwrap() {
            let text = finding["text"].as_str().unwrap();
            assert!(text.ends_with("all of them in the bits of a NaN"), "{driver}: {finding:#}");
        }
    }
}
