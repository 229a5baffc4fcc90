//! Drivers whose selections and phis do not keep the bits of integers.

use crate::scene::{ends, fpprobe, json};

#[test]
fn a_selection_between_integer_constants_that_becomes_float_arithmetic_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for (driver, verdict) in
        [("lavapipe-22", "deviates"), ("lavapipe-25", "deviates"), ("swiftshader", "conforms")]
    {
        let path = folder.path().join("report.json");
        let kernels = ["f32.select_uint*", "f32.phi_uint*"];
        ends(
            fpprobe(&[driver])
                .arg("run")
                .args(kernels)
                .args(["--profile", "vulkan", "-o"])
                .arg(&path),
        )
        .with(0);
        let report = json(&path);
        let rules = report["devices"][0]["profiles"][0]["rules"].as_array().unwrap();
        let rule = rules.iter().find(|rule| rule["id"] == "V-move-integer").unwrap();
        assert_eq!(rule["verdict"], verdict, "{driver}: {rule}");
        let zero_or_minus_one = serde_json::json!(["1", "00000000", "bf800000"]);
        let shown = rule["evidence"].as_array().unwrap();
        let found = shown.iter().find(|lane| lane["in"] == zero_or_minus_one);
        assert_eq!(found.is_some(), verdict == "deviates", "{driver}: {shown:?}");
    }
}
