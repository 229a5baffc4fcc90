//! From the findings of its parts to the verdict of a rule.

use std::rc::Rc;

use fpprobe_spirv::Kernel;

use super::behaviour::{self, Looked};
use super::recipe::Recipe;
use super::{Answers, EVIDENCE, Evidence, Finding, Judge, Observations, RuleVerdict, accepts, evidence, relation};
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
        parts
            .filter(|(_, part)| !part.group.as_ref().is_some_and(|group| absent.contains(group)))
            .map(|(index, part)| (index, recipe.choice(part)))
            .collect()
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
            let groups: Vec<&str> = rule.parts.iter().filter_map(|part| part.group.as_deref()).take(1).collect();
            return RuleVerdict {
                verdict: Verdict::Unsupported,
                behaviour: format!("without {}", groups.join("")),
                ..verdict
            };
        }
        let (mut choice, mut unsupported, mut incomplete) = (false, None, None);
        for (part, lowering) in &places {
            let kernel = rule.parts[*part].lowerings[*lowering].with_controls(recipe.controls);
            match &*self.find((index, *part, *lowering), recipe.controls, observations) {
                Finding::Unsupported(why) => {
                    unsupported.get_or_insert_with(|| format!("{kernel} needs {why}"));
                }
                Finding::Incomplete(why) => {
                    incomplete.get_or_insert_with(|| why.clone());
                }
                Finding::Judged { lanes, choice: open, failing, direction } => {
                    choice |= open;
                    verdict.lanes += lanes;
                    let failed = (failing.as_slice(), *direction);
                    self.add_evidence(&mut verdict, (index, *part, *lowering), &kernel, failed, observations);
                    let part = &rule.parts[*part];
                    let observation = observations.get(&kernel).ok_or_else(|| format!("{kernel} was not measured"));
                    let related =
                        observation.and_then(|o| relation::judge(rule, part, o, recipe.controls, observations));
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
        (failing, direction): (&[usize], Option<Demand>),
        observations: &Observations<'_>,
    ) {
        if failing.is_empty() {
            return;
        }
        verdict.failing += failing.len();
        verdict.deviating.push(*kernel);
        let Some(observation) = observations.get(kernel) else { return };
        let lanes = self.lanes(place, &observation.cases);
        let rule = &self.profile.rules[place.0];
        let demand = direction.unwrap_or(rule.parts[place.1].demand);
        let new: Vec<Evidence> =
            failing.iter().take(2).map(|lane| evidence(rule, observation, &lanes[*lane], &demand)).collect();
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
            let Finding::Judged { failing, .. } = &*self.find(place, recipe.controls, observations) else {
                return true;
            };
            let kernel = rule.parts[*part].lowerings[*lowering].with_controls(recipe.controls);
            let Some(observation) = observations.get(&kernel) else { return true };
            let acquitted = self.places(judge, recipe, absent).into_iter().any(|(part, lowering)| {
                let place = (judge, part, lowering);
                let rule = &self.profile.rules[judge];
                rule.parts[part].lowerings[lowering].with_controls(recipe.controls) == kernel
                    && matches!(&*self.find(place, recipe.controls, observations),
                        Finding::Judged { failing, .. } if failing.is_empty())
                    && self.contradicts(place, behaviour, observation)
            });
            if acquitted && !failing.is_empty() {
                return false;
            }
            let lanes = self.lanes(place, &observation.cases);
            let demand: Demand = behaviour::swapped(&rule.parts[*part].demand, behaviour);
            failing.iter().all(|lane| {
                let lane = &lanes[*lane];
                accepts(&lane.under(&demand), observation, lane.case, lane.part)
            })
        })
    }

    /// Whether some answer that a judging rule looks at is not what the opposite behaviour, rounded to nearest, would give.
    fn contradicts(&self, place: super::Place, behaviour: Behaviour, observation: &super::Observation) -> bool {
        let mut demand = behaviour::swapped(&self.profile.rules[place.0].parts[place.1].demand, behaviour);
        demand.accuracy = Accuracy::NearestEven;
        let lanes = self.lanes(place, &observation.cases);
        lanes.iter().any(|lane| !accepts(&lane.under(&demand), observation, lane.case, lane.part))
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
            let rule = &self.profile.rules[index];
            let mut held: Vec<(usize, Rc<Vec<super::Lane>>, &super::Observation)> = Vec::new();
            for (part, lowering) in self.places(index, recipe, absent) {
                let kernel = rule.parts[part].lowerings[lowering].with_controls(recipe.controls);
                if let Some(observation) = observations.get(&kernel) {
                    held.push((part, self.lanes((index, part, lowering), &observation.cases), observation));
                }
            }
            let answers: Vec<Answers> = held.iter().map(|(_, _, o)| Answers::of(o.kernel, o)).collect();
            let known = self.descriptions.borrow().get(&index).filter(|(of, _, _)| *of == answers).cloned();
            let description = known.unwrap_or_else(|| {
                let looked: Vec<Looked<'_>> = held
                    .iter()
                    .map(|(part, lanes, observation)| Looked { demand: &rule.parts[*part].demand, lanes, observation })
                    .collect();
                (answers, looked.iter().all(behaviour::is_strict), behaviour::name(&looked))
            });
            verdict.strict = description.1;
            if verdict.verdict == Verdict::Permitted {
                verdict.behaviour.clone_from(&description.2);
            }
            self.descriptions.borrow_mut().insert(index, description);
        }
    }
}
