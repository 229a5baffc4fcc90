//! Judgements in the report's terms.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::claims::{Contradiction, contradictions};
use fpprobe_profiles::encoding::{Encoding, components};
use fpprobe_profiles::judge::{self, Judge, Judgement, Observations, RecipeTrial, RuleVerdict};
use fpprobe_profiles::matrix::{MatrixViolation, violations};
use fpprobe_profiles::profile::Rule;
use fpprobe_profiles::variants::{VariantPair, paths};
use fpprobe_profiles::{Observation, Outcome, Profile, Verdict, parallel};
use fpprobe_spirv::op::Code;
use fpprobe_spirv::{Controls, Kernel};

use crate::cause::{LaneCauses, causes};
use crate::evidence::{other_answer, shown};
use crate::failed;
use crate::model::{
    self, Answer, Counts, DeviceTrait, Elsewhere, Finding, ProfileResult, RecipeResult, RuleResult,
    TexelPath,
};
use crate::questions::answers;
use crate::texels;
use crate::traits;
use crate::undecoded;

/// How many lanes of a kernel a finding shows.
const SHOWN: usize = 3;

/// How a finding ends that is of the bits of NaNs alone.
pub(crate) const OF_NAN: &str = ", all of them in the bits of a NaN";

/// What the observations of one device mean.
#[derive(Clone, Debug, Default)]
pub struct DeviceJudgement {
    /// Profile by profile.
    pub profiles: Vec<ProfileResult>,
    /// Beside the rules: claims contradicted, flaky answers, ways of asking that disagree.
    pub findings: Vec<Finding>,
    /// Answers to what people want to know of every device.
    pub answers: Vec<Answer>,
    /// What the device does, whether or not a profile cares.
    pub traits: Vec<DeviceTrait>,
    /// What becomes of numbers and texels, path by path.
    pub texels: Vec<TexelPath>,
    /// Why lanes fail, across rules and profiles.
    pub causes: Vec<model::Cause>,
}

/// Judges one device's observations by these profiles, and describes what it does beside the rules.
pub fn judge(profiles: &[Profile], observations: &[Observation]) -> DeviceJudgement {
    let (judges, index) = (Judge::together(profiles), Observations::new(observations));
    described(&judges, &judge::judge(&judges, &index), &index)
}

/// What judgements of these observations, one of each judge, come to in a report.
pub fn described(
    judges: &[Judge<'_>],
    judgements: &[Judgement],
    index: &Observations<'_>,
) -> DeviceJudgement {
    let (judged, texels) = parallel::both(
        || rules(judges, judgements, index),
        || texels::paths(judges, judgements, index.all()),
    );
    DeviceJudgement { texels, answers: answers(&judged.traits), ..judged }
}

/// The same; answers and texels are left out.
pub fn rules(
    judges: &[Judge<'_>],
    judgements: &[Judgement],
    index: &Observations<'_>,
) -> DeviceJudgement {
    let profiles = judges.iter().map(Judge::profile).zip(judgements);
    let ((profiles, causes), (findings, traits)) = parallel::both(
        || {
            let (causes, of_lanes) = causes(judges, judgements, index);
            let results =
                profiles.map(|(profile, judgement)| result(profile, judgement, &of_lanes, index));
            (results.collect(), causes)
        },
        || parallel::both(|| findings(index), || traits::traits(index)),
    );
    DeviceJudgement { profiles, findings, traits, causes, ..DeviceJudgement::default() }
}

/// What is noted beside the rules.
fn findings(index: &Observations<'_>) -> Vec<Finding> {
    let observations = index.all();
    let mut findings: Vec<Finding> = contradictions(observations)
        .iter()
        .map(|contradiction| contradicted(contradiction, index))
        .collect();
    findings.extend(violations(observations).iter().map(miscomputed));
    findings.extend(observations.iter().filter_map(flaky));
    findings.extend(index.pairs().iter().filter_map(|pair| disagreeing("route", pair)));
    findings.extend(once(&paths(observations)).filter_map(|pair| disagreeing("path", pair)));
    findings.extend(undecoded::findings(index));
    findings
}

fn result(
    profile: &Profile,
    judgement: &Judgement,
    causes: &LaneCauses<'_>,
    index: &Observations<'_>,
) -> ProfileResult {
    let mut counts = Counts::default();
    let required = judgement.rules.iter().filter(|rule| rule.level == model::Level::Required);
    for rule in required {
        *match rule.verdict {
            Verdict::Conforms => &mut counts.conforms,
            Verdict::Permitted => &mut counts.permitted,
            Verdict::Depends => &mut counts.depends,
            Verdict::Deviates => &mut counts.deviates,
            Verdict::Unsupported => &mut counts.unsupported,
            Verdict::Incomplete => &mut counts.incomplete,
        } += 1;
    }
    let tried = judgement.tried.iter();
    ProfileResult {
        id: profile.id.clone(),
        title: profile.title.clone(),
        version: profile.version.clone(),
        class: judgement.class,
        class_run_time: None,
        areas: BTreeMap::new(),
        nearest: None,
        needs: judgement.recipe.needs(),
        operations: judgement
            .recipe
            .operations(profile)
            .into_iter()
            .map(|(name, kernels)| (name, kernels.iter().map(ToString::to_string).collect()))
            .collect(),
        without: judgement.without.clone(),
        counts,
        rules: judgement
            .rules
            .iter()
            .map(|rule| rule_result(profile, rule, causes.of(&profile.id, &rule.id), index))
            .collect(),
        recipes: tried.map(recipe_result).collect(),
        without_shaders: profile
            .rules
            .iter()
            .filter(|rule| runs_commands(rule))
            .map(|rule| rule.id.clone())
            .collect(),
    }
}

fn recipe_result(RecipeTrial { recipe, failing, unmeasured }: &RecipeTrial) -> RecipeResult {
    RecipeResult { needs: recipe.needs(), failing: failing.clone(), unmeasured: unmeasured.clone() }
}

/// Whether a rule looks at commands, in which no shader runs.
fn runs_commands(rule: &Rule) -> bool {
    rule.parts.iter().flat_map(|part| &part.lowerings).any(|kernel| kernel.route.is_command())
}

fn rule_result(
    profile: &Profile,
    verdict: &RuleVerdict,
    causes: &[String],
    index: &Observations<'_>,
) -> RuleResult {
    let rule = profile.rule(&verdict.id);
    let label = match (verdict.verdict.is_met(), verdict.strict) {
        (false, _) => "",
        (true, true) => "strict",
        (true, false) => "text",
    };
    RuleResult {
        id: verdict.id.clone(),
        title: rule.map(|rule| rule.title.clone()).unwrap_or_default(),
        area: rule.map(|rule| rule.area),
        citation: rule.map(|rule| rule.citation.clone()).unwrap_or_default(),
        level: verdict.level,
        verdict: verdict.verdict,
        label: label.to_owned(),
        behaviour: verdict.behaviour.clone(),
        lanes: verdict.lanes,
        failing: verdict.failing,
        elsewhere: verdict
            .elsewhere
            .iter()
            .map(|(rule, lanes)| Elsewhere { rule: rule.clone(), lanes: *lanes })
            .collect(),
        fixed_by: verdict.fixed_by.iter().map(ToString::to_string).collect(),
        evidence: verdict
            .evidence
            .iter()
            .map(|lane| shown(lane, index.get(&lane.kernel)))
            .collect(),
        failed: if verdict.level == model::Level::Required {
            failed::written(verdict, causes, index)
        } else {
            Vec::new()
        },
    }
}

fn contradicted(contradiction: &Contradiction, index: &Observations<'_>) -> Finding {
    let claim = contradiction.control.claim().unwrap_or("core");
    Finding {
        kind: "claim".into(),
        text: format!(
            "{claim} is claimed, but {} {} under `{}` contradict{} it",
            contradiction.lanes,
            if contradiction.lanes == 1 { "answer" } else { "answers" },
            contradiction.control,
            if contradiction.lanes == 1 { "s" } else { "" },
        ),
        evidence: contradiction
            .evidence
            .iter()
            .map(|lane| shown(lane, index.get(&lane.kernel)))
            .collect(),
    }
}

/// A product or a move of matrices that is not what SPIR-V demands.
fn miscomputed(MatrixViolation { observation, cases }: &MatrixViolation<'_>) -> Finding {
    let kernel = &observation.kernel;
    let demanded = if kernel.op.code == Code::MatrixMulAdd {
        "the exact sum"
    } else {
        "the bits that were loaded"
    };
    let lane = |(case, required): &(usize, Vec<u64>)| {
        other_answer(
            observation,
            observation.cases.case(*case),
            observation.answer(*case),
            required,
        )
    };
    Finding {
        kind: "claim".into(),
        text: format!(
            "cooperativeMatrix is claimed, but {} of {} results of {kernel} are not {demanded}",
            cases.len(),
            observation.cases.len()
        ),
        evidence: cases.iter().take(SHOWN).map(lane).collect(),
    }
}

/// These pairs, but not those under controls that differ where they differ without: that is
/// reported once.
fn once<'a>(pairs: &'a [VariantPair<'a>]) -> impl Iterator<Item = &'a VariantPair<'a>> {
    let cases = |pair: &'a VariantPair<'a>| {
        pair.differing.iter().map(|(case, _)| pair.other.cases.case(*case))
    };
    let plain = pairs.iter().filter(|pair| pair.other.kernel.controls.is_empty());
    let plain: HashMap<Kernel, HashSet<&[u64]>> =
        plain.map(|pair| (pair.other.kernel, cases(pair).collect())).collect();
    pairs.iter().filter(move |pair| {
        let kernel = pair.other.kernel;
        let known = plain
            .get(&kernel.with_controls(Controls::NONE))
            .filter(|_| !kernel.controls.is_empty());
        !known.is_some_and(|known| cases(pair).all(|case| known.contains(case)))
    })
}

/// Two ways of asking the same, or two paths of texels, that do not agree.
fn disagreeing(kind: &str, pair: &VariantPair<'_>) -> Option<Finding> {
    let VariantPair { other, plain, compared, differing, .. } = pair;
    let lane = |(case, expected): &(usize, Vec<u64>)| {
        other_answer(other, other.cases.case(*case), other.answer(*case), expected)
    };
    (!differing.is_empty()).then(|| Finding {
        kind: kind.into(),
        text: format!(
            "{}: {} of {compared} answers differ from those of {}",
            other.kernel,
            differing.len(),
            plain.kernel
        ),
        evidence: differing.iter().take(SHOWN).map(lane).collect(),
    })
}

fn flaky(observation: &Observation) -> Option<Finding> {
    let second = observation.second.as_ref().filter(|_| observation.outcome == Outcome::Flaky)?;
    let width = observation.kernel.outputs();
    let differs: Vec<usize> = (0..observation.cases.len())
        .filter(|case| observation.answer(*case) != &second[case * width..(case + 1) * width])
        .collect();
    let nan = |values: &[u64]| {
        let parts = components(&observation.kernel, values);
        let encodings = Encoding::of_result(&observation.kernel);
        parts.iter().zip(encodings).any(|(bits, encoding)| Set::nan(encoding).contains(*bits))
    };
    let both = |case: &usize| {
        nan(observation.answer(*case)) && nan(&second[case * width..(case + 1) * width])
    };
    let which = if differs.iter().all(both) { OF_NAN } else { "" };
    let kernel = observation.kernel.to_string();
    let lane = |case: &usize| {
        let other = &second[case * width..(case + 1) * width];
        other_answer(observation, observation.cases.case(*case), observation.answer(*case), other)
    };
    // Which two is what the worker's sentence ends with.
    let between =
        observation.detail.split_once("differ between ").map_or("two runs", |(_, what)| what);
    Some(Finding {
        kind: "flaky".into(),
        text: format!(
            "{kernel}: {} of {} answers differ between {between}{which}",
            differs.len(),
            observation.cases.len()
        ),
        evidence: differs.iter().take(SHOWN).map(lane).collect(),
    })
}
