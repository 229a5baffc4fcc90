//! Every built-in profile against a device of the oracle's answers: it conforms; and every required
//! rule against that device with one answer changed to the nearest one outside: it deviates.

use std::collections::BTreeSet;

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::coverage::Surveyor;
use fpprobe_profiles::encoding::{Encoding, assemble, components};
use fpprobe_profiles::judge::{Judge, Judgement, Observations};
use fpprobe_profiles::oracle::Signature;
use fpprobe_profiles::profile;
use fpprobe_profiles::profile::Rule;
use fpprobe_profiles::{Class, Level, Observation, Profile, Verdict};
use fpprobe_spirv::cases;
use fpprobe_spirv::op::Function;

use super::device::{device, measured};
use crate::built_in::profiles;

/// The nearest encoding outside a set; for sets as wide as all NaNs, the nearest number that is.
fn outside(set: &Set, from: u64) -> Option<u64> {
    let encoding = set.encoding();
    let (first, last) = encoding.limits();
    let key = encoding.key(from);
    let infinity = match encoding {
        Encoding::Float(layout) => layout.infinity(),
        _ => 0,
    };
    // The other sign first: it shows even where the size of the answer is another rule's matter.
    let sign = match encoding {
        Encoding::Float(layout) => layout.sign_bit(),
        _ => 0,
    };
    [encoding.key(from ^ sign)]
        .into_iter()
        .chain(
            (1..=4096)
                .flat_map(|distance| [key.saturating_add(distance), key.saturating_sub(distance)]),
        )
        .chain([encoding.key(infinity), encoding.key(infinity) - 1])
        .filter(|key| (first..=last).contains(key))
        .map(|key| encoding.at(key))
        .find(|bits| !set.contains(*bits))
}

/// What judges a device: [`Judge`], or something broken in its place.
type Judging<'a> = &'a dyn Fn(&[Observation]) -> Judgement;

/// What judges a device by one profile after the other.
type JudgingBy<'a> = &'a dyn Fn(&Profile, &[Observation]) -> Judgement;

/// What a judge has against a device of the oracle's answers: profiles and rules that do not pass,
/// or pass unjudged.
fn objections(profile: &Profile, device: &[Observation], judge: Judging) -> Vec<String> {
    let judgement = judge(device);
    let mut objections = Vec::new();
    if judgement.class != Class::Conforms {
        objections.push(format!("{}: {:?}", profile.id, judgement.class));
    }
    for rule in &judgement.rules {
        if !rule.verdict.is_met() || rule.level == Level::Required && rule.lanes == 0 {
            let (verdict, why, shown) = (rule.verdict, &rule.behaviour, rule.evidence.first());
            objections.push(format!(
                "{} {}: {verdict:?}, {} lanes {why} {shown:?}",
                profile.id, rule.id, rule.lanes
            ));
        }
    }
    objections
}

#[test]
fn a_device_of_the_oracles_answers_conforms_to_each_profile() {
    for profile in profiles() {
        let judge = Judge::new(profile);
        let objections = objections(profile, &device(profile), &|device| {
            judge.judge(&Observations::new(device))
        });
        assert!(objections.is_empty(), "{}", objections.join("\n"));
    }
}

/// Some rules of OpenGL's look at lanes that accept everything.
#[test]
fn a_judgement_counts_the_lanes_that_coverage_counts() {
    let profile = profile::built_in("gl-arb-shader-precision").unwrap().unwrap();
    let coverage = Surveyor::default().survey(&profile);
    let device = measured(coverage.profile, cases::cases);
    let judgement = Judge::new(coverage.profile).judge(&Observations::new(&device));
    let mut vacuous = 0;
    for (verdict, rule) in judgement.rules.iter().zip(&coverage.rules) {
        let defaults = rule.rule.parts.iter().map(|part| part.lowerings[0]);
        let all_statistics =
            defaults.filter_map(|kernel| rule.kernels.iter().find(|known| known.kernel == kernel));
        let lanes: usize = all_statistics.map(|kernel| kernel.statistics.judged).sum();
        assert_eq!((&verdict.id, verdict.lanes), (&rule.rule.id, lanes));
        vacuous += rule.statistics().vacuous;
    }
    assert!(vacuous > 0);
}

#[test]
fn the_worked_example_is_met_by_a_device_and_missed_by_another() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/engine.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let profile = Profile::parse("engine.toml", &text, &profile::built_in_text).unwrap();
    let judge = Judge::new(&profile);
    let objections =
        objections(&profile, &device(&profile), &|device| judge.judge(&Observations::new(device)));
    assert!(objections.is_empty(), "{}", objections.join("\n"));
    // Its own rules alone, asked everything.
    let mut profile = profile.clone();
    profile.rules.retain(|rule| rule.id.starts_with("E-"));
    let judge = Judge::new(&profile);
    let good = measured(&profile, cases::cases);
    // 1/3 two ulps off; the product of a subnormal flushed where others are kept; a half packed
    // towards zero, for which there is another lowering.
    for (id, case, wrong, rules, needs) in [
        ("f32.rcp", vec![0x4040_0000], 0x3eaa_aaad, &["E-03"][..], ""),
        ("f32.fmul", vec![0x300, 0x7800_0000], 0, &["E-02"][..], ""),
        ("f32.pack_half_2x16", vec![0x477f_f000], 0x7bff, &[][..], "pack_half=f32.fconvert_f16"),
    ] {
        let mut device = good.clone();
        let observation =
            device.iter_mut().find(|observation| observation.kernel.to_string() == id).unwrap();
        let at = observation.cases.iter().position(|known| known.starts_with(&case)).unwrap();
        let mut out = observation.out.to_vec();
        // The other half of a packed pair stays.
        let other =
            if observation.kernel.op.function == Function::PackHalf { 0xffff_0000 } else { 0 };
        out[at] = wrong | out[at] & other;
        observation.out = out.into();
        let judgement = judge.judge(&Observations::new(&device));
        let deviating: Vec<&str> = judgement
            .rules
            .iter()
            .filter(|r| r.verdict == Verdict::Deviates)
            .map(|r| r.id.as_str())
            .collect();
        assert_eq!(
            (deviating, judgement.recipe.needs().join(" ")),
            (rules.to_vec(), needs.to_owned()),
            "{id}"
        );
    }
}

/// Pairs of rule and operation; those that a judge lets pass although one answer is wrong.
type Survivors = (BTreeSet<String>, BTreeSet<String>);

/// Changes one answer that a required rule looks at to the nearest one outside, and looks whether
/// the judge notices it by that rule's look at that operation alone.
fn survivors(profile: &Profile, device: &[Observation], judge: JudgingBy) -> Survivors {
    let mut survivors = Survivors::default();
    let mut alone = Profile { rules: Vec::new(), ..profile.clone() };
    for rule in profile.rules.iter().filter(|rule| rule.level == Level::Required) {
        for part in &rule.parts {
            alone.rules = vec![Rule { parts: vec![part.clone()], ..rule.clone() }];
            let kernel = part.lowerings[0];
            let at = device.iter().position(|observation| observation.kernel == kernel).unwrap();
            let cases = &device[at].cases;
            let parts = Encoding::of_result(&kernel).len();
            let signature = Signature::new(&kernel);
            // The first and last lanes of the rule, each with its answer moved just outside.
            let lanes: Vec<(usize, usize)> = (0..cases.len())
                .flat_map(|case| (0..parts).map(move |part| (case, part)))
                .filter(|(case, index)| {
                    let operands = signature.operands(cases.case(*case), *index);
                    rule.selects(signature.encodings[*index], &operands, &part.demand)
                })
                .collect();
            let tries = lanes
                .iter()
                .take(3)
                .chain(lanes.iter().rev().take(3))
                .chain(lanes.iter().step_by(lanes.len() / 40 + 1));
            let deviates = tries.into_iter().any(|(case, index)| {
                let set = signature.accepted_part(cases.case(*case), *index, &part.demand);
                let mut answer = components(&kernel, device[at].answer(*case));
                let Some(wrong) = outside(&set, answer[*index]) else { return false };
                answer[*index] = wrong;
                let answer = assemble(&kernel, &answer);
                let mut out = device[at].out.to_vec();
                out[case * answer.len()..(case + 1) * answer.len()].copy_from_slice(&answer);
                let mut broken = device.to_vec();
                broken[at].out = out.into();
                let judgement = judge(&alone, &broken);
                if judgement.class == Class::Conforms {
                    return false;
                }
                // Another lowering may still do: the rule then holds under a recipe, and its
                // default is what failed.
                judgement.rules.iter().any(|r| r.id == rule.id && r.verdict == Verdict::Deviates)
                    || judgement
                        .recipe
                        .lowerings
                        .iter()
                        .any(|(operation, _)| *operation == part.operation)
            });
            let pair = format!("{} {} {}", profile.id, rule.id, kernel);
            if !deviates {
                survivors.1.insert(pair.clone());
            }
            survivors.0.insert(pair);
        }
    }
    survivors
}

#[test]
fn one_answer_changed_makes_each_required_rule_deviate() {
    for profile in profiles() {
        let (pairs, survivors) = survivors(profile, &device(profile), &|profile, device| {
            Judge::new(profile).judge(&Observations::new(device))
        });
        println!("{}: {} pairs of rule and operation", profile.id, pairs.len());
        assert!(survivors.is_empty(), "{survivors:?}");
    }
}

/// The two checks above have to notice what they are there for: a judge that accepts everything
/// lets every wrong answer pass, one that rejects everything objects to every profile and rule.
#[test]
fn accepting_everything_and_rejecting_everything_are_noticed() {
    for profile in profiles() {
        let device = device(profile);
        let unjudged = Judge::new(profile).judge(&Observations::new(&[]));
        let always = |class: Class, verdict: Verdict| {
            let mut judgement = unjudged.clone();
            judgement.class = class;
            for rule in &mut judgement.rules {
                (rule.verdict, rule.lanes) = (verdict, 1);
            }
            judgement
        };
        let accepting = always(Class::Conforms, Verdict::Conforms);
        assert_eq!(objections(profile, &device, &|_| accepting.clone()), Vec::<String>::new());
        let (pairs, survivors) = survivors(profile, &device, &|_, _| accepting.clone());
        assert_eq!(survivors, pairs, "a judge that accepts everything is not noticed");
        let rejecting = always(Class::Deviates, Verdict::Deviates);
        let objections = objections(profile, &device, &|_| rejecting.clone());
        assert_eq!(
            objections.len(),
            1 + profile.rules.len(),
            "a judge that rejects everything is not noticed"
        );
    }
}
