//! Kernels whose bits or outcome changed.

use std::collections::{BTreeMap, HashMap};

use fpprobe_profiles::parallel;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Controls, Kernel};

use super::lanes::{self, Court, Groups, LaneJudge};
use super::model::{ChangeKind, KernelChange, KernelOutcome};

/// Inputs that are judged by one thread at a time.
const SHARE: usize = 512;

/// What became of each kernel, the most important first, within a kind in the order of the reports.
pub(super) fn changes(bench: &LaneJudge<'_>, old: &[Observation], new: &[Observation]) -> Vec<KernelChange> {
    let index = |observations: &[Observation]| -> HashMap<Kernel, usize> {
        observations.iter().enumerate().map(|(place, observation)| (observation.kernel, place)).collect()
    };
    let (olds, news) = (index(old), index(new));
    let vanished = old.iter().enumerate().filter(|(place, one)| {
        // Of two observations of one kernel the later counts.
        olds.get(&one.kernel) == Some(place) && !news.contains_key(&one.kernel)
    });
    let here = new.iter().enumerate().filter(|(place, one)| news.get(&one.kernel) == Some(place));
    let pairs: Vec<Sides<'_>> = here
        .map(|(_, one)| (olds.get(&one.kernel).map(|place| &old[*place]), Some(one)))
        .chain(vanished.map(|(_, one)| (Some(one), None)))
        .collect();
    let mut changes = parallel::map(&pairs, |(old, new)| change(*old, *new));
    judge(bench, &mut changes, &pairs);
    instead(&mut changes, &pairs);
    let mut changes: Vec<KernelChange> = changes.into_iter().flatten().map(|(change, _)| change).collect();
    changes.sort_by_key(|change| change.kind);
    changes
}

/// A change, and the inputs that are answered otherwise: cases of the old observation and of the new one.
type KernelDiff = (KernelChange, Vec<(usize, usize)>);
/// An observation before and now.
type Sides<'a> = (Option<&'a Observation>, Option<&'a Observation>);

fn change(old: Option<&Observation>, new: Option<&Observation>) -> Option<KernelDiff> {
    let kernel = new.or(old)?.kernel;
    let mut change = KernelChange {
        kind: ChangeKind::Permitted,
        kernel: kernel.to_string(),
        old: old.map(ended),
        new: new.map(ended),
        lanes: 0,
        changed: 0,
        apart: 0,
        groups: Vec::new(),
        instead: None,
    };
    let mut changed = Vec::new();
    change.kind = match (old, new) {
        (None, _) => ChangeKind::Appeared,
        (_, None) => ChangeKind::Vanished,
        (Some(old), Some(new)) => match (answered(old), answered(new)) {
            (true, true) => {
                let differing = lanes::compare(old, new);
                (change.lanes, change.changed) = (differing.lanes, differing.changed.len());
                change.apart = differing.apart;
                changed = differing.changed;
                if changed.is_empty() && change.apart == 0 {
                    return None;
                }
                ChangeKind::Unjudged
            }
            (false, true) => ChangeKind::Appeared,
            (true, false) => ChangeKind::Unmeasurable,
            (false, false) if old.outcome != new.outcome => ChangeKind::Unjudged,
            (false, false) => return None,
        },
    };
    Some((change, changed))
}

/// A share of a kernel's inputs that are answered otherwise.
struct Task<'a> {
    /// Which kernel.
    place: usize,
    old: &'a Observation,
    new: &'a Observation,
    share: &'a [(usize, usize)],
}

/// Judges what changed. One kernel may have nearly all of it: inputs are shared out, not kernels.
fn judge(bench: &LaneJudge<'_>, changes: &mut [Option<KernelDiff>], pairs: &[Sides<'_>]) {
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for (place, (changed, sides)) in changes.iter().zip(pairs).enumerate() {
        let (Some((_, changed)), (Some(old), Some(new))) = (changed, sides) else { continue };
        tasks.extend(changed.chunks(SHARE).map(|share| Task { place, old, new, share }));
    }
    let judged = parallel::map(&tasks, |Task { old, new, share, .. }| {
        lanes::groups(&Court::new(bench, &new.kernel), old, new, share)
    });
    let mut groups: BTreeMap<usize, Groups<'_>> = BTreeMap::new();
    for (task, judged) in tasks.iter().zip(judged) {
        let all = groups.entry(task.place).or_default();
        for (key, mut lanes) in judged {
            all.entry(key).or_default().append(&mut lanes);
        }
    }
    for (place, groups) in groups {
        let Some((change, _)) = &mut changes[place] else { continue };
        change.groups = lanes::written(groups, bench.profiles);
        change.kind = change.groups.first().map_or(change.kind, |group| group.kind);
    }
}

/// Tells of kernels of which one report alone has answers under which other controls the other report alone has them: runs ask
/// most kernels under the strictest set that a driver has, and with another driver that may be another set.
fn instead(changes: &mut [Option<KernelDiff>], pairs: &[Sides<'_>]) {
    let answers = |one: Option<&Observation>| one.is_some_and(answered);
    // Which report alone has answers of it.
    let alone = |(old, new): &Sides<'_>| {
        let kernel = new.or(*old)?.kernel;
        (answers(*old) != answers(*new)).then_some((answers(*new), kernel))
    };
    let uncontrolled = |kernel: Kernel| kernel.with_controls(Controls::NONE);
    let mut measured: HashMap<(bool, Kernel), Controls> = HashMap::new();
    for (is_new, kernel) in pairs.iter().filter_map(alone).filter(|(_, kernel)| kernel.controls != Controls::NONE) {
        measured.entry((is_new, uncontrolled(kernel))).or_insert(kernel.controls);
    }
    for (change, sides) in changes.iter_mut().zip(pairs) {
        let (Some((change, _)), Some((is_new, kernel))) = (change, alone(sides)) else { continue };
        if kernel.controls != Controls::NONE {
            change.instead = measured.get(&(!is_new, uncontrolled(kernel))).map(ToString::to_string);
        }
    }
}

fn answered(observation: &Observation) -> bool {
    matches!(observation.outcome, Outcome::Ran | Outcome::Flaky)
}

fn ended(observation: &Observation) -> KernelOutcome {
    KernelOutcome { outcome: observation.outcome, detail: observation.detail.clone() }
}
