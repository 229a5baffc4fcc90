//! Claims that the layer adds, honours, ignores and withdraws.

use crate::faulty::{Run, run, run_on};

fn claimed(run: &Run, name: &str) -> bool {
    run.device()["claims"]["flags"][name].as_bool().unwrap()
}

#[test]
fn a_mode_that_is_claimed_and_honoured_is_used() {
    let kernels = ["f32.fmul", "f32.fmul:controls=ftz32"];
    let run = run_on("lavapipe-25", "claim ftz32", &kernels, &[]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(claimed(&run, "shaderDenormFlushToZeroFloat32"));
    for kernel in kernels {
        assert_eq!(run.outcome(kernel), "ran", "{}", run.detail(kernel));
    }
    assert_ne!(
        run.out(kernels[0]),
        run.out(kernels[1]),
        "lavapipe keeps subnormals unless told otherwise"
    );
    assert!(
        !run.device()["findings"].to_string().contains("FlushToZero"),
        "{}",
        run.device()["findings"]
    );
}

#[test]
fn a_mode_that_is_claimed_and_ignored_is_a_finding() {
    // One driver keeps subnormals, the other flushes them, whatever it is told.
    for (driver, mode, claim) in [
        ("lavapipe-25", "ftz32", "shaderDenormFlushToZeroFloat32"),
        ("swiftshader", "dp32", "shaderDenormPreserveFloat32"),
    ] {
        let id = format!("f32.fmul:controls={mode}");
        let run = run_on(driver, &format!("claim {mode} ignored"), &["f32.fmul", &id], &[]);
        assert!(claimed(&run, claim));
        assert_eq!(run.outcome(&id), "ran", "{}", run.detail(&id));
        assert_eq!(run.out("f32.fmul"), run.out(&id), "{driver}");
        let findings = run.device()["findings"].to_string();
        assert!(findings.contains(claim) || findings.contains(mode), "{driver}: {findings}");
    }
}

#[test]
fn a_claim_that_is_withdrawn_is_not_used() {
    let kernel = "f32.fmul:controls=szin32";
    let calm = run("", &[kernel], &[]);
    assert!(claimed(&calm, "shaderSignedZeroInfNanPreserveFloat32"));
    assert_eq!(calm.outcome(kernel), "ran");
    let run = run("deny szin32", &[kernel], &[]);
    assert!(!claimed(&run, "shaderSignedZeroInfNanPreserveFloat32"));
    assert_eq!(run.outcome(kernel), "unsupported");
}

#[test]
fn what_vulkan_1_4_demands_must_be_claimed() {
    let demanded = |run: &Run| {
        let findings = run.device()["findings"].to_string();
        let names =
            ["shaderSignedZeroInfNanPreserveFloat16", "shaderSignedZeroInfNanPreserveFloat32"];
        names.map(|name| {
            findings.contains(&format!("{name} is not claimed, though Vulkan 1.4 demands it"))
        })
    };
    assert_eq!(demanded(&run_on("lavapipe-25", "", &["f32.fabs"], &[])), [false, false]);
    assert_eq!(demanded(&run_on("lavapipe-25", "deny szin32", &["f32.fabs"], &[])), [false, true]);
    let denied = "deny szin16; deny szin32";
    assert_eq!(demanded(&run_on("lavapipe-25", denied, &["f32.fabs"], &[])), [true, true]);
    let without = format!("{denied}; feature shaderFloat16 off");
    assert_eq!(demanded(&run_on("lavapipe-25", &without, &["f32.fabs"], &[])), [false, true]);
    // A device of Vulkan 1.3.
    assert_eq!(demanded(&run_on("lavapipe-22", denied, &["f32.fabs"], &[])), [false, false]);
}

#[test]
fn independence_decides_which_modes_go_together() {
    let kernel = "f32.fmul:controls=ftz32,dp64";
    let claims = "claim ftz32; claim dp64; independence";
    let together = run(&format!("{claims} all"), &[kernel], &[]);
    assert_eq!(together.device()["claims"]["denorm_behavior_independence"], "all");
    assert_eq!(together.outcome(kernel), "ran", "{}", together.detail(kernel));
    let apart = run(&format!("{claims} none"), &[kernel], &[]);
    assert_eq!(apart.outcome(kernel), "unsupported");
    assert!(apart.detail(kernel).contains("Independence"), "{}", apart.detail(kernel));
}

#[test]
fn features_come_and_go() {
    let claimed_only = run("feature shaderFloat64 on", &["f32.fabs"], &[]);
    assert!(
        claimed(&claimed_only, "shaderFloat64"),
        "a feature the driver lacks is not passed on to it"
    );
    assert_eq!(claimed_only.outcome("f32.fabs"), "ran");
    let strange = run("feature shaderFloat64 2", &["f32.fabs"], &[]);
    assert!(claimed(&strange, "shaderFloat64"), "any number but 0 is true");
    let kernel = "b10g11r11.load:route=storage_image";
    let removed = run("feature shaderStorageImageExtendedFormats off", &[kernel], &[]);
    assert_eq!(removed.outcome(kernel), "unsupported");
    assert!(
        removed.detail(kernel).contains("shaderStorageImageExtendedFormats"),
        "{}",
        removed.detail(kernel)
    );
}

#[test]
fn float_controls2_can_be_claimed() {
    let kernel = "f32.fmul:controls=fastmath0";
    assert_eq!(run("", &[kernel], &[]).outcome(kernel), "unsupported");
    let run = run("claim fastmath0", &[kernel], &[]);
    assert!(claimed(&run, "shaderFloatControls2"));
    assert_eq!(run.outcome(kernel), "ran", "{}", run.detail(kernel));
}
