//! Causes that are new, worse, better or missing.
//!
//! A cause of kernels that the other report did not measure, or of profiles that did not judge it, is
//! no change of the device.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::judge::Symptom;

use super::model::{CauseChange, CauseStatus, ChangeKind, KernelChange, KernelLane, LaneVerdict, Presence};
use crate::model::{Cause, Device};
use crate::scoreboard::has_causes;

/// What changed, in this order: new causes, worse ones, better ones, missing ones.
pub(super) fn causes(old: &Device, new: &Device, kernels: &[KernelChange]) -> Vec<CauseChange> {
    if !has_causes(old) || !has_causes(new) {
        return Vec::new();
    }
    let shared = Shared::new(old, new, kernels);
    let mut left: Vec<&Cause> = old.causes.iter().collect();
    let mut counterparts: Vec<Option<&Cause>> = vec![None; new.causes.len()];
    for is_same in [is_same_id, is_same_habit, is_same_symptom] {
        for (now, counterpart) in new.causes.iter().zip(&mut counterparts).filter(|(_, one)| one.is_none()) {
            *counterpart = left.iter().position(|before| is_same(before, now)).map(|place| left.remove(place));
        }
    }
    let here = new.causes.iter().zip(counterparts).filter_map(|(now, before)| match before {
        None => shared.shows(now).then(|| change(None, Some(now), &shared.kernels)),
        Some(before) => (shared.covers(before) && shared.covers(now) && now.symptom != Symptom::Unstable.name())
            .then(|| change(Some(before), Some(now), &shared.kernels))
            .filter(|change| change.is_worse() || change.is_better()),
    });
    let missing = left
        .into_iter()
        .filter(|before| shared.shows(before))
        .map(|before| change(Some(before), None, &shared.kernels));
    let mut changes: Vec<CauseChange> = here.chain(missing).collect();
    changes.sort_by_key(|change| (change.presence == Presence::Vanished, change.is_better(), change.is_worse()));
    changes
}

fn is_same_id(before: &Cause, now: &Cause) -> bool {
    before.id == now.id
}

/// Formats are a part of the id: a habit that spreads to another format has another one.
fn is_same_habit(before: &Cause, now: &Cause) -> bool {
    (&before.symptom, before.scope) == (&now.symptom, now.scope)
        && before.kernels.iter().any(|kernel| now.kernels.contains(kernel))
}

/// The scope, too: a habit that only the compiler still has is shown by constants alone.
fn is_same_symptom(before: &Cause, now: &Cause) -> bool {
    let share = |one: &[String], other: &[String]| one.iter().any(|name| other.contains(name));
    before.symptom == now.symptom && share(&before.operations, &now.operations) && share(&before.formats, &now.formats)
}

fn change(old: Option<&Cause>, new: Option<&Cause>, kernels: &HashMap<&str, &KernelChange>) -> CauseChange {
    let status = |cause: &Cause| CauseStatus {
        headline: cause.headline.clone(),
        severity: cause.severity,
        lanes: cause.lanes,
        distance: cause.distance,
    };
    CauseChange {
        presence: match (old, new) {
            (None, _) => Presence::Appeared,
            (_, None) => Presence::Vanished,
            _ => Presence::Both,
        },
        id: new.or(old).map(|cause| cause.id.clone()).unwrap_or_default(),
        old: old.map(status),
        new: new.map(status),
        lane: new.or(old).and_then(|cause| lane(cause, kernels)),
    }
}

/// The simplest kernel's first lane of which a rule that the cause breaks says otherwise now.
fn lane(cause: &Cause, kernels: &HashMap<&str, &KernelChange>) -> Option<KernelLane> {
    let is_of_cause = |said: &LaneVerdict| {
        said.old != said.new
            && cause.profiles.contains(&said.profile)
            && said.rules.iter().any(|rule| cause.rules.contains(rule))
    };
    let mut changes: Vec<&KernelChange> = cause.kernels.iter().filter_map(|id| kernels.get(&**id).copied()).collect();
    changes.sort_by_key(|change| change.kernel.len());
    changes.into_iter().find_map(|change| {
        let group = change.groups.iter().find(|group| group.judged.iter().any(is_of_cause))?;
        Some(KernelLane { kernel: change.kernel.clone(), lane: group.lanes.first()?.clone() })
    })
}

/// What both reports measured and judged.
struct Shared<'a> {
    profiles: HashSet<&'a str>,
    kernels: HashMap<&'a str, &'a KernelChange>,
}

impl<'a> Shared<'a> {
    fn new(old: &'a Device, new: &'a Device, kernels: &'a [KernelChange]) -> Shared<'a> {
        let is_old = |id: &str, version: &str| old.profiles.iter().any(|one| one.id == id && one.version == version);
        let profiles = new.profiles.iter().filter(|one| is_old(&one.id, &one.version)).map(|one| &*one.id);
        let kernels = kernels.iter().map(|change| (&*change.kernel, change));
        Shared { profiles: profiles.collect(), kernels: kernels.collect() }
    }

    /// Whether both reports measured all of a cause, on the same inputs.
    fn covers(&self, cause: &Cause) -> bool {
        let is_whole = |kernel: &String| self.kernels.get(&**kernel).is_none_or(|one| one.lanes > 0 && one.apart == 0);
        self.judged(cause) && !cause.kernels.is_empty() && cause.kernels.iter().all(is_whole)
    }

    /// Whether what both reports measured shows that a cause is in one of them alone.
    fn shows(&self, cause: &Cause) -> bool {
        let is_of_rules = |kind: ChangeKind| kind <= ChangeKind::AvoidedBefore;
        let is_shown = |kernel: &String| {
            self.kernels.get(&**kernel).is_none_or(|one| {
                one.lanes > 0 && (one.apart == 0 || one.groups.iter().any(|group| is_of_rules(group.kind)))
            })
        };
        self.judged(cause) && cause.kernels.iter().any(is_shown)
    }

    fn judged(&self, cause: &Cause) -> bool {
        cause.profiles.iter().all(|profile| self.profiles.contains(&**profile))
    }
}
