//! Operations across subgroups on drivers that add in different orders.

use crate::scene::{NEWER, ends, fpprobe, json};

/// Drivers, with the order in which their subgroups add and multiply, and whether they have
/// clusters. Two flush the smallest subnormal, in which factors would be lost.
const DRIVERS: [(&str, [&str; 2], bool); 4] = [
    ("lavapipe-22", ["sequential", "sequential"], false),
    ("lavapipe-25", ["sequential", "sequential"], true),
    (NEWER, ["sequential", ""], true),
    ("swiftshader", ["neighbours_first", ""], false),
];

#[test]
fn orders_are_named_and_numbers_are_right() {
    for (driver, orders, has_clusters) in DRIVERS {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("report.json");
        let mut run = fpprobe(&[driver]);
        ends(run.args(["--set", "workers.timeout=60", "run", "f32.subgroup_*", "-o"]).arg(&place))
            .with(0);
        let report = json(&place);
        let device = &report["devices"][0];
        let value = |id: &str| {
            let found = device["traits"].as_array().unwrap().iter().find(|one| one["id"] == id);
            found.map_or(String::new(), |one| one["run_time"]["value"].as_str().unwrap().to_owned())
        };
        let found = ["f32.subgroup_order", "f32.subgroup_product_order"].map(value);
        assert_eq!(found, orders, "{driver}");
        assert_eq!(value("f32.subgroup_fmin_of_nan"), "number", "{driver}");
        assert_eq!(
            value("f32.subgroup_clustered_order") != "not_offered",
            has_clusters,
            "{driver}"
        );
        let profiles = device["profiles"].as_array().unwrap();
        let rules =
            profiles.iter().find(|one| one["id"] == "vulkan").unwrap()["rules"].as_array().unwrap();
        for rule in
            rules.iter().filter(|one| one["id"].as_str().unwrap().starts_with("V-subgroup-"))
        {
            assert!(rule["verdict"] != "deviates", "{driver}: {rule:#}");
        }
        assert_eq!(device["findings"], serde_json::json!([]), "{driver}");
    }
}
