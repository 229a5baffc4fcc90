//! The journal of a run: one JSON line per step, on disk before the step counts.
//!
//! A run that is killed goes on from its journal: what has its answer is not run again. A line ends
//! in the digest of what precedes it, so that a damaged answer is never taken for a measured one.

mod custody;
mod hex;
mod read;

use std::collections::BTreeMap;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::catalogue::Extent;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::model::Conditions;

pub use custody::Custody;
pub(crate) use read::record;
pub use read::{JournalContent, JournalError, read};

/// The value of [`RunStart::journal`] that this program writes, and the only one that it reads.
pub const FORMAT: &str = "fpprobe-journal/1";

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// What the run is to do; the first line, and only that.
    Run(RunStart),
    /// The program starts, or goes on after having been interrupted.
    Leg(Leg),
    /// A device is going to be asked.
    Device(DeviceRecord),
    /// A worker is about to be asked; synced before it is.
    Intent(BatchRecord),
    /// A worker has answered.
    Answers(BatchResults),
    /// A worker has failed.
    Failure(FailureRecord),
    /// Kernels are not run: the machine went down while they were.
    Quarantined(QuarantineRecord),
    /// Kernels leave their quarantine, each to be run isolated.
    Released(QuarantineRecord),
    /// The program ends of its own accord; what it had begun to ask is broken off.
    Ended {
        /// Whether the report has everything but what is in quarantine.
        whole: bool,
    },
}

/// What a run is to do.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStart {
    /// [`FORMAT`].
    pub journal: String,
    /// Version of the program.
    pub program: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// Filters of kernels; none for the default run.
    pub filter: Vec<String>,
    /// Selections of devices; none for all.
    pub devices: Vec<String>,
    /// Profiles to judge by, ids or files; none for all that are built in.
    pub profiles: Vec<String>,
    /// Profiles that must be met.
    pub require: Vec<String>,
    /// Format of the report where it is a single file.
    pub format: Option<String>,
    /// Whether every combination is asked.
    #[serde(default)]
    pub exhaustive: bool,
    /// How it is measured.
    #[serde(default)]
    pub conditions: Conditions,
    /// Name of the application that drivers receive.
    #[serde(default)]
    pub application: String,
    /// Whether no more is asked than a quick run asks, and what that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<Quick>,
}

/// What a quick run asks beside its families.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Kernels that deviated in the last stored report of the same device and driver, by the
    /// device's key.
    pub again: BTreeMap<String, Vec<String>>,
}

impl RunStart {
    /// How much it asks.
    pub fn extent(&self) -> Extent {
        if self.exhaustive { Extent::Exhaustive } else { Extent::Default }
    }
}

/// One process of the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leg {
    /// Identifies the time between two starts of the machine; empty where that is not known.
    pub boot: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
}

/// A device and what it is going to be asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRecord {
    /// Its key.
    pub device: String,
    /// Its name, for people.
    pub name: String,
    /// Digest of the kernels and their inputs.
    #[serde(rename = "asks")]
    pub work: String,
    /// Active layers and the like.
    pub taint: Vec<String>,
    /// Disk caches of drivers that are switched off.
    pub caches_off: Vec<String>,
}

/// The pass of a device's measurement that a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Kernels share modules.
    Shared,
    /// Ways of asking that fail are tried under smaller recipes, too.
    Recipes,
    /// What deviates is run again, each kernel in a module of its own, and runs once.
    Alone,
    /// What answered otherwise there is asked in full.
    Doubted,
}

/// Kernels of a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRecord {
    /// The device's key.
    pub device: String,
    /// The pass.
    pub pass: Pass,
    /// Kernel ids.
    pub kernels: Vec<String>,
}

/// Kernels of a device in quarantine, or out of it: in every pass.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuarantineRecord {
    /// The device's key.
    pub device: String,
    /// Kernel ids.
    pub kernels: Vec<String>,
}

/// What the kernels of a batch answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchResults {
    /// The device's key.
    pub device: String,
    /// The pass.
    pub pass: Pass,
    /// One per kernel, in the order of the intent.
    pub answers: Vec<RecordedResult>,
}

/// What one kernel answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResult {
    /// Kernel id.
    pub kernel: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The values of the first run, all components of all cases, in hex, with a space between two.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "hex")]
    pub out: Vec<u64>,
    /// Those of the second run, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex::option")]
    pub second: Option<Vec<u64>>,
}

/// How a worker failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureRecord {
    /// The device's key.
    pub device: String,
    /// The pass.
    pub pass: Pass,
    /// What it was asked, or going to be.
    pub kernels: Vec<String>,
    /// The kind of failure.
    pub outcome: Outcome,
    /// What happened.
    pub detail: String,
    /// Where in the life of a worker.
    pub stage: FailureStage,
}

/// When a worker failed, and by whose doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureStage {
    /// Before it was asked.
    Start,
    /// At what it was asked.
    #[serde(rename = "ask")]
    Work,
    /// It was killed from outside.
    Killed,
}

/// A record as its line, with its end.
pub fn line(record: &impl Serialize) -> String {
    let mut line = serde_json::to_string(record).unwrap_or_default();
    // An object always ends in a brace; the digest covers everything before its own member.
    line.pop();
    let digest = digest(line.as_bytes());
    line + ",\"sum\":\"" + &digest + "\"}\n"
}

/// Sixteen hex digits that change with any of these bytes.
pub fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let head = digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
    format!("{head:016x}")
}

#[cfg(test)]
mod tests;
