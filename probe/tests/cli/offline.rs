//! What needs no device.

use crate::scene::{ends, ends_reading, fpprobe};

#[test]
fn profiles_and_their_rules_are_listed() {
    let profiles = ends(fpprobe(&[]).arg("profiles"));
    assert!(profiles.with(0).lines().count() < 100, "{}", profiles.out);
    for id in ["d3d11", "d3d10", "gl-arb-shader-precision", "wgsl", "vulkan"] {
        assert!(profiles.with(0).contains(id), "{id}");
        assert!(ends(fpprobe(&[]).args(["rules", id])).with(0).contains("required"));
    }
}

#[test]
fn kernels_are_emitted_as_cases_of_their_own() {
    let emit = |form: &str| {
        fpprobe(&[])
            .args(["kernels", "f32.fadd:controls=szin32", "--emit", form, "3f800000", "1"])
            .output()
            .unwrap()
    };
    let spv = emit("spv");
    assert_eq!(spv.stdout[..4], 0x0723_0203u32.to_le_bytes());
    assert!(String::from_utf8_lossy(&emit("spvasm").stdout).contains("OpFAdd"));
    assert!(String::from_utf8_lossy(&emit("amber").stdout).starts_with("#!amber"));
}

#[test]
fn what_a_profile_accepts_is_json_lines() {
    let given =
        ends(fpprobe(&[]).args(["accepts", "d3d11", "f32.inverse_sqrt", "80000000"])).lines(0);
    assert_eq!(given.len(), 1);
    assert_eq!(given[0]["profile"], "d3d11");
    assert_eq!(given[0]["accepts"], serde_json::json!({ "bits": ["ff800000"] }));
    let infinite = ends(fpprobe(&[]).args(["accepts", "d3d11", "f32.fadd", "-inf", "-1"])).lines(0);
    assert_eq!(infinite[0]["in"], serde_json::json!(["ff800000", "bf800000"]));

    let input = "{\"in\": [\"80000000\"]}\n{\"in\": [\"bf800000\"]}\n";
    let read =
        ends_reading(fpprobe(&[]).args(["accepts", "d3d11", "f32.inverse_sqrt"]), input).lines(0);
    assert_eq!((read.len(), &read[0]), (2, &given[0]));
}

#[test]
fn shells_readers_and_programs_get_theirs() {
    let schema = ends(fpprobe(&[]).arg("schema")).document(0);
    assert!(schema["properties"]["devices"].is_object());
    assert!(
        ends(fpprobe(&[]).args(["completions", "bash"])).with(0).contains("complete -F _fpprobe")
    );
    let man = ends(fpprobe(&[]).arg("man"));
    assert!(
        man.with(0).starts_with(".ie") || man.out.contains(".TH fpprobe"),
        "{}",
        &man.out[..200]
    );
    assert!(man.out.contains("Exit status"));
}

/// The profile of which coverage is known in a few seconds; that of each profile is the matter of
/// the profiles' own tests.
const SMALLEST: &str = "gl-arb-shader-precision";

#[test]
fn coverage_shows_what_each_rule_can_distinguish() {
    let document = ends(fpprobe(&[]).args(["rules", "--coverage", "--json", SMALLEST])).document(0);
    assert_eq!(document["schema"], "fpprobe-coverage/1");
    let [profile] = &document["profiles"].as_array().unwrap()[..] else { panic!("{document}") };
    let rules = profile["rules"].as_array().unwrap();
    let required: Vec<_> = rules.iter().filter(|rule| rule["level"] == "required").collect();
    assert!(required.len() > 10, "{}", required.len());
    for rule in required {
        let kernels = rule["kernels"].as_array().unwrap();
        assert!(rule["total"]["rejected"].as_u64() > Some(0), "{rule}");
        assert!(kernels.iter().all(|kernel| kernel["inputs"].as_u64() > Some(0)), "{rule}");
    }
}

#[test]
fn coverage_names_vacuous_lanes_and_leaves_them_out_of_totals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let rule = "[[rule]]\nid = \"M\"\ntitle = \"t\"\ncitation = \"c\"\nformat = \"f32\"\noperations = [\"sqrt\"]\n";
    let lanes = "lanes = { any = [\"nan\"] }\n";
    let head = format!("id = \"mine\"\ntitle = \"t\"\nversion = \"1\"\nextends = \"{SMALLEST}\"\n");
    std::fs::write(&path, format!("{head}{rule}{lanes}")).unwrap();
    let text = ends(fpprobe(&[]).args(["rules", "--coverage"]).arg(&path)).with(0).to_owned();
    let line = |start: &str| {
        text.lines().find(|line| line.trim_start().starts_with(start)).unwrap().to_owned()
    };
    let below = text.lines().skip_while(|line| !line.trim_start().starts_with("M ")).nth(1);
    assert!(below.unwrap().contains("nothing: everything is accepted [f32: sqrt]"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(line("accept everything, and are in no total: ").contains("G-02 f64.fdiv "), "{text}");
    assert!(text.contains(" more (`--json` has all)"), "lists are counted: {text}");
    let [with, without] = [path.to_str().unwrap(), SMALLEST].map(|profile| {
        let document =
            ends(fpprobe(&[]).args(["rules", "--coverage", "--json", profile])).document(0);
        document["profiles"][0]["total"].clone()
    });
    for key in ["judged", "single", "rejected", "wrong"] {
        assert_eq!(with[key], without[key], "{key}");
    }
    assert!(with["vacuous"].as_u64() > without["vacuous"].as_u64());
}
