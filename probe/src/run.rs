//! A run, from top to bottom: select devices and kernels, measure them, judge the results, measure
//! what recipes lack and, isolated, what deviates, judge again and diagnose, put the report
//! together, count what went wrong, write and show the report, and compare it.
//!
//! Each step is a file of this folder; how workers measure is the
//! [`supervisor`](crate::supervisor)'s matter.

mod compare;
mod isolate;
pub mod judge;
mod measure;
mod quick;
mod recipes;
mod report;
pub mod select;
mod status;

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::{Judge, Judgement, Observations, judge, undiagnosed};
use fpprobe_reports::journal::{Pass, RunStart};
use fpprobe_reports::judged::{described, rules};
use fpprobe_reports::model::Incident;
use fpprobe_reports::store::Store;
use fpprobe_reports::{Report, demanded};
use fpprobe_system::process::return_freed_memory;
use fpprobe_system::usage::{say, usage_error};

pub use self::compare::Comparison;
use self::judge::JudgePlan;
use self::report::DeviceResult;
use self::select::Selection;
pub use self::status::RunStatus;
use crate::cli::MeasureArgs;
use crate::event::RunEvent;
use crate::exit::Status;
use crate::journal::{JournalPlace, RunJournal};
use crate::keep;
use crate::progress::Progress;
use crate::remote;
use crate::session::Session;
use crate::supervisor::{DeviceSession, Target, Track, side_by_side};
use fpprobe_worker::protocol::Failure;

/// What to measure, what to judge by, and where to keep it.
pub struct RunPipeline<'a> {
    /// Configuration, drivers, signals.
    pub session: &'a Session,
    /// How to measure.
    pub measuring: &'a MeasureArgs,
    /// What to judge by, and where the report goes.
    pub plan: &'a JudgePlan,
    /// What is to run, as selected now or when the journal began.
    pub run: RunStart,
    /// The store with the reports of before, where there is one.
    pub store: Option<Store>,
    /// Whether a quick run begins.
    pub quick: bool,
    /// Where each step is noted.
    pub journal: JournalPlace,
    /// Whether to measure again what is in quarantine.
    pub retry: bool,
    /// A report to compare with.
    pub comparison: Option<Comparison>,
}

impl<'a> RunPipeline<'a> {
    /// Measures what has no result yet, judges, writes the report, stores it and compares it.
    pub fn execute(mut self) -> anyhow::Result<Status> {
        let (plan, session, comparison) = (self.plan, self.session, self.comparison.take());
        let RunResult { report, journal, whole, status, judges } = self.gather()?;
        plan.output.save(&report)?;
        // A report that lacks something leaves the journal, to go on from.
        journal.map_or(Ok(()), |journal| journal.close(whole))?;
        let kept =
            keep::store_report(plan.keep.as_ref(), &session.stop, &report, plan.output.is_file());
        let place = match (&plan.keep, &kept) {
            (Some(keep), Ok(Some(_))) => keep.place(),
            _ => plan.output.place(),
        };
        plan.output.show(&report, &place, session.style())?;
        if !plan.output.is_remote() {
            remote::send_spooled();
        }
        let kept = kept?;
        let status = status.and(plan.requirements(&report));
        if let (Some(comparison), Some(file)) = (comparison, kept)
            && let Err(error) = comparison.compare(&judges, report, &file)
        {
            say(&format!("warning: the report is there, and was not compared: {error:#}"));
        }
        Ok(status)
    }

    /// Selects, measures and judges; what becomes of the report is the caller's matter.
    pub fn gather(self) -> anyhow::Result<RunResult<'a>> {
        let RunPipeline {
            session,
            measuring,
            plan,
            mut run,
            store,
            quick,
            journal,
            retry,
            comparison: _,
        } = self;
        let judges = Judge::together(&plan.profiles);
        let mut settings = session.settings(measuring)?;
        settings.conditions = run.conditions;
        settings.environment.application.clone_from(&run.application);
        let progress = Progress::new(session.verbose);
        let listener = |event: &RunEvent<'_>| progress.show(event);

        let rows = session.survey(&settings, &listener)?;
        let devices = crate::select::devices(&rows, &run.devices)?;
        let targets: Vec<Target> = devices.into_iter().map(|(_, target)| target).collect();
        if let Some(store) = store.as_ref().filter(|_| quick) {
            run.quick =
                Some(quick::again(store, targets.iter().map(|target| &target.found.identity))?);
        }
        let journal = journal.open(&run, retry, &session.stop)?;
        let names = select::names(&targets);
        select::check(journal.as_ref(), &names, &rows)?;
        let selections = select::selections(targets, names, &run, &plan.profiles)?;

        let results = side_by_side(&selections, |number, selection| {
            let site = DeviceSession::new(number, &selection.target, &settings, &listener);
            device(&site, selection, &run, &judges, journal.as_ref())
        });
        let results = results.into_iter().collect::<Result<Vec<_>, _>>().map_err(usage_error)?;
        let results = selections.iter().map(|selection| &selection.target).zip(results);
        let machine = (session.host(measuring), &settings.environment);
        let (report, status, whole) =
            report::assemble(&run, &rows, store.as_ref(), machine, results);
        Ok(RunResult { report, journal, whole, status: status.status(), judges })
    }
}

/// Measures one device and judges it.
fn device(
    site: &DeviceSession<'_>,
    selection: &Selection,
    run: &RunStart,
    judges: &[Judge<'_>],
    journal: Option<&RunJournal>,
) -> Result<DeviceResult, String> {
    let track = |pass| journal.map(|journal| Track::new(journal, &selection.name, pass));
    let quick = run.quick.as_ref();
    let undiagnosed = |observations: &[Observation]| -> Vec<Judgement> {
        undiagnosed(judges, &Observations::new(observations))
    };

    let first = |observations: &[Observation]| {
        if !observations.iter().any(|one| one.outcome.answered()) {
            return;
        }
        let index = Observations::new(observations);
        let judged = rules(judges, &judge(judges, &index), &index);
        let text = report::first_verdicts(site, observations, judged, selection.items.len());
        if let Ok(text) = text {
            (site.listener)(&RunEvent::FirstVerdicts { text: &text });
        }
    };
    let shared = track(Pass::Shared);
    let mut measured =
        measure::batched(site, selection, quick.is_some(), judges, first, shared.as_ref())?;
    let mut judgements = undiagnosed(&measured.observations);
    // Whether a recipe is enough is a default run's matter.
    if quick.is_none() {
        let what = (run.extent(), run.filter.is_empty());
        recipes::complete(
            site,
            what,
            &mut measured,
            &mut judgements,
            undiagnosed,
            track(Pass::Recipes).as_ref(),
        )?;
    }
    let isolated =
        isolate::deviating(site, quick, &mut measured, &mut judgements, undiagnosed, track)?;
    drop(judgements);
    return_freed_memory();
    // A few kernels answer no question, and show no path of texels.
    let describe = if quick.is_some() { rules } else { described };
    let index = Observations::new(&measured.observations);
    let mut judged = describe(judges, &judge(judges, &index), &index);

    let found = &site.target.found;
    measured.incidents.extend(found.matrices.as_ref().map(unlisted));
    let unclaimed = demanded::unclaimed(&found.identity, &found.claims);
    measured
        .findings
        .splice(0..0, unclaimed.into_iter().chain(std::mem::take(&mut judged.findings)));
    Ok(DeviceResult::new(site, measured, isolated, judged, journal))
}

/// A driver that does not say which products of matrices it offers.
fn unlisted(failure: &Failure) -> Incident {
    let detail = format!("{failure}; products of cooperative matrices are not measured");
    Incident {
        subject: "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR".to_owned(),
        outcome: Some(failure.outcome),
        detail,
    }
}

/// What a run gathered.
pub struct RunResult<'a> {
    /// Everything.
    pub report: Report,
    /// How the measuring ended.
    pub status: Status,
    journal: Option<RunJournal>,
    whole: bool,
    /// Who judged it.
    judges: Vec<Judge<'a>>,
}
