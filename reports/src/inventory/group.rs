//! Devices of one model and driver, and who of them differs from most.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::device::{DeviceBehaviour, FoundDevice};
use super::found::Found;
use super::lane;
use super::{
    ChangedDevice, EqualDevices, Inventory, InventoryDevice, KernelDifference, ModelDrivers,
    OutdatedDevice, SCHEMA, SHOWN, SharedBehaviour,
};
use crate::model::Program;

/// What differs from the results of most: question, own result.
type Divergence = Vec<(u64, u64)>;

/// How often each result was given to a question.
type Votes = HashMap<u64, BTreeMap<u64, usize>>;

impl Inventory {
    /// Of what was found: devices that were measured before `oldest` are outdated; with `since`,
    /// what changed after that time. Both are seconds since 1970.
    pub fn of(program: Program, found: &Found, oldest: u64, since: Option<u64>) -> Inventory {
        let places = found.places();
        let newest: Vec<&FoundDevice> =
            places.values().filter_map(|reports| reports.last().copied()).collect();
        let mut equals: BTreeMap<_, Vec<&FoundDevice>> = BTreeMap::new();
        for device in &newest {
            let DeviceBehaviour { model, ids, driver, .. } = &*device.behaviour;
            equals.entry((model, ids, driver)).or_default().push(device);
        }
        let mut groups: Vec<EqualDevices> =
            equals.into_values().map(|devices| group(found, &devices)).collect();
        let is_split =
            |group: &EqualDevices| group.behaviours.iter().any(|behaviour| behaviour.minority);
        groups.sort_by_key(|group| (!is_split(group), std::cmp::Reverse(group.devices)));
        let mut outdated: Vec<&FoundDevice> =
            newest.iter().copied().filter(|device| device.time() < oldest).collect();
        outdated.sort_by_key(|device| device.time());
        Inventory {
            schema: SCHEMA.into(),
            program,
            reports: found.reports,
            hosts: newest.iter().map(|device| &device.host_key).collect::<BTreeSet<_>>().len(),
            devices: newest.len(),
            groups,
            updates: updates(&newest),
            changed: since.map(|since| {
                places.values().filter_map(|reports| changed(found, reports, since)).collect()
            }),
            outdated: outdated.into_iter().map(outdated_device).collect(),
            unreadable: found.unreadable.clone(),
        }
    }
}

fn outdated_device(device: &FoundDevice) -> OutdatedDevice {
    OutdatedDevice {
        host: device.host().to_owned(),
        model: device.behaviour.model.clone(),
        measured: device.measured.clone(),
    }
}

/// Models under several drivers.
fn updates(devices: &[&FoundDevice]) -> Vec<ModelDrivers> {
    let mut models: BTreeMap<&str, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for device in devices {
        models
            .entry(&device.behaviour.model)
            .or_default()
            .entry(&device.behaviour.driver)
            .or_default()
            .push(device.host().to_owned());
    }
    let several = models.into_iter().filter(|(_, drivers)| drivers.len() > 1);
    several
        .map(|(model, drivers)| {
            let all: usize = drivers.values().map(Vec::len).sum();
            let counts =
                drivers.iter().map(|(driver, hosts)| ((*driver).to_owned(), hosts.len())).collect();
            let few = drivers.into_iter().filter(|(_, hosts)| hosts.len() * 2 < all);
            let few = few.map(|(driver, hosts)| (driver.to_owned(), hosts)).collect();
            ModelDrivers { model: model.to_owned(), drivers: counts, few }
        })
        .collect()
}

/// What the newest report of a device has otherwise than the last one before a time, in order of
/// time.
fn changed(found: &Found, reports: &[&FoundDevice], since: u64) -> Option<ChangedDevice> {
    let new = reports.last().filter(|device| device.time() >= since)?;
    let old = reports.iter().rfind(|device| device.time() < since)?;
    let behaviours = [old, new].map(|device| &device.behaviour);
    let others = behaviours[1].results.iter().filter(|digest| {
        behaviours[0].result(digest.question).is_some_and(|before| before.result != digest.result)
    });
    let kernels: Vec<String> =
        others.map(|digest| found.kernels[&digest.question].clone()).collect();
    let drivers = behaviours.map(|behaviour| behaviour.driver.clone());
    let is_changed = !kernels.is_empty() || drivers[0] != drivers[1];
    is_changed.then(|| ChangedDevice {
        host: new.host().to_owned(),
        model: behaviours[1].model.clone(),
        drivers,
        measured: [old, new].map(|device| device.measured.clone()),
        kernels,
    })
}

/// The most common result, and how many gave it; of as many the smaller digest.
fn most(votes: &BTreeMap<u64, usize>) -> (u64, usize) {
    let first = votes.iter().max_by_key(|(result, count)| (**count, std::cmp::Reverse(**result)));
    first.map_or((0, 0), |(result, count)| (*result, *count))
}

fn group(found: &Found, devices: &[&FoundDevice]) -> EqualDevices {
    let mut votes = Votes::new();
    let mut bits: HashMap<u64, BTreeSet<(u64, u64)>> = HashMap::new();
    for digest in devices.iter().flat_map(|device| device.behaviour.results.iter()) {
        *votes.entry(digest.question).or_default().entry(digest.result).or_default() += 1;
        bits.entry(digest.question)
            .or_default()
            .extend(digest.bits.map(|bits| (digest.result, bits)));
    }
    votes.retain(|_, votes| votes.values().sum::<usize>() > 1);
    let consensus: HashMap<u64, (u64, usize)> =
        votes.iter().map(|(question, votes)| (*question, most(votes))).collect();
    let diverges = |device: &FoundDevice| -> Divergence {
        let others = device.behaviour.results.iter().filter(|digest| {
            consensus.get(&digest.question).is_some_and(|(result, _)| *result != digest.result)
        });
        others.map(|digest| (digest.question, digest.result)).collect()
    };
    let mut behaviours: BTreeMap<Divergence, Vec<&FoundDevice>> = BTreeMap::new();
    for device in devices {
        behaviours.entry(diverges(device)).or_default().push(device);
    }
    // What few ran says nothing of all: each kernel counts among the devices that ran it.
    let is_rare = |(question, result): &(u64, u64)| {
        let votes = &votes[question];
        votes[result] * 2 < votes.values().sum()
    };
    let mut behaviours: Vec<SharedBehaviour> = behaviours
        .into_iter()
        .map(|(divergence, alike)| SharedBehaviour {
            minority: divergence.iter().any(is_rare),
            differences: differences(found, &divergence, &consensus, alike[0], devices),
            devices: alike.into_iter().map(inventory_device).collect(),
        })
        .collect();
    behaviours.sort_by_key(|behaviour| {
        (!behaviour.differences.is_empty(), std::cmp::Reverse(behaviour.devices.len()))
    });
    let results_agree = |question: &u64| votes[question].len() == 1 && bits[question].len() > 1;
    let (mut classes, mut traits) = (BTreeMap::new(), BTreeMap::new());
    for device in devices {
        for (profile, class) in &*device.behaviour.classes {
            count(&mut classes, profile, class.name());
        }
        device.behaviour.traits.iter().for_each(|(id, value)| count(&mut traits, id, value));
    }
    let first = &devices[0].behaviour;
    EqualDevices {
        model: first.model.clone(),
        vendor_id: first.ids.0,
        device_id: first.ids.1,
        driver: first.driver.clone(),
        devices: devices.len(),
        compared: votes.len(),
        nan_bits: votes.keys().filter(|question| results_agree(question)).count(),
        behaviours,
        classes,
        traits,
    }
}

fn count(table: &mut BTreeMap<String, BTreeMap<String, usize>>, row: &str, column: &str) {
    *table.entry(row.to_owned()).or_default().entry(column.to_owned()).or_default() += 1;
}

fn differences(
    found: &Found,
    divergence: &Divergence,
    consensus: &HashMap<u64, (u64, usize)>,
    device: &FoundDevice,
    devices: &[&FoundDevice],
) -> Vec<KernelDifference> {
    let mut all: Vec<(KernelDifference, Option<&FoundDevice>)> = divergence
        .iter()
        .map(|(question, _)| {
            let (result, most) = consensus[question];
            let has_it = |one: &&&FoundDevice| {
                one.behaviour.result(*question).is_some_and(|digest| digest.result == result)
            };
            let kernel = found.kernels[question].clone();
            (
                KernelDifference { kernel, most, lane: None, outcomes: None },
                devices.iter().find(has_it).copied(),
            )
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.kernel.cmp(&other.kernel));
    lane::find(&mut all[..divergence.len().min(SHOWN)], device);
    all.into_iter().map(|(difference, _)| difference).collect()
}

fn inventory_device(device: &FoundDevice) -> InventoryDevice {
    InventoryDevice {
        host: device.host().to_owned(),
        tags: device.tags.clone(),
        slot: device.slot.clone(),
        measured: device.measured.clone(),
        file: device.file.path.display().to_string(),
        classes: Arc::clone(&device.behaviour.classes),
    }
}
