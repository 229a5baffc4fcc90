//! The file of accepted deviations.

use std::path::Path;

use fpprobe_reports::baseline::{self, Baseline, Date};
use fpprobe_reports::host;
use fpprobe_system::usage::OrUsage as _;

use crate::document::DocumentKind;

/// Where a baseline comes from.
pub const BASELINE: DocumentKind = DocumentKind {
    name: "baseline",
    limit: 16 << 20,
    missing: "`fpprobe baseline accept REPORT -o FILE --reason TEXT` writes one",
};

/// Reads a baseline.
pub fn read(path: &Path) -> anyhow::Result<Baseline> {
    baseline::read(&path.display().to_string(), &BASELINE.read(path)?).or_usage()
}

/// The day, UTC.
pub fn today() -> anyhow::Result<Date> {
    Ok(host::now().split('T').next().unwrap_or_default().parse()?)
}
