//! Every required rule can tell a plausible wrong answer from the right one, on every operation
//! that it looks at.

use std::collections::BTreeMap;

use fpprobe_profiles::coverage::{LaneStatistics, RuleCoverage, Surveyor, WrongResult};
use fpprobe_profiles::profile::{self, Requirement};
use fpprobe_profiles::{Level, Profile};

use crate::built_in::profiles;

/// Lanes of each kernel that are looked at, of up to some ten thousand.
const SAMPLES: usize = 256;

fn mine(base: &str, more: &str) -> Profile {
    let text =
        format!("id = \"mine\"\ntitle = \"\"\nversion = \"1\"\nextends = \"{base}\"\n{more}");
    Profile::parse("mine.toml", &text, &profile::built_in_text).unwrap()
}

/// A rule `M` on some lanes of one 32-bit operation.
fn rule(operation: &str, lanes: &str, more: &str) -> String {
    format!(
        "[[rule]]\nid = \"M\"\ntitle = \"\"\ncitation = \"\"\nformat = \"f32\"\noperations = [\"{operation}\"]\n\
         lanes = {{ {lanes} }}\n{more}\n"
    )
}

/// Kernels on which a required rule rejects no plausible wrong answer, and relations that let
/// something pass.
fn toothless(rule: &RuleCoverage<'_>) -> Vec<String> {
    let (id, statistics) = (&rule.rule.id, rule.statistics());
    let results = rule.rule.requirements.contains(&Requirement::Result);
    let kernels = rule.kernels.iter().filter(|kernel| results && kernel.statistics.rejected() == 0);
    let relations = rule.rule.requirements.iter().filter(|requirement| {
        let tries = WrongResult::against(**requirement)
            .map(|kind| statistics.wrong.get(&kind).copied().unwrap_or_default());
        tries.is_some_and(|tries| tries.tried == 0 || tries.rejected < tries.tried)
    });
    let relations = relations.map(|requirement| format!("{id} {requirement:?}"));
    let all = (statistics.rejected() == 0).then(|| id.clone());
    kernels.map(|kernel| format!("{id} {}", kernel.kernel)).chain(relations).chain(all).collect()
}

/// What is rejected on some lanes of a kernel is rejected: all of them would show no more.
#[test]
fn every_required_rule_rejects_plausible_wrong_answers_on_every_operation() {
    let mut surveyor = Surveyor::of_samples(SAMPLES);
    for profile in profiles() {
        let coverage = surveyor.survey(profile);
        let statistics = coverage.statistics();
        println!(
            "{}: {} lanes, {} vacuous, {} rejected",
            profile.id,
            statistics.judged,
            statistics.vacuous,
            statistics.rejected()
        );
        let required = coverage.rules.iter().filter(|rule| rule.rule.level == Level::Required);
        assert_eq!(
            required.flat_map(toothless).collect::<Vec<String>>(),
            Vec::<String>::new(),
            "{}",
            profile.id
        );
    }
}

/// The coverage of rule `M` of a profile.
fn coverage(profile: &Profile) -> RuleCoverage<'_> {
    Surveyor::default().rule(profile.rule("M").unwrap())
}

fn statistics(profile: &Profile) -> LaneStatistics {
    coverage(profile).statistics()
}

#[test]
fn a_rule_that_accepts_everything_is_vacuous_and_toothless() {
    // Once an operand is not finite, WGSL lets anything pass.
    let profile = mine("wgsl", &rule("sqrt", "any = [\"nan\", \"infinite\"]", ""));
    assert_eq!(toothless(&coverage(&profile)), ["M f32.sqrt", "M"]);
    let statistics = statistics(&profile);
    assert!(statistics.is_vacuous() && statistics.vacuous > 0);
    assert_eq!((statistics.single, statistics.wrong), (0, BTreeMap::new()));
}

#[test]
fn vacuous_lanes_are_in_no_total() {
    let without = mine("wgsl", &rule("sqrt", "all = [\"normal\"], none = [\"negative\"]", ""));
    let with = mine(
        "wgsl",
        &rule("sqrt", "all = [\"normal\", \"nan\", \"infinite\"], none = [\"negative\"]", ""),
    );
    let (without, with) = (statistics(&without), statistics(&with));
    assert!(without.vacuous == 0 && with.vacuous > 0 && without.judged > 0);
    assert_eq!(LaneStatistics { vacuous: 0, ..with }, without);
}

#[test]
fn each_kind_of_wrong_answer_is_known_for_what_it_is() {
    let rejected = |base: &str, rule: &str, kind: WrongResult| {
        let tries = statistics(&mine(base, rule)).wrong.get(&kind).copied().unwrap_or_default();
        (tries.rejected, tries.tried)
    };
    let all = |base: &str, rule: &str, kind: WrongResult| {
        let (rejected, tried) = rejected(base, rule, kind);
        assert!(rejected == tried && tried > 0, "{kind:?}: {rejected} of {tried} by {rule}");
    };
    let none = |base: &str, rule: &str, kind: WrongResult| {
        let (rejected, tried) = rejected(base, rule, kind);
        assert!(rejected == 0 && tried > 0, "{kind:?}: {rejected} of {tried} by {rule}");
    };
    let normal = "all = [\"normal\"], result = \"normal\"";
    let nearest = &rule("add", normal, "");
    for kind in [
        WrongResult::NextUp,
        WrongResult::NextDown,
        WrongResult::OtherDirection,
        WrongResult::NanForNumber,
        WrongResult::JustOutside,
    ] {
        all("d3d11", nearest, kind);
    }
    none(
        "d3d11",
        &rule("add", normal, "accuracy = { add = \"either neighbour\" }"),
        WrongResult::OtherDirection,
    );
    let subnormal = "any = [\"subnormal\"], none = [\"nan\", \"infinite\"]";
    all("d3d11", &rule("mul", subnormal, ""), WrongResult::Unflushed);
    none(
        "d3d11",
        &rule(
            "mul",
            subnormal,
            "environment = { subnormal_inputs = \"either\", subnormal_results = \"either\" }",
        ),
        WrongResult::Flushed,
    );
    let keep = "environment = { subnormal_inputs = \"keep\", subnormal_results = \"keep\" }";
    all("d3d11", &rule("mov", subnormal, keep), WrongResult::Flushed);
    all("d3d11", &rule("sqrt", "all = [\"zero\"]", ""), WrongResult::OtherZero);
    none(
        "d3d11",
        &rule("sqrt", "all = [\"zero\"]", "environment = { zero_sign = \"either\" }"),
        WrongResult::OtherZero,
    );
    all("d3d11", &rule("rsq", "all = [\"zero\"]", ""), WrongResult::OtherSign);
    all("d3d11", &rule("rsq", "all = [\"zero\"]", ""), WrongResult::MaxForInf);
    all("d3d11", &rule("neg", "all = [\"normal\"]", ""), WrongResult::OtherSign);
    all("d3d11", &rule("min", "one = [\"nan\"]", ""), WrongResult::OtherOperand);
    all("d3d11", &rule("movc", "none = [\"nan\"]", ""), WrongResult::OtherOperand);
    all("d3d11", &rule("sqrt", "all = [\"nan\"]", ""), WrongResult::NumberForNan);
    none("d3d11", &rule("sqrt", "all = [\"nan\"]", ""), WrongResult::OtherNan);
    all("d3d11", &rule("mov", "all = [\"nan\"]", ""), WrongResult::OtherNan);
    all("d3d11", &rule("eq", "none = [\"nan\"]", ""), WrongResult::OtherTruth);
    all(
        "d3d11",
        &rule("f32tof16", normal, "accuracy = { f32tof16 = \"toward zero\" }"),
        WrongResult::OtherPart,
    );
    all(
        "d3d11",
        &rule("add", "result = \"beyond\"", "environment = { overflow = \"saturate\" }"),
        WrongResult::InfForMax,
    );
    none(
        "d3d11",
        &rule("add", "result = \"beyond\"", "environment = { overflow = \"either\" }"),
        WrongResult::InfForMax,
    );
    let consistent = "environment = { subnormal_inputs = \"either\", subnormal_results = \"either\" }\nrequirement = \"one_treatment\"";
    all("d3d11", &rule("mul", subnormal, consistent), WrongResult::TwoTreatments);
    let separate = &rule("mad", normal, "environment = { contraction = \"separate\" }");
    all("d3d11", separate, WrongResult::OtherContraction);
}
