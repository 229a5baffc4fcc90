//! Recipes: which controls and lowerings a program must use, and the class that follows.

use fpprobe_spirv::{Controls, Kernel};

use super::{Class, Finding, Judge, Level, Observations, RuleVerdict, Verdict};
use crate::observation::Outcome;
use crate::profile::Part;

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

    /// Number of the lowering that this recipe takes for a part.
    pub(super) fn choice(&self, part: &Part) -> usize {
        let chosen = |(operation, kernel): &(String, Kernel)| {
            (*operation == part.operation)
                .then(|| part.lowerings.iter().position(|lowering| lowering == kernel))
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
    /// Ids of required rules that are neither `conforms` nor `permitted`.
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
}

impl Judge<'_> {
    /// Judges a device.
    pub fn judge(&self, observations: &Observations<'_>) -> Judgement {
        let without = self.absent_groups(observations);
        let mut tried: Vec<Tried> = Vec::new();
        let mut best: Option<Recipe> = None;
        for controls in self.offered(observations) {
            if best.as_ref().is_some_and(|best| best.controls.len() < controls.len()) {
                break;
            }
            let recipe = self.recipe_under(controls, &without, observations);
            let failing = self.failing(&recipe, &without, observations);
            let better = best.as_ref().is_none_or(|best| recipe.lowerings.len() < best.lowerings.len());
            if failing.is_empty() && better {
                best = Some(recipe.clone());
            }
            tried.push(Tried { recipe, failing });
        }
        let recipe = best.clone().unwrap_or_default();
        let mut rules = self.verdicts(&recipe, &without, observations);
        self.describe(&mut rules, &recipe, &without, observations);
        Judgement { class: class(best.as_ref(), &rules), recipe, without, rules, tried }
    }

    /// Optional groups of which the device supports no kernel.
    fn absent_groups(&self, observations: &Observations<'_>) -> Vec<String> {
        let lacks = |part: &Part| {
            observations.get(&part.lowerings[0]).is_some_and(|observation| observation.outcome == Outcome::Unsupported)
        };
        let parts = || self.profile.rules.iter().flat_map(|rule| &rule.parts);
        let groups = self.profile.groups.iter().map(|group| &group.id);
        groups
            .filter(|id| {
                let mut members = parts().filter(|part| part.group.as_ref() == Some(id)).peekable();
                members.peek().is_some() && members.all(lacks)
            })
            .cloned()
            .collect()
    }

    /// Sets of controls that the device offers for every kernel that it supports without them.
    fn offered(&self, observations: &Observations<'_>) -> Vec<Controls> {
        let kernels: Vec<Kernel> = self.profile.kernels();
        let supported = |kernel: &Kernel| observations.get(kernel).is_some_and(|o| o.outcome != Outcome::Unsupported);
        let present: Vec<&Kernel> = kernels.iter().filter(|kernel| supported(kernel)).collect();
        Controls::subsets(&self.profile.modes)
            .into_iter()
            .filter(|set| {
                set.is_empty() || !present.is_empty() && present.iter().all(|k| supported(&k.with_controls(*set)))
            })
            .collect()
    }

    /// The fewest changed lowerings under these controls: for each operation the first that meets every required rule.
    fn recipe_under(&self, controls: Controls, absent: &[String], observations: &Observations<'_>) -> Recipe {
        let mut recipe = Recipe { controls, lowerings: Vec::new() };
        let mut seen: Vec<(&str, &[Kernel])> = Vec::new();
        for part in self.profile.rules.iter().flat_map(|rule| &rule.parts) {
            let absent = part.group.as_ref().is_some_and(|group| absent.contains(group));
            if part.lowerings.len() < 2
                || absent
                || seen.contains(&(part.operation.as_str(), part.lowerings.as_slice()))
            {
                continue;
            }
            seen.push((&part.operation, &part.lowerings));
            let meets = |lowering: &usize| self.operation_is_met(part, *lowering, controls, observations);
            match (0..part.lowerings.len()).find(meets) {
                Some(lowering) if lowering > 0 => {
                    recipe.lowerings.push((part.operation.clone(), part.lowerings[lowering]));
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
        observations: &Observations<'_>,
    ) -> bool {
        self.profile.rules.iter().enumerate().filter(|(_, rule)| rule.level == Level::Required).all(|(index, rule)| {
            rule.parts.iter().enumerate().all(|(part, own)| {
                if own.operation != like.operation || own.lowerings != like.lowerings {
                    return true;
                }
                match &*self.find((index, part, lowering), controls, observations) {
                    Finding::Judged { failing, .. } => failing.is_empty(),
                    _ => false,
                }
            })
        })
    }

    /// Required rules that a recipe does not meet.
    fn failing(&self, recipe: &Recipe, absent: &[String], observations: &Observations<'_>) -> Vec<String> {
        self.verdicts(recipe, absent, observations)
            .into_iter()
            .filter(|rule| rule.level == Level::Required && !rule.verdict.is_met() && !is_absent(rule, absent))
            .map(|rule| rule.id)
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
