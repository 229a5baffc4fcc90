//! The scoreboard of a device: areas by profiles, and how near a profile comes to being met.
//!
//! It counts what decides a class: causes of lanes that required rules do not accept.

use std::collections::BTreeSet;

use crate::model::{Area, Cause, Class, Device, Level, ProfileResult, RuleResult, Scope, Verdict};

/// Areas by profiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scoreboard {
    /// Profile by profile, as the device has them: causes at run time, and causes of constants alone.
    pub causes: Vec<ScopedCauses>,
    /// Every area that some rule is about, with a score for each profile.
    pub rows: Vec<(Area, Vec<Score>)>,
}

/// Causes of a profile's deviations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScopedCauses {
    /// Those that show at run time.
    pub run_time: usize,
    /// Those that show in constants alone.
    pub constants: usize,
}

/// How the rules of an area that a profile requires are met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Score {
    /// The profile has no such rules.
    Empty,
    /// They are met.
    Ok,
    /// Lanes fail at run time, for this many causes.
    Causes(usize),
    /// Only constants fail.
    Constants,
    /// The device does not offer what they are about.
    NotOffered,
    /// They could not be judged.
    NotMeasured,
}

impl Score {
    /// `ok`, `3`, `constants`, `-` and `?`.
    pub fn text(self) -> String {
        match self {
            Score::Empty => String::new(),
            Score::Ok => "ok".to_owned(),
            Score::Causes(count) => count.to_string(),
            Score::Constants => "constants".to_owned(),
            Score::NotOffered => "-".to_owned(),
            Score::NotMeasured => "?".to_owned(),
        }
    }
}

impl ScopedCauses {
    /// Those of a profile, of the causes of its device.
    pub fn of(causes: &[Cause], profile: &ProfileResult) -> ScopedCauses {
        FailingRules::of(profile).scoped(causes)
    }
}

impl Scoreboard {
    /// The scoreboard of a device; none for reports of programs that knew no areas or causes.
    pub fn of(device: &Device) -> Option<Scoreboard> {
        let known = |profile: &ProfileResult| profile.rules.iter().all(|rule| rule.area.is_some());
        if device.profiles.is_empty() || !device.profiles.iter().all(known) || !has_causes(device) {
            return None;
        }
        let failing: Vec<FailingRules<'_>> = device.profiles.iter().map(FailingRules::of).collect();
        let causes = failing.iter().map(|failing| failing.scoped(&device.causes));
        let rows = Area::ALL.into_iter().filter_map(|area| {
            let scores: Vec<Score> = failing.iter().map(|failing| failing.score(device, area)).collect();
            scores.iter().any(|score| *score != Score::Empty).then_some((area, scores))
        });
        Some(Scoreboard { causes: causes.collect(), rows: rows.collect() })
    }
}

/// The recipe that leaves the fewest causes of a profile that no recipe satisfies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearestRecipe<'a> {
    /// Controls and lowerings.
    pub needs: &'a [String],
    /// Causes that remain, by id: those with a rule that fails under it, or that was not measured under it.
    pub remaining: Vec<&'a str>,
    /// How many causes there are without it.
    pub of: usize,
}

impl<'a> NearestRecipe<'a> {
    /// None where a recipe satisfies the profile, or where none is better than no recipe.
    pub fn of(device: &'a Device, profile: &'a ProfileResult) -> Option<NearestRecipe<'a>> {
        if profile.class != Class::Deviates {
            return None;
        }
        let failing = FailingRules::of(profile);
        let of = device.causes.iter().filter(|cause| failing.has(cause, None)).count();
        let trials = profile.recipes.iter().map(|trial| {
            let by_default = trial.unmeasured.iter().filter(|rule| failing.all.contains(rule.as_str()));
            let rules: BTreeSet<&str> = trial.failing.iter().chain(by_default).map(String::as_str).collect();
            let remains = |cause: &&Cause| {
                failing.has(cause, None) && cause.rules.iter().any(|rule| rules.contains(rule.as_str()))
            };
            let remaining: Vec<&str> = device.causes.iter().filter(remains).map(|cause| cause.id.as_str()).collect();
            // What fails under the recipe alone has no cause, and counts as one.
            let new = rules.iter().filter(|rule| !failing.all.contains(*rule)).count();
            (remaining.len() + new, NearestRecipe { needs: &trial.needs, remaining, of })
        });
        let best = trials.min_by_key(|(count, trial)| (*count, trial.needs.len()));
        best.filter(|(count, trial)| *count < of && !trial.needs.is_empty()).map(|(_, trial)| trial)
    }
}

/// The required rules of a profile that lanes fail.
struct FailingRules<'a> {
    profile: &'a ProfileResult,
    all: BTreeSet<&'a str>,
    /// Those with lanes that are not of constants.
    at_run_time: BTreeSet<&'a str>,
}

impl<'a> FailingRules<'a> {
    fn of(profile: &'a ProfileResult) -> FailingRules<'a> {
        let failing = || required(profile).filter(|rule| fails(rule));
        let at_run_time = failing().filter(|rule| !rule.fails_in_constants_alone()).map(|rule| rule.id.as_str());
        FailingRules {
            profile,
            all: failing().map(|rule| rule.id.as_str()).collect(),
            at_run_time: at_run_time.collect(),
        }
    }

    /// Whether a cause makes one of these rules fail; of this area, if there is one.
    fn has(&self, cause: &Cause, area: Option<Area>) -> bool {
        let of_area =
            |id: &str| area.is_none() || self.profile.rules.iter().any(|rule| rule.id == id && rule.area == area);
        let rules = if cause.scope == Scope::RunTime && area.is_some() { &self.at_run_time } else { &self.all };
        cause.profiles.contains(&self.profile.id)
            && cause.rules.iter().any(|rule| rules.contains(rule.as_str()) && of_area(rule))
    }

    fn count(&self, causes: &[Cause], scope: Scope, area: Option<Area>) -> usize {
        causes.iter().filter(|cause| cause.scope == scope && self.has(cause, area)).count()
    }

    fn scoped(&self, causes: &[Cause]) -> ScopedCauses {
        let count = |scope| self.count(causes, scope, None);
        ScopedCauses { run_time: count(Scope::RunTime), constants: count(Scope::Constants) }
    }

    fn score(&self, device: &Device, area: Area) -> Score {
        let rules = || required(self.profile).filter(|rule| rule.area == Some(area));
        let failing = || rules().filter(|rule| self.all.contains(rule.id.as_str()));
        if rules().next().is_none() {
            Score::Empty
        } else if failing().any(|rule| self.at_run_time.contains(rule.id.as_str())) {
            Score::Causes(self.count(&device.causes, Scope::RunTime, Some(area)).max(1))
        } else if failing().next().is_some() {
            Score::Constants
        } else if rules().any(|rule| rule.verdict == Verdict::Incomplete) {
            Score::NotMeasured
        } else if rules().all(|rule| rule.verdict == Verdict::Unsupported) {
            Score::NotOffered
        } else {
            Score::Ok
        }
    }
}

/// Whether the program that judged a device gathered causes.
pub(crate) fn has_causes(device: &Device) -> bool {
    !device.causes.is_empty() || !device.profiles.iter().any(|profile| required(profile).any(fails))
}

fn required(profile: &ProfileResult) -> impl Iterator<Item = &RuleResult> {
    profile.rules.iter().filter(|rule| rule.level == Level::Required)
}

fn fails(rule: &RuleResult) -> bool {
    rule.failing > 0
}
