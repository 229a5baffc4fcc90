//! Formats that no driver here has, on devices that the layer makes of one: a right conversion and
//! wrong ones.

use serde_json::Value;

use crate::faulty::{Run, run_on};

const DRIVER: &str = "lavapipe-25";
const BFLOAT16: [&str; 2] = ["*.fconvert_bf16*", "bf16.*"];

/// The required rules of Vulkan that deviate.
fn deviating(run: &Run) -> Vec<String> {
    let profiles = run.device()["profiles"].as_array().unwrap();
    let vulkan = profiles.iter().find(|one| one["id"] == "vulkan").unwrap();
    let rules = vulkan["rules"].as_array().unwrap().iter();
    let deviate = rules.filter(|rule| rule["verdict"] == "deviates");
    deviate.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

/// The value of a trait at run time.
fn value(run: &Run, id: &str) -> String {
    let traits = run.device()["traits"].as_array().unwrap();
    let found: Option<&Value> = traits.iter().find(|one| one["id"] == id);
    let found = found.unwrap_or_else(|| panic!("{id} is missing"));
    found["run_time"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn right_and_wrong_conversions_to_bfloat16_get_other_verdicts() {
    for (statements, rules, rounding) in [
        ("emulate bf16", &[][..], "nearest_even"),
        ("emulate bf16 toward-zero", &[], "toward_zero"),
        (
            "emulate bf16 nearest-away",
            &["V-convert-bfloat16", "V-subnormals", "V-strict-arithmetic"],
            "nearest_away",
        ),
        (
            "emulate bf16 away-from-zero",
            &["V-convert-bfloat16", "V-subnormals", "V-strict-arithmetic"],
            "nearest_away",
        ),
        // Right but for NaN, which becomes an infinity.
        ("emulate bf16 careless", &["V-strict-arithmetic"], "nearest_even"),
        // Subnormals may be flushed where they are converted, and not where they move.
        ("emulate bf16; flush bf16 operands; flush bf16 results", &[], "nearest_even"),
        (
            "emulate bf16; give 0 in bf16.load_store when x is subnormal",
            &["V-move"],
            "nearest_even",
        ),
        (
            "emulate bf16; give r+1 in bf16.fconvert_f32 when x is 3f81",
            &["V-convert"],
            "nearest_even",
        ),
    ] {
        let run = run_on(DRIVER, statements, &BFLOAT16, &["--timeout", "60"]);
        assert_eq!(run.code, 0, "{statements}: {}", run.err);
        assert_eq!(run.outcome("f32.fconvert_bf16"), "ran", "{statements}: {}", run.err);
        assert_eq!(deviating(&run), rules, "{statements}");
        assert_eq!(value(&run, "f32.to_bf16_rounding"), rounding, "{statements}");
    }
}

#[test]
fn a_driver_without_bfloat16_lacks_its_feature() {
    let run = run_on(DRIVER, "", &["f32.fconvert_bf16", "f32.fadd"], &["--timeout", "60"]);
    assert_eq!((run.code, run.outcome("f32.fadd")), (0, "ran"), "{}", run.err);
    assert_eq!(run.outcome("f32.fconvert_bf16"), "unsupported");
    assert!(run.detail("f32.fconvert_bf16").contains("shaderBFloat16Type"));
}
