//! Kernels whose bits or outcome changed.

use std::collections::{BTreeMap, HashMap};

use fpprobe_profiles::parallel;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Controls, Kernel};

use super::lanes::{self, Court, Groups, LaneJudge, ObservationDiff};
use crate::change::{Change, ChangeKind, ChangedLanes, Subject};
use crate::render::phrase;

/// Inputs that are judged by one thread at a time.
const SHARE: usize = 512;

/// What became of each kernel, the most important first, within a kind in the order of the reports;
/// its inputs by what their change means.
pub(super) fn changes(
    bench: &LaneJudge<'_>,
    old: &[Observation],
    new: &[Observation],
) -> Vec<Change> {
    let index = |observations: &[Observation]| -> HashMap<Kernel, usize> {
        observations
            .iter()
            .enumerate()
            .map(|(place, observation)| (observation.kernel, place))
            .collect()
    };
    let (olds, news) = (index(old), index(new));
    let disappeared = old.iter().enumerate().filter(|(place, one)| {
        // Of two observations of one kernel the later counts.
        olds.get(&one.kernel) == Some(place) && !news.contains_key(&one.kernel)
    });
    let here = new.iter().enumerate().filter(|(place, one)| news.get(&one.kernel) == Some(place));
    let pairs: Vec<Sides<'_>> = here
        .map(|(_, one)| (olds.get(&one.kernel).map(|place| &old[*place]), Some(one)))
        .chain(disappeared.map(|(_, one)| (Some(one), None)))
        .collect();
    let mut found = parallel::map(&pairs, |(old, new)| change(*old, *new));
    instead(&mut found, &pairs);
    let mut changes = judged(bench, found, &pairs);
    changes.sort_by_key(|change| (change.kind, change.avoidable, !change.is_deviating()));
    changes
}

/// A change, and the inputs that have other results.
type KernelDiff = (Change, ObservationDiff);
/// An observation before and now.
type Sides<'a> = (Option<&'a Observation>, Option<&'a Observation>);

fn change(old: Option<&Observation>, new: Option<&Observation>) -> Option<KernelDiff> {
    let kernel = new.or(old)?.kernel;
    let mut differing = ObservationDiff { lanes: 0, apart: 0, changed: Vec::new() };
    let kind = match (old, new) {
        (None, _) => ChangeKind::Appeared,
        (_, None) => ChangeKind::Disappeared,
        (Some(old), Some(new)) => match (answered(old), answered(new)) {
            (true, true) => {
                differing = lanes::compare(old, new);
                if differing.changed.is_empty() && differing.apart == 0 {
                    return None;
                }
                ChangeKind::Changed
            }
            (false, true) => ChangeKind::Appeared,
            (true, false) => ChangeKind::Disappeared,
            (false, false) if old.outcome != new.outcome => ChangeKind::Changed,
            (false, false) => return None,
        },
    };
    let (old, new, constants_only) = (old.map(ended), new.map(ended), kernel.route.is_folded());
    Some((
        Change {
            constants_only,
            old,
            new,
            ..Change::new(kind, Subject::Kernel, kernel.to_string())
        },
        differing,
    ))
}

/// A share of a kernel's inputs that are answered otherwise.
struct Task<'a> {
    /// Which kernel.
    place: usize,
    old: &'a Observation,
    new: &'a Observation,
    share: &'a [(usize, usize)],
}

/// Judges what changed, a change for each group of inputs. One kernel may have nearly all of it:
/// inputs are shared out, not kernels.
fn judged(
    bench: &LaneJudge<'_>,
    found: Vec<Option<KernelDiff>>,
    pairs: &[Sides<'_>],
) -> Vec<Change> {
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for (place, (changed, sides)) in found.iter().zip(pairs).enumerate() {
        let (Some((_, differing)), (Some(old), Some(new))) = (changed, sides) else { continue };
        tasks.extend(differing.changed.chunks(SHARE).map(|share| Task { place, old, new, share }));
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
    drop(tasks);
    let mut changes = Vec::new();
    for (place, (change, differing)) in
        found.into_iter().enumerate().filter_map(|(place, one)| Some((place, one?)))
    {
        let ObservationDiff { lanes: compared, apart, .. } = differing;
        let lanes = |judged, changed| ChangedLanes {
            kernel: change.id.clone(),
            compared,
            apart,
            judged,
            changed,
        };
        match groups.remove(&place) {
            None if apart == 0 => changes.push(change),
            None => changes.push(Change { lanes: Some(lanes(Vec::new(), Vec::new())), ..change }),
            Some(groups) => {
                changes.extend(groups.into_iter().map(|((kind, avoidable, said), changed)| {
                    Change {
                        kind,
                        avoidable,
                        lanes: Some(lanes(lanes::written(said, bench.profiles), changed)),
                        ..change.clone()
                    }
                }));
            }
        }
    }
    changes
}

/// Notes of kernels of which one report alone has results under which other controls the other
/// report alone has them: most kernels run under the strictest set that a driver has, and with
/// another driver that may be another set.
fn instead(changes: &mut [Option<KernelDiff>], pairs: &[Sides<'_>]) {
    let answers = |one: Option<&Observation>| one.is_some_and(answered);
    // Which report alone has answers of it.
    let alone = |(old, new): &Sides<'_>| {
        let kernel = new.or(*old)?.kernel;
        (answers(*old) != answers(*new)).then_some((answers(*new), kernel))
    };
    let uncontrolled = |kernel: Kernel| kernel.with_controls(Controls::NONE);
    let mut measured: HashMap<(bool, Kernel), Controls> = HashMap::new();
    for (is_new, kernel) in
        pairs.iter().filter_map(alone).filter(|(_, kernel)| kernel.controls != Controls::NONE)
    {
        measured.entry((is_new, uncontrolled(kernel))).or_insert(kernel.controls);
    }
    for (change, sides) in changes.iter_mut().zip(pairs) {
        let (Some((change, _)), Some((is_new, kernel))) = (change, alone(sides)) else { continue };
        if kernel.controls != Controls::NONE {
            let controls = measured.get(&(!is_new, uncontrolled(kernel)));
            change.note = controls
                .map(|controls| format!("under {controls} in its place"))
                .unwrap_or_default();
        }
    }
}

fn answered(observation: &Observation) -> bool {
    matches!(observation.outcome, Outcome::Ran | Outcome::Flaky)
}

/// What differs between two runs is counted there, kernel by kernel.
fn ended(Observation { outcome, detail, .. }: &Observation) -> String {
    let name = phrase::outcome(*outcome);
    if detail.is_empty() || *outcome == Outcome::Flaky {
        name.to_owned()
    } else {
        format!("{name} ({detail})")
    }
}
