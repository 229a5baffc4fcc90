//! The supervisor: starts workers, shares kernels out among them, and loses nothing when one of them fails.
//!
//! Architecture invariant: this process never loads a driver. One enumerating worker per manifest finds devices;
//! measuring workers see one driver each. A worker that crashes, hangs, loses its device or runs out of memory costs at
//! most the kernel it was at: its batch is halved and asked again of new workers until that kernel is named.

mod batch;
mod capture;
mod ending;
mod enumerate;
mod environment;
mod lane;
mod process;
mod queue;
mod trouble;

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fpprobe_profiles::Observation;
use fpprobe_reports::model::{Finding, Incident};
use fpprobe_spirv::{Cases, Kernel};

use crate::config::Config;
use crate::event::{Event, Listener};
use crate::protocol::{Answer, Found};

pub use batch::Batching;
pub use enumerate::{Row, ask_loader, enumerate};
pub use environment::Environment;

/// How to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Worker processes per device; `None` for the default of its kind.
    pub jobs: Option<usize>,
    /// Deadline of a batch.
    pub timeout: Duration,
    /// Most kernels in a module.
    pub batch: usize,
    /// Most failures in a row before a device is given up.
    pub failures: usize,
    /// Environment of workers.
    pub environment: Environment,
}

/// A device to measure.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its driver's manifest.
    pub manifest: PathBuf,
    /// Its place in the driver's list.
    pub index: usize,
    /// What is known of it.
    pub found: Found,
}

/// A kernel to measure.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The kernel.
    pub kernel: Kernel,
    /// What it is asked; a list without name is not the catalogue's.
    pub cases: Cases,
}

/// What a device answered.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// One observation per kernel, in the order asked.
    pub observations: Vec<Observation>,
    /// What went wrong on the way.
    pub incidents: Vec<Incident>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Target {
    /// Name and driver: several drivers may show devices of one name.
    pub fn label(&self) -> String {
        let identity = &self.found.identity;
        let driver = if identity.driver.info.is_empty() { &identity.driver.name } else { &identity.driver.info };
        format!("{} [{driver}]", identity.name)
    }
}

impl Settings {
    /// From the configuration.
    pub fn new(config: &Config) -> Settings {
        Settings {
            jobs: Some(config.workers.jobs as usize).filter(|jobs| *jobs > 0),
            timeout: Duration::from_secs_f64(config.workers.timeout),
            batch: config.workers.batch,
            failures: config.workers.failures,
            environment: Environment::new(config),
        }
    }

    fn jobs(&self, target: &Target) -> usize {
        let cores = || std::thread::available_parallelism().map_or(2, NonZero::get);
        self.jobs.unwrap_or_else(|| if target.found.identity.kind == "cpu" { cores().min(4) } else { 2 })
    }
}

/// Does something with each of these, side by side; the results come in their order.
pub fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            items.iter().enumerate().map(|(place, item)| scope.spawn(move || work(place, item))).collect();
        // A panic of our own is an internal error and stays one.
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect()
    })
}

/// Measures one device; `device` is its number in events.
pub fn measure(
    device: usize,
    target: &Target,
    asks: &[Ask],
    batching: Batching,
    settings: &Settings,
    listener: Listener<'_>,
) -> Measured {
    let label = target.label();
    listener(&Event::Begun { device, name: &label, kernels: asks.len(), alone: batching == Batching::Alone });
    let batches = batch::batches(asks, batching, settings.batch);
    let lanes = settings.jobs(target).min(batches.len());
    let shared = lane::Shared::new(queue::Queue::new(asks.len(), batches, settings.failures));
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| lane::run(&shared, device, target, asks, settings, listener));
        }
    });
    let (answers, troubles) = shared.into_results();
    let mut measured = troubles.into_incidents(asks);
    measured.observations = asks.iter().zip(answers).map(|(ask, answer)| observation(ask, answer)).collect();
    listener(&Event::Done { device });
    measured
}

fn observation(ask: &Ask, answer: Answer) -> Observation {
    Observation {
        kernel: ask.kernel,
        cases: ask.cases.clone(),
        outcome: answer.outcome,
        detail: answer.detail,
        out: Arc::from(answer.out),
        second: answer.second.map(Arc::from),
    }
}
