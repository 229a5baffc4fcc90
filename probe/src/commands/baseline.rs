//! `fpprobe baseline`

use std::path::Path;

use fpprobe_reports::baseline::{self, Baseline, Date, Filter};
use fpprobe_reports::load;
use fpprobe_reports::save::save;

use crate::cli::{AcceptArgs, BaselineCommand};
use crate::document::Document;
use crate::exit::{OrUsage as _, Status, say, usage_error};
use crate::host;

/// Where a baseline comes from.
const BASELINE: Document = Document {
    name: "baseline",
    limit: 16 << 20,
    missing: "`fpprobe baseline accept REPORT -o FILE --reason TEXT` writes one",
};

/// Runs one of its commands.
pub fn main(command: &BaselineCommand) -> anyhow::Result<Status> {
    match command {
        BaselineCommand::Accept(args) => accept(args),
    }
}

fn accept(args: &AcceptArgs) -> anyhow::Result<Status> {
    if args.reason.trim().is_empty() {
        return Err(usage_error("--reason is empty: say why these deviations are accepted"));
    }
    let mut baseline = if args.output.exists() { read(&args.output)? } else { Baseline::default() };
    let report = load::load(&args.report).or_usage()?;
    let filter = Filter {
        reason: args.reason.clone(),
        link: args.link.clone(),
        devices: args.device.clone(),
        profiles: args.profile.clone(),
        rules: args.rule.clone(),
        driver: args.this_driver,
        versions: args.versions.clone(),
        expires: args.expires,
        allow_tainted: args.allow_tainted,
    };
    let count = baseline::accept(&mut baseline, &report, &filter, today()?).or_usage()?;
    save(&args.output, |out| baseline::write(&baseline, out)).or_usage()?;
    let (all, file) = (baseline.accepted.len(), args.output.display());
    say(&format!("{file}: {count} added or replaced, {all} accepted in all"));
    Ok(Status::Done)
}

/// Reads a baseline.
pub fn read(path: &Path) -> anyhow::Result<Baseline> {
    baseline::read(&path.display().to_string(), &BASELINE.read(path)?).or_usage()
}

/// The day, UTC.
pub fn today() -> anyhow::Result<Date> {
    Ok(host::now().split('T').next().unwrap_or_default().parse()?)
}
