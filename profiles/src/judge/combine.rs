//! From the findings of its parts to the verdict of a rule.

use fpprobe_spirv::Route;

use super::behaviour;
use super::recipe::Recipe;
use super::{EVIDENCE, Evidence, Finding, Found, Judge, Judged, Observations, RuleVerdict, relation};
use crate::accuracy::Accuracy;
use crate::oracle::Demand;
use crate::profile::Behaviour;
use crate::verdict::{Level, Verdict};

/// Failing lanes of one kernel that are shown.
const SHOWN: usize = 2;

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
                if verdicts[rule].verdict != Verdict::Deviates || !speaks || !same {
                    continue;
                }
                let unexplained = self.unexplained(rule, (*judge, *behaviour), recipe, absent, observations);
                let verdict = &mut verdicts[rule];
                if unexplained.is_empty() {
                    verdict.verdict = Verdict::Depends;
                    verdict.behaviour.clone_from(&rules[*judge].id);
                } else {
                    // What fails for a reason of its own is shown first.
                    verdict.evidence.retain(|shown| !unexplained.contains(shown));
                    verdict.evidence.splice(0..0, unexplained);
                    verdict.evidence.truncate(EVIDENCE);
                }
            }
        }
        verdicts
    }

    /// The places of a rule under a recipe, without parts of absent groups: part, lowering.
    pub(super) fn places(&self, rule: usize, recipe: &Recipe, absent: &[String]) -> Vec<(usize, usize)> {
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
            cases: Vec::new(),
        };
        let places = self.places(index, recipe, absent);
        if places.is_empty() {
            let group = rule.parts.iter().flat_map(|part| &part.groups).find(|group| absent.contains(group));
            let behaviour = format!("without {}", group.map_or("", String::as_str));
            return RuleVerdict { verdict: Verdict::Unsupported, behaviour, ..verdict };
        }
        let (mut choice, mut unsupported, mut incomplete) = (false, None, None);
        let findings = places.iter().flat_map(|(part, lowering)| {
            let place = (index, *part, *lowering);
            self.findings(place, recipe.controls, observations).into_iter().map(move |found| (place, found))
        });
        for (place, Found { kernel, observation, finding }) in findings {
            match (&*finding, observation) {
                (Finding::Unsupported(why), _) => {
                    unsupported.get_or_insert_with(|| format!("{kernel} needs {why}"));
                }
                (Finding::Incomplete(why), _) => {
                    incomplete.get_or_insert_with(|| why.clone());
                }
                (Finding::Judged(_), None) => {}
                (Finding::Judged(judged), Some(observation)) => {
                    choice |= judged.choice;
                    verdict.lanes += judged.lanes;
                    self.add_evidence(&mut verdict, place, observation, judged);
                    // Relations are for whole lists.
                    if kernel != self.kernel(place, recipe.controls) {
                        continue;
                    }
                    let related = relation::judge(rule, &rule.parts[place.1], observation, observations);
                    let (more, against) = related.unwrap_or_else(|why| {
                        incomplete.get_or_insert(why);
                        (0, Vec::new())
                    });
                    verdict.lanes += more;
                    verdict.failing += against.len();
                    if !against.is_empty() && !verdict.deviating.contains(&kernel) {
                        verdict.deviating.push(kernel);
                    }
                    verdict.cases.extend(against.iter().map(|lane| (lane.kernel, lane.case.clone())));
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
        observation: &super::Observation,
        judged: &Judged,
    ) {
        let Judged { failing, explanation, .. } = judged;
        if failing.is_empty() {
            return;
        }
        verdict.failing += failing.len();
        verdict.deviating.push(observation.kernel);
        let cases = failing.iter().map(|(case, _)| (observation.kernel, observation.cases.case(*case).to_vec()));
        verdict.cases.extend(cases);
        let sight = self.sight(place, observation);
        let demand = explanation.as_ref().unwrap_or(sight.demand);
        let new: Vec<Evidence> = failing.iter().take(SHOWN).map(|spot| sight.evidence(*spot, demand)).collect();
        let room = EVIDENCE.saturating_sub(verdict.evidence.len());
        verdict.evidence.extend(new.into_iter().take(room));
    }

    /// Failing lanes of a rule, the first of each kernel, that would fail with a behaviour swapped for its opposite, too; none
    /// if it explains all. Where the rule that judges the behaviour passes on the same kernel, and not for want of telling
    /// the two apart, the behaviour is not the cause.
    fn unexplained(
        &self,
        index: usize,
        (judge, behaviour): (usize, Behaviour),
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<Evidence> {
        let places = self.places(index, recipe, absent);
        let found = places.iter().flat_map(|(part, lowering)| {
            let place = (index, *part, *lowering);
            self.findings(place, recipe.controls, observations).into_iter().map(move |found| (place, found))
        });
        let of_kernel = |(place, found): (super::Place, Found<'_>)| -> Vec<Evidence> {
            let (Finding::Judged(Judged { failing, explanation, .. }), Some(observation)) =
                (&*found.finding, found.observation)
            else {
                return Vec::new();
            };
            if failing.is_empty() {
                return Vec::new();
            }
            let own = self.kernel(place, recipe.controls);
            let acquitted = self.places(judge, recipe, absent).into_iter().any(|(part, lowering)| {
                let place = (judge, part, lowering);
                self.kernel(place, recipe.controls) == own
                    && self.judged(place, observation).passes()
                    && self.contradicts(place, behaviour, observation)
            });
            let sight = self.sight(place, observation);
            let swapped: Demand = behaviour::swapped(sight.demand, behaviour);
            let left = failing
                .iter()
                .filter(|spot| acquitted || !sight.accepts(&sight.under(**spot, &swapped), **spot, &swapped));
            let demand = explanation.as_ref().unwrap_or(sight.demand);
            left.take(SHOWN).map(|spot| sight.evidence(*spot, demand)).collect()
        };
        found.flat_map(of_kernel).take(EVIDENCE).collect()
    }

    /// Whether some answer that a judging rule looks at is not what the opposite behaviour, rounded to nearest, would give.
    fn contradicts(&self, place: super::Place, behaviour: Behaviour, observation: &super::Observation) -> bool {
        let mut demand = behaviour::swapped(&self.profile.rules[place.0].parts[place.1].demand, behaviour);
        demand.accuracy = Accuracy::NearestEven;
        let sight = self.sight(place, observation);
        sight.lanes().any(|lane| !sight.accepts(&lane.under(&demand), lane.spot, &demand))
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
            let findings: Vec<_> =
                found.flat_map(|place| self.findings(place, recipe.controls, observations)).collect();
            let judged = findings.iter().filter_map(|found| match &*found.finding {
                Finding::Judged(judged) => Some(judged),
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
fn by_path(findings: &[Found<'_>]) -> String {
    let name = |of: &dyn Fn(&Found<'_>) -> bool| {
        let choices = findings.iter().filter(|found| of(found)).filter_map(|found| match &*found.finding {
            Finding::Judged(judged) => Some(&judged.choices),
            _ => None,
        });
        behaviour::name(choices)
    };
    let mut paths: Vec<(Route, String)> = Vec::new();
    for kernel in findings.iter().map(|found| found.kernel).filter(|kernel| kernel.op.code.is_of_texels()) {
        if paths.iter().all(|(route, _)| *route != kernel.route) {
            paths.push((kernel.route, name(&|found| found.kernel.route == kernel.route)));
        }
    }
    if paths.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return name(&|_| true);
    }
    // Of a path that was asked nothing that tells there is nothing to say.
    let told = paths.iter().filter(|(_, name)| !name.is_empty());
    told.map(|(route, name)| format!("{route}: {name}")).collect::<Vec<_>>().join("; ")
}
