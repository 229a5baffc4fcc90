//! Kernels whose bits or outcome changed.

use std::collections::HashMap;

use fpprobe_profiles::parallel;
use fpprobe_profiles::{Observation, Outcome, Profile};
use fpprobe_spirv::Kernel;

use super::lanes;
use super::model::{Ended, KernelChange, Kind};

/// What became of each kernel, the most important first, within a kind in the order of the reports.
pub(super) fn changes(profiles: &[Profile], old: &[Observation], new: &[Observation]) -> Vec<KernelChange> {
    let index = |observations: &[Observation]| -> HashMap<Kernel, usize> {
        observations.iter().enumerate().map(|(place, observation)| (observation.kernel, place)).collect()
    };
    let (olds, news) = (index(old), index(new));
    let gone = old.iter().enumerate().filter(|(place, one)| {
        // Of two observations of one kernel the later counts.
        olds.get(&one.kernel) == Some(place) && !news.contains_key(&one.kernel)
    });
    let here = new.iter().enumerate().filter(|(place, one)| news.get(&one.kernel) == Some(place));
    let pairs: Vec<(Option<&Observation>, Option<&Observation>)> = here
        .map(|(_, one)| (olds.get(&one.kernel).map(|place| &old[*place]), Some(one)))
        .chain(gone.map(|(_, one)| (Some(one), None)))
        .collect();
    let changes = parallel::map(&pairs, |(old, new)| change(profiles, *old, *new));
    let mut changes: Vec<KernelChange> = changes.into_iter().flatten().collect();
    changes.sort_by_key(|change| change.kind);
    changes
}

fn change(profiles: &[Profile], old: Option<&Observation>, new: Option<&Observation>) -> Option<KernelChange> {
    let answered = |one: &Observation| matches!(one.outcome, Outcome::Ran | Outcome::Flaky);
    let kernel = new.or(old)?.kernel;
    let mut change = KernelChange {
        kind: Kind::Permitted,
        kernel: kernel.to_string(),
        old: old.map(ended),
        new: new.map(ended),
        lanes: 0,
        changed: 0,
        apart: 0,
        groups: Vec::new(),
    };
    change.kind = match (old, new) {
        (None, _) => Kind::Appeared,
        (_, None) => Kind::Vanished,
        (Some(old), Some(new)) => match (answered(old), answered(new)) {
            (true, true) => {
                let differing = lanes::compare(old, new);
                change.groups = lanes::groups(profiles, old, new, &differing.changed);
                (change.lanes, change.changed) = (differing.lanes, differing.changed.len());
                change.apart = differing.apart;
                match change.groups.first() {
                    Some(group) => group.kind,
                    None if differing.apart > 0 => Kind::Unjudged,
                    None => return None,
                }
            }
            (false, true) => Kind::Appeared,
            (true, false) => Kind::Unmeasurable,
            (false, false) if old.outcome != new.outcome => Kind::Unjudged,
            (false, false) => return None,
        },
    };
    Some(change)
}

fn ended(observation: &Observation) -> Ended {
    Ended { outcome: observation.outcome, detail: observation.detail.clone() }
}
