//! From the findings of its parts to the verdict of a rule.

use std::sync::Arc;

use fpprobe_spirv::Route;

use super::behaviour;
use super::diagnosis::SymptomFinder;
use super::lane::LaneIndex;
use super::owner::{self, FailureCause, LaneGroup};
use super::recipe::Recipe;
use super::{
    EVIDENCE, FailingLanes, Judge, Observations, PartResult, RuleVerdict, VariantFinding, relation,
};
use crate::accepted::Accepted;
use crate::verdict::{Level, Verdict};

/// Failing lanes of one kernel that are shown.
const SHOWN: usize = 2;

/// What a rule finds before lanes are assigned to rules.
struct RuleDraft<'a> {
    /// Lanes judged.
    lanes: usize,
    /// What it does not accept.
    groups: Vec<LaneGroup<'a>>,
    /// What the rest of it comes to.
    otherwise: Verdict,
    /// Why.
    behaviour: String,
}

impl RuleDraft<'_> {
    fn without_lanes(otherwise: Verdict, behaviour: String) -> Self {
        RuleDraft { lanes: 0, groups: Vec::new(), otherwise, behaviour }
    }
}

impl Judge<'_> {
    /// Verdicts of every rule under a recipe, in the profile's order; `absent` are groups the
    /// device lacks.
    pub(super) fn verdicts(
        &self,
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<RuleVerdict> {
        self.verdicts_with(recipe, absent, observations, false)
    }

    /// The same, if asked for with what is wrong with each failing lane.
    pub(super) fn verdicts_with(
        &self,
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
        diagnose: bool,
    ) -> Vec<RuleVerdict> {
        let rules = &self.profile.rules;
        let drafts = (0..rules.len()).map(|rule| self.draft(rule, recipe, absent, observations));
        let (mut groups, drafts): (Vec<Vec<LaneGroup<'_>>>, Vec<RuleDraft<'_>>) =
            drafts.map(|mut draft| (std::mem::take(&mut draft.groups), draft)).unzip();
        owner::number(&mut groups);
        let owned = self.assigned(&groups, recipe, absent);
        let diagnose = diagnose.then(|| SymptomFinder::new(self, &groups, observations));
        let verdict = |(index, draft): (usize, RuleDraft<'_>)| {
            let name = |(rule, lanes): &(usize, usize)| (rules[*rule].id.clone(), *lanes);
            let elsewhere: Vec<(String, usize)> = owned.elsewhere[index].iter().map(name).collect();
            let failing = owned.lanes[index].len();
            let mut verdict = RuleVerdict {
                id: rules[index].id.clone(),
                level: rules[index].level,
                verdict: draft.otherwise,
                strict: false,
                behaviour: draft.behaviour,
                lanes: draft.lanes + owned.foreign[index],
                failing,
                elsewhere,
                evidence: Vec::new(),
                deviating: Vec::new(),
                failing_lists: Vec::new(),
                diagnoses: Vec::with_capacity(diagnose.as_ref().map_or(0, |_| failing)),
                fixed_by: Vec::new(),
                eased_by: Vec::new(),
            };
            if verdict.failing > 0 {
                (verdict.verdict, verdict.behaviour) = (Verdict::Deviates, String::new());
            } else if !verdict.elsewhere.is_empty() {
                let ids: Vec<&str> =
                    verdict.elsewhere.iter().map(|(rule, _)| rule.as_str()).collect();
                (verdict.verdict, verdict.behaviour) = (Verdict::Depends, ids.join(", "));
            }
            let mut shown = (usize::MAX, usize::MAX, 0);
            for (rule, group, lane) in &owned.lanes[index] {
                let of = &groups[*rule][*group];
                let kernel = of.observation.kernel;
                if (shown.0, shown.1) != (*rule, *group) {
                    shown = (*rule, *group, 0);
                    verdict.failing_lists.push(FailingLanes::of(of.observation));
                    if !verdict.deviating.contains(&kernel) {
                        verdict.deviating.push(kernel);
                    }
                }
                if let Some(list) = verdict.failing_lists.last_mut() {
                    list.push(of.lanes[*lane]);
                }
                verdict.diagnoses.extend(
                    diagnose.as_ref().map(|finder| finder.diagnosis((*rule, *group), *lane)),
                );
                shown.2 += 1;
                let room = matches!(of.cause, FailureCause::Relation(_)) || shown.2 <= SHOWN;
                if room && verdict.evidence.len() < EVIDENCE {
                    verdict.evidence.push(self.evidence(of, *lane));
                }
            }
            verdict
        };
        drafts.into_iter().enumerate().map(verdict).collect()
    }

    /// The places of a rule under a recipe, without parts of absent groups: part, lowering.
    pub(super) fn places(
        &self,
        rule: usize,
        recipe: &Recipe,
        absent: &[String],
    ) -> Vec<(usize, usize)> {
        let parts = self.profile.rules[rule].parts.iter().enumerate();
        parts
            .filter(|(_, part)| !part.is_absent(absent))
            .map(|(index, part)| (index, recipe.choice(part)))
            .collect()
    }

    fn draft<'a>(
        &'a self,
        index: usize,
        recipe: &Recipe,
        absent: &[String],
        observations: &'a Observations<'_>,
    ) -> RuleDraft<'a> {
        let rule = &self.profile.rules[index];
        let places = self.places(index, recipe, absent);
        if places.is_empty() {
            let group = rule
                .parts
                .iter()
                .flat_map(|part| &part.groups)
                .find(|group| absent.contains(group));
            let behaviour = format!("without {}", group.map_or("", String::as_str));
            return RuleDraft::without_lanes(Verdict::Unsupported, behaviour);
        }
        let (mut lanes, mut groups) = (0, Vec::new());
        let (mut choice, mut unsupported, mut incomplete) = (false, None, None);
        let findings = places.iter().flat_map(|(part, lowering)| {
            let place = (index, *part, *lowering);
            self.findings(place, recipe.controls, observations)
                .into_iter()
                .map(move |found| (place, found))
        });
        for (place, VariantFinding { kernel, observation, finding }) in findings {
            match (&*finding, observation) {
                (PartResult::Unsupported(why), _) => {
                    unsupported.get_or_insert_with(|| format!("{kernel} needs {why}"));
                }
                (PartResult::Incomplete(why), _) => {
                    incomplete.get_or_insert_with(|| why.clone());
                }
                (PartResult::Judged(_), None) => {}
                (PartResult::Judged(judged), Some(observation)) => {
                    choice |= judged.choice;
                    lanes += judged.lanes;
                    if !judged.failing.is_empty() {
                        let (lanes, cause) = (
                            judged.failing.clone(),
                            FailureCause::Result(place, Arc::clone(&finding)),
                        );
                        groups.push(LaneGroup { observation, kernel: 0, lanes, cause });
                    }
                    // Relations are for whole lists.
                    if kernel != self.kernel(place, recipe.controls) {
                        continue;
                    }
                    match relation::judge(rule, &rule.parts[place.1], observation, observations) {
                        Ok((more, against)) => {
                            lanes += more;
                            let (lanes, accepted): (Vec<LaneIndex>, Vec<Accepted>) =
                                against.into_iter().unzip();
                            if !lanes.is_empty() {
                                groups.push(LaneGroup {
                                    observation,
                                    kernel: 0,
                                    lanes,
                                    cause: FailureCause::Relation(accepted),
                                });
                            }
                        }
                        Err(why) => {
                            incomplete.get_or_insert(why);
                        }
                    }
                }
            }
        }
        let (otherwise, behaviour) = if let Some(why) = incomplete {
            (Verdict::Incomplete, why)
        } else if let Some(why) = unsupported {
            (Verdict::Unsupported, why)
        } else if lanes == 0 && rule.level != Level::Informative {
            (Verdict::Incomplete, "no lane was judged".into())
        } else {
            (if choice { Verdict::Permitted } else { Verdict::Conforms }, String::new())
        };
        RuleDraft { lanes, groups, otherwise, behaviour }
    }

    /// Fills in label and behaviour of rules that are met.
    pub(super) fn describe(
        &self,
        verdicts: &mut [RuleVerdict],
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) {
        for (index, verdict) in
            verdicts.iter_mut().enumerate().filter(|(_, verdict)| verdict.verdict.is_met())
        {
            let places = self.places(index, recipe, absent);
            let found = places.iter().map(|(part, lowering)| (index, *part, *lowering));
            let findings: Vec<_> = found
                .flat_map(|place| self.findings(place, recipe.controls, observations))
                .collect();
            let judged = findings.iter().filter_map(|found| match &*found.finding {
                PartResult::Judged(judged) => Some(judged),
                _ => None,
            });
            verdict.strict = judged.clone().all(|judged| judged.strict);
            if verdict.verdict == Verdict::Permitted {
                verdict.behaviour = by_path(&findings);
            }
        }
    }
}

/// What a device chose; where texels come and go by several paths that do not agree, by each.
fn by_path(findings: &[VariantFinding<'_>]) -> String {
    let name = |of: &dyn Fn(&VariantFinding<'_>) -> bool| {
        let choices =
            findings.iter().filter(|found| of(found)).filter_map(|found| match &*found.finding {
                PartResult::Judged(judged) => Some(&judged.choices),
                _ => None,
            });
        behaviour::name(choices)
    };
    let mut paths: Vec<(Route, String)> = Vec::new();
    for kernel in
        findings.iter().map(|found| found.kernel).filter(|kernel| kernel.op.code.is_of_texels())
    {
        if paths.iter().all(|(route, _)| *route != kernel.route) {
            paths.push((kernel.route, name(&|found| found.kernel.route == kernel.route)));
        }
    }
    if paths.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return name(&|_| true);
    }
    // Of a path that was asked nothing that tells there is nothing to say.
    let text = paths.iter().filter(|(_, name)| !name.is_empty());
    text.map(|(route, name)| format!("{route}: {name}")).collect::<Vec<_>>().join("; ")
}
