//! Inputs of fragment shaders on drivers that interpolate them.

use crate::scene::{NEWER, ends, fpprobe, json};

/// Drivers, and whether ramps whose steps are numbers stay exact.
const DRIVERS: [(&str, &str); 4] = [
    ("lavapipe-22", "exact"),
    ("lavapipe-25", "exact"),
    (NEWER, "exact"),
    ("swiftshader", "mixed"),
];

#[test]
fn flat_inputs_are_the_first_vertex_and_exact_ones_are_named() {
    for (driver, ramps) in DRIVERS {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("report.json");
        let mut run = fpprobe(&[driver]);
        ends(run.args(["run", "f32.input_*", "-o"]).arg(&place)).with(0);
        let report = json(&place);
        let device = &report["devices"][0];
        let traits = device["traits"].as_array().unwrap();
        let value = |id: &str| {
            let found = traits.iter().find(|one| one["id"] == format!("f32.{id}"));
            found.unwrap()["run_time"]["value"].as_str().unwrap().to_owned()
        };
        assert_eq!(value("flat_input_nan_bits"), "kept", "{driver}");
        for kind in ["smooth", "noperspective", "centroid"] {
            let of = |what: &str| value(&format!("{kind}_input_of_{what}"));
            assert_eq!((of("equal_values"), of("ramps")), ("exact".into(), ramps.into()));
        }
        let profiles = device["profiles"].as_array().unwrap();
        let vulkan = profiles.iter().find(|one| one["id"] == "vulkan").unwrap();
        let rules = vulkan["rules"].as_array().unwrap();
        let flat = rules.iter().find(|one| one["id"] == "V-input-flat").unwrap();
        assert_eq!(flat["verdict"], "permitted", "{driver}");
        assert_eq!(device["findings"], serde_json::json!([]), "{driver}");
    }
}
