//! A lane by constants means the same in a list and by itself.

use std::path::Path;

use serde_json::Value;

use crate::scene::{HONEST, ends, ends_reading, fpprobe, json};

/// Operations that compilers fold into a zero, a one or a subnormal, and some of every other kind.
const OPERATIONS: [&str; 14] = [
    "fabs",
    "fsign",
    "floor",
    "ceil",
    "trunc",
    "fract",
    "exp2",
    "frexp",
    "fadd",
    "ford_less_than",
    "quantize_to_f16",
    "pack_half_2x16",
    "tanh",
    "nmin",
];

/// A run of these kernels in lists, and its report.
fn report(driver: &str, kernels: &[String], folder: &Path) -> Value {
    let path = folder.join(format!("{driver}.json"));
    ends(fpprobe(&[driver]).arg("run").args(kernels).arg("-o").arg(&path)).with(0);
    json(&path)
}

/// What a report holds of a kernel: cases and results.
fn lanes_of<'r>(report: &'r Value, kernel: &str) -> Vec<(&'r Value, &'r Value)> {
    let observations = || report["devices"][0]["observations"].as_array().unwrap().iter();
    let of = |id: &str| {
        observations().find(|one| one["kernel"] == id).unwrap_or_else(|| panic!("no {id}"))
    };
    let own = of(kernel);
    assert_eq!(own["outcome"], "ran", "{own}");
    let inputs = own["in"].as_str().map_or(&own["in"], |table| &report["inputs"][table]);
    let out = own["out"]["same_as"].as_str().map_or(&own["out"], |other| &of(other)["out"]);
    inputs.as_array().unwrap().iter().zip(out.as_array().unwrap()).collect()
}

#[test]
fn a_lane_by_constants_is_the_same_in_a_list_and_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let routes = ["literal", "spec"].iter();
    let kernels: Vec<String> =
        routes.flat_map(|route| OPERATIONS.map(|op| format!("f32.{op}:route={route}"))).collect();
    for driver in HONEST {
        let report = report(driver, &kernels, folder.path());
        let findings = report["devices"][0]["findings"].as_array().unwrap();
        assert!(
            findings.iter().all(|one| one["kind"] != "batch_dependent"),
            "{driver}: {findings:?}"
        );
        for kernel in &kernels {
            let lanes = lanes_of(&report, kernel);
            let cases: Vec<String> =
                lanes.iter().map(|(case, _)| format!("{{\"in\": {case}}}\n")).collect();
            // Each case in a module of its own.
            let lines = ends_reading(
                fpprobe(&[driver]).args(["--set", "workers.timeout=60", "eval", kernel]),
                &cases.concat(),
            )
            .lines(0);
            assert_eq!(lines.len(), lanes.len(), "{driver}: {kernel}");
            for ((case, out), line) in lanes.into_iter().zip(lines) {
                assert_eq!(
                    (case, out),
                    (&line["in"], &line["out"]),
                    "{driver}: {kernel} in a list, and by itself"
                );
            }
        }
    }
}

#[test]
fn what_was_hidden_by_a_choice_between_constants_shows() {
    let folder = tempfile::tempdir().unwrap();
    let ops = ["fabs", "exp2", "floor", "ceil"].map(|op| format!("f32.{op}:route=literal"));
    let report = report("lavapipe-25", &ops, folder.path());
    for (op, case, out) in [
        ("fabs", "80000000", "80000000"),
        ("exp2", "c3100000", "00000020"),
        ("floor", "00800001", "00000000"),
        ("ceil", "807fffff", "80000000"),
    ] {
        let kernel = format!("f32.{op}:route=literal");
        let lanes = lanes_of(&report, &kernel);
        let (_, found) = lanes.iter().find(|(given, _)| given[0] == case).unwrap();
        assert_eq!(*found, out, "{kernel} {case}");
    }
}
