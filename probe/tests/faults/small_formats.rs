//! Formats that no driver here has, on devices that the layer makes of one: a right conversion and
//! wrong ones.

use serde_json::Value;

use crate::faulty::{Run, run_on};

const DRIVER: &str = "lavapipe-25";
const BFLOAT16: [&str; 2] = ["*.fconvert_bf16*", "bf16.*"];
const FLOAT8: [&str; 4] = ["*.fconvert_e4m3*", "*.fconvert_e5m2*", "e4m3.*", "e5m2.*"];

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
            &["V-dot-bfloat16", "V-convert-bfloat16", "V-subnormals", "V-strict-arithmetic"],
            "nearest_away",
        ),
        (
            "emulate bf16 away-from-zero",
            &["V-dot-bfloat16", "V-convert-bfloat16", "V-subnormals", "V-strict-arithmetic"],
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
fn a_driver_without_a_format_lacks_its_feature() {
    let missing = [
        ("f32.fconvert_bf16", "shaderBFloat16Type"),
        ("e4m3.load_store", "shaderFloat8"),
        ("f16.fconvert_e5m2_saturated", "shaderFloat8"),
    ];
    let kernels: Vec<&str> =
        missing.iter().map(|(kernel, _)| *kernel).chain(["f32.fadd"]).collect();
    let run = run_on(DRIVER, "", &kernels, &["--timeout", "60"]);
    assert_eq!((run.code, run.outcome("f32.fadd")), (0, "ran"), "{}", run.err);
    for (kernel, feature) in missing {
        assert_eq!(run.outcome(kernel), "unsupported");
        assert!(run.detail(kernel).contains(feature), "{}", run.detail(kernel));
    }
}

#[test]
fn right_and_wrong_conversions_to_float8_get_other_verdicts() {
    for (statements, rules, rounding, beyond) in [
        ("emulate float8", &[][..], "nearest_even", "nan"),
        ("emulate float8 toward-zero", &[], "toward_zero", "nan"),
        // Either neighbour is correct.
        ("emulate float8 nearest-away", &[], "nearest_away", "nan"),
        ("emulate float8 saturating", &["V-strict-arithmetic"], "nearest_even", "largest_finite"),
        (
            "emulate float8; give 7f in f32.fconvert_e4m3_saturated when x is 4e800000",
            &["V-saturate", "V-strict-arithmetic"],
            "nearest_even",
            "nan",
        ),
        (
            "emulate float8; give r+1 in f16.fconvert_e5m2 when x is 3c00",
            &["V-convert-float8"],
            "nearest_even",
            "nan",
        ),
        (
            "emulate float8; flush e4m3 operands in e4m3.fconvert_f16",
            &["V-float8-subnormals"],
            "nearest_even",
            "nan",
        ),
        ("emulate float8; flush e4m3 operands in e4m3.fconvert_f32", &[], "nearest_even", "nan"),
        ("emulate float8; give 7c in e5m2.select when r is 4", &["V-move"], "nearest_even", "nan"),
    ] {
        let run = run_on(DRIVER, statements, &FLOAT8, &["--timeout", "60"]);
        assert_eq!(run.code, 0, "{statements}: {}", run.err);
        assert_eq!(run.outcome("f32.fconvert_e4m3"), "ran", "{statements}: {}", run.err);
        assert_eq!(deviating(&run), rules, "{statements}");
        let traits = ["f32.to_e4m3_rounding", "f32.to_e4m3_beyond"].map(|id| value(&run, id));
        assert_eq!(traits, [rounding, beyond], "{statements}");
    }
}
