//! `fpprobe run`

use std::path::Path;

use fpprobe_reports::journal::{FORMAT, RunStart};
use fpprobe_reports::model::{Conditions, Recompiled};

use crate::cli::{JudgingArgs, RunArgs};
use crate::exit::Status;
use crate::journal::{self, JournalPlace, RunJournal};
use crate::keep;
use crate::keep::Keep;
use crate::run::Comparison;
use crate::run::RunPipeline;
use crate::run::judge;
use crate::run::select;
use crate::session::Session;
use fpprobe_reports::host;
use fpprobe_reports::support::Support;

/// Measures and judges.
pub fn main(session: &Session, args: &RunArgs) -> anyhow::Result<Status> {
    match &args.resume {
        Some(place) => resume(session, args, place),
        None => begin(session, args),
    }
}

fn begin(session: &Session, args: &RunArgs) -> anyhow::Result<Status> {
    let mut plan = judge::JudgePlan::new(&session.config, &args.judging, &session.config.output)?;
    let run = RunStart {
        journal: FORMAT.to_owned(),
        program: host::program().version,
        started: host::now(),
        filter: args.filter.clone(),
        devices: session.selections(&args.devices.device).to_vec(),
        // The folder that a relative path starts from may be another when the run goes on.
        profiles: plan.named.profiles.iter().map(|name| absolute(name)).collect(),
        require: plan.named.require.iter().map(|name| absolute(name)).collect(),
        format: args.judging.format.clone(),
        exhaustive: args.exhaustive,
        conditions: Conditions {
            seed: args.seed,
            random: args.random,
            stress: args.stress,
            recompiled: if args.exhaustive || args.recompile {
                Recompiled::All
            } else {
                Recompiled::Eighth
            },
        },
        application: session.config.drivers.application().to_owned(),
        quick: None,
    };
    // Filters are checked before any file or driver is touched.
    if !run.filter.is_empty() {
        select::kernels(&plan.profiles, &run.filter, run.extent(), (&Support::everything(), &[]))?;
    }
    if args.deliver {
        plan.output = plan.output.and_send(&session.config.output)?;
    }
    plan.keep = Keep::new(&session.config, &args.keeping)?;
    let store = keep::store(&session.config, &args.keeping.place);
    // A quick run reads what deviated before.
    let store = if args.quick { Some(store?) } else { store.ok() };
    let quick = args.quick;
    if args.quick {
        // Of what was not asked nothing can be required.
        plan = plan.without_requirements();
    }
    let journal = plan.output.journal().map_or(JournalPlace::Nowhere, JournalPlace::At);
    let retry = args.retry_quarantined;
    let comparison = Comparison::begin(&args.against);
    RunPipeline {
        session,
        measuring: &args.measuring,
        plan: &plan,
        run,
        store,
        quick,
        journal,
        retry,
        comparison,
    }
    .execute()
}

fn resume(session: &Session, args: &RunArgs, place: &Path) -> anyhow::Result<Status> {
    let path = journal::find(place)?;
    let (run, journal) = RunJournal::resume(&path, args.retry_quarantined, &session.stop)?;
    let judging = JudgingArgs {
        profile: run.profiles.clone(),
        format: run.format.clone(),
        output: journal::report(&path),
        require: if args.judging.require.is_empty() {
            run.require.clone()
        } else {
            args.judging.require.clone()
        },
    };
    let mut plan = judge::JudgePlan::new(&session.config, &judging, Path::new(""))?;
    if args.deliver {
        plan.output = plan.output.and_send(&session.config.output)?;
    }
    plan.keep = Keep::new(&session.config, &args.keeping)?;
    let (journal, retry) = (JournalPlace::On(journal), args.retry_quarantined);
    let store = keep::store(&session.config, &args.keeping.place).ok();
    let (measuring, comparison) = (&args.measuring, None);
    RunPipeline {
        session,
        measuring,
        plan: &plan,
        run,
        store,
        quick: false,
        journal,
        retry,
        comparison,
    }
    .execute()
}

fn absolute(name: &str) -> String {
    let path = Path::new(name);
    let path = if path.is_file() { path.canonicalize().ok() } else { None };
    path.map_or_else(|| name.to_owned(), |path| path.display().to_string())
}
