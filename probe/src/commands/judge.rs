//! `fpprobe judge REPORT`

use std::path::Path;

use fpprobe_reports::{common, record};

use crate::cli::{JudgeArgs, StoreArgs};
use crate::exit::Status;
use crate::named_report;
use crate::run::judge;
use crate::session::Session;
use fpprobe_system::usage::{OrUsage as _, say};

/// Judges a report again.
pub fn main(session: &Session, args: &JudgeArgs) -> anyhow::Result<Status> {
    let plan = judge::JudgePlan::new(&session.config, &args.judging, Path::new(""))?;
    let mut report = named_report::read(&session.config, &StoreArgs::default(), &args.report)?;
    let mut answered = false;
    for device in &mut report.devices {
        let recorded = record::read_device(&device.observations, &report.inputs).or_usage()?;
        for unknown in &recorded.unknown {
            say(&format!("warning: {unknown}"));
        }
        answered |= recorded.observations.iter().any(|one| one.outcome.answered());
        common::rejudge(device, &plan.profiles, &recorded.observations);
    }
    plan.output.save(&report)?;
    plan.output.show(&report, &plan.output.place(), session.style())?;
    Ok(Status::Nothing.when(!answered).and(plan.requirements(&report)))
}
