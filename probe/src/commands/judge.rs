//! `fpprobe judge REPORT`

use std::path::Path;

use fpprobe_reports::model::Outcome;
use fpprobe_reports::{demanded, load, record};

use crate::cli::JudgeArgs;
use crate::exit::{OrUsage as _, Status, say};
use crate::session::Session;
use crate::{colour, judging};

/// Findings that judgement makes; others were made while measuring and stay.
const JUDGED: [&str; 3] = ["claim", "flaky", "route"];

/// Judges a report again.
pub fn main(session: &Session, args: &JudgeArgs) -> anyhow::Result<Status> {
    let plan = judging::Plan::new(&session.config, &args.judging, Path::new(""))?;
    let mut report = load::one(&args.report).or_usage()?;
    let mut answered = false;
    for device in &mut report.devices {
        let recorded = record::read_device(&device.observations, &report.inputs).or_usage()?;
        for unknown in &recorded.unknown {
            say(&format!("warning: {unknown}"));
        }
        answered |= recorded.observations.iter().any(|one| matches!(one.outcome, Outcome::Ran | Outcome::Flaky));
        let judged = judging::judge(&plan.profiles, &recorded.observations);
        device.profiles = judged.profiles;
        device.answers = judged.answers;
        device.texels = judged.texels;
        device.findings.retain(|finding| !JUDGED.contains(&finding.kind.as_str()));
        let unclaimed = demanded::unclaimed(&device.identity, &device.claims);
        device.findings.splice(0..0, unclaimed.into_iter().chain(judged.findings));
    }
    plan.output.save(&report)?;
    plan.output.show(&report, colour::on_stdout(session.config.colour))?;
    Ok(Status::Nothing.when(!answered).and(plan.requirements(&report)))
}
