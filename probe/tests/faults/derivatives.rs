//! Wrong derivatives.

use crate::faulty::run_on;

/// A fault, and the rule that it breaks.
const FAULTS: [(&str, &str); 5] = [
    // The other direction, and the value itself.
    ("give r.negated in f32.dpdx_fine", "V-derivative-fine"),
    ("give x in f32.dpdy_fine", "V-derivative-fine"),
    // One encoding beside.
    ("give r+1 in f32.dpdx when r is normal", "V-derivative-coarse"),
    ("give 0 in f32.dpdy_coarse when x is 3f800000", "V-derivative-coarse"),
    ("give 0 in f32.dpdx under szin32 when x is infinite", "V-special-arithmetic"),
];

#[test]
fn results_that_are_no_differences_break_a_rule() {
    for (fault, rule) in FAULTS {
        for (statements, deviates) in [("", false), (fault, true)] {
            let run = run_on("lavapipe-25", statements, &["f32.dpd*"], &["--timeout", "60"]);
            let profiles = run.device()["profiles"].as_array().unwrap();
            let rules = profiles.iter().find(|one| one["id"] == "vulkan").unwrap()["rules"]
                .as_array()
                .unwrap();
            let found = rules.iter().find(|one| one["id"] == rule).unwrap();
            assert_eq!(found["verdict"] == "deviates", deviates, "{statements}: {found:#}");
        }
    }
}
