//! What makes a cause go away, by what was measured.

use std::collections::{BTreeSet, HashMap, HashSet};

use fpprobe_profiles::judge::{Observations, RuleVerdict};
use fpprobe_spirv::{Controls, Format};

use super::FailingLane;
use crate::model::{MEMORY, PartialFix};

/// Partial fixes that are named.
const NAMED: usize = 2;
/// A partial fix helps at least one lane in this number.
const SHARE: usize = 10;

/// What lanes at run time fail: rule, operation, format, controls.
type FailingKey = (*const RuleVerdict, &'static str, Format, Controls);

/// What fails at run time, beside which constants that fail alone stand out.
pub(super) struct RunTimeFailures(HashSet<FailingKey>);

impl RunTimeFailures {
    pub(super) fn of(lanes: &[FailingLane<'_>]) -> RunTimeFailures {
        let at_run_time = lanes.iter().filter(|lane| !lane.kernel.route.is_folded());
        RunTimeFailures(at_run_time.map(key).collect())
    }

    /// Whether the operation of a lane of constants was measured on operands from memory as well,
    /// and meets the rule there.
    fn spares(&self, lane: &FailingLane<'_>, index: &Observations<'_>) -> bool {
        let from_memory = lane.kernel.counterpart().filter(|one| !one.route.is_folded());
        let is_measured = |kernel| index.get(&kernel).is_some_and(|one| one.outcome.answered());
        lane.kernel.route.is_folded()
            && !self.0.contains(&key(lane))
            && from_memory.is_some_and(is_measured)
    }
}

fn key(lane: &FailingLane<'_>) -> FailingKey {
    let kernel = lane.kernel;
    (std::ptr::from_ref(lane.verdict), kernel.op.name, kernel.format, kernel.controls)
}

/// What a program does so that all of these lanes are accepted, each of these alone; else what
/// helps some of them, the most first.
pub(super) fn fixes(
    lanes: &[FailingLane<'_>],
    failures: &RunTimeFailures,
    index: &Observations<'_>,
) -> (Vec<String>, Vec<PartialFix>) {
    let from_memory = lanes.iter().filter(|lane| failures.spares(lane, index)).count();
    let mut helps: Vec<(usize, usize, String)> = sets(lanes)
        .into_iter()
        .map(|set| (under(lanes, set), set.len(), set.to_string()))
        .chain([(from_memory, 0, MEMORY.to_owned())])
        .filter(|(helped, ..)| *helped > 0)
        .collect();
    helps.sort_by(|(one, size, _), (other, others, _)| (other, size).cmp(&(one, others)));
    let (whole, partial): (Vec<_>, Vec<_>) =
        helps.into_iter().partition(|(helped, ..)| *helped == lanes.len());
    let mut named: Vec<PartialFix> = Vec::new();
    for (helped, _, needs) in partial {
        // Of as many lanes one set will do.
        let is_known = named.iter().any(|known| known.lanes == helped);
        if named.len() < NAMED && !is_known && helped * SHARE >= lanes.len() {
            named.push(PartialFix { needs, lanes: helped });
        }
    }
    let whole: BTreeSet<String> = whole.into_iter().map(|(.., needs)| needs).collect();
    if whole.is_empty() { (Vec::new(), named) } else { (whole.into_iter().collect(), Vec::new()) }
}

/// The sets of modes that help any of these lanes.
fn sets(lanes: &[FailingLane<'_>]) -> BTreeSet<Controls> {
    let rules: HashMap<*const RuleVerdict, &RuleVerdict> =
        lanes.iter().map(|lane| (std::ptr::from_ref(lane.verdict), lane.verdict)).collect();
    rules
        .into_values()
        .flat_map(|rule| rule.fixed_by.iter().chain(rule.eased_by.iter().map(|(set, _)| set)))
        .copied()
        .collect()
}

/// How many of these lanes are accepted under a set of modes.
fn under(lanes: &[FailingLane<'_>], set: Controls) -> usize {
    let helps = |lane: &&FailingLane<'_>| {
        let rule = lane.verdict;
        rule.fixed_by.iter().any(|fixed| set.holds(*fixed))
            || rule
                .eased_by
                .iter()
                .any(|(own, places)| *own == set && places.binary_search(&lane.number).is_ok())
    };
    lanes.iter().filter(helps).count()
}
