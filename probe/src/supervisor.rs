//! The supervisor: starts workers, shares kernels out among them, and loses nothing when one of
//! them fails.
//!
//! Architecture invariant: this process never loads a driver. One enumerating worker per manifest
//! finds devices; measuring workers see one driver each. A worker that crashes, hangs, loses its
//! device or runs out of memory costs at most the kernel it was at: its batch is halved and asked
//! again of new workers until that kernel is named.

mod batch;
mod block_queue;
mod device_session;
mod enumerate;
mod environment;
mod failures;
mod process;
mod queue;
mod replay;
pub mod results;
pub mod sweep;
mod track;
mod worker_slot;

use std::collections::{BTreeSet, HashSet};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use fpprobe_profiles::Observation;
use fpprobe_reports::model::{Conditions, Finding, Incident};
use fpprobe_spirv::{Cases, Kernel};

use crate::config::Config;
use crate::event::RunEvent;
use fpprobe_system::cancellation::Cancellation;
use fpprobe_worker::protocol::{EnumeratedDevice, KernelResult, Request};

pub use batch::Batching;
pub use device_session::{Deadline, DeviceSession};
pub use enumerate::{ManifestRow, enumerate, query_loader};
pub use environment::WorkerEnvironment;
pub use failures::is_violent;
pub use track::Track;

/// How to measure.
#[derive(Clone, Debug)]
pub struct MeasureSettings {
    /// Worker processes per device; `None` for the default of its kind.
    pub jobs: Option<usize>,
    /// Deadline of a batch, and of a kernel that is run alone.
    pub timeout: Duration,
    /// Deadline of a device.
    pub device_timeout: Duration,
    /// Most kernels in a module.
    pub batch: usize,
    /// Most failures in a row before a device is given up.
    pub failures: usize,
    /// Most memory of a worker's own, in MiB; 0 is no limit.
    pub memory: u64,
    /// Environment of workers.
    pub environment: WorkerEnvironment,
    /// What all runs have in common.
    pub conditions: Conditions,
    /// Where workers write what dispatches leave in memory.
    pub dump_raw: Option<PathBuf>,
    /// Whether to end early.
    pub stop: Cancellation,
}

/// A device to measure.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its driver's manifest.
    pub manifest: PathBuf,
    /// Its place in the driver's list.
    pub index: usize,
    /// What is known of it.
    pub found: EnumeratedDevice,
}

/// A kernel to measure.
#[derive(Clone, Debug)]
pub struct WorkItem {
    /// The kernel.
    pub kernel: Kernel,
    /// What it is asked; a list without name is not the catalogue's.
    pub cases: Cases,
}

/// What a device answered.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// One observation per kernel that was run, in the order given.
    pub observations: Vec<Observation>,
    /// Kernels that were not run, because the measurement ended early.
    pub skipped: usize,
    /// Kernels that there was no time for.
    pub left_out: Vec<Kernel>,
    /// Kernels that are not run, because the machine went down while they were.
    pub quarantined: Vec<Kernel>,
    /// What went wrong on the way.
    pub incidents: Vec<Incident>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Measurement {
    /// Adds what came of a later pass.
    pub fn absorb(&mut self, later: Measurement) {
        self.observations.extend(later.observations);
        self.skipped += later.skipped;
        self.left_out.extend(later.left_out);
        self.quarantined.extend(later.quarantined);
        self.incidents.extend(later.incidents);
        self.findings.extend(later.findings);
    }
}

impl Target {
    /// Name and driver: several drivers may show devices of one name.
    pub fn label(&self) -> String {
        let identity = &self.found.identity;
        let driver = if identity.driver.info.is_empty() {
            &identity.driver.name
        } else {
            &identity.driver.info
        };
        format!("{} [{driver}]", identity.name)
    }
}

impl MeasureSettings {
    /// From the configuration, for measurements that end when this says so.
    pub fn new(config: &Config, stop: Cancellation) -> MeasureSettings {
        MeasureSettings {
            jobs: Some(config.workers.jobs as usize).filter(|jobs| *jobs > 0),
            timeout: Duration::from_secs_f64(config.workers.timeout),
            device_timeout: Duration::from_secs_f64(config.workers.device_timeout),
            batch: config.workers.batch,
            failures: config.workers.failures,
            memory: config.workers.memory,
            environment: WorkerEnvironment::new(config),
            conditions: Conditions::default(),
            dump_raw: None,
            stop,
        }
    }

    fn jobs(&self, target: &Target) -> usize {
        let cores = || std::thread::available_parallelism().map_or(2, NonZero::get);
        self.jobs
            .unwrap_or_else(|| if target.found.identity.kind == "cpu" { cores().min(4) } else { 2 })
    }
}

/// The request that makes a worker ready for a device.
fn open_request(target: &Target, settings: &MeasureSettings) -> Request {
    let key = target.found.identity.key.clone();
    Request::Open { index: target.index, key, conditions: settings.conditions }
}

/// Does something with each of these, side by side; the results come in their order.
pub fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = items
            .iter()
            .enumerate()
            .map(|(place, item)| scope.spawn(move || work(place, item)))
            .collect();
        // A panic of our own is an internal error and stays one.
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect()
    })
}

/// Measures one device. Each step is noted in the track, if there is one; what the track knows
/// already is not run again. Fails where the track does not fit the kernels.
pub fn measure(
    site: &DeviceSession<'_>,
    asks: &[WorkItem],
    batching: Batching,
    track: Option<&Track<'_>>,
) -> Result<Measurement, String> {
    let DeviceSession { number, target, settings, listener, .. } = *site;
    let none = HashSet::new();
    let mut batches = batch::batches(asks, batching, settings.batch, site.early.unwrap_or(&none));
    if let Some(deadline) = site.deadline {
        // First what is never left out, then the rest in its order.
        batches.sort_by_key(|batch| {
            batch.iter().copied().min().filter(|first| *first >= deadline.from)
        });
    }
    let slots = settings.jobs(target).min(batches.len());
    let mut queue = queue::BatchQueue::new(asks.len(), batches);
    let held =
        track.map_or(Ok(BTreeSet::new()), |track| replay::replay(&mut queue, asks, track))?;
    queue.limit(settings.failures);
    let name = target.label();
    listener(&RunEvent::Begun {
        device: number,
        name: &name,
        kernels: asks.len(),
        alone: batching != Batching::Shared,
    });
    listener(&RunEvent::Settled { device: number, kernels: queue.settled() });
    let shared = worker_slot::SlotState::new(queue, site, track, (asks, batching));
    shared.show();
    std::thread::scope(|scope| {
        for _ in 0..slots {
            scope.spawn(|| shared.run());
        }
    });
    let (answers, problems, left_out) = shared.into_results();
    let mut measured = problems.into_incidents(asks);
    let none = answers.iter().filter(|answer| answer.is_none()).count();
    measured.skipped = none.saturating_sub(held.len() + left_out.len());
    measured.left_out = left_out.into_iter().map(|place| asks[place].kernel).collect();
    measured.quarantined = held.into_iter().map(|place| asks[place].kernel).collect();
    let answered =
        asks.iter().zip(answers).filter_map(|(ask, answer)| Some(observation(ask, answer?)));
    measured.observations = answered.collect();
    listener(&RunEvent::Done { device: number });
    Ok(measured)
}

/// What a kernel answered.
pub fn observation(ask: &WorkItem, answer: KernelResult) -> Observation {
    Observation {
        kernel: ask.kernel,
        cases: ask.cases.clone(),
        outcome: answer.outcome,
        detail: answer.detail,
        out: answer.out,
        second: answer.second,
    }
}
