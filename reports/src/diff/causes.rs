//! Causes that are new, worse, better or missing.
//!
//! A cause of kernels that the other report did not measure, or of profiles that did not judge it, is
//! no change of the device.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::judge::Symptom;

use super::model::{CauseChange, CauseStatus, ChangeKind, KernelChange, Presence};
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
    for is_same in [is_same_id, is_same_habit] {
        for (now, counterpart) in new.causes.iter().zip(&mut counterparts).filter(|(_, one)| one.is_none()) {
            *counterpart = left.iter().position(|before| is_same(before, now)).map(|place| left.remove(place));
        }
    }
    let here = new.causes.iter().zip(counterparts).filter_map(|(now, before)| match before {
        None => shared.shows(now).then(|| change(None, Some(now))),
        Some(before) => (shared.covers(before) && shared.covers(now) && now.symptom != Symptom::Unstable.name())
            .then(|| change(Some(before), Some(now)))
            .filter(|change| change.is_worse() || change.is_better()),
    });
    let missing = left.into_iter().filter(|before| shared.shows(before)).map(|before| change(Some(before), None));
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

fn change(old: Option<&Cause>, new: Option<&Cause>) -> CauseChange {
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
    }
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
