//! What makes a cause go away, by what was measured.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};
use fpprobe_profiles::judge::{Observations, RuleVerdict};
use fpprobe_spirv::{Controls, Format};

use super::FailingLane;
use crate::model::{MEMORY, PartialFix};

/// Partial fixes that are named.
const NAMED: usize = 2;
/// A partial fix helps at least one lane in this number.
const SHARE: usize = 10;

/// What lanes at run time fail: rule, operation, format, controls, operands, part of the result.
type FailingKey<'a> = (*const RuleVerdict, &'static str, Format, Controls, &'a [u64], usize);

/// Which lanes of constants fail at run time as well; the others stand out.
pub(super) struct RunTimeFailures<'a>(HashSet<FailingKey<'a>>);

impl<'a> RunTimeFailures<'a> {
    pub(super) fn of(lanes: &[FailingLane<'a>]) -> RunTimeFailures<'a> {
        let keys = |of_constants: bool| {
            let those = lanes.iter().filter(move |lane| lane.is_constant() == of_constants);
            those.map(key)
        };
        let constants: HashSet<FailingKey<'_>> = keys(true).collect();
        RunTimeFailures(keys(false).filter(|lane| constants.contains(lane)).collect())
    }

    /// Whether a lane of constants was measured with its operands from memory as well, and meets
    /// the rule there.
    fn spares(&self, lane: &FailingLane<'_>, index: &Observations<'_>) -> bool {
        let from_memory = lane.kernel.counterpart().filter(|one| !one.route.is_folded());
        let is_measured = |kernel| {
            let answered = index.get(&kernel).filter(|one| one.outcome.answered());
            answered.is_some_and(|one| one.cases.iter().any(|case| case == lane.case))
        };
        lane.is_constant() && !self.0.contains(&key(lane)) && from_memory.is_some_and(is_measured)
    }
}

fn key<'a>(lane: &FailingLane<'a>) -> FailingKey<'a> {
    let (kernel, verdict) = (lane.kernel, std::ptr::from_ref(lane.verdict));
    (verdict, kernel.op.name, kernel.format, kernel.controls, lane.case, lane.part)
}

/// What a program does so that all of these lanes are accepted, each of these alone; else what
/// helps some of them, the most first.
pub(super) fn fixes(
    lanes: &[&FailingLane<'_>],
    failures: &RunTimeFailures<'_>,
    index: &Observations<'_>,
) -> (Vec<String>, Vec<PartialFix>) {
    let from_memory = lanes.iter().filter(|lane| failures.spares(lane, index)).count();
    let sets: Vec<(Controls, usize)> =
        sets(lanes).into_iter().map(|set| (set, under(lanes, set))).collect();
    let does_as_much = |(smaller, helped): &(Controls, usize), set: Controls, of: usize| {
        *smaller != set && set.holds(*smaller) && *helped >= of
    };
    let mut helps: Vec<PartialFix> = sets
        .iter()
        .filter(|(set, of)| !sets.iter().any(|other| does_as_much(other, *set, *of)))
        .map(|(set, of)| PartialFix { needs: set.to_string(), lanes: *of })
        .collect();
    helps.insert(0, PartialFix { needs: MEMORY.to_owned(), lanes: from_memory });
    helps.retain(|fix| fix.lanes * SHARE >= lanes.len());
    helps.sort_by_key(|fix| Reverse(fix.lanes));
    let (whole, mut partial): (Vec<_>, Vec<_>) =
        helps.into_iter().partition(|fix| fix.lanes == lanes.len());
    if !whole.is_empty() {
        return (whole.into_iter().map(|fix| fix.needs).collect(), Vec::new());
    }
    // Of as many lanes one set will do.
    partial.dedup_by_key(|fix| fix.lanes);
    partial.truncate(NAMED);
    (Vec::new(), partial)
}

/// The sets of modes that help any of these lanes.
fn sets(lanes: &[&FailingLane<'_>]) -> BTreeSet<Controls> {
    let rules: HashMap<*const RuleVerdict, &RuleVerdict> =
        lanes.iter().map(|lane| (std::ptr::from_ref(lane.verdict), lane.verdict)).collect();
    rules.into_values().flat_map(|rule| &rule.eased_by).map(|(set, _)| *set).collect()
}

/// How many of these lanes were measured under a set of modes, and are accepted.
fn under(lanes: &[&FailingLane<'_>], set: Controls) -> usize {
    let helps = |lane: &&&FailingLane<'_>| {
        let mut eased = lane.verdict.eased_by.iter().filter(|(own, _)| *own == set);
        eased.any(|(_, places)| places.binary_search(&lane.number).is_ok())
    };
    lanes.iter().filter(helps).count()
}
