//! Which device of the old reports is which of the new ones: the one in the same slot, and of
//! several there the one of the same driver.

use crate::load::LoadedReport;
use crate::model::{Device, Report};

/// A device and the report that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceInReport<'a> {
    pub(super) file: &'a str,
    pub(super) report: &'a Report,
    pub(super) device: &'a Device,
}

/// A device in the old and the new reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct DevicePair<'a> {
    pub(super) old: Option<DeviceInReport<'a>>,
    pub(super) new: Option<DeviceInReport<'a>>,
}

/// Whether two devices are alike in something.
type Alike<'l> = &'l dyn Fn(&DeviceInReport<'_>, &DeviceInReport<'_>) -> bool;

/// Every device once: in the order of the new reports, then those that are missing. Machines have
/// the same slots: where there are several on a side, the machine must be the same as well, and of
/// several drivers of one slot the driver: the very same one first, then one of its name, then the
/// one that is left. Where none of that distinguishes them, they are no pair. Of a device that
/// several reports of a side hold under one driver, the latest counts.
pub(super) fn pairs<'a>(old: &'a [LoadedReport], new: &'a [LoadedReport]) -> Vec<DevicePair<'a>> {
    // With one machine on each side there is no other that could be meant.
    let machines = |reports: &[LoadedReport]| {
        reports.windows(2).any(|pair| pair[0].report.host.id != pair[1].report.host.id)
    };
    let several = machines(old) || machines(new);
    let (old, new) = (placed(old), placed(new));
    let in_slot = |one: &DeviceInReport<'_>, other: &DeviceInReport<'_>| {
        one.device.identity.slot == other.device.identity.slot
    };
    let here = |one: &DeviceInReport<'_>, other: &DeviceInReport<'_>| {
        in_slot(one, other) && (!several || one.report.host.id == other.report.host.id)
    };
    let same = |one: &DeviceInReport<'_>, other: &DeviceInReport<'_>| {
        here(one, other) && one.device.identity.key == other.device.identity.key
    };
    let called = |one: &DeviceInReport<'_>, other: &DeviceInReport<'_>| {
        let (one_driver, other_driver) =
            (&one.device.identity.driver, &other.device.identity.driver);
        here(one, other)
            && (one_driver.id, &one_driver.name) == (other_driver.id, &other_driver.name)
    };
    let mut counterparts: Vec<Option<usize>> = vec![None; new.len()];
    let mut matched = vec![false; old.len()];
    let stages: [Alike<'_>; 4] = [&here, &same, &called, &here];
    for alike in &stages {
        let own: Vec<usize> =
            (0..new.len()).filter(|index| counterparts[*index].is_none()).collect();
        let left: Vec<usize> = (0..old.len()).filter(|index| !matched[*index]).collect();
        for index in &own {
            let rivals = own.iter().filter(|other| alike(&new[**other], &new[*index])).count();
            let there: Vec<usize> =
                left.iter().copied().filter(|other| alike(&old[*other], &new[*index])).collect();
            if let (1, [only]) = (rivals, there.as_slice()) {
                counterparts[*index] = Some(*only);
                matched[*only] = true;
            }
        }
    }
    let mut pairs: Vec<DevicePair<'a>> = new
        .iter()
        .zip(counterparts)
        .map(|(one, other)| DevicePair { old: other.map(|index| old[index]), new: Some(*one) })
        .collect();
    let vanished = old.iter().zip(matched).filter(|(_, matched)| !matched);
    pairs.extend(vanished.map(|(one, _)| DevicePair { old: Some(*one), new: None }));
    pairs
}

fn placed(reports: &[LoadedReport]) -> Vec<DeviceInReport<'_>> {
    let devices = reports.iter().flat_map(|LoadedReport { file, report }| {
        report.devices.iter().map(move |device| DeviceInReport { file, report, device })
    });
    let mut placed: Vec<DeviceInReport<'_>> = Vec::new();
    for one in devices {
        let is_same = |other: &&mut DeviceInReport<'_>| {
            let (known, own) = (&other.device.identity, &one.device.identity);
            // Two of one report are two devices, whatever they say of themselves.
            let elsewhere = !std::ptr::eq(other.report, one.report);
            elsewhere
                && other.report.host.id == one.report.host.id
                && (&known.slot, &known.key) == (&own.slot, &own.key)
        };
        match placed.iter_mut().find(is_same) {
            Some(known) if known.report.finished <= one.report.finished => *known = one,
            Some(_) => {}
            None => placed.push(one),
        }
    }
    placed
}
