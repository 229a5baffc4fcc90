//! Recipes: which controls and lowerings a program must use, and the class that follows.

use std::collections::{BTreeMap, HashSet};

use fpprobe_spirv::{Controls, Kernel};

use super::remedy::VerdictsUnder;
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
        let lowerings = self
            .lowerings
            .iter()
            .map(|(operation, kernel)| format!("{operation}={}", kernel.stem()));
        self.controls.iter().map(|control| control.name().to_owned()).chain(lowerings).collect()
    }

    /// What every operation of a profile is under this recipe: kernels without controls, one for
    /// each format.
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
                .then(|| {
                    (0..part.lowerings.len()).find(|lowering| part.plain(*lowering) == *kernel)
                })
                .flatten()
        };
        self.lowerings.iter().find_map(chosen).unwrap_or(0)
    }
}

/// A recipe that was tried, and the required rules that it does not meet, by what was measured
/// under its modes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecipeTrial {
    /// The recipe.
    pub recipe: Recipe,
    /// Ids of required rules that fail under it by lanes of their own, or that the device does not
    /// support.
    pub failing: Vec<String>,
    /// Ids of required rules that do not fail as far as they were measured under it, which is not
    /// all that it takes.
    pub unmeasured: Vec<String>,
}

/// What a profile says of a device.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// The class.
    pub class: Class,
    /// The recipe under which the rules below are judged: the first that meets them all, else the
    /// empty one.
    pub recipe: Recipe,
    /// Optional groups that the device lacks.
    pub without: Vec<String>,
    /// Every rule, in the profile's order.
    pub rules: Vec<RuleVerdict>,
    /// Recipes tried, in order.
    pub tried: Vec<RecipeTrial>,
    /// Kernels that were not run and would say more of recipes: variants that fail without a
    /// recipe's modes, under these; where a recipe fails by nothing else, all that it takes to
    /// say that it is enough; where rounding alone is wrong all under the modes that change
    /// it; and rules that deviate under late modes.
    pub unmeasured: Vec<Kernel>,
}

impl Judge<'_> {
    /// Finds the first recipe by which a device conforms; if asked for with what is wrong with each
    /// failing lane.
    pub(super) fn judgement(&self, observations: &Observations<'_>, diagnose: bool) -> Judgement {
        let without = self.absent_groups(observations);
        let (mut tried, mut missing_kernels): (Vec<RecipeTrial>, Vec<Kernel>) =
            (Vec::new(), Vec::new());
        let (mut best, mut rounding): (Option<Recipe>, Vec<Controls>) = (None, Vec::new());
        let mut under: Vec<(Controls, Vec<RuleVerdict>)> = Vec::new();
        // The fewest modes of a recipe that fails by nothing and lacks kernels that can be run:
        // larger ones wait for these.
        let mut nearly: Option<usize> = None;
        for controls in self.offered(observations) {
            if best.as_ref().is_some_and(|best| best.controls.len() < controls.len()) {
                break;
            }
            let recipe = self.recipe_under(controls, &without, observations);
            let verdicts = self.verdicts(&recipe, &without, observations);
            // A rule that depends on another one has no lane of its own that fails: the other one
            // is listed.
            let unmet: Vec<&RuleVerdict> = verdicts
                .iter()
                .filter(|rule| is_unmet(rule, &without) && rule.verdict != Verdict::Depends)
                .collect();
            // What waits says nothing of rounding.
            if rounding.is_empty() {
                let unmet = unmet
                    .iter()
                    .copied()
                    .filter(|rule| !self.is_waiting(rule, controls, observations));
                rounding = self.rounded(&recipe, unmet, &without, observations);
            }
            let (unmeasured, failing): (Vec<_>, Vec<_>) =
                unmet.iter().partition(|rule| rule.verdict == Verdict::Incomplete);
            let ids = |rules: Vec<&RuleVerdict>| {
                rules.into_iter().map(|rule| rule.id.clone()).collect::<Vec<_>>()
            };
            let (failing, mut unmeasured) = (ids(failing), ids(unmeasured));
            let first = failing.is_empty() && nearly.is_none_or(|fewest| controls.len() <= fewest);
            let known = missing_kernels.len();
            missing_kernels.extend(self.unmeasured(&recipe, first, &without, observations));
            if unmeasured.is_empty() && failing.is_empty() {
                let missing = self.missing(&recipe, &without, observations);
                for (rule, kernel) in missing {
                    missing_kernels.extend(first.then_some(kernel));
                    let id = &self.profile.rules[rule].id;
                    if !unmeasured.contains(id) {
                        unmeasured.push(id.clone());
                    }
                }
            }
            // What cannot be run keeps nobody waiting.
            if first && missing_kernels.len() > known {
                nearly = Some(controls.len());
            }
            let better =
                best.as_ref().is_none_or(|best| recipe.lowerings.len() < best.lowerings.len());
            if failing.is_empty() && unmeasured.is_empty() && better {
                best = Some(recipe.clone());
            }
            if !controls.is_empty() {
                let plain = Recipe { controls, lowerings: Vec::new() };
                let verdicts = if recipe == plain {
                    verdicts
                } else {
                    self.verdicts(&plain, &without, observations)
                };
                under.push((controls, verdicts));
            }
            tried.push(RecipeTrial { recipe, failing, unmeasured });
        }
        if best.is_none() {
            let kernels =
                rounding.iter().flat_map(|controls| self.profile.kernels_under(*controls));
            missing_kernels.extend(kernels.filter(|kernel| observations.get(kernel).is_none()));
        }
        let recipe = best.clone().unwrap_or_default();
        let mut rules = self.verdicts_with(&recipe, &without, observations, diagnose);
        self.describe(&mut rules, &recipe, &without, observations);
        if recipe.controls.is_empty() {
            for (controls, verdicts) in &under {
                let under = VerdictsUnder::new(*controls, verdicts);
                let deviating = rules.iter_mut().enumerate();
                for (index, rule) in deviating.filter(|(_, rule)| rule.verdict == Verdict::Deviates)
                {
                    under.note(index, rule, observations);
                }
            }
            missing_kernels.extend(self.late(&mut rules, &tried, &without, observations));
        }
        let mut seen = HashSet::new();
        missing_kernels.retain(|kernel| seen.insert(*kernel));
        Judgement {
            class: class(best.as_ref(), &rules),
            recipe,
            without,
            rules,
            tried,
            unmeasured: missing_kernels,
        }
    }

    /// Optional groups of which the device supports no kernel, in the profile's order. A kernel
    /// that lacks an earlier group says nothing of a later one.
    fn absent_groups(&self, observations: &Observations<'_>) -> Vec<String> {
        let lacks = |part: &Part| {
            observations
                .get(&part.lowerings[0])
                .is_some_and(|observation| observation.outcome == Outcome::Unsupported)
        };
        let mut absent: Vec<String> = Vec::new();
        for group in &self.profile.groups {
            let parts = self.profile.rules.iter().flat_map(|rule| &rule.parts);
            let mut members = parts
                .filter(|part| part.groups.contains(&group.id) && !part.is_absent(&absent))
                .peekable();
            if members.peek().is_some() && members.all(lacks) {
                absent.push(group.id.clone());
            }
        }
        absent
    }

    /// Sets of controls that the device offers for every kernel that it supports without them and
    /// was asked under them.
    fn offered(&self, observations: &Observations<'_>) -> Vec<Controls> {
        let parts = self.profile.rules.iter().flat_map(|rule| &rule.parts);
        let supported = |kernel: &Kernel| {
            observations.get(kernel).is_some_and(|o| o.outcome != Outcome::Unsupported)
        };
        let lowerings =
            parts.flat_map(|part| (0..part.lowerings.len()).map(move |lowering| (part, lowering)));
        let present: Vec<(&Part, usize)> =
            lowerings.filter(|(part, lowering)| supported(&part.lowerings[*lowering])).collect();
        Controls::subsets(&self.profile.recipe_modes())
            .into_iter()
            .filter(|set| {
                let waits = |part: &Part, kernel: &Kernel| {
                    part.waits() && observations.get(kernel).is_none()
                };
                let under =
                    present.iter().map(|(part, lowering)| (*part, part.kernel(*lowering, *set)));
                // Commands are the same under every set.
                let carries =
                    |part: &Part, kernel: &Kernel| kernel.controls != part.lowerings[0].controls;
                let mut asked = under
                    .filter(|(part, kernel)| carries(part, kernel) && !waits(part, kernel))
                    .peekable();
                set.is_empty()
                    || asked.peek().is_some() && asked.all(|(_, kernel)| supported(&kernel))
            })
            .collect()
    }

    /// The fewest changed lowerings under these controls: for each operation the first that meets
    /// every required rule.
    fn recipe_under(
        &self,
        controls: Controls,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Recipe {
        let mut recipe = Recipe { controls, lowerings: Vec::new() };
        let mut seen: Vec<&Part> = Vec::new();
        for part in self.profile.rules.iter().flat_map(|rule| &rule.parts) {
            let known = seen.iter().any(|known| known.is_like(part));
            if part.lowerings.len() < 2 || part.is_absent(absent) || known {
                continue;
            }
            seen.push(part);
            let meets = |lowering: &usize| {
                self.operation_is_met(part, *lowering, controls, absent, observations)
            };
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
        self.profile.rules.iter().enumerate().filter(|(_, rule)| rule.level == Level::Required).all(
            |(index, rule)| {
                rule.parts.iter().enumerate().all(|(part, own)| {
                    if !own.is_like(like) || own.is_absent(absent) {
                        return true;
                    }
                    let findings = self.findings((index, part, lowering), controls, observations);
                    findings.iter().all(|found| found.finding.passes())
                })
            },
        )
    }

    /// Whether a rule could not be judged for want of what waits.
    fn is_waiting(
        &self,
        rule: &RuleVerdict,
        controls: Controls,
        observations: &Observations<'_>,
    ) -> bool {
        let parts = self.profile.rule(&rule.id).into_iter().flat_map(|rule| &rule.parts);
        let missing_kernels =
            |part: &Part| part.waits() && observations.get(&part.kernel(0, controls)).is_none();
        rule.verdict == Verdict::Incomplete
            && !controls.is_empty()
            && parts.into_iter().any(missing_kernels)
    }

    /// Variants that fail without a recipe's modes and were not run under them, of required rules;
    /// where the recipe may be enough also what waited for that.
    fn unmeasured(
        &self,
        recipe: &Recipe,
        is_enough: bool,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<Kernel> {
        let places = (0..self.profile.rules.len()).flat_map(|rule| {
            let parts = self.profile.rules[rule]
                .parts
                .iter()
                .enumerate()
                .filter(|(_, part)| !part.is_absent(absent));
            parts.flat_map(move |(part, of)| {
                (0..of.lowerings.len()).map(move |lowering| (rule, part, lowering))
            })
        });
        let ran = |kernel: &Kernel| {
            observations.get(kernel).is_some_and(|observation| observation.outcome.answered())
        };
        places
            .flat_map(|place| {
                let rule = &self.profile.rules[place.0];
                let waited = is_enough
                    && rule.parts[place.1].waits()
                    && ran(&self.kernel(place, Controls::NONE));
                // The place's own kernel comes first; the others are of consequence where the rule
                // is.
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

    /// What was run without a recipe's modes and not under them, of required rules: where nothing
    /// fails, each variant must pass under the modes themselves. With the rule's number.
    fn missing(
        &self,
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<(usize, Kernel)> {
        let required = (0..self.profile.rules.len())
            .filter(|rule| self.profile.rules[*rule].level == Level::Required);
        let places = required.flat_map(|rule| {
            let places = self.places(rule, recipe, absent).into_iter();
            places.map(move |(part, lowering)| (rule, part, lowering))
        });
        let of_place = |place: (usize, usize, usize)| {
            let (plain, kernel) =
                (self.kernel(place, Controls::NONE), self.kernel(place, recipe.controls));
            let variants: &[Kernel] =
                if plain == kernel { &[] } else { observations.beside(&plain) };
            let under = variants
                .iter()
                .filter_map(move |one| one.with_controls(kernel.controls).checked().ok());
            under.filter(|one| observations.get(one).is_none()).map(move |one| (place.0, one))
        };
        places.flat_map(of_place).collect()
    }
}

/// Whether a required rule is not met.
fn is_unmet(rule: &RuleVerdict, absent: &[String]) -> bool {
    rule.level == Level::Required && !rule.verdict.is_met() && !is_absent(rule, absent)
}

/// Whether a rule is unsupported only because its optional group is absent.
fn is_absent(rule: &RuleVerdict, absent: &[String]) -> bool {
    rule.verdict == Verdict::Unsupported
        && absent.iter().any(|group| rule.behaviour == format!("without {group}"))
}

fn class(best: Option<&Recipe>, rules: &[RuleVerdict]) -> Class {
    // Zero lanes judged is never a pass.
    let judged = rules
        .iter()
        .any(|rule| rule.level == Level::Required && rule.verdict.is_met() && rule.lanes > 0);
    match best.filter(|_| judged) {
        Some(recipe) if recipe.controls.is_empty() && recipe.lowerings.is_empty() => {
            Class::Conforms
        }
        Some(_) => Class::ConformsWith,
        None => {
            let unjudged = |rule: &RuleVerdict| {
                rule.level == Level::Required
                    && (rule.verdict == Verdict::Incomplete
                        || rule.verdict == Verdict::Unsupported
                            && !rule.behaviour.starts_with("without "))
            };
            let deviates = rules
                .iter()
                .any(|rule| rule.level == Level::Required && rule.verdict == Verdict::Deviates);
            if rules.iter().any(unjudged) || !deviates {
                Class::Incomplete
            } else {
                Class::Deviates
            }
        }
    }
}
