//! Reading the reports of a fleet. Most of its devices give equal results, and equal results are
//! one file byte for byte: they are reduced once, and of a further report with them no more is read
//! than an inventory needs. Of 2,000 equal reports of one kernel that takes a tenth of the
//! processor time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;

use super::device::{DeviceBehaviour, FoundDevice};
use super::report_file::ReportFile;
use super::results::ResultDigest;
use crate::load::LoadError;
use crate::model::{Class, Device, DeviceTrait, Driver, Host, Report, ResultFile, SCHEMA};
use crate::record::read_device;

/// What an inventory needs of a report.
#[derive(Deserialize)]
struct FleetReport {
    schema: String,
    host: Host,
    #[serde(deserialize_with = "crate::time::text")]
    finished: String,
    observations: Option<ResultFile>,
    devices: Vec<FleetDevice>,
}

/// What it needs of a device.
#[derive(Deserialize)]
struct FleetDevice {
    key: String,
    slot: String,
    name: String,
    vendor_id: u32,
    device_id: u32,
    driver: Driver,
    #[serde(default)]
    traits: Vec<DeviceTrait>,
    profiles: Vec<FleetProfile>,
}

#[derive(Deserialize)]
struct FleetProfile {
    id: String,
    class: Class,
}

/// The results of each device of a report, with its key, in their order: two may have one key.
type DeviceResultDigests = Vec<(String, Arc<[ResultDigest]>)>;

/// Reads reports.
#[derive(Default)]
pub(super) struct ReportReader {
    /// Kernel ids by [`ResultDigest::question`].
    kernels: Mutex<HashMap<u64, String>>,
    /// By SHA-256 of their file, what was read in full.
    known: Mutex<HashMap<String, Arc<DeviceResultDigests>>>,
    behaviours: Mutex<HashSet<Arc<DeviceBehaviour>>>,
}

impl ReportReader {
    /// The kernels of all reports so far.
    pub(super) fn into_kernels(self) -> HashMap<u64, String> {
        self.kernels.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The devices of a report; none where the file is another document of this program.
    pub(super) fn devices(&self, file: &ReportFile) -> Result<Option<Vec<FoundDevice>>, String> {
        let text = file.text().map_err(|error| error.to_string())?;
        let head = serde_json::from_slice::<FleetReport>(&text);
        if let Some(devices) = head.as_ref().ok().and_then(|head| self.known(file, head)) {
            return Ok(Some(devices));
        }
        let report = match file.parse(&text) {
            Ok(report) => report,
            Err(LoadError::NotAReport { found, .. }) if found.starts_with("\"fpprobe-") => {
                return Ok(None);
            }
            Err(error) => return Err(error.to_string()),
        };
        let mut results = DeviceResultDigests::new();
        for device in &report.devices {
            results.push((device.identity.key.clone(), self.reduce(device, &report)?));
        }
        let results = Arc::new(results);
        if let Some(named) = head.ok().and_then(|head| head.observations) {
            locked(&self.known).insert(named.sha256, Arc::clone(&results));
        }
        let head = FleetReport::of(report);
        Ok(self.found(&head, file, &results))
    }

    /// The devices of a report whose results were read before.
    fn known(&self, file: &ReportFile, head: &FleetReport) -> Option<Vec<FoundDevice>> {
        let named = head.observations.as_ref().filter(|_| head.schema == SCHEMA)?;
        let results = locked(&self.known).get(&named.sha256).cloned()?;
        self.found(head, file, &results).filter(|_| file.has_results(named))
    }

    fn reduce(&self, device: &Device, report: &Report) -> Result<Arc<[ResultDigest]>, String> {
        let content =
            read_device(&device.observations, &report.inputs).map_err(|error| error.to_string())?;
        let mut results: Vec<ResultDigest> =
            content.observations.iter().map(ResultDigest::of).collect();
        // Locked for the names alone: reports are read side by side.
        let mut kernels = locked(&self.kernels);
        for (digest, observation) in results.iter().zip(&content.observations) {
            kernels.entry(digest.question).or_insert_with(|| observation.kernel.to_string());
        }
        drop(kernels);
        results.sort_by_key(|digest| digest.question);
        // Of two observations of one kernel the later counts, as in judging.
        results.reverse();
        results.dedup_by_key(|digest| digest.question);
        results.reverse();
        Ok(results.into())
    }

    /// The devices of a report with their results; `None` where these are of other devices.
    fn found(
        &self,
        head: &FleetReport,
        file: &ReportFile,
        results: &DeviceResultDigests,
    ) -> Option<Vec<FoundDevice>> {
        let keys = results.iter().map(|(key, _)| key);
        if !head.devices.iter().map(|device| &device.key).eq(keys) {
            return None;
        }
        let host = &head.host;
        let device =
            |(device, (_, results)): (&FleetDevice, &(String, Arc<[ResultDigest]>))| FoundDevice {
                file: file.clone(),
                host_key: (host.id.clone(), host.label.clone()),
                tags: host.tags.clone(),
                slot: device.slot.clone(),
                measured: head.finished.clone(),
                behaviour: self.shared(device.behaviour(results)),
            };
        Some(head.devices.iter().zip(results).map(device).collect())
    }

    /// The one in memory that equals this one.
    fn shared(&self, own: DeviceBehaviour) -> Arc<DeviceBehaviour> {
        let mut behaviours = locked(&self.behaviours);
        if let Some(equal) = behaviours.get(&own) {
            return Arc::clone(equal);
        }
        let own = Arc::new(own);
        behaviours.insert(Arc::clone(&own));
        own
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FleetReport {
    fn of(report: Report) -> FleetReport {
        let device = |device: Device| FleetDevice {
            key: device.identity.key,
            slot: device.identity.slot,
            name: device.identity.name,
            vendor_id: device.identity.vendor_id,
            device_id: device.identity.device_id,
            driver: device.identity.driver,
            traits: device.traits,
            profiles: device
                .profiles
                .into_iter()
                .map(|profile| FleetProfile { id: profile.id, class: profile.class })
                .collect(),
        };
        FleetReport {
            schema: report.schema,
            host: report.host,
            finished: report.finished,
            observations: report.observations,
            devices: report.devices.into_iter().map(device).collect(),
        }
    }
}

impl FleetDevice {
    fn behaviour(&self, results: &Arc<[ResultDigest]>) -> DeviceBehaviour {
        let driver = &self.driver;
        let version = if driver.info.is_empty() { &driver.version } else { &driver.info };
        let values = self
            .traits
            .iter()
            .filter_map(|one| Some((one.id.clone(), one.run_time.as_ref()?.value.clone())));
        let classes: BTreeMap<_, _> =
            self.profiles.iter().map(|one| (one.id.clone(), one.class)).collect();
        DeviceBehaviour {
            model: self.name.clone(),
            ids: (self.vendor_id, self.device_id),
            driver: format!("{} {version}", driver.name),
            classes: classes.into(),
            traits: values.collect(),
            results: Arc::clone(results),
        }
    }
}
