//! From the findings of its parts to the verdict of a rule.

use fpprobe_spirv::Kernel;

use super::behaviour;
use super::recipe::Recipe;
use super::{EVIDENCE, Evidence, Finding, Judge, Judged, Observations, RuleVerdict, relation};
use crate::accuracy::Accuracy;
use crate::oracle::Demand;
use crate::profile::{Behaviour, Rule};
use crate::verdict::{Level, Verdict};

impl Judge<'_> {
    /// Verdicts of every rule under a recipe, in the profile's order; `absent` are groups the device lacks.
    pub(super) fn verdicts(
        &self,
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<RuleVerdict> {
        let rules = &self.profile.rules;
        let mut verdicts: Vec<RuleVerdict> =
            (0..rules.len()).map(|rule| self.verdict(rule, recipe, absent, observations)).collect();
        // A rule that judges a behaviour speaks for those after it in the order of judges, and for all others.
        let judges: Vec<(usize, Behaviour)> =
            rules.iter().enumerate().filter_map(|(index, rule)| rule.judges.map(|b| (index, b))).collect();
        for rule in 0..rules.len() {
            let own = judges.iter().position(|(judge, _)| *judge == rule).unwrap_or(judges.len());
            for (judge, behaviour) in &judges[..own] {
                let speaks = *judge != rule && verdicts[*judge].verdict == Verdict::Deviates;
                let same = rules[*judge]
                    .parts
                    .iter()
                    .any(|part| rules[rule].parts.iter().any(|other| part.format == other.format));
                if verdicts[rule].verdict == Verdict::Deviates
                    && speaks
                    && same
                    && self.passes_swapped(rule, (*judge, *behaviour), recipe, absent, observations)
                {
                    verdicts[rule].verdict = Verdict::Depends;
                    verdicts[rule].behaviour.clone_from(&rules[*judge].id);
                }
            }
        }
        verdicts
    }

    /// The places of a rule under a recipe, without parts of absent groups: part, lowering.
    fn places(&self, rule: usize, recipe: &Recipe, absent: &[String]) -> Vec<(usize, usize)> {
        let parts = self.profile.rules[rule].parts.iter().enumerate();
        parts.filter(|(_, part)| !part.is_absent(absent)).map(|(index, part)| (index, recipe.choice(part))).collect()
    }

    fn verdict(
        &self,
        index: usize,
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> RuleVerdict {
        let rule = &self.profile.rules[index];
        let mut verdict = RuleVerdict {
            id: rule.id.clone(),
            level: rule.level,
            verdict: Verdict::Conforms,
            strict: false,
            behaviour: String::new(),
            lanes: 0,
            failing: 0,
            evidence: Vec::new(),
            deviating: Vec::new(),
        };
        let places = self.places(index, recipe, absent);
        if places.is_empty() {
            let group = rule.parts.iter().flat_map(|part| &part.groups).find(|group| absent.contains(group));
            let behaviour = format!("without {}", group.map_or("", String::as_str));
            return RuleVerdict { verdict: Verdict::Unsupported, behaviour, ..verdict };
        }
        let (mut choice, mut unsupported, mut incomplete) = (false, None, None);
        for (part, lowering) in &places {
            let kernel = self.kernel((index, *part, *lowering), recipe.controls);
            match &*self.find((index, *part, *lowering), recipe.controls, observations) {
                Finding::Unsupported(why) => {
                    unsupported.get_or_insert_with(|| format!("{kernel} needs {why}"));
                }
                Finding::Incomplete(why) => {
                    incomplete.get_or_insert_with(|| why.clone());
                }
                Finding::Judged(judged) => {
                    choice |= judged.choice;
                    verdict.lanes += judged.lanes;
                    self.add_evidence(&mut verdict, (index, *part, *lowering), &kernel, judged, observations);
                    let part = &rule.parts[*part];
                    let observation = observations.get(&kernel).ok_or_else(|| format!("{kernel} was not measured"));
                    let related = observation.and_then(|o| relation::judge(rule, part, o, observations));
                    let (more, against) = related.unwrap_or_else(|why| {
                        incomplete.get_or_insert(why);
                        (0, Vec::new())
                    });
                    verdict.lanes += more;
                    verdict.failing += against.len();
                    if !against.is_empty() && !verdict.deviating.contains(&kernel) {
                        verdict.deviating.push(kernel);
                    }
                    let room = EVIDENCE.saturating_sub(verdict.evidence.len());
                    verdict.evidence.extend(against.into_iter().take(room));
                }
            }
        }
        if verdict.failing > 0 {
            verdict.verdict = Verdict::Deviates;
        } else if let Some(why) = incomplete {
            verdict.verdict = Verdict::Incomplete;
            verdict.behaviour = why;
        } else if let Some(why) = unsupported {
            verdict.verdict = Verdict::Unsupported;
            verdict.behaviour = why;
        } else if verdict.lanes == 0 && rule.level != Level::Informative {
            verdict.verdict = Verdict::Incomplete;
            verdict.behaviour = "no lane was judged".into();
        } else if choice {
            verdict.verdict = Verdict::Permitted;
        }
        verdict
    }

    fn add_evidence(
        &self,
        verdict: &mut RuleVerdict,
        place: super::Place,
        kernel: &Kernel,
        judged: &Judged,
        observations: &Observations<'_>,
    ) {
        let Judged { failing, explanation, .. } = judged;
        if failing.is_empty() {
            return;
        }
        verdict.failing += failing.len();
        verdict.deviating.push(*kernel);
        let Some(observation) = observations.get(kernel) else { return };
        let sight = self.sight(place, observation);
        let demand = explanation.as_ref().unwrap_or(sight.demand);
        let new: Vec<Evidence> = failing.iter().take(2).map(|spot| sight.evidence(*spot, demand)).collect();
        let room = EVIDENCE.saturating_sub(verdict.evidence.len());
        verdict.evidence.extend(new.into_iter().take(room));
    }

    /// Whether every failing lane of a rule would pass with a behaviour swapped for its opposite. Where the rule that
    /// judges the behaviour passes on the same kernel, and not for want of telling the two apart, the behaviour is not the
    /// cause.
    fn passes_swapped(
        &self,
        index: usize,
        (judge, behaviour): (usize, Behaviour),
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> bool {
        let rule: &Rule = &self.profile.rules[index];
        self.places(index, recipe, absent).iter().all(|(part, lowering)| {
            let place = (index, *part, *lowering);
            let Finding::Judged(Judged { failing, .. }) = &*self.find(place, recipe.controls, observations) else {
                return true;
            };
            let kernel = self.kernel(place, recipe.controls);
            let Some(observation) = observations.get(&kernel) else { return true };
            let acquitted = self.places(judge, recipe, absent).into_iter().any(|(part, lowering)| {
                let place = (judge, part, lowering);
                self.kernel(place, recipe.controls) == kernel
                    && matches!(&*self.find(place, recipe.controls, observations),
                        Finding::Judged(Judged { failing, .. }) if failing.is_empty())
                    && self.contradicts(place, behaviour, observation)
            });
            if acquitted && !failing.is_empty() {
                return false;
            }
            let sight = self.sight(place, observation);
            let demand: Demand = behaviour::swapped(&rule.parts[*part].demand, behaviour);
            failing.iter().all(|spot| sight.accepts(&sight.under(*spot, &demand), *spot))
        })
    }

    /// Whether some answer that a judging rule looks at is not what the opposite behaviour, rounded to nearest, would give.
    fn contradicts(&self, place: super::Place, behaviour: Behaviour, observation: &super::Observation) -> bool {
        let mut demand = behaviour::swapped(&self.profile.rules[place.0].parts[place.1].demand, behaviour);
        demand.accuracy = Accuracy::NearestEven;
        let sight = self.sight(place, observation);
        sight.lanes().any(|lane| !sight.accepts(&lane.under(&demand), lane.spot))
    }

    /// Fills in label and behaviour of rules that are met.
    pub(super) fn describe(
        &self,
        verdicts: &mut [RuleVerdict],
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) {
        for (index, verdict) in verdicts.iter_mut().enumerate().filter(|(_, verdict)| verdict.verdict.is_met()) {
            let places = self.places(index, recipe, absent);
            let found = places.iter().map(|(part, lowering)| (index, *part, *lowering));
            let findings: Vec<_> = found.map(|place| self.find(place, recipe.controls, observations)).collect();
            let judged = findings.iter().filter_map(|finding| match &**finding {
                Finding::Judged(judged) => Some(judged),
                _ => None,
            });
            verdict.strict = judged.clone().all(|judged| judged.strict);
            if verdict.verdict == Verdict::Permitted {
                verdict.behaviour = behaviour::name(judged.map(|judged| &judged.choices));
            }
        }
    }
}
