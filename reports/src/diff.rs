//! What changed between two reports, or two sets of them: after a driver update, whether it matters, and the proof.
//!
//! Devices are matched by slot. Bits are compared input by input; verdicts before and now are the reports' own, and of
//! each changed input what the present profiles accept. The same driver measured twice has no difference: whatever a run
//! holds that is not the device's doing (times, file names) is not compared.

mod causes;
mod devices;
mod kernels;
mod lanes;
mod model;
mod regression;
mod render;
mod standing;
mod words;

use std::collections::BTreeMap;

use fpprobe_profiles::{Profile, parallel};

use self::devices::{DeviceInReport, DevicePair};
use self::lanes::LaneJudge;
pub use self::model::*;
use self::regression::OldAndNew;
pub use self::render::{DIFFS, DiffFormat, RenderDiff};
use crate::load::LoadedReport;
use crate::model::{Device, Program};
use crate::record::{DeviceContent, RecordError, UnknownKernel, read_device};

/// Why two reports cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("failed to compare the observations of `{device}` in {file}: {cause}; was the report edited by hand?")]
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

/// Compares reports. Changed inputs are judged by these profiles; verdicts of rules are the reports' own.
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
            DevicePair { old: Some(before), new: Some(now) } => both(profiles, before, now, &mut unknown)?,
            DevicePair { old: Some(one), new: None } => alone(&one, Presence::Vanished),
            DevicePair { old: _, new: one } => match one {
                Some(one) => alone(&one, Presence::Appeared),
                None => continue,
            },
        });
    }
    let incidents =
        |side: &[LoadedReport]| side.iter().flat_map(|loaded| loaded.report.incomplete.clone()).collect::<Vec<_>>();
    let incomplete = standing::incidents(&incidents(old), &incidents(new), |incident| incident);
    let sources = |reports: &[LoadedReport]| reports.iter().map(source).collect();
    let mut summary = Summary::of(&devices);
    summary.empty &= incomplete.is_empty();
    let schema = SCHEMA.to_owned();
    let diff = Diff { schema, program, old: sources(old), new: sources(new), summary, incomplete, devices };
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
    let (Some(before), Some(now)) = (recorded.next(), recorded.next()) else { return Ok(alone(&new, Presence::Both)) };
    let (before, now) = (before?, now?);
    for one in before.unknown.into_iter().chain(now.unknown) {
        if !unknown.contains(&one) {
            unknown.push(one);
        }
    }
    let (report, old, new) = (new.report, old.device, new.device);
    let bench = LaneJudge { profiles, met: [old, new].map(|device| standing::met(profiles, device)) };
    let kernels = kernels::changes(&bench, &before.observations, &now.observations);
    let host = report.host.id.clone();
    let (traits, causes) = (standing::traits(old, new), causes::causes(old, new, &kernels));
    Ok(DeviceDiff {
        slot: new.identity.slot.clone(),
        name: new.identity.name.clone(),
        driver: driver(new),
        host,
        presence: Presence::Both,
        headlines: words::headlines(&traits, &causes),
        identity: standing::identity(old, new),
        traits,
        causes,
        profiles: standing::profiles(old, new),
        rules: standing::rules(profiles, old, new, &OldAndNew::new(&before.observations, &now.observations)),
        claims: standing::claims(&old.claims, &new.claims),
        findings: standing::findings(old, new),
        // How long a module was that a kernel crashed in is chance.
        incomplete: standing::incidents(&old.incomplete, &new.incomplete, |one| (&one.subject, one.outcome)),
        kernels,
    })
}

fn read(DeviceInReport { file, report, device }: &DeviceInReport<'_>) -> Result<DeviceContent, DiffError> {
    read_device(&device.observations, &report.inputs).map_err(|cause| DiffError {
        file: (*file).to_owned(),
        device: device.identity.slot.clone(),
        cause: Box::new(cause),
    })
}

/// Its driver, as the driver calls itself.
fn driver(device: &Device) -> String {
    let driver = &device.identity.driver;
    if driver.info.is_empty() { driver.name.clone() } else { format!("{} {}", driver.name, driver.info) }
}

fn alone(one: &DeviceInReport<'_>, presence: Presence) -> DeviceDiff {
    let identity = &one.device.identity;
    DeviceDiff {
        slot: identity.slot.clone(),
        name: identity.name.clone(),
        driver: driver(one.device),
        host: one.report.host.id.clone(),
        presence,
        headlines: Vec::new(),
        identity: Vec::new(),
        traits: Vec::new(),
        causes: Vec::new(),
        profiles: Vec::new(),
        rules: Vec::new(),
        claims: Vec::new(),
        findings: Vec::new(),
        incomplete: Vec::new(),
        kernels: Vec::new(),
    }
}

impl Summary {
    fn of(devices: &[DeviceDiff]) -> Summary {
        let count = |presence| devices.iter().filter(|device| device.presence == presence).count();
        let is_of_driver = |field: &FieldChange| field.field.starts_with("driver.");
        let mut kinds: BTreeMap<ChangeKind, Count> = BTreeMap::new();
        let mut at = |kind: ChangeKind, add: &dyn Fn(&mut Count)| {
            add(kinds.entry(kind).or_insert(Count { kind, rules: 0, kernels: 0, lanes: 0, claims: 0 }));
        };
        for device in devices {
            device.rules.iter().for_each(|rule| at(rule.kind, &|count| count.rules += 1));
            device.claims.iter().for_each(|_| at(ChangeKind::Claim, &|count| count.claims += 1));
            for kernel in &device.kernels {
                at(kernel.kind, &|count| count.kernels += 1);
                kernel.groups.iter().for_each(|group| at(group.kind, &|count| count.lanes += group.lanes.len()));
            }
        }
        let kernels = || devices.iter().flat_map(|device| &device.kernels);
        Summary {
            empty: devices.iter().all(DeviceDiff::is_empty),
            compared: count(Presence::Both),
            appeared: count(Presence::Appeared),
            vanished: count(Presence::Vanished),
            updated: devices.iter().filter(|device| device.identity.iter().any(is_of_driver)).count(),
            kernels: kernels().filter(|kernel| kernel.changed > 0).count(),
            lanes: kernels().map(|kernel| kernel.changed).sum(),
            kinds: kinds.into_values().collect(),
        }
    }
}

impl DeviceDiff {
    /// Whether nothing of it changed.
    pub fn is_empty(&self) -> bool {
        let DeviceDiff { presence, identity, traits, causes, profiles, rules, claims, .. } = self;
        let DeviceDiff { findings, incomplete, kernels, .. } = self;
        *presence == Presence::Both
            && identity.is_empty()
            && profiles.is_empty()
            && rules.is_empty()
            && claims.is_empty()
            && traits.is_empty()
            && causes.is_empty()
            && findings.is_empty()
            && incomplete.is_empty()
            && kernels.is_empty()
    }
}
