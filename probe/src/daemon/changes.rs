//! What the documents say that `diff` and `check` write: as much of them as is told further.

use std::path::Path;

use fpprobe_reports::limited;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes that a document may have.
const LIMIT: u64 = 1 << 30;

/// Of `fpprobe-diff/1`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Changes {
    /// The devices; those of one report alone are not compared.
    pub devices: Vec<DeviceChanges>,
}

/// Of one device.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct DeviceChanges {
    /// What is otherwise in its identity and its driver's.
    pub identity: Vec<Field>,
    /// Rules whose verdict changed.
    pub rules: Vec<Rule>,
    /// Kernels whose answers changed.
    pub kernels: Vec<Kernel>,
}

/// A field with two values.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Field {
    /// Its name.
    #[serde(rename = "field")]
    pub name: String,
    /// Before.
    pub old: Option<String>,
    /// Now.
    pub new: Option<String>,
}

/// A rule.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rule {
    /// What the change means.
    pub kind: String,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    #[serde(rename = "rule")]
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it is now; none where there is no such rule any more.
    pub new: Option<Ruling>,
}

/// A verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ruling {
    /// Its name.
    pub verdict: String,
    /// Lanes that are not accepted.
    pub failing: usize,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Kernel {
    /// What the gravest change means.
    pub kind: String,
}

/// What a change means that is a regression.
const NEWLY_DEVIATING: &str = "newly_deviating";

impl Changes {
    /// Rules that accept no more what the device does.
    pub fn regressions(&self) -> Vec<Rule> {
        let rules = self.devices.iter().flat_map(|device| &device.rules);
        rules.filter(|rule| rule.kind == NEWLY_DEVIATING).cloned().collect()
    }

    /// Whether something is accepted no more: a rule is not met, or a kernel of a rule that was not met before gives further
    /// results that it does not accept.
    pub fn is_regression(&self) -> bool {
        let kernels = self.devices.iter().flat_map(|device| &device.kernels);
        !self.regressions().is_empty() || kernels.into_iter().any(|kernel| kernel.kind == NEWLY_DEVIATING)
    }

    /// Numbers of rules and of kernels that changed.
    pub fn counts(&self) -> (usize, usize) {
        let sum = |count: fn(&DeviceChanges) -> usize| self.devices.iter().map(count).sum();
        (sum(|device| device.rules.len()), sum(|device| device.kernels.len()))
    }

    /// What changed in who the device is, in words.
    pub fn identity(&self) -> Vec<String> {
        let none = || "none".to_owned();
        let words = |field: &Field| {
            let (old, new) = (field.old.clone().unwrap_or_else(none), field.new.clone().unwrap_or_else(none));
            format!("{}: {old} -> {new}", field.name)
        };
        self.devices.iter().flat_map(|device| &device.identity).map(words).collect()
    }
}

/// Of `fpprobe-check/1`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Checked {
    /// Whether the gate is open.
    pub passed: bool,
    /// What deviates and is not accepted.
    pub deviations: Vec<Deviation>,
}

/// A deviation that is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Deviation {
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// Why it is not accepted.
    pub why: String,
}

/// Of a report: what went wrong on its devices.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Reported {
    devices: Vec<ReportedDevice>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
struct ReportedDevice {
    incomplete: Vec<ReportedIncident>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
struct ReportedIncident {
    subject: String,
    outcome: Option<String>,
    detail: String,
}

impl Reported {
    /// Why the device is better left alone.
    pub fn hung(&self) -> Option<String> {
        let incidents = self.devices.iter().flat_map(|device| &device.incomplete);
        let mut hung = incidents.filter(|incident| incident.outcome.as_deref() == Some("hung"));
        hung.next().map(|incident| format!("{}: {}", incident.subject, incident.detail))
    }
}

/// Reads a document.
pub fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = limited::bytes(path, LIMIT)?;
    serde_json::from_slice(&bytes).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}
