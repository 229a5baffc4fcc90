//! What is expected from now on.

use std::collections::BTreeMap;

use fpprobe_profiles::Observation;
use fpprobe_reports::expected::{Expected, ExpectedDevice};
use fpprobe_reports::host;
use fpprobe_reports::save;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

use super::BATCH;
use super::blocks::{RecordedBlocks, blocks};
use super::lists::{items, kernels};
use crate::cli::{GateArgs, MeasureArgs};
use crate::event::RunEvent;
use crate::exit::Status;
use crate::progress::Progress;
use crate::run::RunStatus;
use crate::select;
use crate::session::Session;
use crate::supervisor::{
    Batching, DeviceSession, MeasureSettings, Measurement, Target, measure, side_by_side,
};

/// Kernels of a module in the second pass: results that depend on what shares their module are no
/// device's own.
const OTHER_BATCH: usize = 7;

/// Measures what is expected from now on.
pub fn record(session: &Session, args: &GateArgs) -> anyhow::Result<Status> {
    let version = host::program().version;
    let folder = args.expect.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(usage_error(format!("{} is no folder: make it first", folder.display())));
    }
    let mut expected = if args.expect.exists() {
        Expected::read(&args.expect).or_usage()?
    } else {
        Expected::of_none(&version)
    };
    if expected.program != version {
        return Err(usage_error(format!(
            "{} is of fpprobe {}, and this is {version}: remove it, and record every model again",
            args.expect.display(),
            expected.program
        )));
    }
    let settings = session.settings(&MeasureArgs::default())?;
    let progress = Progress::new(session.verbose);
    let listener = |event: &RunEvent<'_>| progress.show(event);
    let rows = session.survey(&settings, &listener)?;
    session.warn_of_absent(&rows);
    let targets = select::devices(&rows, session.selections(&args.devices.device))?;
    if let Some((_, tainted)) = targets.iter().find(|(_, target)| !target.found.taint.is_empty()) {
        let taint = tainted.found.taint.join("; ");
        return Err(usage_error(format!(
            "{} is tainted ({taint}), so its results may not be the driver's own; record without that",
            tainted.label()
        )));
    }
    let measured = side_by_side(&targets, |number, (_, target)| {
        let passes = passes(number, target, &settings, &listener)?;
        let site = DeviceSession::new(number, target, &settings, &listener);
        let blocks = if passes.is_empty() { RecordedBlocks::default() } else { blocks(&site) };
        Ok((passes, blocks))
    });
    let mut status = RunStatus::default();
    let mut recorded = 0;
    for ((_, target), measured) in targets.iter().zip(measured) {
        let (passes, blocks) = measured.map_err(|error: String| anyhow::Error::msg(error))?;
        let Some(first) = passes.first() else {
            status.obstructed();
            continue;
        };
        status.device(first);
        let measured = first.observations.len();
        let observations: Vec<Vec<Observation>> =
            passes.into_iter().map(|pass| pass.observations).collect();
        let mut device = ExpectedDevice::new(&target.found.identity, &observations);
        device.blocks = blocks.expected;
        let (kernels, label) = (device.kernels.len(), target.label());
        let count: usize = device.blocks.values().map(BTreeMap::len).sum();
        say(&format!(
            "{label}: {kernels} of {measured} kernels, and {count} blocks of {} whole domains, gave \
             the same twice and are expected to",
            device.blocks.len()
        ));
        for failure in blocks.failures {
            say(&format!("warning: {label}: {failure}"));
        }
        if kernels > 0 {
            recorded += 1;
            expected.put(device);
        }
    }
    if recorded > 0 {
        let text = serde_json::to_string_pretty(&expected)? + "\n";
        save::save(&args.expect, |out| out.write_all(text.as_bytes())).or_usage()?;
    }
    Ok(status.status())
}

/// Two passes over all kernels, in other company and order; none where the device cannot be
/// measured.
fn passes(
    number: usize,
    target: &Target,
    settings: &MeasureSettings,
    listener: &(dyn Fn(&RunEvent<'_>) + Sync),
) -> Result<Vec<Measurement>, String> {
    if target.found.obstacle.is_some() {
        return Ok(Vec::new());
    }
    let mut work = items(kernels(target));
    let mut passes = Vec::new();
    for batch in [BATCH, OTHER_BATCH] {
        let settings = MeasureSettings { batch, ..settings.clone() };
        let site = DeviceSession::new(number, target, &settings, listener);
        passes.push(measure(&site, &work, Batching::Shared, None)?);
        work.reverse();
    }
    Ok(passes)
}
