//! What was measured, beside what the baseline's report measured: a kernel that ran then and does
//! not run now fails the gate, and so does one that the device claims to support and never ran.

use std::collections::HashMap;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Kernel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{is_loss, who};
use crate::baseline::{Baseline, MeasuredCoverage, is_plain};
use crate::change::{Change, ChangeKind, DeviceName, Subject};
use crate::model::{Device, Report, StoredObservation};
use crate::render::phrase;

/// What was measured of one device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoverageCheck {
    /// The device.
    pub device: DeviceName,
    /// Kernels that the baseline's report measured; 0 where the baseline does not say.
    pub baseline: usize,
    /// Those of them that this report measured, or lost.
    pub both: usize,
    /// Those without controls that it did not select. Of kernels under controls each run selects
    /// those that its driver offers.
    pub unselected: usize,
}

/// What was measured of a device. Kernels that did not run, though they ran before or the device
/// claims to support them, are changes; what crashed and the like is a loss of this run, whatever
/// was before.
pub(super) fn of(device: &Device, baseline: &Baseline, changes: &mut Vec<Change>) -> CoverageCheck {
    let unrun = |kernel: &str, outcome: Outcome, detail: String, before: bool| {
        let subject = if before && !is_loss(outcome) { Subject::Kernel } else { Subject::Incident };
        Change {
            device: Some(who(device)),
            old: before.then(|| phrase::outcome(Outcome::Ran).to_owned()),
            new: Some(phrase::outcome(outcome).to_owned()),
            note: detail,
            ..Change::new(ChangeKind::Disappeared, subject, kernel)
        }
    };
    let known: Vec<&MeasuredCoverage> =
        baseline.measured.iter().filter(|one| one.applies(&device.identity)).collect();
    let observed: HashMap<&str, &StoredObservation> =
        device.observations.iter().map(|one| (one.kernel.as_str(), one)).collect();
    let ran_before = |kernel: &str| known.iter().any(|one| one.kernels.contains(kernel));
    let accepted = |one: &StoredObservation| {
        let failed =
            |known: &&MeasuredCoverage| known.failed.get(&one.kernel) == Some(&one.outcome);
        known.iter().any(failed)
    };
    let mut covered = CoverageCheck { device: who(device), baseline: 0, both: 0, unselected: 0 };
    for (place, one) in known.iter().enumerate() {
        // Of a kernel that several entries hold the first counts.
        let fresh =
            |kernel: &&String| !known[..place].iter().any(|other| other.kernels.contains(*kernel));
        for kernel in one.kernels.iter().filter(fresh) {
            covered.baseline += 1;
            let ended = match observed.get(kernel.as_str()) {
                Some(one) => Some((one.outcome, one.detail.clone())),
                None => unclaimed(device, kernel).map(|detail| (Outcome::Unsupported, detail)),
            };
            let Some((outcome, detail)) = ended else {
                covered.unselected += usize::from(is_plain(kernel));
                continue;
            };
            covered.both += 1;
            if !outcome.answered() {
                changes.push(unrun(kernel, outcome, detail, true));
            }
        }
    }
    let failed = device.observations.iter().filter(|one| one.outcome.is_failure());
    let new = failed.filter(|one| !ran_before(&one.kernel) && !accepted(one));
    changes.extend(new.map(|one| unrun(&one.kernel, one.outcome, one.detail.clone(), false)));
    covered
}

/// The mode of a kernel that was not asked which the device does not claim any more.
fn unclaimed(device: &Device, kernel: &str) -> Option<String> {
    let kernel: Kernel = kernel.parse().ok()?;
    let mut claims = kernel.controls.iter().filter_map(fpprobe_spirv::Control::claim);
    let claim = claims.find(|claim| device.claims.flags.get(*claim) == Some(&false))?;
    Some(format!("the device does not claim {claim} any more"))
}

/// Devices that must be there and are not: of a machine that the baseline knows, its own; of
/// another, all.
pub(super) fn missing(report: &Report, baseline: &Baseline) -> Vec<Change> {
    let knows = |one: &MeasuredCoverage| one.hosts.contains(&report.host.id);
    let is_known = baseline.measured.iter().any(knows);
    let expected = baseline.measured.iter().filter(|one| !is_known || knows(one));
    let expected: Vec<&MeasuredCoverage> = expected.collect();
    let present = |one: &MeasuredCoverage| {
        report.devices.iter().filter(|device| one.is_of(&device.identity)).count()
    };
    // Of several versions of a driver of one device, that were there together, each must be there;
    // of one, any may be.
    let of_driver = |one: &MeasuredCoverage| {
        let same = |other: &&&MeasuredCoverage| {
            (&other.device, &other.driver) == (&one.device, &one.driver)
        };
        expected.iter().filter(same).count()
    };
    let applies =
        |one: &MeasuredCoverage| report.devices.iter().any(|device| one.applies(&device.identity));
    let is_missing = |one: &&&MeasuredCoverage| present(one) < of_driver(one) && !applies(one);
    let removed = expected.iter().filter(is_missing);
    let change = |one: &&MeasuredCoverage| Change {
        old: Some(driver(one)),
        ..Change::new(ChangeKind::Disappeared, Subject::Device, &one.device)
    };
    removed.map(change).collect()
}

/// The driver that was measured, with its versions where those tell it from another.
fn driver(one: &MeasuredCoverage) -> String {
    one.versions
        .as_ref()
        .map_or_else(|| one.driver.clone(), |versions| format!("{} {versions}", one.driver))
}
