//! The document that a comparison is: `fpprobe-diff/2`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeKind, Subject};
use crate::model::{Conditions, Program};

/// The value of [`Diff::schema`] that this program writes.
pub const SCHEMA: &str = "fpprobe-diff/2";

/// What is otherwise in one report, or set of reports, than in another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    /// `fpprobe-diff/2`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that compared.
    pub program: Program,
    /// The reports before.
    pub old: Vec<ReportSource>,
    /// The reports after.
    pub new: Vec<ReportSource>,
    /// What changed, in numbers.
    pub summary: Summary,
    /// Drivers and devices that could not be measured, of which one side alone reports: why a
    /// device appeared or disappeared.
    pub incomplete: Vec<Change>,
    /// Every device, in the order of the new reports, then those that are missing.
    pub devices: Vec<DeviceDiff>,
}

/// A report that was compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportSource {
    /// Its file.
    pub file: String,
    /// Version of the program that wrote it.
    pub program: String,
    /// Id of the machine that it is of.
    pub host: String,
    /// When its run started, RFC 3339, UTC.
    pub started: String,
    /// How it was measured; reports of earlier programs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Conditions>,
}

/// Counts over all devices that are in both.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Whether nothing changed at all.
    pub empty: bool,
    /// Devices that were compared.
    pub compared: usize,
    /// Devices that are in the new reports alone.
    pub appeared: usize,
    /// Devices that are in the old reports alone.
    pub disappeared: usize,
    /// Compared devices whose driver is another.
    pub updated: usize,
    /// Inputs whose result changed.
    pub lanes: usize,
    /// Kernels that have such inputs.
    pub kernels: usize,
    /// Changes by kind and subject, those that occur.
    pub counts: Vec<Count>,
}

/// How many changes there are of one kind and subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// The kind.
    pub kind: ChangeKind,
    /// The subject.
    pub subject: Subject,
    /// Changes.
    pub changes: usize,
    /// Inputs of kernels among them.
    pub lanes: usize,
}

/// One device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeviceDiff {
    /// Its place, by which it is found in both.
    pub slot: String,
    /// Its name, in the new report where it is there.
    pub name: String,
    /// Its driver with its version, in the new report where it is there.
    pub driver: String,
    /// Id of the machine that it is in.
    pub host: String,
    /// What changed in short sentences: traits, then causes that are new, worse or missing.
    pub headlines: Vec<String>,
    /// What changed, by subject, the most important of each first; of a device in one side's
    /// reports alone that alone.
    pub changes: Vec<Change>,
}

impl Diff {
    /// Whether several reports were compared with others, which may be of several machines.
    pub fn is_of_several(&self) -> bool {
        self.old.len() > 1 || self.new.len() > 1
    }

    /// Every change of a device.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.devices.iter().flat_map(|device| &device.changes)
    }
}

impl DeviceDiff {
    /// Whether nothing of it changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// What changed of one subject.
    pub fn of(&self, subject: Subject) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.subject == subject)
    }

    /// Whether it is in one side's reports alone: appeared or disappeared.
    pub fn presence(&self) -> Option<ChangeKind> {
        self.of(Subject::Device).next().map(|change| change.kind)
    }
}
