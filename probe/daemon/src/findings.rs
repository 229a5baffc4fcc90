//! What a round found.

use std::path::PathBuf;
use std::time::Duration;

use fpprobe_reports::change::Change;

use crate::changes::RoundChanges;
use crate::order::Order;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Id of the stored report.
    pub report: String,
    /// Its file within the store.
    pub file: String,
    /// The class of each profile, in words.
    pub classes: Vec<String>,
    /// Headlines of the causes, the gravest first.
    pub causes: Vec<String>,
    /// Whether a kernel, or the device, crashed, hung or was lost.
    pub incomplete: bool,
    /// Id of the report before, where there is one.
    pub before: Option<String>,
    /// What changed since then.
    pub changes: RoundChanges,
    /// The document of the changes.
    pub diff: Option<PathBuf>,
    /// The document of the baseline's check.
    pub check: Option<PathBuf>,
    /// What the baseline does not accept; none where there is no baseline.
    pub unaccepted: Option<Vec<Change>>,
    /// Why the device is better left alone.
    pub hung: Option<String>,
    /// Metrics of the report.
    pub metrics: String,
    /// What could not be found out beside the difference.
    pub failures: Vec<String>,
}

/// How a round ended.
#[derive(Clone, Debug)]
pub struct RoundResult {
    /// What was to be measured.
    pub order: Order,
    /// What came of it; `None` where the daemon ended it.
    pub found: Result<Option<Findings>, String>,
    /// Whether that was measured for an older order, and this one is still to be done.
    pub late: bool,
    /// How long it took.
    pub time: Duration,
}
