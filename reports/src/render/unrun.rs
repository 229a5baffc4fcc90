//! Kernels that a device claims to support and did not run.

use std::collections::HashSet;

use fpprobe_profiles::Outcome;

use super::phrase;
use crate::model::{Device, StoredObservation};

/// Kernels that are named.
const NAMED: usize = 4;

/// The kernels of a device that did not run, but for those that an incident names: a line for each
/// outcome.
pub fn unrun(device: &Device) -> Vec<String> {
    let named: HashSet<&str> =
        device.incomplete.iter().map(|incident| incident.subject.as_str()).collect();
    let failed =
        |one: &&StoredObservation| one.outcome.is_failure() && !named.contains(one.kernel.as_str());
    let unrun = device.observations.iter().filter(failed);
    by_outcome(unrun.map(|one| (one.outcome, one.detail.as_str(), one.kernel.as_str())))
}

/// `3 kernels rejected (vkCreateComputePipelines failed with VK_ERROR_UNKNOWN): f32.ceil, f32.fabs,
/// f32.floor`: kernels by outcome, in the order in which outcomes first occur, with the first
/// detail of each.
pub(crate) fn by_outcome<'a>(
    kernels: impl Iterator<Item = (Outcome, &'a str, &'a str)>,
) -> Vec<String> {
    let mut all: Vec<(Outcome, &str, Vec<&str>)> = Vec::new();
    for (outcome, detail, kernel) in kernels {
        match all.iter_mut().find(|(known, ..)| *known == outcome) {
            Some((_, _, names)) => names.push(kernel),
            None => all.push((outcome, detail, vec![kernel])),
        }
    }
    let line = |(outcome, detail, names): (Outcome, &str, Vec<&str>)| {
        let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
        let number = phrase::number(names.len(), "kernel");
        let (first, more) = names.split_at(names.len().min(NAMED));
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(" and {} more", phrase::grouped(more.len()))
        };
        format!("{number} {}{detail}: {}{more}", phrase::outcome(outcome), first.join(", "))
    };
    all.into_iter().map(line).collect()
}
