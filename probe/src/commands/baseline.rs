//! `fpprobe baseline`

use std::path::Path;

use anyhow::Context as _;
use fpprobe_reports::baseline::{self, AcceptFilter, Baseline, Revision};
use fpprobe_reports::load;
use fpprobe_reports::model::{Level, RuleResult};
use fpprobe_reports::save::save;

use crate::baseline::{BASELINE, read, today};
use crate::cli::{AcceptArgs, BaselineCommand};
use crate::exit::Status;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Runs one of its commands.
pub fn main(command: &BaselineCommand) -> anyhow::Result<Status> {
    match command {
        BaselineCommand::Accept(args) => accept(args),
    }
}

fn accept(args: &AcceptArgs) -> anyhow::Result<Status> {
    let mut baseline = if args.output.exists() { read(&args.output)? } else { Baseline::default() };
    let report = load::one(&args.report).or_usage()?;
    let filter = AcceptFilter {
        reason: args.reason.clone(),
        link: args.link.clone(),
        devices: args.device.clone(),
        profiles: args.profile.clone(),
        rules: args.rule.clone(),
        causes: args.cause.clone(),
        driver: args.this_driver,
        versions: args.versions.clone(),
        expires: args.expires,
        allow_tainted: args.allow_tainted,
        prune: args.prune,
    };
    let Revision { set, removed: missing } =
        baseline::accept(&mut baseline, &report, &filter, today()?).or_usage()?;
    let text = written(&baseline, &args.output)?;
    save(&args.output, |out| out.write_all(text.as_bytes())).or_usage()?;
    let (all, file) = (baseline.accepted.len(), args.output.display());
    let devices = report.devices.iter().filter(|device| !device.causes.is_empty());
    let mut rules = devices.flat_map(|device| &device.profiles).flat_map(|one| &one.rules);
    let lacks_cause = |rule: &RuleResult| rule.failed.iter().any(|one| one.cause.is_empty());
    if rules.any(|rule| rule.level == Level::Required && lacks_cause(rule)) {
        say(&format!(
            "note: an earlier fpprobe wrote {0}, which does not say which lanes belong to which cause: entries are by rule; `fpprobe judge {0} -o NEW` makes a report that does",
            args.report.display()
        ));
    }
    let missing = if missing > 0 { format!(", {missing} removed") } else { String::new() };
    say(&format!("{file}: {set} added or replaced{missing}, {all} accepted in all"));
    for coverage in baseline.measured.iter().filter(|coverage| !coverage.failed.is_empty()) {
        let failed = coverage.failed.len();
        let kernels =
            if failed == 1 { "1 kernel that does" } else { &format!("{failed} kernels that do") };
        say(&format!(
            "{file}: {kernels} not run on {} with {}, accepted (`failed`)",
            coverage.device, coverage.driver
        ));
    }
    Ok(Status::Done)
}

/// The file of a baseline, which reads back: a file that is there is replaced by nothing else.
fn written(baseline: &Baseline, path: &Path) -> anyhow::Result<String> {
    let mut text = Vec::new();
    baseline::write(baseline, &mut text)?;
    let text = String::from_utf8(text).context("failed to write the baseline as text")?;
    if text.len() as u64 > BASELINE.limit {
        let problem =
            "would be larger than a baseline may be; accept fewer profiles or rules at once";
        return Err(usage_error(format!("{} {problem}", path.display())));
    }
    baseline::read(&path.display().to_string(), &text)
        .context("failed to write a baseline that can be read back")
        .or_usage()?;
    Ok(text)
}
