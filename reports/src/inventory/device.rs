//! A device of a report, reduced to what an inventory compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::report_file::ReportFile;
use super::results::ResultDigest;
use crate::model::Class;
use crate::time;

/// One device of one report.
#[derive(Clone, Debug)]
pub(super) struct FoundDevice {
    pub file: ReportFile,
    /// The host's id, and label where it has one: hosts made of one image share their id.
    pub host_key: (String, String),
    pub tags: BTreeMap<String, String>,
    pub slot: String,
    pub measured: String,
    /// Equal devices share it.
    pub behaviour: Arc<DeviceBehaviour>,
}

/// What a device is, and what it gave.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct DeviceBehaviour {
    pub model: String,
    pub ids: (u32, u32),
    pub driver: String,
    pub classes: Arc<BTreeMap<String, Class>>,
    /// Values at run time by id.
    pub traits: Vec<(String, String)>,
    /// By question, ascending; devices with one file of results share them.
    pub results: Arc<[ResultDigest]>,
}

impl FoundDevice {
    /// Label of the host, or its id.
    pub(super) fn host(&self) -> &str {
        let (id, label) = &self.host_key;
        if label.is_empty() { id } else { label }
    }

    /// Seconds since 1970.
    pub(super) fn time(&self) -> u64 {
        time::seconds(&self.measured).unwrap_or_default()
    }
}

impl DeviceBehaviour {
    /// What gave the results of a question.
    pub(super) fn result(&self, question: u64) -> Option<&ResultDigest> {
        let place = self.results.binary_search_by_key(&question, |digest| digest.question).ok()?;
        Some(&self.results[place])
    }
}
