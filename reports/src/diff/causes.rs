//! Causes that are new, worse, better or missing.
//!
//! A cause of kernels that the other report did not measure, or of profiles that did not judge it,
//! is no change of the device; nor is one of lanes that give what they gave before, which the other
//! report has under another cause.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::judge::Symptom;

use crate::change::{Change, ChangeKind, ChangedLanes, Gravity, LaneChange, LaneVerdict, of_cause};
use crate::model::{Cause, Device, Evidence, Scope};
use crate::scoreboard::has_causes;

/// What changed, in this order: new causes, worse ones, better ones, missing ones.
pub(super) fn causes([old, new]: [&Device; 2], kernels: &[Change]) -> Vec<Change> {
    if !has_causes(old) || !has_causes(new) {
        return Vec::new();
    }
    let shared = Shared::new(old, new, kernels);
    let mut left: Vec<&Cause> = old.causes.iter().collect();
    let mut counterparts: Vec<Option<&Cause>> = vec![None; new.causes.len()];
    for is_same in [is_same_id, is_same_habit, is_same_symptom] {
        for (now, counterpart) in
            new.causes.iter().zip(&mut counterparts).filter(|(_, one)| one.is_none())
        {
            *counterpart =
                left.iter().position(|before| is_same(before, now)).map(|place| left.remove(place));
        }
    }
    let here = new.causes.iter().zip(counterparts).filter_map(|(now, before)| match before {
        None => (!is_beside(now, &old.causes)).then(|| shared.change(None, Some(now)))?,
        Some(before) => {
            (shared.covers(before) && shared.covers(now) && now.symptom != Symptom::Unstable.name())
                .then(|| shared.change(Some(before), Some(now)))?
        }
    });
    let missing = left
        .into_iter()
        .filter(|before| !is_beside(before, &new.causes))
        .filter_map(|before| shared.change(Some(before), None));
    let mut changes: Vec<Change> = here.chain(missing).collect();
    changes.sort_by_key(|change| {
        ["NEW", "WORSE", "BETTER", "FIXED"].iter().position(|tag| *tag == change.tag())
    });
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
    before.symptom == now.symptom
        && share(&before.operations, &now.operations)
        && share(&before.formats, &now.formats)
}

/// Whether what a cause shows is listed beside others: one of the same operations took its lanes.
fn is_beside(cause: &Cause, others: &[Cause]) -> bool {
    others.iter().filter(|other| share(&cause.formats, &other.formats)).any(|other| {
        let of_symptom = other.beside.iter().filter(|one| one.symptom == cause.symptom);
        of_symptom.into_iter().any(|one| share(&one.operations, &cause.operations))
    })
}

fn share(one: &[String], other: &[String]) -> bool {
    one.iter().any(|name| other.contains(name))
}

/// What both reports measured and judged.
struct Shared<'a> {
    profiles: HashSet<&'a str>,
    kernels: HashMap<&'a str, Vec<&'a Change>>,
}

impl<'a> Shared<'a> {
    fn new(old: &'a Device, new: &'a Device, changes: &'a [Change]) -> Shared<'a> {
        let is_old = |id: &str, version: &str| {
            old.profiles.iter().any(|one| one.id == id && one.version == version)
        };
        let profiles =
            new.profiles.iter().filter(|one| is_old(&one.id, &one.version)).map(|one| &*one.id);
        let mut kernels: HashMap<&str, Vec<&Change>> = HashMap::new();
        for change in changes {
            kernels.entry(&*change.id).or_default().push(change);
        }
        Shared { profiles: profiles.collect(), kernels }
    }

    fn change(&self, old: Option<&Cause>, new: Option<&Cause>) -> Option<Change> {
        let gravity = |cause: &Cause| -> Gravity { (cause.severity, cause.lanes, cause.distance) };
        let cause = new.or(old)?;
        let change = of_cause(&cause.id, &cause.headline, old.map(gravity), new.map(gravity))?;
        let is_accepted = change.kind == ChangeKind::Fixed;
        let mut sides = [old, new].into_iter().flatten();
        if !sides.any(|one| self.shows(one, is_accepted)) {
            return None;
        }
        // What constants alone show now may have shown at run time before.
        let constants_only =
            [old, new].into_iter().flatten().all(|one| one.scope == Scope::Constants);
        let lanes = self.lane(cause, is_accepted);
        // Of a cause that one report has alone, where the other has no such lane, what it shows.
        let is_alone = lanes.is_none() && old.is_some() != new.is_some();
        let evidence = cause.evidence.iter().take(1).filter(|_| is_alone).cloned();
        Some(Change {
            constants_only,
            profiles: cause.profiles.clone(),
            evidence: evidence.collect(),
            lanes,
            ..change
        })
    }

    /// A lane that a rule which the cause breaks accepts now and did not before, or the other way
    /// round. It is one that the cause shows itself, since that has what its headline says.
    fn lane(&self, cause: &Cause, is_accepted: bool) -> Option<ChangedLanes> {
        let one = |lanes: &ChangedLanes, lane: &LaneChange| ChangedLanes {
            changed: vec![lane.clone()],
            ..lanes.clone()
        };
        let is_shown = |lanes: &&ChangedLanes| {
            lanes.judged.iter().any(|said| is_of_cause(said, cause, is_accepted))
        };
        let of_evidence = |own: &Evidence| {
            let lanes = self.of(&own.kernel).iter().filter_map(|change| change.lanes.as_ref());
            lanes.filter(is_shown).find_map(|lanes| {
                let lane = lanes.changed.iter().find(|lane| lane.inputs == own.inputs)?;
                Some(one(lanes, lane))
            })
        };
        cause.evidence.iter().find_map(of_evidence)
    }

    fn of(&self, kernel: &str) -> &[&'a Change] {
        self.kernels.get(kernel).map_or(&[], Vec::as_slice)
    }

    /// Whether both reports measured all of a cause, on the same inputs.
    fn covers(&self, cause: &Cause) -> bool {
        let is_whole = |change: &&Change| {
            change.lanes.as_ref().is_some_and(|lanes| lanes.compared > 0 && lanes.apart == 0)
        };
        self.judged(cause)
            && !cause.kernels.is_empty()
            && cause.kernels.iter().all(|kernel| self.of(kernel).iter().all(is_whole))
    }

    /// Whether what both reports measured shows that lanes of a cause are accepted now and were not
    /// before, or the other way round.
    fn shows(&self, cause: &Cause, is_accepted: bool) -> bool {
        let kind = if is_accepted { ChangeKind::Fixed } else { ChangeKind::Regressed };
        let is_shown = |change: &&Change| {
            let lanes = change.lanes.as_ref().filter(|lanes| lanes.compared > 0);
            let is_said = |said: &LaneVerdict| is_of_cause(said, cause, is_accepted);
            lanes.is_some_and(|lanes| change.kind == kind || lanes.judged.iter().any(is_said))
        };
        let kernels = || cause.kernels.iter().flat_map(|kernel| self.of(kernel));
        self.judged(cause) && kernels().any(is_shown)
    }

    fn judged(&self, cause: &Cause) -> bool {
        cause.profiles.iter().all(|profile| self.profiles.contains(&**profile))
    }
}

/// Whether it is a rule of the cause that accepts now what it did not, or the other way round.
fn is_of_cause(said: &LaneVerdict, cause: &Cause, is_accepted: bool) -> bool {
    (said.old, said.new) == (!is_accepted, is_accepted)
        && cause.profiles.contains(&said.profile)
        && said.rules.iter().any(|rule| cause.rules.contains(rule))
}
