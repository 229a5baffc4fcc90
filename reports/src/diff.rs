//! What changed between two reports, or two sets of them: after a driver update, whether it
//! matters, and the proof.
//!
//! Devices are matched by slot. Bits are compared input by input; verdicts before and now are the
//! reports' own, and of each changed input what the present profiles accept. The same driver
//! measured twice has no difference: whatever a run holds that is not the device's doing (times,
//! file names) is not compared.

mod causes;
mod devices;
mod kernels;
mod lanes;
mod model;
mod regression;
mod render;
mod standing;

use std::collections::{BTreeMap, HashSet};

use fpprobe_profiles::{Profile, parallel};

use self::devices::{DeviceInReport, DevicePair};
use self::lanes::LaneJudge;
pub use self::model::*;
use self::regression::OldAndNew;
pub use self::render::{DIFFS, DiffFormat, RenderDiff};
use crate::change::{Change, ChangeKind, Subject, headlines};
use crate::load::LoadedReport;
use crate::model::{Device, Program};
use crate::record::{DeviceContent, RecordError, UnknownKernel, read_device};

/// Why two reports cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "failed to compare the observations of `{device}` in {file}: {cause}; was the report edited by hand?"
)]
pub struct DiffError {
    /// The report.
    pub file: String,
    /// Slot of the device.
    pub device: String,
    /// What is wrong.
    pub cause: Box<RecordError>,
}

/// A comparison, and what could not be compared.
#[derive(Clone, PartialEq, Debug)]
pub struct DiffResult {
    /// The comparison.
    pub diff: Diff,
    /// Kernels of other versions of the program.
    pub unknown: Vec<UnknownKernel>,
}

/// Compares reports. Changed inputs are judged by these profiles; verdicts of rules are the
/// reports' own.
pub fn compare(
    program: Program,
    profiles: &[Profile],
    old: &[LoadedReport],
    new: &[LoadedReport],
) -> Result<DiffResult, DiffError> {
    let mut unknown: Vec<UnknownKernel> = Vec::new();
    let mut devices = Vec::new();
    for pair in devices::pairs(old, new) {
        devices.push(match pair {
            DevicePair { old: Some(before), new: Some(now) } => {
                both(profiles, before, now, &mut unknown)?
            }
            DevicePair { old: Some(one), new: None } => alone(&one, ChangeKind::Disappeared),
            DevicePair { old: _, new: one } => match one {
                Some(one) => alone(&one, ChangeKind::Appeared),
                None => continue,
            },
        });
    }
    let incidents = |side: &[LoadedReport]| {
        side.iter().flat_map(|loaded| loaded.report.incomplete.clone()).collect::<Vec<_>>()
    };
    let incomplete = standing::incidents(&incidents(old), &incidents(new), |incident| incident);
    let sources = |reports: &[LoadedReport]| reports.iter().map(source).collect();
    let mut summary = Summary::of(&devices);
    summary.empty &= incomplete.is_empty();
    let schema = SCHEMA.to_owned();
    let diff = Diff {
        schema,
        program,
        old: sources(old),
        new: sources(new),
        summary,
        incomplete,
        devices,
    };
    Ok(DiffResult { diff, unknown })
}

fn source(loaded: &LoadedReport) -> ReportSource {
    let LoadedReport { file, report } = loaded;
    ReportSource {
        file: file.clone(),
        program: report.program.version.clone(),
        host: report.host.id.clone(),
        started: report.started.clone(),
        run: report.run,
    }
}

fn both(
    profiles: &[Profile],
    old: DeviceInReport<'_>,
    new: DeviceInReport<'_>,
    unknown: &mut Vec<UnknownKernel>,
) -> Result<DeviceDiff, DiffError> {
    let sides = [old, new];
    let mut recorded = parallel::map(&sides, read).into_iter();
    let (Some(before), Some(now)) = (recorded.next(), recorded.next()) else {
        return Ok(device(&new, Vec::new()));
    };
    let (before, now) = (before?, now?);
    for one in before.unknown.into_iter().chain(now.unknown) {
        if !unknown.contains(&one) {
            unknown.push(one);
        }
    }
    let both = [old.device, new.device];
    let bench = LaneJudge { profiles, met: both.map(|device| standing::met(profiles, device)) };
    let kernels = kernels::changes(&bench, &before.observations, &now.observations);
    let causes = causes::causes(both, &kernels);
    let results = OldAndNew::new(&before.observations, &now.observations);
    let [was, is] = both;
    let changes = [
        standing::identity(was, is),
        standing::profiles(was, is),
        // How long a module was that a kernel crashed in is chance.
        standing::incidents(&was.incomplete, &is.incomplete, |one| (&one.subject, one.outcome)),
        standing::traits(was, is),
        causes,
        standing::rules(profiles, was, is, &results),
        standing::claims(&was.claims, &is.claims),
        standing::findings(was, is),
        kernels,
    ];
    Ok(device(&new, changes.concat()))
}

fn read(
    DeviceInReport { file, report, device }: &DeviceInReport<'_>,
) -> Result<DeviceContent, DiffError> {
    read_device(&device.observations, &report.inputs).map_err(|cause| DiffError {
        file: (*file).to_owned(),
        device: device.identity.slot.clone(),
        cause: Box::new(cause),
    })
}

/// Its driver, as the driver calls itself.
fn driver(device: &Device) -> String {
    let driver = &device.identity.driver;
    if driver.info.is_empty() {
        driver.name.clone()
    } else {
        format!("{} {}", driver.name, driver.info)
    }
}

fn alone(one: &DeviceInReport<'_>, kind: ChangeKind) -> DeviceDiff {
    device(one, vec![Change::new(kind, Subject::Device, driver(one.device))])
}

fn device(one: &DeviceInReport<'_>, changes: Vec<Change>) -> DeviceDiff {
    let identity = &one.device.identity;
    DeviceDiff {
        slot: identity.slot.clone(),
        name: identity.name.clone(),
        driver: driver(one.device),
        host: one.report.host.id.clone(),
        headlines: headlines(&changes),
        changes,
    }
}

impl Summary {
    fn of(devices: &[DeviceDiff]) -> Summary {
        let count =
            |presence| devices.iter().filter(|device| device.presence() == presence).count();
        let is_of_driver = |change: &Change| {
            change.subject == Subject::Identity && change.id.starts_with("driver.")
        };
        let mut counts: BTreeMap<(ChangeKind, Subject), Count> = BTreeMap::new();
        let mut kernels = HashSet::new();
        for (place, change) in devices
            .iter()
            .enumerate()
            .flat_map(|(place, one)| one.changes.iter().map(move |of| (place, of)))
        {
            let Change { kind, subject, .. } = *change;
            let count = counts.entry((kind, subject)).or_insert(Count {
                kind,
                subject,
                changes: 0,
                lanes: 0,
            });
            count.changes += 1;
            if subject == Subject::Kernel && !change.changed().is_empty() {
                count.lanes += change.changed().len();
                kernels.insert((place, &change.id));
            }
        }
        Summary {
            empty: devices.iter().all(DeviceDiff::is_empty),
            compared: count(None),
            appeared: count(Some(ChangeKind::Appeared)),
            disappeared: count(Some(ChangeKind::Disappeared)),
            updated: devices
                .iter()
                .filter(|device| device.changes.iter().any(is_of_driver))
                .count(),
            kernels: kernels.len(),
            lanes: counts.values().map(|count| count.lanes).sum(),
            counts: counts.into_values().collect(),
        }
    }
}
