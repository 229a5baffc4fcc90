//! Which device of the old reports is which of the new ones: the one in the same slot.

use crate::load::Loaded;
use crate::model::{Device, Report};

/// A device and the report that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) file: &'a str,
    pub(super) report: &'a Report,
    pub(super) device: &'a Device,
}

/// A device in the old and the new reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) old: Option<Placed<'a>>,
    pub(super) new: Option<Placed<'a>>,
}

/// Every device once: in the order of the new reports, then those that are gone. Machines have the same slots: where
/// several devices are in one, the machine must be the same as well; where that does not tell them apart either, they
/// are no pair.
pub(super) fn pairs<'a>(old: &'a [Loaded], new: &'a [Loaded]) -> Vec<Pair<'a>> {
    let (old, new) = (placed(old), placed(new));
    let counterpart = |one: &Placed<'a>, own: &[Placed<'a>], others: &[Placed<'a>]| {
        let found = |alike: &dyn Fn(&Placed<'a>) -> bool| {
            let here = own.iter().filter(|other| alike(other)).count();
            let there: Vec<usize> = (0..others.len()).filter(|index| alike(&others[*index])).collect();
            if let (1, [only]) = (here, there.as_slice()) { Some(*only) } else { None }
        };
        let in_slot = |other: &Placed<'a>| other.device.identity.slot == one.device.identity.slot;
        found(&in_slot).or_else(|| found(&|other| in_slot(other) && other.report.host.id == one.report.host.id))
    };
    let mut matched = vec![false; old.len()];
    let mut pairs: Vec<Pair<'a>> = new
        .iter()
        .map(|one| {
            let other = counterpart(one, &new, &old);
            if let Some(index) = other {
                matched[index] = true;
            }
            Pair { old: other.map(|index| old[index]), new: Some(*one) }
        })
        .collect();
    let gone = old.iter().zip(matched).filter(|(_, matched)| !matched);
    pairs.extend(gone.map(|(one, _)| Pair { old: Some(*one), new: None }));
    pairs
}

fn placed(reports: &[Loaded]) -> Vec<Placed<'_>> {
    let devices = reports
        .iter()
        .flat_map(|Loaded { file, report }| report.devices.iter().map(move |device| Placed { file, report, device }));
    devices.collect()
}
