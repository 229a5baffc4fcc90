//! Screening: what a device computed differently from one time to another, or from what is known of
//! it.
//!
//! [`WorkRuns`] holds what the runs of one piece of work gave, [`ScreenFinding`] what those of a
//! kernel amount to. Time to failure and reproduction rate are terms of the Open Compute Project's
//! work on silent data corruption (Server Component Resilience): the time from the start until a
//! test first fails, and the share of further runs that fail.

mod render;
mod runs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Host, Identity, Incident, Program, Value};

pub use render::{RenderScreen, SCREENS};
pub use runs::{ScreenRun, ScreenRuns, WorkRuns};

/// The value of [`Screen::schema`].
pub const SCHEMA: &str = "fpprobe-screen/1";

/// What `fpprobe screen` found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Screening")]
pub struct Screen {
    /// [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// What wrote it.
    pub program: Program,
    /// Where.
    pub host: Host,
    /// When it began, in UTC.
    pub started: String,
    /// How long it was to take, in seconds.
    pub duration_s: f64,
    /// Whether something else kept the devices busy.
    pub load: bool,
    /// The devices, in the order of `fpprobe list`.
    pub devices: Vec<ScreenedDevice>,
    /// Drivers that gave no devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<Incident>,
}

/// A device that was screened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScreenedDevice {
    /// Who it is.
    #[serde(flatten)]
    pub identity: Identity,
    /// Active layers and the like.
    pub taint: Vec<String>,
    /// Kernels of which whole blocks of inputs ran, and those that ran on their lists of cases.
    pub kernels: ScreenedKernels,
    /// Results compared.
    pub results: u64,
    /// Passes over all kernels.
    pub rounds: Vec<ScreenRound>,
    /// Kernels with results that differ.
    pub findings: Vec<ScreenFinding>,
    /// What did not run, and what crashed or did not come back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
}

/// How many kernels ran, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenedKernels {
    /// On blocks of their domain.
    pub swept: u64,
    /// On lists of cases.
    pub listed: u64,
}

/// One pass over the kernels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenRound {
    /// When it began, in seconds from the start.
    pub at_s: f64,
    /// Invocations of a work group of the blocks.
    pub group: u32,
    /// Results compared.
    pub results: u64,
    /// The device's sensors, the higher of before and after.
    pub sensors: Sensors,
}

/// What sensors of a device say.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sensors {
    /// Temperature of the hottest sensor, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// Clock rate of the fastest core, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<f64>,
}

impl Sensors {
    /// The higher of both.
    #[must_use]
    pub fn max(self, other: Sensors) -> Sensors {
        let max = |one: Option<f64>, two: Option<f64>| one.into_iter().chain(two).reduce(f64::max);
        Sensors {
            temperature_c: max(self.temperature_c, other.temperature_c),
            clock_mhz: max(self.clock_mhz, other.clock_mhz),
        }
    }
}

/// How often a difference comes again.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The same wrong results each time from the first failure on, three times or more, by all
    /// local sizes or by one.
    Persistent,
    /// Now and then.
    Intermittent,
    /// It came, and did not come again although, at the rate it had, seven more were expected.
    NotReproduced,
}

/// The failures of a kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenFinding {
    /// The kernel.
    pub kernel: String,
    /// How they come again.
    pub class: FailureClass,
    /// Runs of a block of inputs, or of the list of cases.
    pub runs: u64,
    /// Those with results that differ.
    pub failed: u64,
    /// Results of a run.
    pub results_per_run: u64,
    /// Share of results that differ, if failures are independent: -ln(1 - failed / runs) / results
    /// of a run.
    pub rate: f64,
    /// Seconds from the start to the first failure.
    pub time_to_failure_s: f64,
    /// Seconds from the start to the last failure.
    pub last_failure_s: f64,
    /// Share of runs that failed again, of those of the same block or list after its first
    /// failure; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduction_rate: Option<f64>,
    /// Lowest and highest temperature of rounds in which it failed, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<[f64; 2]>,
    /// The lane that all failures are in, and of how many lanes, where four or more failures were
    /// located.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<[u32; 2]>,
    /// The first failures.
    pub list: Vec<ScreenFailure>,
}

/// A result that differs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenFailure {
    /// The block of inputs; absent for a list of cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// The operands; none where several results of a block differ, so that digests do not show
    /// which.
    #[serde(rename = "in", default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Value>,
    /// The result that came otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The result that came here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Value>,
    /// How often this came.
    pub times: u64,
    /// Of how many runs.
    pub of: u64,
    /// When it came first, in seconds from the start.
    pub at_s: f64,
    /// Invocations of a work group then.
    pub group: u32,
    /// The temperature then, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
}
