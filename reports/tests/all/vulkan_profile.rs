//! Vulkan Profiles, out and in.

use fpprobe_reports::model::{Level, ProfileResult, Verdict};
use fpprobe_reports::verified::ModeProof;
use fpprobe_reports::vulkan_profile::{DemandOutcome, VulkanDemands};
use fpprobe_reports::{Report, verified};
use fpprobe_spirv::Control;
use serde_json::{Value, json};

use crate::fixture::{self, render};

/// The fixture's first device, judged by `vulkan`: every rule is met but those named, which have
/// this evidence.
fn judged(unmet: &[(&str, Verdict, &[&str])]) -> Report {
    let mut report = fixture::report();
    report.devices.truncate(1);
    let device = &mut report.devices[0];
    // What the profile says of the first rule there is stands for all.
    let shape = device.profiles[0].rules[0].clone();
    let evidence = device.profiles[0].rules[4].evidence[0].clone();
    let profile = fpprobe_profiles::profile::built_in("vulkan").unwrap().unwrap();
    let rules = profile.rules.iter().map(|rule| {
        let mut result = shape.clone();
        (result.id, result.title, result.level) = (rule.id.clone(), rule.title.clone(), rule.level);
        if let Some((_, verdict, kernels)) = unmet.iter().find(|(id, ..)| *id == rule.id) {
            assert_eq!(rule.level, Level::Required);
            result.verdict = *verdict;
            result.evidence = kernels
                .iter()
                .map(|id| fpprobe_reports::model::Evidence {
                    kernel: (*id).to_owned(),
                    ..evidence.clone()
                })
                .collect();
        }
        result
    });
    let rules = rules.collect();
    device.profiles.push(ProfileResult {
        id: verified::PROFILE.into(),
        rules,
        ..device.profiles[0].clone()
    });
    report
}

fn document(report: &Report) -> Value {
    serde_json::from_str(&render("vulkan-profile", report)).unwrap()
}

/// Whether a member of the float controls is true in the profile of this kind.
fn control(document: &Value, kind: &str, member: &str) -> bool {
    let sets = document["capabilities"].as_object().unwrap();
    let set = sets.iter().find(|(name, _)| name.ends_with(kind)).unwrap().1;
    set["properties"]["VkPhysicalDeviceFloatControlsProperties"][member].as_bool().unwrap()
}

/// What the public schema (profiles-0.8, read as of Vulkan 1.3.230) demands of the parts that are
/// written: required and possible members, types and patterns. Restated here, since a copy of the
/// whole would be most of this repository's data.
fn check(document: &Value) {
    assert_eq!(document["$schema"], "https://schema.khronos.org/vulkan/profiles-0.8-latest.json#");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(document), ["$schema", "capabilities", "profiles"]);
    let capabilities = document["capabilities"].as_object().unwrap();
    for set in capabilities.values() {
        assert!(
            keys(set)
                .iter()
                .all(|key| ["extensions", "features", "properties", "formats"].contains(&&key[..]))
        );
        for members in set["features"].as_object().unwrap().values() {
            assert!(members.as_object().unwrap().values().all(Value::is_boolean), "{members}");
        }
        let controls =
            set["properties"]["VkPhysicalDeviceFloatControlsProperties"].as_object().unwrap();
        for (member, value) in controls {
            if member.ends_with("Independence") {
                assert!(
                    value.as_str().unwrap().starts_with("VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_"),
                    "{value}"
                );
            } else {
                assert!(member.starts_with("shader") && value.is_boolean(), "{member}: {value}");
            }
        }
    }
    for (name, profile) in document["profiles"].as_object().unwrap() {
        let rest = name.strip_prefix("VP_FPPROBE_").unwrap();
        assert!(
            !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            "{name}"
        );
        let mut required = [
            "version",
            "label",
            "description",
            "api-version",
            "contributors",
            "history",
            "capabilities",
        ];
        let mut own = keys(profile);
        required.sort_unstable();
        own.sort_unstable();
        assert_eq!(own, required);
        assert!(
            profile["version"].is_i64()
                && profile["label"].is_string()
                && profile["description"].is_string()
        );
        let version: Vec<&str> = profile["api-version"].as_str().unwrap().split('.').collect();
        assert!(
            version.len() == 3 && version.iter().all(|part| part.parse::<u32>().is_ok()),
            "{version:?}"
        );
        for contributor in profile["contributors"].as_object().unwrap().values() {
            assert!(contributor["company"].is_string());
        }
        for revision in profile["history"].as_array().unwrap() {
            assert!(
                revision["revision"].is_i64()
                    && revision["author"].is_string()
                    && revision["comment"].is_string()
            );
            let date = revision["date"].as_str().unwrap();
            assert!(
                date.len() == 10 && (date.starts_with("19") || date.starts_with("20")),
                "{date}"
            );
        }
        let named = profile["capabilities"].as_array().unwrap();
        assert!(named.iter().all(|name| capabilities.contains_key(name.as_str().unwrap())));
    }
}

#[test]
fn two_profiles_tell_claims_from_behaviour() {
    // One device, whose claim to flush is contradicted, and one with hostile names.
    check(&document(&fixture::report()));
    let honest = document(&judged(&[]));
    check(&honest);
    let flush = "shaderDenormFlushToZeroFloat32";
    assert!(control(&honest, "claimed", flush) && !control(&honest, "verified", flush));
    let preserve = "shaderDenormPreserveFloat32";
    assert!(control(&honest, "claimed", preserve) && control(&honest, "verified", preserve));
    insta::assert_snapshot!(render("vulkan-profile", &judged(&[])));
}

#[test]
fn a_rule_that_fails_under_a_mode_disproves_it_and_no_other() {
    let rte = "shaderRoundingModeRTEFloat32";
    let verified =
        |unmet: &[(&str, Verdict, &[&str])]| control(&document(&judged(unmet)), "verified", rte);
    assert!(verified(&[]));
    assert!(!verified(&[("V-rte", Verdict::Deviates, &["f32.fadd:controls=rte32"])]));
    // All that fails is on record, and it is another width.
    assert!(verified(&[("V-rte", Verdict::Deviates, &["f16.fadd:controls=rte16"])]));
    // Not all that fails is on record.
    assert!(!verified(&[("V-rte", Verdict::Deviates, &["f16.fadd:controls=rte16"; 8])]));
    assert!(!verified(&[("V-rte", Verdict::Incomplete, &[])]));
    assert!(verified(&[("V-add", Verdict::Deviates, &["f32.fadd"])]));
    // A conversion to another width rounds under that width's mode.
    assert!(verified(&[("V-rte", Verdict::Deviates, &["f32.fconvert_f16:controls=rte16,rte32"])]));
    assert!(!verified(&[("V-rte", Verdict::Deviates, &["f16.fconvert_f32:controls=rte16,rte32"])]));
    // Of two modes together nobody knows which one failed.
    let report =
        judged(&[("V-rte-overflow", Verdict::Deviates, &["f32.fadd:controls=szin32,rte32"])]);
    let modes = verified::Modes::of(&report.devices[0]);
    for control in [Control::Szin(32), Control::Rte(32)] {
        assert!(
            matches!(modes.shown(control), ModeProof::Unknown(_)),
            "{:?}",
            modes.shown(control)
        );
    }
    // The page says of a claim what the profile says.
    let page = |unmet: &[(&str, Verdict, &[&str])]| {
        let page = render("html", &judged(unmet));
        let (_, claims) = page.split_once("Claims beside behaviour\">").unwrap();
        let (_, modes) = claims.split_once("RoundingModeRTE</th>").unwrap();
        modes.split("</tr>").next().unwrap().to_owned()
    };
    assert!(page(&[]).contains("nothing against it") && !page(&[]).contains("contradicted"));
    assert!(
        page(&[("V-rte", Verdict::Deviates, &["f32.fadd:controls=rte32"])]).contains("V-rte fails")
    );
    assert!(
        page(&[("V-rte", Verdict::Incomplete, &[])]).contains("not known: V-rte is incomplete")
    );
    // Nobody has judged it.
    let mut report = judged(&[]);
    report.devices[0].profiles.pop();
    assert!(!control(&document(&report), "verified", rte));
}

fn file(members: &Value) -> String {
    let controls = json!({ "VkPhysicalDeviceFloatControlsProperties": members });
    let features = json!({ "VkPhysicalDeviceVulkan12Features": { "shaderFloat16": true, "drawIndirectCount": true } });
    let set = json!({ "extensions": { "VK_KHR_maintenance4": 1 }, "features": features, "properties": controls });
    json!({
        "capabilities": { "all": set },
        "profiles": { "VP_TEST_one": { "capabilities": ["all"] } }
    })
    .to_string()
}

#[test]
fn a_profile_is_met_by_behaviour_and_not_by_claims() {
    let text = file(&json!({
        "denormBehaviorIndependence": "VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY",
        "roundingModeIndependence": "VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL",
        "shaderDenormPreserveFloat32": true,
        "shaderDenormFlushToZeroFloat32": true,
        "shaderRoundingModeRTZFloat32": true,
        "shaderSignedZeroInfNanPreserveFloat64": false,
    }));
    let demands = VulkanDemands::parse(&text, None).unwrap();
    assert_eq!(demands.profile, "VP_TEST_one");
    let unchecked: Vec<&str> = demands.unchecked.iter().map(String::as_str).collect();
    assert_eq!(unchecked, ["VkPhysicalDeviceVulkan12Features.drawIndirectCount", "extensions"]);
    let lines: Vec<String> = demands
        .judge(&judged(&[]).devices[0])
        .iter()
        .map(|one| format!("{:?} {}: {}; {}", one.standing, one.member, one.claim, one.behaviour))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_the_verified_profile_says_the_device_does() {
    let report = judged(&[]);
    let text = render("vulkan-profile", &report);
    let names =
        document(&report)["profiles"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for name in names {
        let judged = VulkanDemands::parse(&text, Some(&name)).unwrap().judge(&report.devices[0]);
        let met = judged.iter().all(|one| one.standing == DemandOutcome::Met);
        assert_eq!(met, name.ends_with("verified"), "{name}: {judged:?}");
    }
}

#[test]
fn mistakes_in_a_profile_are_named_with_their_key() {
    let message =
        |text: &str, name: Option<&str>| VulkanDemands::parse(text, name).unwrap_err().to_string();
    assert!(message("{", None).starts_with("not JSON: EOF"));
    assert!(message("[]", None).contains("`the document`: expected an object"));
    assert!(message("{}", None).contains("`profiles`: it is missing"));
    assert!(
        message(r#"{"profiles": {}, "capabilities": {}}"#, None).contains("no profile is there")
    );
    let wrong = file(&json!({ "shaderDenormPreserveFloat32": 3 }));
    let at = "`capabilities.all.properties.VkPhysicalDeviceFloatControlsProperties.shaderDenormPreserveFloat32`";
    assert!(
        message(&wrong, None).contains(&format!("{at}: expected true or false, found 3")),
        "{}",
        message(&wrong, None)
    );
    let wrong = file(&json!({ "denormBehaviorIndependence": "ALL" }));
    assert!(
        message(&wrong, None)
            .contains("expected one of VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE")
    );
    assert!(
        message(&file(&json!({})), Some("VP_other"))
            .contains("no profile `VP_other`; it has VP_TEST_one")
    );
    let missing = r#"{"profiles": {"VP_A_b": {"capabilities": ["x"]}}, "capabilities": {}}"#;
    assert!(message(missing, None).contains("`profiles.VP_A_b.capabilities[0]`: `x` is not among"));
    // Structures within structures.
    let nested = r#"{"profiles": {"VP_A_b": {"capabilities": ["x"]}}, "capabilities": {"x": {
        "features": {"VkPhysicalDeviceFeatures2": {"features": {"shaderFloat64": true}}},
        "properties": {"VkPhysicalDeviceProperties": {"limits": {"maxImageDimension1D": 1}}}
    }}}"#;
    let demands = VulkanDemands::parse(nested, None).unwrap();
    assert_eq!(
        demands.demands.iter().map(|demand| &demand.member[..]).collect::<Vec<_>>(),
        ["shaderFloat64"]
    );
    let limit = "VkPhysicalDeviceProperties.limits.maxImageDimension1D";
    assert_eq!(demands.unchecked.iter().collect::<Vec<_>>(), [limit]);
    // The version of Vulkan is a demand beside others, and none by itself.
    let versioned = |version: &str| {
        nested.replacen(
            "{\"VP_A_b\": {",
            &format!("{{\"VP_A_b\": {{\"api-version\": \"{version}\", "),
            1,
        )
    };
    let standing = |version: &str| {
        let judged =
            VulkanDemands::parse(&versioned(version), None).unwrap().judge(&judged(&[]).devices[0]);
        judged.into_iter().find(|one| one.member == "api-version").unwrap().standing
    };
    assert_eq!(["1.0.0", "1.9.0"].map(standing), [DemandOutcome::Met, DemandOutcome::Unmet]);
    assert!(
        message(&versioned("1.3"), None)
            .contains("`profiles.VP_A_b.api-version`: expected a version of Vulkan")
    );
    // A profile that stands on itself is not followed for ever.
    let circle = r#"{"profiles": {"VP_A_b": {"profiles": ["VP_A_b"]}}, "capabilities": {}}"#;
    assert!(message(circle, None).contains("`VP_A_b` is required within more than 16 others"));
    // What is demanded and cannot be looked at is no demand that is met.
    let elsewhere = r#"{"profiles": {"VP_A_b": {"profiles": ["VP_A_c"]}}, "capabilities": {}}"#;
    assert!(message(elsewhere, None).contains("`VP_A_c`, which is required, is not in the file"));
    let misspelt = file(&json!({ "shaderDenormPreservefloat32": true }));
    assert!(
        message(&misspelt, None)
            .contains("`VkPhysicalDeviceFloatControlsProperties` has no such member")
    );
    let formats = r#"{"profiles": {"VP_A_b": {"capabilities": ["x"]}}, "capabilities": {"x": {"formats": {}}}}"#;
    assert!(
        message(formats, None).starts_with("VP_A_b demands no float control"),
        "{}",
        message(formats, None)
    );
    let two = r#"{"profiles": {"VP_A_b": {}, "VP_A_c": {}}, "capabilities": {}}"#;
    assert!(message(two, None).contains("several profiles are there; it has VP_A_b, VP_A_c"));
}

#[test]
fn of_alternatives_one_is_enough() {
    let set = |member: &str| json!({ "properties": { "VkPhysicalDeviceFloatControlsProperties": { member: true } } });
    let demands = |names: serde_json::Value| {
        let text = json!({
            "capabilities": { "a": set("shaderDenormFlushToZeroFloat64"), "b": set("shaderRoundingModeRTEFloat32") },
            "profiles": { "VP_TEST_one": { "capabilities": [names] } }
        });
        VulkanDemands::parse(&text.to_string(), None)
    };
    let report = judged(&[]);
    let alone = |name: &str| demands(json!(name)).unwrap().judge(&report.devices[0])[0].standing;
    let any = demands(json!(["a", "b"])).unwrap();
    let judged = any.judge(&report.devices[0]);
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0].member, "any of a, b");
    let one_is_met = [alone("a"), alone("b")].contains(&DemandOutcome::Met);
    assert_eq!(judged[0].standing == DemandOutcome::Met, one_is_met);
    let one = demands(json!(["a"])).unwrap().judge(&report.devices[0]);
    assert_eq!(
        (one[0].standing, &*one[0].behaviour),
        (DemandOutcome::Unmet, "a lacks shaderDenormFlushToZeroFloat64")
    );
    assert!(demands(json!([])).unwrap_err().to_string().contains("of which one is enough"));
    assert!(demands(json!(["a", "c"])).unwrap_err().to_string().contains("`c` is not among"));
}
