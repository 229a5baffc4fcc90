//! The messages between supervisor and worker.
//!
//! Each is one length-prefixed frame on the [line](fpprobe_system::line) between them. Both sides
//! open with a [`Hello`]: they are the same program, and refuse each other where they are not.

pub mod frame;
mod json;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fpprobe_profiles::Outcome;
use fpprobe_reports::model::{Claims, Conditions, Identity};
use fpprobe_spirv::sweep::Sink;
use serde::{Deserialize, Serialize};

/// Version of the messages below; a change of any of them raises it.
pub const VERSION: u32 = 8;

/// Most modules of a kernel by itself whose operands are constants: they share a deadline.
pub const MODULES: usize = 32;

/// Who is speaking.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub protocol: u32,
    /// Version of the program.
    pub program: String,
}

/// What a supervisor requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request {
    /// The first request.
    Hello(Hello),
    /// Lists the driver's devices. Answer: [`Response::Devices`] or [`Response::NoDevice`].
    Enumerate,
    /// Lists the products of matrices of each device. Answer: [`Response::Matrices`].
    Matrices,
    /// Makes a device ready. Answer: [`Response::Opened`].
    Open {
        /// Its place in the driver's list.
        index: usize,
        /// The key it must have: a driver may list its devices in another order the next time.
        key: String,
        /// What its runs are to be like.
        conditions: Conditions,
    },
    /// Runs kernels, all in one module. Answer: [`Response::Measured`].
    Measure {
        /// The kernels, all of one format, set of controls, route, width and front end; of texels
        /// of one operation instead of one format.
        jobs: Vec<Job>,
        /// How often.
        runs: Runs,
        /// How long the device may take, for all runs together.
        timeout: Duration,
    },
    /// Compiles the module of a sweep over one kernel, in place of any earlier one. Answer:
    /// [`Response::Opened`].
    Sweep {
        /// Kernel id.
        kernel: String,
        /// What becomes of its results.
        sink: Sink,
        /// Invocations of a work group.
        group: u32,
    },
    /// Has blocks of the sweep asked, and does not wait; at most twice before the first
    /// [`Request::Finish`]. Answer: [`Response::Opened`].
    Start(Span),
    /// Waits for the earliest blocks that were started. Answer: [`Response::Swept`].
    Finish {
        /// How long the device may take from now on.
        timeout: Duration,
        /// Where in the shared memory the results are to be put, in bytes; none: into the answer.
        shared: Option<u64>,
    },
}

/// Consecutive blocks of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Number of the first input.
    pub first: u64,
    /// Number of blocks.
    pub blocks: u32,
    /// Inputs of each block.
    pub inputs: u64,
    /// Which invocations do the work of which lanes: see [`fpprobe_spirv::sweep::Push::turn`].
    pub turn: u32,
}

/// What a worker answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Response {
    /// The answer to the first request.
    Hello(Hello),
    /// The driver's devices, in its order.
    Devices(Vec<EnumeratedDevice>),
    /// The products of matrices of each device, in the driver's order.
    Matrices(Vec<Vec<String>>),
    /// The driver has no device: the call that says so, and its result.
    NoDevice(String),
    /// The device, the sweep or the blocks of one: ready, or on their way.
    Opened,
    /// One answer per job, in their order.
    Measured(Vec<KernelResult>),
    /// Blocks of a sweep are done.
    Swept {
        /// What they left in the buffer of results; empty where that went into the shared memory.
        words: Vec<u32>,
        /// How long the device took, at most.
        took: Duration,
        /// Whether it took as long as that.
        exact: bool,
    },
    /// The request could not be met.
    Failed(Failure),
}

/// One kernel to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Kernel id.
    pub kernel: String,
    /// Its inputs.
    pub cases: JobCases,
}

/// The cases of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JobCases {
    /// The kernel's list of this name, which is the same in every process of this program.
    Listed(String),
    /// These, side by side.
    Given(Vec<u64>),
}

/// How often kernels run for their answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Runs {
    /// Twice by one pipeline, so that a result stands by itself.
    Two,
    /// Twice by one pipeline, and once by another module and pipeline.
    Recompiled,
    /// Once, for answers that are compared with known ones; twice where a result may be its poison.
    One,
}

/// What one kernel answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelResult {
    /// How it ended.
    pub outcome: Outcome,
    /// What else there is to say.
    pub detail: String,
    /// The answers of the first run in case order; empty unless `ran` or `flaky`.
    pub out: Arc<[u64]>,
    /// For `flaky`, those of the second run.
    pub second: Option<Arc<[u64]>>,
}

impl KernelResult {
    /// The answer of a kernel that gave none.
    pub fn none(outcome: Outcome, detail: impl Into<String>) -> KernelResult {
        KernelResult { outcome, detail: detail.into(), out: Arc::default(), second: None }
    }
}

/// One device of a driver.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EnumeratedDevice {
    /// Who it is.
    #[serde(with = "json")]
    pub identity: Identity,
    /// What it claims.
    #[serde(with = "json")]
    pub claims: Claims,
    /// Active layers and the like.
    pub taint: Vec<String>,
    /// Why nothing can be measured on it; `None` where it can.
    pub obstacle: Option<String>,
    /// Libraries that the worker has loaded to find it: the driver's, and what that needs.
    pub libraries: Vec<PathBuf>,
    /// Why it is not known which products of matrices it offers, though it claims some. The
    /// supervisor finds out.
    #[serde(skip)]
    pub matrices: Option<Failure>,
}

/// Why something did not succeed: an outcome, and words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// The kind of failure.
    pub outcome: Outcome,
    /// What happened, to what, and what to do.
    pub detail: String,
    /// Whether somebody outside killed the worker, so that neither driver nor kernel is to blame.
    /// Only a supervisor can know.
    #[serde(skip)]
    pub outside: bool,
}

impl Failure {
    /// A failure.
    pub fn new(outcome: Outcome, detail: impl Into<String>) -> Failure {
        Failure { outcome, detail: detail.into(), outside: false }
    }
}

impl Hello {
    /// This program's.
    pub fn own() -> Hello {
        Hello { protocol: VERSION, program: env!("CARGO_PKG_VERSION").to_owned() }
    }
}
