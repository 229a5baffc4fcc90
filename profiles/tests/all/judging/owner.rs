//! Each failing lane counts for one rule of a profile.

use std::collections::HashSet;

use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::judge::{Judge, Judgement, Observations, RuleVerdict, undiagnosed};
use fpprobe_profiles::{Observation, Verdict, profile};

use super::device::device;

const INFINITY: u64 = 0x7f80_0000;

/// What d3d11 says of a device that meets it but for these results.
fn judged(faults: &[(&str, &[u64], u64)]) -> Judgement {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for (id, case, result) in faults {
        let Some(observation) = device.iter_mut().find(|one| one.kernel.to_string() == *id) else {
            panic!("{id}")
        };
        let Some(at) = observation.cases.iter().position(|one| one == *case) else {
            panic!("{id} {case:x?}")
        };
        let mut out = observation.out.to_vec();
        out[at] = *result;
        observation.out = out.into();
    }
    Judge::new(&profile).judge(&Observations::new(&device))
}

fn rule<'a>(judgement: &'a Judgement, id: &str) -> &'a RuleVerdict {
    judgement.rules.iter().find(|rule| rule.id == id).unwrap()
}

fn elsewhere(rule: &RuleVerdict) -> Vec<(&str, usize)> {
    rule.elsewhere.iter().map(|(rule, lanes)| (rule.as_str(), *lanes)).collect()
}

#[test]
fn a_lane_counts_for_the_first_rule_that_does_not_accept_it() {
    let judgement =
        judged(&[("f32.fadd", &[0x8000_0000, 0], 0x8000_0000), ("f32.fadd", &[0x7fc0_0000, 0], 0)]);
    for (first, later) in [("D32-15", "D32-34"), ("D32-10", "D32-25")] {
        let [first, later] = [first, later].map(|id| rule(&judgement, id));
        assert_eq!(
            (first.verdict, first.failing, first.evidence.len()),
            (Verdict::Deviates, 1, 1),
            "{}",
            first.id
        );
        assert_eq!((later.verdict, later.failing), (Verdict::Depends, 0), "{}", later.id);
        assert_eq!(
            (later.behaviour.as_str(), elsewhere(later)),
            (first.id.as_str(), vec![(first.id.as_str(), 1)])
        );
        assert!(
            later.evidence.is_empty()
                && later.failing_lists.is_empty()
                && later.deviating.is_empty()
        );
    }
}

/// A product of infinity and a subnormal number that is kept is the matter of D32-18; one with zero
/// that is not NaN is D32-09's own.
#[test]
fn a_rule_keeps_the_lanes_that_a_behaviour_does_not_explain() {
    let judgement = judged(&[
        ("f32.fmul", &[INFINITY, 1], INFINITY),
        ("f32.fmul", &[INFINITY, 0], 0),
        ("f32.fmul", &[1, INFINITY], 7),
    ]);
    let (own, behaviour) = (rule(&judgement, "D32-09"), rule(&judgement, "D32-18"));
    // The third is explained by nothing, and D32-09 stands before D32-18.
    assert_eq!(
        (own.verdict, own.failing, elsewhere(own)),
        (Verdict::Deviates, 2, vec![("D32-18", 1)])
    );
    assert_eq!(own.evidence[0].case, [INFINITY, 0]);
    assert_eq!(own.evidence.len(), 2);
    assert_eq!((behaviour.verdict, behaviour.failing), (Verdict::Deviates, 1));
    assert_eq!(elsewhere(behaviour), [("D32-09", 1)]);
}

/// A comparison that keeps subnormals is none of D32-18's operations: its lane counts there all the
/// same.
#[test]
fn lanes_that_a_behaviour_explains_count_for_the_rule_that_judges_it() {
    let subnormal = |bits: u64| bits > 0 && bits < 0x0080_0000;
    let kernel = "f32.ford_equal".parse().unwrap();
    let cases = fpprobe_spirv::cases::boundary(&kernel);
    let flushed = cases.iter().find(|case| subnormal(case[0]) && case[1] == 0).unwrap();
    let judgement =
        judged(&[("f32.fmul", &[INFINITY, 1], INFINITY), ("f32.ford_equal", flushed, 0)]);
    let behaviour = rule(&judgement, "D32-18");
    let kernels: HashSet<String> = behaviour.deviating.iter().map(ToString::to_string).collect();
    assert_eq!(kernels, ["f32.fmul", "f32.ford_equal"].map(str::to_owned).into());
    assert_eq!(behaviour.failing, 2);
    let comparison = rule(&judgement, "D32-12");
    assert_eq!(
        (comparison.verdict, elsewhere(comparison)),
        (Verdict::Depends, vec![("D32-18", 1)])
    );
}

#[test]
fn the_sum_over_rules_counts_each_lane_once() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for observation in
        device.iter_mut().filter(|one| one.kernel.format == fpprobe_spirv::Format::F32)
    {
        let wrong = |(place, bits): (usize, &u64)| if place % 7 == 0 { bits ^ 1 } else { *bits };
        observation.out = observation.out.iter().enumerate().map(wrong).collect();
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    assert!(judgement.rules.iter().all(|rule| rule.diagnoses.len() == rule.failing));
    let mut bare = judgement.clone();
    bare.rules.iter_mut().for_each(|rule| rule.diagnoses.clear());
    assert!(undiagnosed(&[Judge::new(&profile)], &Observations::new(&device)) == [bare]);
    let mut lanes = HashSet::new();
    for rule in &judgement.rules {
        assert_eq!(rule.failing, rule.failing_lanes().count(), "{}", rule.id);
        assert!(rule.failing <= rule.lanes, "{}: {} of {}", rule.id, rule.failing, rule.lanes);
        for (kernel, case, part) in rule.failing_lanes() {
            assert!(part < Encoding::of_result(kernel).len());
            assert!(
                lanes.insert((*kernel, case.to_vec(), part)),
                "{} {kernel} {case:x?} again",
                rule.id
            );
        }
    }
    let total = |rules: &[RuleVerdict]| rules.iter().map(|rule| rule.failing).sum::<usize>();
    assert_eq!(total(&judgement.rules), lanes.len());
    assert!(lanes.len() > 1000 && judgement.rules.iter().any(|rule| !rule.elsewhere.is_empty()));
}

/// An input that a list holds twice is one lane.
#[test]
fn a_lane_that_is_asked_twice_counts_once() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    let observation = device.iter_mut().find(|one| one.kernel.to_string() == "f32.sqrt").unwrap();
    let values: Vec<u64> =
        observation.cases.iter().flatten().copied().chain([0x8000_0000, 0x8000_0000]).collect();
    let out: Vec<u64> = observation.out.iter().copied().chain([7, 7]).collect();
    *observation = Observation {
        cases: fpprobe_spirv::Cases::new("twice", 1, values),
        out: out.into(),
        ..observation.clone()
    };
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    assert_eq!(rule(&judgement, "D32-05").failing, 1);
}
