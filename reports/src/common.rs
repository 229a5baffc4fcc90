//! What two reports have in common: what both asked of a device, judged again as if nothing else
//! had been.
//!
//! A quick run asks a part of what a default run asks. Compared as they are, everything else would
//! have vanished, and rules would have become incomplete that nobody looked at. Two default runs
//! ask otherwise where their devices offer other controls; the verdicts of each rest on all that it
//! asked, and stay.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use fpprobe_profiles::judge::{Judge, Observations, judge};
use fpprobe_profiles::{Observation, Profile};
use fpprobe_spirv::{Cases, Kernel};

use crate::judged::{self, DeviceJudgement};
use crate::model::{Device, LEFT_OUT, Report};
use crate::record::{RecordError, Recorder, read_device};

/// What was asked, by slot and kernel.
type InputsBySlot = HashMap<String, HashMap<Kernel, Cases>>;

/// The kind of findings of kernels whose isolated results are not their batched ones.
pub const BATCH_DEPENDENT: &str = "batch_dependent";

/// Findings of the measurement itself, which a part of it need not repeat; earlier programs called
/// the kind `company`.
const MEASURED: [&str; 2] = [BATCH_DEPENDENT, "company"];

/// Leaves of two reports what both asked, and has it judged by these profiles.
pub fn common(profiles: &[Profile], old: &mut Report, new: &mut Report) -> Result<(), RecordError> {
    common_by(&Judge::together(profiles), old, new)
}

/// The same by judges that may have seen some of the answers before: of those they know what they
/// found.
pub fn common_by(
    judges: &[Judge<'_>],
    old: &mut Report,
    new: &mut Report,
) -> Result<(), RecordError> {
    let observations = [observations(old)?, observations(new)?];
    let [of_old, of_new] = observations.each_ref().map(|devices| inputs_by_slot(devices));
    let [olds, news] = observations;
    let differ_by_controls: HashSet<String> = of_old
        .keys()
        .filter(|slot| differ_by_controls(of_old.get(*slot), of_new.get(*slot)))
        .cloned()
        .collect();
    // What was answered now is judged first: a run that compares has judged it already.
    narrow(new, news, &of_old, &differ_by_controls, judges);
    narrow(old, olds, &of_new, &differ_by_controls, judges);
    Ok(())
}

/// Whether what one of two was asked and the other was not is under controls alone, which runs ask
/// where a device offers them.
fn differ_by_controls(
    old: Option<&HashMap<Kernel, Cases>>,
    new: Option<&HashMap<Kernel, Cases>>,
) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return false };
    let within = |one: &HashMap<Kernel, Cases>, other: &HashMap<Kernel, Cases>| {
        one.iter().all(|(kernel, cases)| {
            other.get(kernel).map_or_else(|| !kernel.controls.is_empty(), |others| cases == others)
        })
    };
    within(old, new) && within(new, old)
}

/// Of each device its slot and its observations.
fn observations(report: &Report) -> Result<Vec<(String, Vec<Observation>)>, RecordError> {
    let read = |device: &Device| {
        let recorded = read_device(&device.observations, &report.inputs)?;
        Ok((device.identity.slot.clone(), recorded.observations))
    };
    report.devices.iter().map(read).collect()
}

fn inputs_by_slot(devices: &[(String, Vec<Observation>)]) -> InputsBySlot {
    let mut measured = InputsBySlot::default();
    for (slot, observations) in devices {
        let kernels =
            observations.iter().map(|observation| (observation.kernel, observation.cases.clone()));
        measured.entry(slot.clone()).or_default().extend(kernels);
    }
    measured
}

fn narrow(
    report: &mut Report,
    devices: Vec<(String, Vec<Observation>)>,
    inputs: &InputsBySlot,
    differ_by_controls: &HashSet<String>,
    judges: &[Judge<'_>],
) {
    let mut recorder = Recorder::new();
    for (device, (slot, mut observations)) in report.devices.iter_mut().zip(devices) {
        let Some(kernels) = inputs.get(&slot) else { continue };
        let whole = device.observations.len();
        let mut cut = false;
        observations.retain_mut(|observation| {
            let Some(cases) = kernels.get(&observation.kernel) else { return false };
            let differ = *cases != observation.cases;
            if differ {
                cut = true;
                *observation = of_cases(observation, cases);
            }
            !differ || !observation.cases.is_empty()
        });
        let isolated = device.observations.iter().filter(|one| one.isolated);
        let isolated: HashSet<String> = isolated.map(|one| one.kernel.clone()).collect();
        device.observations = recorder.device(&observations);
        device
            .observations
            .iter_mut()
            .for_each(|one| one.isolated = isolated.contains(&one.kernel));
        // What befell a kernel that the other did not ask is no difference.
        let apart = |subject: &str| {
            subject.parse().is_ok_and(|kernel: Kernel| !kernels.contains_key(&kernel))
        };
        // What is whole was judged when it was measured.
        let is_less = cut || observations.len() < whole && !differ_by_controls.contains(&slot);
        if is_less || !is_judged_by(device, judges) {
            let index = Observations::new(&observations);
            let judged = judged::rules(judges, &judge(judges, &index), &index);
            (device.answers, device.texels) = (Vec::new(), Vec::new());
            take(device, judged);
        } else {
            device
                .findings
                .retain(|finding| !finding.evidence.iter().any(|lane| apart(&lane.kernel)));
        }
        device.findings.retain(|finding| !MEASURED.contains(&&*finding.kind));
        device
            .incomplete
            .retain(|incident| !apart(&incident.subject) && !incident.detail.starts_with(LEFT_OUT));
    }
    report.devices.retain(|device| inputs.contains_key(&device.identity.slot));
    report.inputs = recorder.inputs_table();
}

/// The part of an observation that is of these cases: each as often as both have it, at most.
fn of_cases(observation: &Observation, others: &Cases) -> Observation {
    let mut measured: HashMap<&[u64], usize> = HashMap::default();
    others.iter().for_each(|case| *measured.entry(case).or_default() += 1);
    let Observation { kernel, cases, .. } = observation;
    let mut is_measured = |case: &usize| {
        let left = measured.get_mut(cases.case(*case)).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    let kept: Vec<usize> = (0..cases.len()).filter(&mut is_measured).collect();
    let pick = |values: &[u64], width: usize| -> Arc<[u64]> {
        kept.iter()
            .filter_map(|case| values.get(case * width..(case + 1) * width))
            .flatten()
            .copied()
            .collect()
    };
    let values: Vec<u64> = kept.iter().flat_map(|case| cases.case(*case)).copied().collect();
    Observation {
        cases: Cases::new("", kernel.arity(), values),
        out: pick(&observation.out, kernel.outputs()),
        second: observation.second.as_deref().map(|second| pick(second, kernel.outputs())),
        ..observation.clone()
    }
}

/// Whether a device's verdicts are those of just these profiles.
fn is_judged_by(device: &Device, judges: &[Judge<'_>]) -> bool {
    let own = device.profiles.iter().map(|profile| (&profile.id, &profile.version));
    own.eq(judges.iter().map(Judge::profile).map(|profile| (&profile.id, &profile.version)))
}

/// Judges a device again by these observations. Findings that were made while measuring stay.
pub fn rejudge(device: &mut Device, profiles: &[Profile], observations: &[Observation]) {
    let mut judged = judged::judge(profiles, observations);
    device.answers = std::mem::take(&mut judged.answers);
    device.texels = std::mem::take(&mut judged.texels);
    take(device, judged);
}

/// Takes over verdicts and findings.
fn take(device: &mut Device, judged: DeviceJudgement) {
    (device.profiles, device.causes, device.traits) =
        (judged.profiles, judged.causes, judged.traits);
    device.findings.retain(|finding| MEASURED.contains(&&*finding.kind));
    let unclaimed = crate::demanded::unclaimed(&device.identity, &device.claims);
    device.findings.splice(0..0, unclaimed.into_iter().chain(judged.findings));
    device.score();
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_case_stays_as_often_as_both_have_it() {
        let cases = |list: &[u64]| Cases::new("", 1, list);
        let observation = Observation::ran(
            "f32.sqrt".parse().unwrap(),
            cases(&[1, 2, 1, 3, 1]),
            [10, 20, 11, 30, 12].into(),
        );
        let part = of_cases(&observation, &cases(&[3, 1, 4, 1]));
        assert_eq!((part.cases, &part.out[..]), (cases(&[1, 1, 3]), &[10, 11, 30][..]));
    }
}
