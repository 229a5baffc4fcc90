//! What most devices of a model give: expected results that no single host has to be trusted for.

use std::collections::BTreeMap;

use fpprobe_profiles::{Observation, parallel};

use super::device::FoundDevice;
use super::found::Found;
use crate::expected::{Expected, ExpectedDevice, ModelKey};
use crate::record::read_device;

/// Devices that have to agree.
const LEAST: usize = 2;

impl Found {
    /// Of each model under one driver the results that more than half of its devices gave, of two
    /// at least. The newest report of each device counts if it is of this version of the
    /// program and the device is not tainted, and of it the observations that a gate makes,
    /// too.
    pub fn consensus(
        &self,
        program: &str,
        is_of_gate: &(dyn Fn(&Observation) -> bool + Sync),
    ) -> Expected {
        let newest: Vec<&FoundDevice> =
            self.places().into_values().filter_map(|mut reports| reports.pop()).collect();
        let digests = parallel::map(&newest, |device| digests(device, program, is_of_gate));
        let mut models: BTreeMap<ModelKey, Vec<BTreeMap<String, String>>> = BTreeMap::new();
        for device in digests.into_iter().flatten() {
            models.entry(device.model).or_default().push(device.kernels);
        }
        let mut expected = Expected::of_none(program);
        for (model, devices) in models {
            let kernels = most(&devices);
            if !kernels.is_empty() {
                expected.put(ExpectedDevice { model, kernels, blocks: BTreeMap::new() });
            }
        }
        expected
    }
}

/// Of one device; `None` where its report says nothing that counts.
fn digests(
    device: &FoundDevice,
    program: &str,
    is_of_gate: &(dyn Fn(&Observation) -> bool + Sync),
) -> Option<ExpectedDevice> {
    let report = device.file.load().ok().filter(|report| report.program.version == program)?;
    let own = report.devices.iter().find(|one| {
        (&one.identity.slot, &one.identity.name) == (&device.slot, &device.behaviour.model)
    })?;
    let mut observations = read_device(&own.observations, &report.inputs).ok()?.observations;
    observations.retain(is_of_gate);
    own.taint.is_empty().then(|| ExpectedDevice::new(&own.identity, &[observations]))
}

/// The digest of each kernel that more than half of those gave that have one.
fn most(devices: &[BTreeMap<String, String>]) -> BTreeMap<String, String> {
    let mut votes: BTreeMap<&String, BTreeMap<&String, usize>> = BTreeMap::new();
    for (kernel, digest) in devices.iter().flatten() {
        *votes.entry(kernel).or_default().entry(digest).or_default() += 1;
    }
    let elected = votes.into_iter().filter_map(|(kernel, digests)| {
        let all: usize = digests.values().sum();
        let (digest, count) = digests.into_iter().max_by_key(|(_, count)| *count)?;
        (count >= LEAST && count * 2 > all).then(|| (kernel.clone(), digest.clone()))
    });
    elected.collect()
}
