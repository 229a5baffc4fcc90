//! The causes that a fault adds to a device.

use std::collections::{BTreeSet, HashMap};

use fpprobe_reports::model::{Cause, Scope};

use crate::rows::{ExpectedCause, Fault};

/// Whether the causes that are new, or have more failing lanes than before, are those that the
/// table names, in kernels that answer otherwise by the fault; an error where they are not.
pub fn compare(
    fault: &Fault,
    before: &[Cause],
    after: &[Cause],
    changed: &BTreeSet<String>,
) -> Result<(), String> {
    let lanes: HashMap<&str, usize> =
        before.iter().map(|cause| (cause.id.as_str(), cause.lanes)).collect();
    let failing: BTreeSet<&String> = before.iter().flat_map(|cause| &cause.kernels).collect();
    let grown = after
        .iter()
        .filter(|cause| cause.lanes > lanes.get(cause.id.as_str()).copied().unwrap_or(0));
    let mut grown: Vec<&Cause> = grown.collect();
    grown.sort_by_key(|cause| &cause.symptom);
    let mut expected = fault.causes();
    expected.sort_by_key(|cause| cause.symptom.clone());
    let is_folded = changed
        .iter()
        .all(|kernel| kernel.contains("route=spec") || kernel.contains("route=literal"));
    let scope = if is_folded { Scope::Constants } else { Scope::RunTime };
    let shows = |cause: &Cause, expected: &ExpectedCause| {
        let mut kernels = cause.kernels.iter().filter(|kernel| !failing.contains(kernel));
        cause.symptom == expected.symptom
            && cause.scope == scope
            && kernels.all(|kernel| match &expected.stem {
                Some(stem) => kernel.split(':').next() == Some(stem),
                None => changed.contains(kernel),
            })
    };
    if grown.len() == expected.len()
        && grown.iter().zip(&expected).all(|(cause, expected)| shows(cause, expected))
    {
        return Ok(());
    }
    let named = |cause: &&Cause| {
        format!("{} ({:?} {}: {})", cause.symptom, cause.scope, cause.lanes, cause.headline)
    };
    let grown: Vec<String> = grown.iter().map(named).collect();
    Err(format!(
        "{}\n    causes   {grown:#?}\n    expected {expected:?} in {scope:?} of {changed:?}",
        fault.faults
    ))
}
