//! Every form of `conforms with`: devices that meet a profile under a mode, by another lowering, or by both, and not
//! otherwise; and modes that promise it and do not keep it.

use std::io::Write as _;

use crate::corrections::{DRIVER, FLUSH, without_flush};
use crate::faulty::{Run, run_on};

/// A device that keeps subnormals of binary32 and meets all other rules, with these faults, judged by this profile.
fn judged(faults: &str, profile: &str) -> Run {
    let run = run_on(DRIVER, &format!("{}{faults}", without_flush()), &[], &["--profile", profile]);
    assert_eq!(run.code, 0, "{faults}: {}", run.err);
    run
}

/// Class and recipe.
fn of(run: &Run) -> (String, String) {
    let profile = &run.device()["profiles"][0];
    let needs: Vec<&str> = profile["needs"].as_array().unwrap().iter().map(|need| need.as_str().unwrap()).collect();
    (profile["class"].as_str().unwrap().to_owned(), needs.join(" "))
}

#[track_caller]
fn needs(faults: &str, profile: &str, recipe: &str) {
    let expected = (if recipe.is_empty() { "conforms" } else { "conforms with" }.to_owned(), recipe.to_owned());
    assert_eq!(of(&judged(faults, profile)), expected, "{profile}: {faults}");
}

#[test]
fn nothing() {
    for profile in ["d3d11", "d3d10", "gl-arb-shader-precision", "wgsl"] {
        needs(FLUSH, profile, "");
    }
}

#[test]
fn a_denormal_mode() {
    needs("claim ftz32", "d3d11", "ftz32");
    needs("claim ftz32", "d3d10", "ftz32");
    needs(&format!("{FLUSH}flush f16 results unless dp16\nclaim dp16"), "d3d11", "dp16");
}

#[test]
fn signed_zeros_infinities_and_nans() {
    let unless = |mode: &str| format!("{FLUSH}give 7f800000 in f32.inverse_sqrt when x is 80000000 unless {mode}");
    needs(&unless("szin32"), "d3d11", "szin32");
    needs(&unless("szin32"), "d3d10", "szin32");
    needs(&unless("fastmath0"), "d3d11", "fastmath0");
    needs(&format!("{FLUSH}give 7c00 in f16.inverse_sqrt when x is 8000 unless szin16"), "d3d11", "szin16");
    let wrong = "give 3f800000 in f32.nmin|f32.fmin unless szin32 when x is 1 and y is 3f800000";
    needs(wrong, "gl-arb-shader-precision", "szin32");
}

#[test]
fn a_lowering() {
    needs(&format!("{FLUSH}give 7fc00000 in f32.nmin when x is nan"), "d3d11", "min=f32.fmin");
}

#[test]
fn several_modes_and_lowerings_at_once() {
    let both = "claim ftz32\nindependence all\ngive 7f800000 in f32.inverse_sqrt when x is 80000000 unless szin32";
    needs(both, "d3d11", "ftz32 szin32");
    needs("claim ftz32\ngive 7fc00000 in f32.nmin when x is nan", "d3d11", "ftz32 min=f32.fmin");
}

#[test]
fn a_mode_that_is_ignored_is_no_recipe() {
    let run = judged("claim ftz32 ignored", "d3d11");
    assert_eq!(of(&run).0, "deviates");
    assert_eq!(run.findings("claim", "shaderDenormFlushToZeroFloat32"), 1);
}

#[test]
fn a_rounding_mode_that_a_profile_of_ones_own_asks_for() {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let profile = r#"
id = "chopping"
title = "Sums are rounded towards zero"
version = "1"
extends = "wgsl"
# No statement puts this right on the driver.
without = ["W-pack"]
modes = ["rtz32"]

[operation.add]
lowerings = ["fadd"]
accuracy.f32 = "toward zero"
accuracy.f16 = "nearest even"

[[rule]]
id = "C-1"
title = "Sums are rounded towards zero"
citation = "this test"
format = "f32"
operations = ["add"]
"#;
    file.write_all(profile.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    needs("claim rtz32", path, "rtz32");
    assert_eq!(of(&judged("claim rtz32 ignored", path)).0, "deviates");
    assert_eq!(of(&judged("", path)).0, "deviates");
}
