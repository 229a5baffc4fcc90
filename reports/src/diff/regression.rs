//! What became of the lanes that a rule fails on: whether the device gives something else there
//! than before. Which rule of a profile a lane counts for depends on what else was measured, and so
//! does whether a kernel that should answer like another has lanes of its own; neither is a change
//! of the device.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::encoding::{Encoding, PartReader, components};
use fpprobe_profiles::{Observation, Profile};
use fpprobe_spirv::Kernel;

use crate::evidence::{accepted, of_lane, put_first};
use crate::failed::{FailedLane, is_unstable, numbers};
use crate::model::{Evidence, Failed, ProfileResult, RuleResult};

/// Most cases of a kernel whose results are not at hand, since they did not change.
const MOST: usize = 1 << 20;

/// What a device answered before and now; kernels of which nothing changed may have neither cases
/// nor results.
#[derive(Debug)]
pub(super) struct OldAndNew<'a> {
    before: HashMap<Kernel, &'a Observation>,
    now: HashMap<Kernel, &'a Observation>,
}

/// The same, with the lanes that the rules of a profile failed on before.
pub(super) struct ProfileLanes<'a> {
    profiles: &'a [Profile],
    profile: &'a str,
    results: &'a OldAndNew<'a>,
    failed: HashSet<LaneId<'a>>,
}

/// Kernel, case and part of the result.
type LaneId<'a> = (Kernel, LaneCase<'a>, usize);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum LaneCase<'a> {
    Operands(&'a [u64]),
    /// Its number, where nothing of the kernel changed.
    Number(usize),
}

/// What became of the failing lanes of a rule.
pub(super) struct LaneFate<'a> {
    /// Whether it fails where another result was accepted before, or, where a report does not name
    /// its lanes, on more of them.
    pub(super) worse: bool,
    /// The first of these lanes.
    first: Option<(&'a Observation, FailedLane)>,
    /// Whether every lane that it fails on failed before with the same result, for this rule or
    /// another.
    pub(super) known: bool,
    /// Whether results changed where it failed before or fails now.
    pub(super) changed: bool,
}

impl<'a> OldAndNew<'a> {
    pub(super) fn new(before: &'a [Observation], now: &'a [Observation]) -> OldAndNew<'a> {
        let index = |observations: &'a [Observation]| {
            let answered = observations.iter().filter(|one| one.outcome.answered());
            answered.map(|one| (one.kernel, one)).collect()
        };
        OldAndNew { before: index(before), now: index(now) }
    }

    pub(super) fn of(
        &'a self,
        profiles: &'a [Profile],
        old: &'a ProfileResult,
    ) -> ProfileLanes<'a> {
        let failed =
            old.rules.iter().flat_map(|rule| lanes(rule, &self.before)).map(|(id, _)| id).collect();
        ProfileLanes { profiles, profile: &old.id, results: self, failed }
    }
}

impl<'a> ProfileLanes<'a> {
    /// What became of the lanes of a rule.
    pub(super) fn fate(&self, old: &RuleResult, new: &RuleResult) -> LaneFate<'a> {
        let is_named = |rule: &RuleResult| rule.failing == 0 || !rule.failed.is_empty();
        if !is_named(old) || !is_named(new) {
            return LaneFate {
                worse: new.failing > old.failing,
                first: None,
                known: false,
                changed: true,
            };
        }
        let [before, now] = [lanes(old, &self.results.before), lanes(new, &self.results.now)];
        let mut results = ResultPairs::new(self.results);
        let mut is_worse = |id: &LaneId<'a>| match results.of(id) {
            Compared::Differ => true,
            Compared::NanBits => self.accepted_before(new, id),
            Compared::Same | Compared::Apart => false,
        };
        let fresh = now.iter().filter(|(id, _)| !self.failed.contains(id) && is_worse(id));
        // A kernel that is compared with no other shows more.
        let fresh = fresh.min_by_key(|((kernel, ..), _)| kernel.counterpart().is_some());
        let first = fresh.map(|((kernel, ..), lane)| (self.results.now[kernel], *lane));
        let is_same = |compared| matches!(compared, Compared::Same | Compared::NanBits);
        let known = now.iter().all(|(id, _)| self.failed.contains(id) && is_same(results.of(id)));
        let changed = before.iter().chain(&now).any(|(id, _)| results.of(id) == Compared::Differ);
        LaneFate { worse: first.is_some(), first, known, changed }
    }
}

impl ProfileLanes<'_> {
    /// Whether a rule accepts what a lane gave before.
    fn accepted_before(&self, rule: &RuleResult, (kernel, case, part): &LaneId<'_>) -> bool {
        let (Some(before), LaneCase::Operands(operands)) = (self.results.before.get(kernel), case)
        else {
            return false;
        };
        let Some(case) = before.cases.iter().position(|known| known == *operands) else {
            return false;
        };
        let accepted = accepted(self.profiles, (self.profile, &rule.id), before, case);
        let accepted = accepted.map(|accepted| accepted.of_components(|other| other == *part));
        let width = kernel.outputs();
        accepted.is_some_and(|accepted| {
            let is_accepted = |results: &[u64]| {
                accepted.contains(&components(kernel, &results[case * width..][..width]))
            };
            before.runs().all(is_accepted)
        })
    }
}

impl LaneFate<'_> {
    /// The lanes that show how a rule fails now, the first that is new before all others.
    pub(super) fn evidence(
        &self,
        profiles: &[Profile],
        (profile, rule): (&str, &RuleResult),
    ) -> Vec<Evidence> {
        let mut evidence = rule.evidence.clone();
        if let Some((observation, lane)) = self.first {
            put_first(&mut evidence, of_lane(profiles, (profile, &rule.id), observation, lane));
        }
        evidence
    }
}

/// How the results of a lane compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compared {
    /// There are results of one side alone.
    Apart,
    Same,
    /// Both are NaNs, of a kernel that should answer like another: they decide whether it has a
    /// lane of its own.
    NanBits,
    Differ,
}

/// Results before and now, lane by lane.
struct ResultPairs<'a> {
    results: &'a OldAndNew<'a>,
    pairs: HashMap<Kernel, Option<KernelResults<'a>>>,
}

/// The results of a kernel before and now.
struct KernelResults<'a> {
    before: &'a Observation,
    now: &'a Observation,
    /// Numbers of cases by operands.
    cases: [HashMap<&'a [u64], usize>; 2],
    reader: PartReader,
    encodings: Vec<Encoding>,
    unstable: bool,
}

impl<'a> ResultPairs<'a> {
    fn new(results: &'a OldAndNew<'a>) -> ResultPairs<'a> {
        ResultPairs { results, pairs: HashMap::new() }
    }

    fn of(&mut self, (kernel, case, part): &LaneId<'_>) -> Compared {
        let LaneCase::Operands(operands) = case else { return Compared::Same };
        let results = self.results;
        let pair = self.pairs.entry(*kernel).or_insert_with(|| {
            Some(KernelResults::new(
                results.before.get(kernel).copied()?,
                results.now.get(kernel).copied()?,
            ))
        });
        pair.as_ref().map_or(Compared::Apart, |pair| pair.of(operands, *part))
    }
}

impl<'a> KernelResults<'a> {
    fn new(before: &'a Observation, now: &'a Observation) -> KernelResults<'a> {
        let index = |one: &'a Observation| {
            one.cases.iter().enumerate().map(|(case, operands)| (operands, case)).collect()
        };
        KernelResults {
            before,
            now,
            cases: [index(before), index(now)],
            reader: PartReader::new(&now.kernel),
            encodings: Encoding::of_result(&now.kernel).into_iter().collect(),
            unstable: is_unstable(before) && is_unstable(now),
        }
    }

    fn of(&self, operands: &[u64], part: usize) -> Compared {
        let [Some(before), Some(now)] = [0, 1].map(|side| self.cases[side].get(operands).copied())
        else {
            return Compared::Apart;
        };
        let results = |observation: &Observation, case| -> Vec<u64> {
            let mut results: Vec<u64> =
                observation.runs().map(|results| self.reader.part(results, case, part)).collect();
            results.dedup();
            results
        };
        let (before, now) = (results(self.before, before), results(self.now, now));
        let is_nan = |bits: &u64| matches!(self.encodings[part], Encoding::Float(layout) if layout.is_nan(*bits));
        // Of a kernel that never gives the same twice, what differed from run to run differs.
        let is_unsteady = self.unstable && before.len() + now.len() > 2;
        if is_unsteady || before == now {
            Compared::Same
        } else if self.now.kernel.counterpart().is_some() && before.iter().chain(&now).all(is_nan) {
            Compared::NanBits
        } else {
            Compared::Differ
        }
    }
}

/// The lanes that a rule fails on, and where they are in the observation.
fn lanes<'a>(
    rule: &RuleResult,
    observations: &HashMap<Kernel, &'a Observation>,
) -> Vec<(LaneId<'a>, FailedLane)> {
    let mut lanes = Vec::new();
    for Failed { kernel, cases, components, .. } in &rule.failed {
        let Ok(kernel) = kernel.parse::<Kernel>() else { continue };
        let cases_of =
            observations.get(&kernel).map(|one| &one.cases).filter(|cases| !cases.is_empty());
        let end = cases_of.map_or(MOST, fpprobe_spirv::Cases::len);
        let components = if components.is_empty() { &[0][..] } else { components };
        for case in numbers(cases, end).unwrap_or_default() {
            let id = cases_of
                .map_or(LaneCase::Number(case), |cases| LaneCase::Operands(cases.case(case)));
            lanes.extend(
                components
                    .iter()
                    .map(|part| ((kernel, id, *part as usize), (case, *part as usize))),
            );
        }
    }
    lanes
}
