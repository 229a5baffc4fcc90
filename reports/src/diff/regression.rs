//! Whether a rule that failed before fails on more now: on lanes that it did not fail on, of kernels that answered both times.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::Observation;
use fpprobe_spirv::Kernel;

use crate::failed::numbers;
use crate::model::{Failed, RuleResult};

/// What a device answered before and now.
#[derive(Debug)]
pub(super) struct OldAndNew<'a> {
    before: HashMap<Kernel, &'a Observation>,
    now: HashMap<Kernel, &'a Observation>,
}

impl<'a> OldAndNew<'a> {
    pub(super) fn new(before: &'a [Observation], now: &'a [Observation]) -> OldAndNew<'a> {
        let index = |observations: &'a [Observation]| {
            let answered = observations.iter().filter(|one| one.outcome.answered());
            answered.map(|one| (one.kernel, one)).collect()
        };
        OldAndNew { before: index(before), now: index(now) }
    }

    /// Whether the rule fails on lanes that were accepted before, or, where a report does not name its lanes, on more of them.
    pub(super) fn is_worse(&self, old: &RuleResult, new: &RuleResult) -> bool {
        let named = |rule: &RuleResult| rule.failing == 0 || !rule.failed.is_empty();
        if !named(old) || !named(new) {
            return new.failing > old.failing;
        }
        let failed = lanes(old, &self.before);
        lanes(new, &self.now).into_iter().any(|(kernel, now)| {
            let Some(before) = self.before.get(&kernel) else { return false };
            let none = HashSet::new();
            let known = failed.get(&kernel).unwrap_or(&none);
            let fresh: Vec<&[u64]> = now.difference(known).map(|(inputs, _)| *inputs).collect();
            if fresh.is_empty() {
                return false;
            }
            let case_set: HashSet<&[u64]> = before.cases.iter().collect();
            fresh.iter().any(|inputs| case_set.contains(inputs))
        })
    }
}

/// Inputs and component of a lane; of results without components the first.
type LaneId<'a> = (&'a [u64], u32);

/// The lanes that a rule fails on, kernel by kernel.
fn lanes<'a>(
    rule: &RuleResult,
    observations: &HashMap<Kernel, &'a Observation>,
) -> HashMap<Kernel, HashSet<LaneId<'a>>> {
    let mut lanes: HashMap<Kernel, HashSet<LaneId<'a>>> = HashMap::new();
    for Failed { kernel, cases, components } in &rule.failed {
        let Some(observation) = kernel.parse().ok().and_then(|kernel: Kernel| observations.get(&kernel)) else {
            continue;
        };
        let cases = numbers(cases, observation.cases.len()).unwrap_or_default();
        let components = if components.is_empty() { &[0][..] } else { components };
        let of_case = |case: usize| components.iter().map(move |part| (observation.cases.case(case), *part));
        lanes.entry(observation.kernel).or_default().extend(cases.into_iter().flat_map(of_case));
    }
    lanes
}
