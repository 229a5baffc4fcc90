//! Wrong results of atomic operations.

use crate::faulty::run_on;

/// A fault, and the rule that it breaks.
const FAULTS: [(&str, &str); 9] = [
    // What was there is lost, or one of the operands.
    ("give 0 in f32.atomic_fadd", "V-atomic-add"),
    ("give 3f800000 in f32.atomic_fmax", "V-atomic-choose"),
    ("give 0 in f32.atomic_fadd_original", "V-atomic-original"),
    ("give 0 in f32.atomic_exchange_original when x is subnormal", "V-atomic-move"),
    ("give 0 in f32.atomic_load when x is 7f800000", "V-atomic-move-special"),
    // Additions that are not atomic meet.
    ("split in f32.atomic_fadd_many", "V-atomic-many"),
    // A minimum that hands on a NaN, and a sum that hides an infinity.
    (
        "split in f32.atomic_fmin\ngive 7fc00000 in f32.nmin at f32.atomic_fmin when x is nan",
        "V-atomic-nan",
    ),
    (
        "split in f32.atomic_fadd\ngive 0 in f32.fadd at f32.atomic_fadd when x is 7f800000",
        "V-atomic-special",
    ),
    ("split in f32.atomic_fadd\nround toward zero in f32.fadd at f32.atomic_fadd", "V-atomic-rte"),
];

#[test]
fn wrong_values_in_memory_and_wrong_originals_break_a_rule() {
    let verdicts = |statements: &str| {
        let run = run_on("lavapipe-25", statements, &["f32.atomic_*"], &["--timeout", "60"]);
        let profiles = run.device()["profiles"].as_array().unwrap();
        let rules = &profiles.iter().find(|one| one["id"] == "vulkan").unwrap()["rules"];
        rules.as_array().unwrap().clone()
    };
    let sound = verdicts("");
    for (fault, rule) in FAULTS {
        let deviates = |rules: &[serde_json::Value]| {
            rules.iter().any(|one| one["id"] == rule && one["verdict"] == "deviates")
        };
        assert!(!deviates(&sound), "{rule}");
        assert!(deviates(&verdicts(fault)), "{fault}: {rule}");
    }
}
