//! Recipes: which controls and lowerings a program must use, and the class that follows.

use std::collections::{BTreeMap, HashSet};

use fpprobe_spirv::{Controls, Kernel};

use super::{Class, Judge, Level, Observations, RuleVerdict, Verdict};
use crate::observation::Outcome;
use crate::profile::{Part, Profile};

/// One set of controls for every module of a program, and one lowering per operation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipe {
    /// Controls.
    pub controls: Controls,
    /// Lowerings that are not the default: operation, kernel.
    pub lowerings: Vec<(String, Kernel)>,
}

impl Recipe {
    /// Controls, then `operation=kernel` for every changed lowering; nothing for the empty recipe.
    pub fn needs(&self) -> Vec<String> {
        let lowerings = self.lowerings.iter().map(|(operation, kernel)| format!("{operation}={}", kernel.stem()));
        self.controls.iter().map(|control| control.name().to_owned()).chain(lowerings).collect()
    }

    /// What every operation of a profile is under this recipe: kernels without controls, one for each format.
    pub fn operations(&self, profile: &Profile) -> BTreeMap<String, Vec<Kernel>> {
        let mut operations: BTreeMap<String, Vec<Kernel>> = BTreeMap::new();
        for part in profile.rules.iter().flat_map(|rule| &rule.parts) {
            let kernels = operations.entry(part.operation.clone()).or_default();
            let chosen = part.plain(self.choice(part));
            if !kernels.contains(&chosen) {
                kernels.push(chosen);
            }
        }
        operations
    }

    /// Number of the lowering that this recipe takes for a part.
    pub(super) fn choice(&self, part: &Part) -> usize {
        let chosen = |(operation, kernel): &(String, Kernel)| {
            (*operation == part.operation)
                .then(|| (0..part.lowerings.len()).find(|lowering| part.plain(*lowering) == *kernel))
                .flatten()
        };
        self.lowerings.iter().find_map(chosen).unwrap_or(0)
    }
}

/// A recipe that was tried, and the required rules that it does not meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tried {
    /// The recipe.
    pub recipe: Recipe,
    /// Ids of required rules that are neither `conforms` nor `permitted`; without those that [wait](Part::waits) for nothing
    /// else to fail, where something does.
    pub failing: Vec<String>,
}

/// What a profile says of a device.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// The class.
    pub class: Class,
    /// The recipe under which the rules below are judged: the first that meets them all, else the empty one.
    pub recipe: Recipe,
    /// Optional groups that the device lacks.
    pub without: Vec<String>,
    /// Every rule, in the profile's order.
    pub rules: Vec<RuleVerdict>,
    /// Recipes tried, in order.
    pub tried: Vec<Tried>,
    /// Kernels that recipes were not asked by which fail by nothing else: those that ask in other ways what fails in them
    /// without controls, those that [wait](Part::waits), and where rounding alone is wrong all under the modes that change it.
    pub unasked: Vec<Kernel>,
}

impl Judge<'_> {
    /// Judges a device.
    pub fn judge(&self, observations: &Observations<'_>) -> Judgement {
        let without = self.absent_groups(observations);
        let (mut tried, mut unasked): (Vec<Tried>, Vec<Kernel>) = (Vec::new(), Vec::new());
        let (mut best, mut rounding): (Option<Recipe>, Vec<Controls>) = (None, Vec::new());
        for controls in self.offered(observations) {
            if best.as_ref().is_some_and(|best| best.controls.len() < controls.len()) {
                break;
            }
            let recipe = self.recipe_under(controls, &without, observations);
            let unmet = self.unmet(&recipe, &without, observations);
            if unmet.iter().all(|rule| rule.verdict == Verdict::Incomplete) {
                unasked.extend(self.unasked(&recipe, &without, observations));
            }
            let (waiting, mut failing): (Vec<_>, Vec<_>) =
                unmet.into_iter().partition(|rule| self.is_waiting(rule, controls, observations));
            // What waits says nothing of rounding.
            if rounding.is_empty() {
                rounding = self.rounded(&recipe, &failing, &without, observations);
            }
            if failing.is_empty() {
                failing = waiting;
            }
            let failing: Vec<String> = failing.into_iter().map(|rule| rule.id).collect();
            let better = best.as_ref().is_none_or(|best| recipe.lowerings.len() < best.lowerings.len());
            if failing.is_empty() && better {
                best = Some(recipe.clone());
            }
            tried.push(Tried { recipe, failing });
        }
        if best.is_none() {
            let kernels = rounding.iter().flat_map(|controls| self.profile.kernels_under(*controls));
            unasked.extend(kernels.filter(|kernel| observations.get(kernel).is_none()));
        }
        let recipe = best.clone().unwrap_or_default();
        let mut rules = self.verdicts(&recipe, &without, observations);
        self.describe(&mut rules, &recipe, &without, observations);
        let mut seen = HashSet::new();
        unasked.retain(|kernel| seen.insert(*kernel));
        Judgement { class: class(best.as_ref(), &rules), recipe, without, rules, tried, unasked }
    }

    /// Optional groups of which the device supports no kernel, in the profile's order. A kernel that lacks an earlier group
    /// says nothing of a later one.
    fn absent_groups(&self, observations: &Observations<'_>) -> Vec<String> {
        let lacks = |part: &Part| {
            observations.get(&part.lowerings[0]).is_some_and(|observation| observation.outcome == Outcome::Unsupported)
        };
        let mut absent: Vec<String> = Vec::new();
        for group in &self.profile.groups {
            let parts = self.profile.rules.iter().flat_map(|rule| &rule.parts);
            let mut members =
                parts.filter(|part| part.groups.contains(&group.id) && !part.is_absent(&absent)).peekable();
            if members.peek().is_some() && members.all(lacks) {
                absent.push(group.id.clone());
            }
        }
        absent
    }

    /// Sets of controls that the device offers for every kernel that it supports without them and was asked under them.
    fn offered(&self, observations: &Observations<'_>) -> Vec<Controls> {
        let parts = self.profile.rules.iter().flat_map(|rule| &rule.parts);
        let supported = |kernel: &Kernel| observations.get(kernel).is_some_and(|o| o.outcome != Outcome::Unsupported);
        let lowerings = parts.flat_map(|part| (0..part.lowerings.len()).map(move |lowering| (part, lowering)));
        let present: Vec<(&Part, usize)> =
            lowerings.filter(|(part, lowering)| supported(&part.lowerings[*lowering])).collect();
        Controls::subsets(&self.profile.recipe_modes())
            .into_iter()
            .filter(|set| {
                let waits = |part: &Part, kernel: &Kernel| part.waits() && observations.get(kernel).is_none();
                let under = present.iter().map(|(part, lowering)| (*part, part.kernel(*lowering, *set)));
                // Commands are the same under every set.
                let carries = |part: &Part, kernel: &Kernel| kernel.controls != part.lowerings[0].controls;
                let mut asked = under.filter(|(part, kernel)| carries(part, kernel) && !waits(part, kernel)).peekable();
                set.is_empty() || asked.peek().is_some() && asked.all(|(_, kernel)| supported(&kernel))
            })
            .collect()
    }

    /// The fewest changed lowerings under these controls: for each operation the first that meets every required rule.
    fn recipe_under(&self, controls: Controls, absent: &[String], observations: &Observations<'_>) -> Recipe {
        let mut recipe = Recipe { controls, lowerings: Vec::new() };
        let mut seen: Vec<&Part> = Vec::new();
        for part in self.profile.rules.iter().flat_map(|rule| &rule.parts) {
            let known = seen.iter().any(|known| known.is_like(part));
            if part.lowerings.len() < 2 || part.is_absent(absent) || known {
                continue;
            }
            seen.push(part);
            let meets = |lowering: &usize| self.operation_is_met(part, *lowering, controls, absent, observations);
            match (0..part.lowerings.len()).find(meets) {
                Some(lowering) if lowering > 0 => {
                    recipe.lowerings.push((part.operation.clone(), part.plain(lowering)));
                }
                _ => {}
            }
        }
        recipe
    }

    /// Whether every required rule's look at an operation is met by one lowering.
    fn operation_is_met(
        &self,
        like: &Part,
        lowering: usize,
        controls: Controls,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> bool {
        self.profile.rules.iter().enumerate().filter(|(_, rule)| rule.level == Level::Required).all(|(index, rule)| {
            rule.parts.iter().enumerate().all(|(part, own)| {
                if !own.is_like(like) || own.is_absent(absent) {
                    return true;
                }
                let findings = self.findings((index, part, lowering), controls, observations);
                findings.iter().all(|found| found.finding.passes())
            })
        })
    }

    /// Required rules that a recipe does not meet.
    fn unmet(&self, recipe: &Recipe, absent: &[String], observations: &Observations<'_>) -> Vec<RuleVerdict> {
        let verdicts = self.verdicts(recipe, absent, observations).into_iter();
        verdicts
            .filter(|rule| rule.level == Level::Required && !rule.verdict.is_met() && !is_absent(rule, absent))
            .collect()
    }

    /// Whether a rule could not be judged for want of what waits.
    fn is_waiting(&self, rule: &RuleVerdict, controls: Controls, observations: &Observations<'_>) -> bool {
        let parts = self.profile.rule(&rule.id).into_iter().flat_map(|rule| &rule.parts);
        let unasked = |part: &Part| part.waits() && observations.get(&part.kernel(0, controls)).is_none();
        rule.verdict == Verdict::Incomplete && !controls.is_empty() && parts.into_iter().any(unasked)
    }

    /// What waited for a recipe to fail by nothing else, and other ways of asking that fail without its controls and were not
    /// tried under them.
    fn unasked(&self, recipe: &Recipe, absent: &[String], observations: &Observations<'_>) -> Vec<Kernel> {
        let places = (0..self.profile.rules.len()).flat_map(|rule| {
            let parts = self.profile.rules[rule].parts.iter().enumerate().filter(|(_, part)| !part.is_absent(absent));
            parts.flat_map(move |(part, of)| (0..of.lowerings.len()).map(move |lowering| (rule, part, lowering)))
        });
        let ran = |kernel: &Kernel| observations.get(kernel).is_some_and(|observation| observation.outcome.answered());
        places
            .flat_map(|place| {
                let rule = &self.profile.rules[place.0];
                let waited = rule.parts[place.1].waits() && ran(&self.kernel(place, Controls::NONE));
                // The place's own kernel comes first; the others are of consequence where the rule is.
                let (own, others) = (usize::from(!waited), rule.level == Level::Required);
                if own == 1 && !others {
                    return Vec::new();
                }
                let mut found = self.findings(place, recipe.controls, observations);
                found.truncate(if others { usize::MAX } else { 1 });
                found.drain(..own.min(found.len()));
                found
            })
            .filter(|way| way.observation.is_none())
            .map(|way| way.kernel)
            .collect()
    }
}

/// Whether a rule is unsupported only because its optional group is absent.
fn is_absent(rule: &RuleVerdict, absent: &[String]) -> bool {
    rule.verdict == Verdict::Unsupported && absent.iter().any(|group| rule.behaviour == format!("without {group}"))
}

fn class(best: Option<&Recipe>, rules: &[RuleVerdict]) -> Class {
    // Zero lanes judged is never a pass.
    let judged = rules.iter().any(|rule| rule.level == Level::Required && rule.verdict.is_met() && rule.lanes > 0);
    match best.filter(|_| judged) {
        Some(recipe) if recipe.controls.is_empty() && recipe.lowerings.is_empty() => Class::Conforms,
        Some(_) => Class::ConformsWith,
        None => {
            let unjudged = |rule: &RuleVerdict| {
                rule.level == Level::Required
                    && (rule.verdict == Verdict::Incomplete
                        || rule.verdict == Verdict::Unsupported && !rule.behaviour.starts_with("without "))
            };
            let deviates = rules.iter().any(|rule| rule.level == Level::Required && rule.verdict == Verdict::Deviates);
            if rules.iter().any(unjudged) || !deviates { Class::Incomplete } else { Class::Deviates }
        }
    }
}
