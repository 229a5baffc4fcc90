//! What became of an accepted cause, where it is not as it was accepted.

use fpprobe_profiles::Verdict;

use super::rows::fixed;
use super::{Acceptance, FailingDevice};
use crate::change::{Change, ChangeKind, DeviceName, Subject};
use crate::failed::CaseList;
use crate::render::phrase;

/// How much of an entry a device shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ShownExtent {
    /// Lanes of all profiles that judged the device, of kernels that it has run.
    pub(super) lanes: usize,
    /// Those that do not fail any more.
    pub(super) fixed: usize,
    /// Kernels of the entry.
    pub(super) kernels: usize,
    /// Those that did not run, or ran a shorter list of cases.
    pub(super) unmeasured: usize,
    /// Profiles of the entry that did not judge the device.
    pub(super) unjudged: usize,
    /// Whether some of these kernels fail.
    pub(super) fails: bool,
}

impl ShownExtent {
    /// Of an entry all of whose lanes are known.
    pub(super) fn of(one: &Acceptance, device: &FailingDevice<'_>) -> ShownExtent {
        let mut extent = ShownExtent::default();
        for profile in one.lanes.profiles() {
            extent.unjudged += usize::from(device.of_profile(profile).is_none());
        }
        for ((profile, kernel), prints) in one.lanes.iter() {
            let list = device.results.list(kernel);
            extent.kernels += 1;
            extent.unmeasured += usize::from(list != Some(CaseList::Whole));
            if let (Some(of), Some(list)) = (device.of_profile(profile), list) {
                extent.fails |= !of.is_known() || !of.of_kernel(kernel).is_empty();
                extent.lanes += prints.iter().map(|one| one.of_list(list).count).sum::<usize>();
                extent.fixed +=
                    prints.iter().map(|one| fixed(one, of, (kernel, list))).sum::<usize>();
            }
        }
        extent
    }

    /// Whether nothing of it fails, though all of it was measured and judged.
    pub(super) fn is_fixed(self) -> bool {
        self.unmeasured == 0 && self.unjudged == 0 && self.fixed == self.lanes
    }
}

/// What became of an entry on the devices of a report; `None` where one of them shows all of it.
pub(crate) fn standing(one: &Acceptance, devices: &[FailingDevice<'_>]) -> Option<Change> {
    let profiles = || one.lanes.profiles().into_iter().map(str::to_owned).collect();
    let change = |kind: ChangeKind, note: String| Change {
        device: Some(DeviceName { name: one.device.clone(), key: String::new() }),
        text: one.headline.clone(),
        note,
        profiles: profiles(),
        ..Change::new(kind, Subject::Cause, &one.cause)
    };
    let about = devices.iter().filter(|device| one.is_about(&device.device.identity));
    let mut about: Vec<&FailingDevice<'_>> = about.collect();
    // Where some have the driver that it is accepted of, the others do not matter.
    if about.iter().any(|device| one.applies(&device.device.identity)) {
        about.retain(|device| one.applies(&device.device.identity));
    }
    let mut standing = change(ChangeKind::Disappeared, "no such device in the report".to_owned());
    for device in about {
        if one.failing.is_some() {
            let (kind, note) = of_rule(one, device)?;
            standing = change(kind, note);
            continue;
        }
        let extent @ ShownExtent { lanes, fixed, kernels, unmeasured, .. } =
            ShownExtent::of(one, device);
        let profiles = one.lanes.profiles();
        if !profiles.is_empty() && extent.unjudged == profiles.len() {
            let note = format!("the device was not judged by {}", profiles.join(", "));
            standing = change(ChangeKind::Disappeared, note);
        } else if extent.is_fixed() {
            let old = Some(phrase::number(lanes, "lane"));
            standing = Change { old, ..change(ChangeKind::Fixed, "shows no more".to_owned()) };
        } else if fixed == lanes || !extent.fails {
            let note = format!(
                "shows no more, though {unmeasured} of the {kernels} kernels that showed it were not measured, or not in full"
            );
            standing = change(ChangeKind::Disappeared, note);
        } else if fixed > 0 {
            let note = format!(
                "shows, though not on {fixed} of the {lanes} accepted lanes of all kernels"
            );
            standing = Change {
                old: Some(phrase::grouped(lanes)),
                new: Some(phrase::number(lanes - fixed, "lane")),
                ..change(ChangeKind::Fixed, note)
            };
        } else {
            return None;
        }
    }
    Some(standing)
}

/// What became of an entry of which only a rule is known; `None` where that deviates.
pub(super) fn of_rule(
    one: &Acceptance,
    device: &FailingDevice<'_>,
) -> Option<(ChangeKind, String)> {
    let (profile, id) = one.rule().unwrap_or((&one.cause, ""));
    let Some(of) = device.of_profile(profile) else {
        let note = "the device was not judged by this profile".to_owned();
        return Some((ChangeKind::Disappeared, note));
    };
    if of.rules.iter().any(|other| other.rule.id == id) {
        return None;
    }
    let Some(rule) = of.profile.rules.iter().find(|rule| rule.id == id) else {
        return Some((ChangeKind::Disappeared, "the profile has no such rule".to_owned()));
    };
    match rule.verdict {
        Verdict::Unsupported | Verdict::Incomplete => {
            let parts = [rule.verdict.name(), &rule.behaviour];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            Some((ChangeKind::Disappeared, parts.join(": ")))
        }
        met => Some((ChangeKind::Fixed, met.name().to_owned())),
    }
}
