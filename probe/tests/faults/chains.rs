//! Compilers that leave out a rounding between two operations, or a conversion.

use crate::faulty::{Run, run_on};

/// Midpoints of binary16 that sums and products are rounded to: rounded once they are numbers
/// beside these, on the side of the odd neighbour.
const ONCE: &str = "\
give r+1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 3f801000
give r-1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 3f803000
give r+1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 3f805000
give r-1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 3f807000
give r+1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 41801000
give r-1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 41803000
give r+1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 41805000
give r-1 in f32.fconvert_f16 at f32.fadd_f*|f32.fmul_f* when x.magnitude is 41807000";

/// A fault, the rule that it breaks, and the trait that shows it.
const FAULTS: [(&str, &str, &str); 6] = [
    (
        "drop in f32.quantize_to_f16 at f32.fadd_quantize_fadd",
        "V-narrow-quantize",
        "f32.quantized_between_sums",
    ),
    (
        "drop in f16.fconvert_f32 at f32.fadd_narrow_f16_fadd",
        "V-strict-narrow",
        "f32.narrowed_between_sums_under_no_fast_math",
    ),
    (
        "drop in f32.fconvert_f64 at f64.fadd_narrow_f32_fadd",
        "V-strict-narrow",
        "f64.narrowed_between_sums_under_no_fast_math",
    ),
    (ONCE, "V-rte-narrow", "f32.narrowed_to_f16_under_no_contraction"),
    (
        "fuse in f32.fadd at f16.fmul_widen_f32_fadd",
        "V-no-contraction-widen",
        "f16.widened_product_under_no_contraction",
    ),
    (
        "fuse in f32.fadd at f16.fmul_widen_f32_fadd",
        "V-strict-narrow",
        "f16.widened_product_under_no_fast_math",
    ),
];

/// The verdict of a rule of Vulkan's.
fn verdict(run: &Run, rule: &str) -> String {
    let profiles = run.device()["profiles"].as_array().unwrap();
    let vulkan = profiles.iter().find(|one| one["id"] == "vulkan").unwrap();
    let rules = vulkan["rules"].as_array().unwrap();
    rules.iter().find(|one| one["id"] == rule).unwrap()["verdict"].as_str().unwrap().to_owned()
}

/// The value of a trait at run time.
fn value(run: &Run, id: &str) -> String {
    let traits = run.device()["traits"].as_array().unwrap();
    let found = traits.iter().find(|one| one["id"] == id).unwrap();
    found["run_time"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_rounding_that_is_left_out_breaks_a_rule_and_changes_a_trait() {
    let run = |statements: &str| {
        let kernels = ["*.fadd_*", "*.fmul_*"];
        run_on("lavapipe-25", statements, &kernels, &["--timeout", "60"])
    };
    let sound = run("");
    for (fault, rule, id) in FAULTS {
        assert_eq!(value(&sound, id), "rounded", "{id}");
        assert!(verdict(&sound, rule) != "deviates", "{rule}");
        let faulty = run(fault);
        assert_eq!(value(&faulty, id), "not_rounded", "{fault}");
        assert_eq!(verdict(&faulty, rule), "deviates", "{fault}");
    }
    // Without a control the text lets the two conversions go: nothing but the trait shows it.
    let dropped = run("drop in f16.fconvert_f32 unless fastmath0");
    assert_eq!(value(&dropped, "f32.narrowed_between_sums"), "not_rounded");
    let rules = ["V-narrow", "V-narrow-quantize", "V-no-contraction-widen", "V-strict-narrow"];
    for rule in rules {
        assert!(verdict(&dropped, rule) != "deviates", "{rule}");
    }
}
