//! The scoreboard of a device: areas by profiles, and how near a profile comes to being met.
//!
//! It counts what decides a class: causes of lanes that required rules do not accept.

use std::collections::BTreeSet;

use crate::model::{
    Area, Cause, Class, Device, Level, NearestResult, ProfileResult, RuleResult, Scope, Severity,
    Verdict,
};

/// Areas by profiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scoreboard {
    /// Profile by profile, as the device has them: causes at run time, and causes of constants
    /// alone.
    pub causes: Vec<ScopedCauses>,
    /// Every area that some rule is about, with a score for each profile.
    pub rows: Vec<(Area, Vec<Score>)>,
}

/// Causes of a profile's deviations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScopedCauses {
    /// Those that show at run time.
    pub run_time: CauseCount,
    /// Those that show in constants alone.
    pub constants: CauseCount,
}

/// A number of causes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CauseCount {
    /// All of them.
    pub all: usize,
    /// Those of the severity `broken`.
    pub broken: usize,
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
    /// Both scopes together.
    pub fn whole(self) -> CauseCount {
        let ScopedCauses { run_time, constants } = self;
        CauseCount { all: run_time.all + constants.all, broken: run_time.broken + constants.broken }
    }

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
            let scores: Vec<Score> =
                failing.iter().map(|failing| failing.score(device, area)).collect();
            scores.iter().any(|score| *score != Score::Empty).then_some((area, scores))
        });
        Some(Scoreboard { causes: causes.collect(), rows: rows.collect() })
    }
}

impl Device {
    /// Adds to each profile what follows from all of them and the causes: class at run time, areas,
    /// nearest recipe.
    pub fn score(&mut self) {
        let board = Scoreboard::of(self);
        let scores: Vec<_> = self
            .profiles
            .iter()
            .enumerate()
            .map(|(place, profile)| {
                let rows = board
                    .iter()
                    .flat_map(|board| &board.rows)
                    .map(|(area, scores)| (*area, scores[place]));
                let areas = rows
                    .filter(|(_, score)| *score != Score::Empty)
                    .map(|(area, score)| (area, score.text()))
                    .collect();
                (
                    profile.class_run_time(),
                    areas,
                    NearestRecipe::of(self, profile).map(|recipe| recipe.stored(self)),
                )
            })
            .collect();
        for (profile, (class, areas, nearest)) in self.profiles.iter_mut().zip(scores) {
            (profile.class_run_time, profile.areas, profile.nearest) =
                (Some(class), areas, nearest);
        }
    }
}

/// The recipe that leaves the fewest causes of a profile that no recipe satisfies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearestRecipe<'a> {
    /// Controls and lowerings.
    pub needs: &'a [String],
    /// Causes that remain, by their place among the device's: those with a rule that fails under
    /// the recipe, or that was not measured under it.
    pub remaining: Vec<usize>,
    /// Rules that fail under the recipe alone. Each counts as a cause.
    pub new: Vec<&'a str>,
    /// How many causes there are without it.
    pub of: usize,
}

impl<'a> NearestRecipe<'a> {
    /// As a report has it.
    fn stored(&self, device: &Device) -> NearestResult {
        NearestResult {
            needs: self.needs.to_vec(),
            causes: self.remaining.iter().map(|place| device.causes[*place].id.clone()).collect(),
            new: self.new.iter().map(|rule| (*rule).to_owned()).collect(),
            of: self.of,
        }
    }

    /// None where a recipe satisfies the profile, or where none is better than no recipe.
    pub fn of(device: &'a Device, profile: &'a ProfileResult) -> Option<NearestRecipe<'a>> {
        if profile.class != Class::Deviates {
            return None;
        }
        let failing = FailingRules::of(profile);
        let causes = || {
            device
                .causes
                .iter()
                .enumerate()
                .filter(|(_, cause)| failing.rules_of(cause).next().is_some())
        };
        let of = causes().count();
        let recipes = profile.recipes.iter().filter(|trial| !trial.needs.is_empty()).map(|trial| {
            let by_default =
                trial.unmeasured.iter().filter(|rule| failing.all.contains(rule.as_str()));
            let rules: BTreeSet<&str> =
                trial.failing.iter().chain(by_default).map(String::as_str).collect();
            // A rule that other causes break says nothing of one whose lanes are seen to pass.
            let remains = |cause: &Cause| {
                cause.rules.iter().any(|rule| rules.contains(rule.as_str()))
                    && !cause.fix.iter().any(|control| trial.needs.contains(control))
            };
            let remaining =
                causes().filter(|(_, cause)| remains(cause)).map(|(place, _)| place).collect();
            let new = rules.iter().filter(|rule| !failing.all.contains(*rule)).copied().collect();
            NearestRecipe { needs: &trial.needs, remaining, new, of }
        });
        let best = recipes.min_by_key(|recipe| (recipe.remain(), recipe.needs.len()));
        best.filter(|recipe| recipe.remain() < of)
    }

    /// How many causes there are under it.
    pub fn remain(&self) -> usize {
        self.remaining.len() + self.new.len()
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
        let at_run_time =
            failing().filter(|rule| !rule.fails_in_constants_alone()).map(|rule| rule.id.as_str());
        FailingRules {
            profile,
            all: failing().map(|rule| rule.id.as_str()).collect(),
            at_run_time: at_run_time.collect(),
        }
    }

    /// Those of these rules that a cause makes fail.
    fn rules_of(&self, cause: &'a Cause) -> impl Iterator<Item = &'a str> {
        let rules =
            cause.profiles.contains(&self.profile.id).then_some(&cause.rules).into_iter().flatten();
        rules.map(String::as_str).filter(|rule| self.all.contains(rule))
    }

    /// Where a cause shows in this profile: one that other profiles see at run time may fail
    /// constants alone here.
    fn scope_of(&self, cause: &'a Cause) -> Option<Scope> {
        let mut rules = self.rules_of(cause).peekable();
        rules.peek()?;
        let at_run_time =
            cause.scope == Scope::RunTime && rules.any(|rule| self.at_run_time.contains(rule));
        Some(if at_run_time { Scope::RunTime } else { Scope::Constants })
    }

    fn scoped(&self, causes: &'a [Cause]) -> ScopedCauses {
        let of = |scope| {
            let own = || causes.iter().filter(|cause| self.scope_of(cause) == Some(scope));
            let broken = own().filter(|cause| cause.severity == Severity::Broken).count();
            CauseCount { all: own().count(), broken }
        };
        ScopedCauses { run_time: of(Scope::RunTime), constants: of(Scope::Constants) }
    }

    fn score(&self, device: &'a Device, area: Area) -> Score {
        let rules = || required(self.profile).filter(|rule| rule.area == Some(area));
        let failing: BTreeSet<&str> =
            rules().map(|rule| rule.id.as_str()).filter(|rule| self.all.contains(rule)).collect();
        let at_run_time = |rule: &str| failing.contains(rule) && self.at_run_time.contains(rule);
        let shows =
            |cause: &&Cause| cause.scope == Scope::RunTime && self.rules_of(cause).any(at_run_time);
        if rules().next().is_none() {
            Score::Empty
        } else if failing.iter().copied().any(at_run_time) {
            Score::Causes(device.causes.iter().filter(shows).count().max(1))
        } else if !failing.is_empty() {
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
