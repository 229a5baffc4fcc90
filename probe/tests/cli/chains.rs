//! Operations in a row, on drivers that round what lies between them and drivers that remove a
//! conversion which another one undoes.

use crate::scene::{NEWER, ends, fpprobe, json};

/// Drivers, and whether a narrower format between two sums is rounded to: by default and under
/// `FPFastMathDefault` None; and whether sums are, before they are quantized.
const DRIVERS: [(&str, [&str; 3]); 4] = [
    ("lavapipe-22", ["rounded", "not_offered", "rounded"]),
    ("lavapipe-25", ["not_rounded", "rounded", "rounded"]),
    (NEWER, ["not_rounded", "rounded", "rounded"]),
    ("swiftshader", ["not_offered", "not_offered", "toward_zero"]),
];

#[test]
fn a_conversion_that_another_undoes_is_removed_unless_fast_math_is_forbidden() {
    for (driver, values) in DRIVERS {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("report.json");
        let kernels = ["*.fadd_*", "*.fmul_*"];
        let mut run = fpprobe(&[driver]);
        run.args(["--set", "workers.timeout=60", "run"]).args(kernels).arg("-o").arg(&place);
        ends(&mut run).with(0);
        let report = json(&place);
        let device = &report["devices"][0];
        let traits = device["traits"].as_array().unwrap();
        let value = |id: &str| {
            let found = traits.iter().find(|one| one["id"] == id).unwrap();
            found["run_time"]["value"].as_str().unwrap()
        };
        let ids = [
            "f32.narrowed_between_sums",
            "f32.narrowed_between_sums_under_no_fast_math",
            "f32.narrowed_by_quantize",
        ];
        assert_eq!(ids.map(value), values, "{driver}");
        let profiles = device["profiles"].as_array().unwrap();
        let vulkan = profiles.iter().find(|one| one["id"] == "vulkan").unwrap();
        let rules = vulkan["rules"].as_array().unwrap();
        let broken = rules.iter().find(|one| one["verdict"] == "deviates");
        assert_eq!(broken, None, "{driver}");
    }
}
