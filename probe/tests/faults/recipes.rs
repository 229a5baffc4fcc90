//! Every form of `conforms with`: devices that meet a profile under a mode, by another lowering, or
//! by both, and not otherwise; and modes that promise it and do not keep it.

use std::collections::{BTreeSet, HashSet};
use std::io::Write as _;

use fpprobe_profiles::{Profile, profile};
use fpprobe_spirv::{Control, Controls};
use tempfile::NamedTempFile;

use crate::corrections::{DRIVER, FLUSH, UNCORRECTED, without_flush};
use crate::faulty::{Run, run_on};

/// A profile of this id or in this file.
fn read(profile: &str) -> Profile {
    profile::built_in(profile)
        .unwrap_or_else(|| {
            let text = std::fs::read_to_string(profile).unwrap();
            Profile::parse(profile, &text, &profile::built_in_text)
        })
        .unwrap()
}

/// Everything that a profile looks at, under the modes of a recipe one by one and together, and
/// under one that it may do without.
fn kernels(profile: &Profile, recipe: Controls) -> impl Iterator<Item = String> {
    let modes = profile.modes.iter().take(1).copied().chain(recipe.iter());
    let alone = modes.filter_map(|mode| Controls::new([mode]).ok());
    let sets: HashSet<Controls> = alone.chain([Controls::NONE, recipe]).collect();
    sets.into_iter().flat_map(|set| profile.kernels_under(set)).map(|kernel| kernel.to_string())
}

/// What a device needs that keeps subnormals of binary32 and meets all other rules, with these
/// faults: class and recipe by each of these profiles.
#[track_caller]
fn judged(faults: &str, profiles: &[&str]) -> (Run, Vec<(String, String)>) {
    judged_with(faults, profiles, Controls::NONE, &[])
}

/// The same of a device that is asked under the modes of this recipe, and these kernels, too.
#[track_caller]
fn judged_with(
    faults: &str,
    profiles: &[&str],
    recipe: Controls,
    others: &[&str],
) -> (Run, Vec<(String, String)>) {
    let arguments: Vec<&str> = profiles.iter().flat_map(|profile| ["--profile", profile]).collect();
    let kernels: HashSet<String> =
        profiles.iter().flat_map(|id| kernels(&read(id), recipe).collect::<Vec<_>>()).collect();
    let kernels: Vec<&str> =
        kernels.iter().map(String::as_str).chain(others.iter().copied()).collect();
    let run = run_on(DRIVER, &format!("{}{faults}", without_flush()), &kernels, &arguments);
    assert_eq!(run.code, 0, "{faults}: {}", run.err);
    let judgements = run.device()["profiles"].as_array().unwrap().iter().map(|profile| {
        let needs: Vec<&str> = profile["needs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|need| need.as_str().unwrap())
            .collect();
        (profile["class"].as_str().unwrap().to_owned(), needs.join(" "))
    });
    let judgements = judgements.collect();
    (run, judgements)
}

#[track_caller]
fn needs(faults: &str, profiles: &[&str], recipe: &str) {
    let expected = (
        if recipe.is_empty() { "conforms" } else { "conforms with" }.to_owned(),
        recipe.to_owned(),
    );
    let modes = recipe.split_whitespace().filter_map(|need| need.parse::<Control>().ok());
    let modes = Controls::new(modes).unwrap();
    assert_eq!(
        judged_with(faults, profiles, modes, &[]).1,
        vec![expected; profiles.len()],
        "{profiles:?}: {faults}"
    );
}

/// A profile's file.
fn written(profile: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    file.write_all(profile.as_bytes()).unwrap();
    file
}

const DIRECT3D: [&str; 2] = ["d3d11", "d3d10"];

#[test]
fn nothing() {
    needs(FLUSH, &["d3d11", "d3d10", "gl-arb-shader-precision", "wgsl"], "");
}

#[test]
fn nothing_but_what_the_compiler_folds() {
    let (run, judgements) = judged(FLUSH, &["vulkan"]);
    assert_eq!(judgements, [("deviates".to_owned(), String::new())]);
    let rules = run.device()["profiles"][0]["rules"].as_array().unwrap();
    let deviating =
        rules.iter().filter(|rule| rule["verdict"] == "deviates" && rule["level"] == "required");
    let ids = deviating.map(|rule| format!("vulkan/{}", rule["id"].as_str().unwrap()));
    assert_eq!(ids.collect::<BTreeSet<_>>(), UNCORRECTED.map(str::to_owned).into());
}

#[test]
fn a_denormal_mode() {
    needs("claim ftz32", &DIRECT3D, "ftz32");
    needs(&format!("{FLUSH}flush f16 results unless dp16\nclaim dp16"), &["d3d11"], "dp16");
}

#[test]
fn signed_zeros_infinities_and_nans() {
    let unless = |mode: &str| {
        format!("{FLUSH}give 7f800000 in f32.inverse_sqrt when x is 80000000 unless {mode}")
    };
    needs(&unless("szin32"), &DIRECT3D, "szin32");
    needs(&unless("fastmath0"), &["d3d11"], "fastmath0");
    needs(
        &format!("{FLUSH}give 7c00 in f16.inverse_sqrt when x is 8000 unless szin16"),
        &["d3d11"],
        "szin16",
    );
    let wrong = "give 3f800000 in f32.nmin|f32.fmin unless szin32 when x is 1 and y is 3f800000";
    needs(wrong, &["gl-arb-shader-precision"], "szin32");
}

/// The driver's compiler makes -0 of -0 + 0 where both are constants, unless it must preserve the
/// signs of zeros. Under szin16 nobody requested it: the run does.
#[test]
fn constants_that_the_driver_folds() {
    let (run, judgements) =
        judged_with(FLUSH, &["d3d11"], "szin16".parse().unwrap(), &["f16.fadd:route=literal"]);
    assert_eq!(judgements, [("conforms with".to_owned(), "szin16".to_owned())]);
    let selected = run.kernels();
    assert!(selected.contains(&"f16.fadd:controls=szin16;route=literal"), "{selected:?}");
    assert_eq!(run.findings("route", "f16.fadd:route=literal"), 1);
}

/// Beside another mode.
#[test]
fn a_rounding_mode_beside_another() {
    let both = "claim ftz32\nclaim rte32\nindependence all\nround toward zero in f32.fadd|f32.fmul unless rte32";
    rounding_recipe(both, "ftz32", "ftz32,rte32", "ftz32 rte32");
}

/// A device that is asked under the modes of a recipe, and of another the texels alone, which runs
/// without filters ask for, too; the rest the run finds out to ask. It needs these.
#[track_caller]
fn rounding_recipe(faults: &str, selected: &str, found: &str, needs: &str) -> Run {
    let texels = read("d3d11").kernels_under(found.parse().unwrap());
    let texels: Vec<String> = texels
        .iter()
        .filter(|kernel| kernel.op.code.is_of_texels())
        .map(ToString::to_string)
        .collect();
    let texels: Vec<&str> = texels.iter().map(String::as_str).collect();
    let selected = if selected.is_empty() { Controls::NONE } else { selected.parse().unwrap() };
    let (run, judgements) = judged_with(faults, &["d3d11"], selected, &texels);
    assert_eq!(judgements, [("conforms with".to_owned(), needs.to_owned())], "{faults}");
    run
}

/// The run requests what changes the direction of rounding where nothing else is wrong, and there
/// alone.
#[test]
fn a_rounding_mode_where_rounding_alone_is_wrong() {
    let truncates =
        format!("{FLUSH}claim rte32\nround toward zero in f32.fadd|f32.fmul unless rte32");
    let run = rounding_recipe(&truncates, "", "rte32", "rte32");
    assert!(run.kernels().contains(&"f32.exp2:controls=rte32"));
    let besides = format!("{truncates}\ngive 7f800000 in f32.inverse_sqrt when x is 80000000");
    let (run, judgements) = judged(&besides, &["d3d11"]);
    assert_eq!(judgements[0].0, "deviates");
    assert!(!run.kernels().iter().any(|kernel| kernel.contains("rte32")));
    let (run, judgements) = judged(&truncates.replace("claim", "deny"), &["d3d11"]);
    assert_eq!(judgements[0].0, "deviates");
    assert!(!run.kernels().iter().any(|kernel| kernel.contains("rte32")));
}

#[test]
fn a_lowering() {
    needs(&format!("{FLUSH}give 7fc00000 in f32.nmin when x is nan"), &["d3d11"], "min=f32.fmin");
}

#[test]
fn several_modes_and_lowerings_at_once() {
    let both = "claim ftz32\nindependence all\ngive 7f800000 in f32.inverse_sqrt when x is 80000000 unless szin32";
    needs(both, &["d3d11"], "ftz32 szin32");
    needs("claim ftz32\ngive 7fc00000 in f32.nmin when x is nan", &["d3d11"], "ftz32 min=f32.fmin");
}

#[test]
fn a_mode_that_is_ignored_is_no_recipe() {
    let ftz32 = "ftz32".parse().unwrap();
    let (run, judgements) = judged_with("claim ftz32 ignored", &["d3d11"], ftz32, &[]);
    assert_eq!(judgements[0].0, "deviates");
    assert_eq!(run.findings("claim", "shaderDenormFlushToZeroFloat32"), 1);
}

#[test]
fn a_rounding_mode_that_a_profile_of_ones_own_requests() {
    let sums = r#"
id = "sums"
title = "Sums are rounded towards zero"
version = "1"
ulp = "vulkan"
modes = ["rtz32"]

[environment.f32]
subnormal_inputs = "either"
subnormal_results = "either"
flushed_sign = "either"
zero_sign = "either"
nan_operand = "any"
invalid = "any"
pole_nan = true
nan_bits = "free"
overflow = "either"
integer = "representable"
non_finite = "any"

[operation.add]
lowerings = ["fadd"]
accuracy.f32 = "toward zero"

[[rule]]
id = "C-1"
title = "Sums are rounded towards zero"
citation = "this test"
format = "f32"
operations = ["add"]
"#;
    let file = written(sums);
    let path = file.path().to_str().unwrap();
    needs("claim rtz32", &[path], "rtz32");
    for faults in ["claim rtz32 ignored", ""] {
        assert_eq!(judged(faults, &[path]).1[0].0, "deviates");
    }
}
