//! Cooperative matrices on devices that follow a known unit, and on drivers that fail at them.

use serde_json::Value;

use crate::faulty::{Run, run_on};
use crate::scene::NEWER;

const SINGLE: &str = "f32.matrix_mul_add:matrix=8x8x8-f16-f16-f32";
const HALF: &str = "f16.matrix_mul_add:matrix=8x8x8-f16-f16-f16";

fn run(statements: &str, kernels: &[&str]) -> Run {
    run_on(NEWER, statements, kernels, &["--timeout", "60"])
}

/// The values of traits of sums in binary32.
fn values<const N: usize>(run: &Run, traits: [&str; N]) -> [String; N] {
    let known = run.device()["traits"].as_array().unwrap();
    traits.map(|name| {
        let id = format!("matrix.f16_f32.{name}");
        let found: Option<&Value> = known.iter().find(|one| one["id"] == id.as_str());
        found.map_or_else(
            || format!("{id} is missing"),
            |one| one["run_time"]["value"].as_str().unwrap().to_owned(),
        )
    })
}

#[test]
fn a_device_whose_sums_follow_a_unit_is_named_after_it() {
    const TRAITS: [&str; 4] = ["model", "order", "rounding", "extra_bits"];
    for (statement, expected) in [
        ("", ["multiply_and_add_in_order_c_last", "sequential_c_last", "nearest_even", "0"]),
        ("unit v100", ["v100", "groups_of_4_c_first", "toward_zero", "0"]),
        ("unit a100_ada", ["a100_ada", "one_group", "toward_zero", "1"]),
        ("unit h100", ["h100", "one_group", "toward_zero", "2"]),
    ] {
        let run = run(statement, &[SINGLE]);
        assert_eq!((run.code, run.outcome(SINGLE)), (0, "ran"), "{statement}: {}", run.err);
        assert_eq!(values(&run, TRAITS), expected, "{statement}: {:?}", run.struck);
    }
}

#[test]
fn a_device_that_is_one_unit_and_then_another_is_flaky_and_none_of_them() {
    let run = run("unit v100 nth 1; unit h100 nth 2", &[SINGLE]);
    // The first dispatch is one unit, the second another.
    assert_eq!(run.outcome(SINGLE), "flaky", "{:?}", run.struck);
    assert_eq!(values(&run, ["model", "repeatable"]), ["none_of_these", "no"]);
    assert!(run.findings("flaky", SINGLE) > 0, "{}", run.device()["findings"]);
}

#[test]
fn a_product_that_crashes_costs_itself_alone() {
    let run = run("crash in vkCreateComputePipelines at f32.matrix_mul_add*", &[SINGLE, HALF]);
    assert_eq!((run.outcome(SINGLE), run.outcome(HALF)), ("crashed", "ran"), "{}", run.err);
    assert_eq!(run.code, 5, "{}", run.err);
}

/// Which lists a device's products.
const CALL: &str = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";

#[test]
fn a_driver_that_refuses_to_list_its_products_is_measured_otherwise() {
    let run = run(&format!("return VK_ERROR_UNKNOWN in {CALL}"), &["f32.fadd", SINGLE]);
    assert!(!run.struck.is_empty(), "{CALL} is never called");
    assert_eq!((run.outcome("f32.fadd"), run.outcome(SINGLE)), ("ran", "rejected"), "{}", run.err);
    assert_eq!(run.code, 5, "{}", run.err);
    assert!(run.detail(SINGLE).contains(CALL), "{}", run.detail(SINGLE));
}

#[test]
fn a_driver_that_crashes_when_it_lists_its_products_is_measured_otherwise() {
    let run = run(&format!("crash in {CALL}"), &["f32.fadd", SINGLE]);
    assert_eq!((run.outcome("f32.fadd"), run.outcome(SINGLE)), ("ran", "crashed"), "{}", run.err);
    assert_eq!(run.code, 5, "{}", run.err);
    run.incident(CALL, "crashed", "products of cooperative matrices are not measured");
}
