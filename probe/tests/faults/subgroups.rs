//! Wrong results of operations across subgroups.

use crate::faulty::run_on;

/// A fault, and the rule that it breaks.
const FAULTS: [(&str, &str); 5] = [
    // A reduction that leaves out a value, which a number stands for.
    ("give 3f800000 in f32.subgroup_fmin", "V-subgroup-choose"),
    ("give x in f32.subgroup_partly_fmax", "V-subgroup-choose"),
    ("give 7fc00000 in f32.subgroup_fmin", "V-subgroup-nan"),
    // Scans that give what the invocation holds itself.
    ("give x in f32.subgroup_exclusive_fadd", "V-subgroup-add"),
    ("give x in f32.subgroup_inclusive_fmul", "V-subgroup-mul"),
];

#[test]
fn results_that_leave_values_out_break_a_rule() {
    for (fault, rule) in FAULTS {
        for (statements, deviates) in [("", false), (fault, true)] {
            let run = run_on("lavapipe-25", statements, &["f32.subgroup_*"], &["--timeout", "60"]);
            let profiles = run.device()["profiles"].as_array().unwrap();
            let rules = profiles.iter().find(|one| one["id"] == "vulkan").unwrap()["rules"]
                .as_array()
                .unwrap();
            let found = rules.iter().find(|one| one["id"] == rule).unwrap();
            assert_eq!(
                found["verdict"] == "deviates",
                deviates,
                "{statements}: {found:#} {:?}",
                run.struck
            );
        }
    }
}
