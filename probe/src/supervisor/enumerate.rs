//! Finding devices: one short-lived worker per driver manifest.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fpprobe_profiles::Outcome;
use fpprobe_reports::model::{Incident, RECOVERED};
use fpprobe_reports::support::COOPERATIVE_MATRIX;

use super::MeasureSettings;
use super::process::Worker;
use super::worker_slot::unexpected;
use crate::discover;
use crate::event::{Listener, RunEvent};
use fpprobe_worker::protocol::{EnumeratedDevice, Failure, Request, Response};

/// Most workers that may be killed from outside while they look for the devices of one driver.
const KILLS: u32 = 8;
/// Wait before the next one; it grows with each.
const PAUSE: Duration = Duration::from_millis(50);
/// Workers that look for devices at the same time.
const AT_ONCE: usize = 4;

/// What came of one manifest.
#[derive(Clone, Debug)]
pub struct ManifestRow {
    /// The manifest.
    pub manifest: PathBuf,
    /// The library that it names; empty where it names none.
    pub library: PathBuf,
    /// Its devices, in the driver's order; or why there are none. A driver without hardware has an
    /// empty list.
    pub devices: Result<Vec<EnumeratedDevice>, Incident>,
    /// Of a driver without a device, the call that says so and its result.
    pub absent: Option<String>,
    /// How each worker ended that was tried again.
    pub failures: Vec<String>,
}

impl ManifestRow {
    /// An incident that cost nothing: workers died, and another one enumerated the devices.
    pub fn recovered(&self) -> Option<Incident> {
        let how = self.failures.first().filter(|_| self.devices.is_ok())?;
        let count = self.failures.len();
        let workers = if count == 1 { "a worker".to_owned() } else { format!("{count} workers") };
        let detail = format!(
            "{RECOVERED}: {workers} died while enumerating devices ({how}); the next one succeeded"
        );
        Some(Incident { subject: self.manifest.display().to_string(), outcome: None, detail })
    }
}

/// What a driver shows: its devices, or why there are none.
type DriverDevices = Result<Vec<EnumeratedDevice>, String>;

/// Enumerates the devices of every driver; the rows come in the order of the manifests.
pub fn enumerate(
    drivers: &[discover::DriverCandidate],
    settings: &MeasureSettings,
    listener: Listener<'_>,
) -> Vec<ManifestRow> {
    let rows: Vec<Mutex<Option<ManifestRow>>> = drivers.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(drivers.len()) {
            scope.spawn(|| {
                while let Some((driver, row)) =
                    drivers.iter().zip(&rows).nth(next.fetch_add(1, Ordering::Relaxed))
                {
                    *row.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(query(driver, settings, listener));
                }
            });
        }
    });
    rows.into_iter()
        .filter_map(|row| row.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

fn query(
    driver: &discover::DriverCandidate,
    settings: &MeasureSettings,
    listener: Listener<'_>,
) -> ManifestRow {
    let manifest = driver.manifest.clone();
    let mut failures = Vec::new();
    let shown = match &driver.library {
        Ok(_) => persistently(&manifest, settings, listener, &mut failures),
        Err(reason) => Err(Failure::new(Outcome::Rejected, format!("the manifest {reason}"))),
    };
    let library = driver.library.clone().unwrap_or_default();
    let mut absent = None;
    let shown = shown.map(|shown| {
        shown.unwrap_or_else(|why| {
            absent = Some(why);
            Vec::new()
        })
    });
    let devices = shown.map_err(|failure| {
        let subject = manifest.display().to_string();
        let text = format!("{failure}; its devices, if there are any, are not measured");
        listener(&RunEvent::Failure { subject: &subject, text: &text });
        Incident { subject, outcome: Some(failure.outcome), detail: failure.detail }
    });
    ManifestRow { manifest, library, devices, absent, failures }
}

/// Tries again where that may help: a worker that was killed from outside several times, one that
/// crashed once.
fn persistently(
    manifest: &Path,
    settings: &MeasureSettings,
    listener: Listener<'_>,
    failures: &mut Vec<String>,
) -> Result<DriverDevices, Failure> {
    let mut attempts = 0;
    loop {
        let found = devices(manifest, settings, listener);
        let most = match &found {
            Err(failure) if failure.outside => KILLS,
            Err(failure) if failure.outcome == Outcome::Crashed => 1,
            _ => 0,
        };
        let Err(failure) = &found else { return found };
        if attempts == most || settings.stop.is_requested() {
            return found;
        }
        attempts += 1;
        failures.push(failure.detail.clone());
        let text = format!("{failure}, while looking for devices; another worker looks again");
        listener(&RunEvent::Failure { subject: &manifest.display().to_string(), text: &text });
        std::thread::sleep(PAUSE * attempts);
    }
}

fn devices(
    manifest: &Path,
    settings: &MeasureSettings,
    listener: Listener<'_>,
) -> Result<DriverDevices, Failure> {
    if manifest.to_string_lossy().contains(':') {
        let message = "the manifest's path holds a colon, which the Vulkan loader takes for the end of a path: rename it";
        return Err(Failure::new(Outcome::Rejected, message));
    }
    let mut worker = Worker::start(manifest, settings, settings.timeout, listener)?;
    match worker.call(&Request::Enumerate, settings.timeout)? {
        Response::Devices(mut devices) => {
            for device in &mut devices {
                device.identity.driver.manifest = manifest.display().to_string();
            }
            if devices.iter().any(claims_matrices) {
                let found = matrices(&mut worker, devices.len(), settings);
                for (place, device) in
                    devices.iter_mut().enumerate().filter(|(_, device)| claims_matrices(device))
                {
                    match &found {
                        Ok(found) => device.claims.matrices.clone_from(&found[place]),
                        Err(failure) => device.matrices = Some(failure.clone()),
                    }
                }
            }
            Ok(Ok(devices))
        }
        Response::NoDevice(why) => Ok(Err(why)),
        other => Err(Failure::new(Outcome::Crashed, format!("the worker answered with {other:?}"))),
    }
}

fn claims_matrices(device: &EnumeratedDevice) -> bool {
    device.claims.flags.get(COOPERATIVE_MATRIX).copied().unwrap_or(false)
}

/// The products of matrices of each device. What a driver does at this question costs no device.
fn matrices(
    worker: &mut Worker<'_>,
    devices: usize,
    settings: &MeasureSettings,
) -> Result<Vec<Vec<String>>, Failure> {
    match worker.call(&Request::Matrices, settings.timeout)? {
        Response::Matrices(found) if found.len() == devices => Ok(found),
        other => Err(unexpected(&other)),
    }
}

/// Whether a worker can load the Vulkan loader, whatever this manifest leads to.
pub fn query_loader(
    manifest: &Path,
    settings: &MeasureSettings,
    listener: Listener<'_>,
) -> Result<(), Failure> {
    devices(manifest, settings, listener).map(|_| ())
}
