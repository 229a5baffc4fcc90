//! What was not measured, is not there, or was answered in two ways.

use std::sync::Arc;

use fpprobe_profiles::judge::{Judge, Observations};
use fpprobe_profiles::profile;
use fpprobe_profiles::{Class, Outcome, Profile, Verdict};

use super::device::device;
use crate::built_in::profiles;

#[test]
fn what_was_not_measured_is_never_a_pass() {
    for profile in profiles() {
        let judge = Judge::new(profile);
        assert_eq!(judge.judge(&Observations::new(&[])).class, Class::Incomplete, "{}", profile.id);
        // What no group excuses and no other lowering stands in for, by the rules that look at it.
        let mut parts = profile.rules.iter().flat_map(|rule| &rule.parts);
        let only = parts
            .find(|part| part.lowerings.len() == 1 && part.groups.is_empty())
            .unwrap()
            .lowerings[0];
        let mut narrowed = profile.clone();
        narrowed.rules.retain(|rule| rule.parts.iter().any(|part| part.lowerings.contains(&only)));
        let (narrowed, good) = (Judge::new(&narrowed), device(profile));
        for outcome in [
            Outcome::NotWritten,
            Outcome::Crashed,
            Outcome::Hung,
            Outcome::DeviceLost,
            Outcome::OutOfMemory,
            Outcome::Rejected,
            Outcome::Unsupported,
        ] {
            let mut device = good.clone();
            let one = device.iter_mut().find(|observation| observation.kernel == only).unwrap();
            one.outcome = outcome;
            one.out = Arc::from([]);
            let judge = if outcome == Outcome::NotWritten { &judge } else { &narrowed };
            let class = judge.judge(&Observations::new(&device)).class;
            assert_eq!(class, Class::Incomplete, "{} {outcome:?}", profile.id);
        }
    }
}

#[test]
fn a_group_that_is_absent_as_a_whole_is_left_out() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for observation in device.iter_mut().filter(|o| o.kernel.format == fpprobe_spirv::Format::F16) {
        observation.outcome = Outcome::Unsupported;
        observation.out = Arc::from([]);
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    assert_eq!((judgement.class, judgement.without), (Class::Conforms, vec!["f16".to_owned()]));
    // One kernel of the group that is missing is no absent group.
    let mut device = super::device::device(&profile);
    device.iter_mut().find(|o| o.kernel.to_string() == "f16.sqrt").unwrap().outcome =
        Outcome::Unsupported;
    assert_eq!(Judge::new(&profile).judge(&Observations::new(&device)).class, Class::Incomplete);
}

#[test]
fn flaky_answers_must_both_be_accepted() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let good = device(&profile);
    let at = good.iter().position(|o| o.kernel.to_string() == "f32.sqrt").unwrap();
    let case = good[at].cases.iter().position(|case| case == [0x40800000]).unwrap();
    for (second, class) in [(0x40000001, Class::Conforms), (0x40000003, Class::Deviates)] {
        let mut device = good.clone();
        let mut out = device[at].out.to_vec();
        out[case] = second;
        device[at].outcome = Outcome::Flaky;
        device[at].second = Some(out.into());
        assert_eq!(Judge::new(&profile).judge(&Observations::new(&device)).class, class);
    }
}

#[test]
fn no_required_lane_is_no_pass() {
    let text = "id = \"none\"\ntitle = \"\"\nversion = \"1\"\nextends = \"d3d11\"\nwithout = [";
    let all = profile::built_in("d3d11").unwrap().unwrap();
    let f16 = ["D16-07", "D16-08"];
    for keep in [&[][..], &f16] {
        let drop: Vec<String> = all
            .rules
            .iter()
            .filter(|r| !keep.contains(&r.id.as_str()))
            .map(|r| format!("\"{}\"", r.id))
            .collect();
        let text = format!("{text}{}]", drop.join(","));
        let profile = Profile::parse("none.toml", &text, &profile::built_in_text).unwrap();
        let mut device = device(&profile);
        for observation in &mut device {
            observation.outcome = Outcome::Unsupported;
        }
        assert_eq!(
            Judge::new(&profile).judge(&Observations::new(&device)).class,
            Class::Incomplete
        );
    }
}

#[test]
fn a_rule_that_judged_no_lane_is_no_pass_beside_rules_that_did() {
    for (id, lanes) in [
        // What no operand can be, and what the profile says nothing of.
        ("d3d11", "all = [\"normal\"], any = [\"zero\"]"),
        ("wgsl", "any = [\"nan\"]"),
    ] {
        let device = device(&profile::built_in(id).unwrap().unwrap());
        for (level, class) in [("required", Class::Incomplete), ("recommended", Class::Conforms)] {
            let text = format!(
                "id = \"more\"\ntitle = \"\"\nversion = \"1\"\nextends = \"{id}\"\n[[rule]]\nid = \"M\"\ntitle = \"\"\ncitation = \"\"\n\
                 level = \"{level}\"\nformat = \"f32\"\noperations = [\"sqrt\"]\nlanes = {{ {lanes} }}\n"
            );
            let profile = Profile::parse("more.toml", &text, &profile::built_in_text).unwrap();
            let judgement = Judge::new(&profile).judge(&Observations::new(&device));
            let rule = judgement.rules.iter().find(|rule| rule.id == "M").unwrap();
            assert_eq!((rule.verdict, rule.lanes), (Verdict::Incomplete, 0), "{id} {level}");
            assert_eq!(judgement.class, class, "{id} {level}");
        }
    }
}
