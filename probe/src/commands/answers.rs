//! `fpprobe answers`

use fpprobe_profiles::judge::Observations;
use fpprobe_reports::journal::{FORMAT, RunStart};
use fpprobe_reports::render::{ANSWERS, OutputFormat, ReportPlace};
use fpprobe_reports::{questions, record, traits};

use crate::cli::{AnswersArgs, StoreArgs};
use crate::exit::Status;
use crate::journal::JournalPlace;
use crate::named_report;
use crate::run::RunPipeline;
use crate::run::judge;
use crate::session::Session;
use fpprobe_reports::host;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Answers what people want to know of every device, from a report or from a run of the kernels
/// that traits look at.
pub fn main(session: &Session, args: &AnswersArgs) -> anyhow::Result<Status> {
    let format: &OutputFormat = ANSWERS
        .iter()
        .find(|format| format.name == args.format)
        .ok_or_else(|| usage_error(format!("unknown format `{}` of answers", args.format)))?;
    let plan = judge::JudgePlan::unjudged(format);
    let Some(path) = &args.report else {
        let run = RunStart {
            journal: FORMAT.to_owned(),
            program: host::program().version,
            started: host::now(),
            filter: traits::kernels().iter().map(ToString::to_string).collect(),
            devices: session.selections(&args.devices.device).to_vec(),
            application: session.config.drivers.application().to_owned(),
            ..RunStart::default()
        };
        let journal = JournalPlace::Nowhere;
        let pipeline = RunPipeline {
            session,
            measuring: &args.measuring,
            plan: &plan,
            run,
            store: None,
            quick: false,
            journal,
            retry: false,
            comparison: None,
        };
        return pipeline.execute();
    };
    let mut report = named_report::read(&session.config, &StoreArgs::default(), path)?;
    for device in &mut report.devices {
        let recorded = record::read_device(&device.observations, &report.inputs).or_usage()?;
        for unknown in &recorded.unknown {
            say(&format!("warning: {unknown}"));
        }
        device.traits = traits::traits(&Observations::new(&recorded.observations));
        device.answers = questions::answers(&device.traits);
    }
    plan.output.show(&report, &ReportPlace::Nowhere, session.style())?;
    Ok(Status::Done)
}
