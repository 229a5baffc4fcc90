//! One way of asking that answers otherwise than the others.

use crate::faulty::run;

const KERNELS: [&str; 5] = [
    "f32.sqrt",
    "f32.sqrt:route=uniform",
    "f32.sqrt:route=literal",
    "f32.sqrt:width=3",
    "f32.sqrt:via=glsl",
];

/// Findings on a kernel that answers otherwise by another way: which, with both answers of their
/// first lane.
fn disagreements(faults: &str) -> Vec<(String, String, String)> {
    let run = run(faults, &KERNELS, &["--timeout", "20"]);
    let findings = run.device()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["kind"] == "route");
    let output = findings.map(|finding| {
        let evidence = &finding["evidence"][0];
        let kernel = evidence["kernel"].as_str().unwrap().to_owned();
        (kernel, evidence["out"].to_string(), evidence["accepts"].to_string())
    });
    output.collect()
}

#[test]
fn one_way_that_is_wrong_is_a_finding_with_both_answers() {
    // `SwiftShader` folds roots of subnormals otherwise than it computes them.
    let honest = disagreements("");
    assert!(honest.iter().all(|(kernel, ..)| kernel == "f32.sqrt:route=literal"), "{honest:?}");
    for (way, kernel) in [("uniform", KERNELS[1]), ("x3", KERNELS[3])] {
        let mut found =
            disagreements(&format!("give 3f800000 in f32.sqrt by {way} when x is 7f7fffff"));
        found.retain(|finding| !honest.contains(finding));
        let [(found, out, plain)] = &found[..] else { panic!("{way}: {found:?}") };
        assert_eq!(found, kernel);
        assert!(out.contains("3f800000") && plain.contains("5f7fffff"), "{way}: {out} {plain}");
    }
}
