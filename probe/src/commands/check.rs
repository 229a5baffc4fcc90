//! `fpprobe check --baseline FILE`

use std::path::Path;

use fpprobe_reports::Report;
use fpprobe_reports::check::{CHECKS, Gate, Terms, check};
use fpprobe_reports::journal::{FORMAT, RunStart};
use fpprobe_reports::load;
use fpprobe_reports::model::ProfileResult;
use fpprobe_reports::selection::selects;

use crate::cli::{CheckArgs, JudgingArgs, StoreArgs};
use crate::exit::Status;
use crate::journal::JournalPlace;
use crate::output::Page;
use crate::run::judge;
use crate::run::{RunPipeline, RunResult};
use crate::session::Session;
use crate::{baseline, keep, profiles};
use fpprobe_reports::host;
use fpprobe_system::usage::{OrUsage as _, usage_error};

/// Checks a report, or what is measured now.
pub fn main(session: &Session, args: &CheckArgs) -> anyhow::Result<Status> {
    let page = Page::new(CHECKS, args.output.as_deref(), args.format.as_deref())?;
    let mut baseline = baseline::read(&args.baseline)?;
    let (report, status) = match &args.report {
        Some(path) => (of(load::one(path).or_usage()?, args)?, Status::Done),
        None => measure(session, args)?,
    };
    if !args.profile.is_empty() {
        // What other profiles accept does not count either.
        let judged = |id: &String| of_devices(&report).any(|profile| profile.id == *id);
        baseline.keep_profiles(judged);
    }
    let terms = Terms {
        today: baseline::today()?,
        strict: args.strict,
        allow_tainted: args.allow_tainted,
        selected: !session.selections(&args.devices.device).is_empty(),
    };
    let profiles = profiles::that_judged(std::iter::once(&report))?;
    let checked = check(host::program(), &profiles, &report, &baseline, terms).or_usage()?;
    page.write(session.style(), |form, style, out| form.render(&checked, &report, style, out))?;
    Ok(status.and(match checked.gate {
        Gate::Passed => Status::Done,
        Gate::NotPassed => Status::Unmet,
        Gate::NothingMeasured => Status::Nothing,
        Gate::Incomplete => Status::Incomplete,
    }))
}

/// The report with the devices and the verdicts of the profiles that are selected; all where none
/// is.
fn of(mut report: Report, args: &CheckArgs) -> anyhow::Result<Report> {
    let (named, devices) = (&args.profile, &args.devices.device);
    if let Some(none) =
        devices.iter().find(|name| !report.devices.iter().any(|one| selects(name, &one.identity)))
    {
        return Err(usage_error(format!("no device of the report matches `{none}`")));
    }
    if !devices.is_empty() {
        report.devices.retain(|one| devices.iter().any(|name| selects(name, &one.identity)));
    }
    let judged = |id: &String| of_devices(&report).any(|profile| profile.id == *id);
    if let Some(id) = named.iter().find(|id| !judged(id)) {
        let problem = format!(
            "no device of the report was judged by `{id}`; `fpprobe judge REPORT --profile {id}` does"
        );
        return Err(usage_error(problem));
    }
    if !named.is_empty() {
        report
            .devices
            .iter_mut()
            .for_each(|device| device.profiles.retain(|profile| named.contains(&profile.id)));
    }
    Ok(report)
}

/// What the profiles say of each device.
fn of_devices(report: &Report) -> impl Iterator<Item = &ProfileResult> {
    report.devices.iter().flat_map(|device| &device.profiles)
}

/// Measures what `run` would.
fn measure(session: &Session, args: &CheckArgs) -> anyhow::Result<(Report, Status)> {
    let options = JudgingArgs {
        profile: args.profile.clone(),
        format: None,
        output: None,
        require: Vec::new(),
    };
    let plan = judge::JudgePlan::new(&session.config, &options, Path::new(""))?;
    let run = RunStart {
        journal: FORMAT.to_owned(),
        program: host::program().version,
        started: host::now(),
        filter: args.kernel.clone(),
        devices: session.selections(&args.devices.device).to_vec(),
        application: session.config.drivers.application().to_owned(),
        ..RunStart::default()
    };
    let (measuring, journal) = (&args.measuring, JournalPlace::Nowhere);
    let store = keep::store(&session.config, &StoreArgs::default()).ok();
    let (retry, quick, comparison) = (false, false, None);
    let pipeline = RunPipeline {
        session,
        measuring,
        plan: &plan,
        run,
        store,
        quick,
        journal,
        retry,
        comparison,
    };
    let RunResult { report, status, .. } = pipeline.gather()?;
    Ok((report, status))
}
