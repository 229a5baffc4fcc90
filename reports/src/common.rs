//! What two reports have in common: the kernels that both asked of a device, judged again as if nothing else had been.
//!
//! A quick run asks a part of what a default run asks. Compared as they are, everything else would have vanished, and rules
//! would have become incomplete that nobody looked at.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::Profile;

use crate::judged;
use crate::model::{Device, Report};
use crate::record::{RecordError, Recorder, read_device};

/// Kernel ids by slot.
type Asked = HashMap<String, HashSet<String>>;

/// Findings of the measurement itself, which a part of it need not repeat.
const MEASURED: &str = "company";

/// Leaves of two reports what both asked, and has it judged by these profiles.
pub fn common(profiles: &[Profile], old: &mut Report, new: &mut Report) -> Result<(), RecordError> {
    let asked = [asked(old), asked(new)];
    narrow(old, &asked[1], profiles)?;
    narrow(new, &asked[0], profiles)
}

fn asked(report: &Report) -> Asked {
    let mut asked = Asked::new();
    for device in &report.devices {
        let kernels = device.observations.iter().map(|observation| observation.kernel.clone());
        asked.entry(device.identity.slot.clone()).or_default().extend(kernels);
    }
    asked
}

fn narrow(report: &mut Report, wanted: &Asked, profiles: &[Profile]) -> Result<(), RecordError> {
    report.devices.retain(|device| wanted.contains_key(&device.identity.slot));
    let inputs = std::mem::take(&mut report.inputs);
    let mut recorder = Recorder::new();
    for device in &mut report.devices {
        let Some(kernels) = wanted.get(&device.identity.slot) else { continue };
        let mut observations = read_device(&device.observations, &inputs)?.observations;
        observations.retain(|observation| kernels.contains(&observation.kernel.to_string()));
        device.observations = recorder.device(&observations);
        rejudge(device, profiles, &observations);
        device.findings.retain(|finding| finding.kind != MEASURED);
    }
    report.inputs = recorder.inputs_table();
    Ok(())
}

/// Judges a device again by these observations. Findings that were made while measuring stay.
pub fn rejudge(device: &mut Device, profiles: &[Profile], observations: &[fpprobe_profiles::Observation]) {
    let judged = judged::judge(profiles, observations);
    device.profiles = judged.profiles;
    device.answers = judged.answers;
    device.texels = judged.texels;
    device.findings.retain(|finding| finding.kind == MEASURED);
    let unclaimed = crate::demanded::unclaimed(&device.identity, &device.claims);
    device.findings.splice(0..0, unclaimed.into_iter().chain(judged.findings));
}
