//! One device measured and compared: run, store, diff against the last report of the slot, check
//! against the baseline.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail};
use fpprobe_reports::change::Change;
use fpprobe_reports::check::CheckResult;
use fpprobe_reports::diff::Diff;
use fpprobe_reports::model::SIZE_LIMIT;
use fpprobe_reports::save::save;
use fpprobe_reports::store::{Store, StoredReport};
use fpprobe_reports::{container, limited};

use crate::changes::{self, ReportSummary, RoundChanges};
use crate::device_table::KnownDevice;
use crate::door::{Door, ProcessStep, RunOptions};
use crate::findings::{Findings, RoundResult};
use crate::job::{self, Done, JobLimits, JobResult};
use crate::order::{Order, RunExtent};
use crate::pending_work::{self, PendingWork};
use crate::references::References;

/// Seconds of a day.
const DAY: u64 = 86_400;
/// Seeds of runs without random inputs: each recompiles another eighth of the modules.
const SEEDS: u64 = 8;
/// Time for each step behind a run.
const STEP: Duration = Duration::from_mins(10);

/// Where, and with what.
#[derive(Clone)]
pub struct RoundContext {
    /// The program that takes the steps.
    pub door: Arc<dyn Door>,
    /// What the daemon keeps for itself.
    pub folder: PathBuf,
    /// The configuration in effect, as a file.
    pub config: PathBuf,
    /// The store.
    pub store: Store,
    /// Worker processes.
    pub jobs: u32,
    /// Random cases of each kernel.
    pub random: u32,
    /// Seconds that a kernel may take.
    pub timeout: f64,
    /// The baseline, if there is one.
    pub baseline: Option<PathBuf>,
    /// What else is in the device's slot.
    pub beside: Vec<KnownDevice>,
}

impl RoundContext {
    /// Folder of files on their way.
    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

/// Measures.
pub fn round(order: Order, place: &RoundContext, limits: &JobLimits) -> RoundResult {
    let begun = Instant::now();
    let (found, late) = match (Round { order: &order, place, limits }).go() {
        Ok(Some((found, late))) => (Ok(Some(found)), late),
        Ok(None) => (Ok(None), false),
        // What is in the store is compared and reported when the order's turn comes again.
        Err(error) if error.is::<StepCancelled>() => (Ok(None), false),
        Err(error) => (Err(format!("{error:#}")), false),
    };
    RoundResult { order, found, late, time: begun.elapsed() }
}

/// Another seed for each day, so that poison, orders, places and sizes rotate. Eight of them
/// recompile every module, and equal seeds give equal results, which the store keeps once. Random
/// inputs are others each time.
fn seed(random: u32) -> u64 {
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    if random > 0 { now } else { now / DAY % SEEDS }
}

struct Round<'a> {
    order: &'a Order,
    place: &'a RoundContext,
    limits: &'a JobLimits,
}

impl Round<'_> {
    /// What was found, and whether that was measured for an older order.
    fn go(&self) -> anyhow::Result<Option<(Findings, bool)>> {
        let Some((pending, stored)) = self.stored()? else { return Ok(None) };
        let late = pending.order.trigger != self.order.trigger;
        let reported = changes::read::<ReportSummary>(&self.report()).unwrap_or_default();
        let (id, file) = (stored.entry.id().to_owned(), stored.entry.file.clone());
        let (incomplete, hung) = (reported.is_incomplete(), reported.hung());
        let (classes, causes) = (reported.classes(), reported.causes());
        let mut found =
            Findings { report: id, file, classes, causes, incomplete, hung, ..Findings::default() };
        if pending.before.is_some() {
            match self.compare(&stored) {
                Ok((changes, path)) => {
                    if let Some(before) = &pending.before {
                        self.call(&path, before)?;
                    }
                    found.changes = changes;
                    (found.before, found.diff) = (pending.before, Some(path));
                }
                Err(error) => match self.damage() {
                    // It is compared with nothing; the next one has this one to be compared with.
                    Some(damage) => {
                        found.failures.push(format!("the report of before is damaged: {damage}"));
                    }
                    None => return Err(error),
                },
            }
        }
        // What only adds to the difference does not keep it from being reported.
        let problems = &mut found.failures;
        found.metrics = beside(self.metrics(&stored), problems)?;
        if let Some(baseline) = &self.place.baseline {
            let checked = beside(self.check(baseline, &stored).map(Some), problems)?;
            (found.check, found.unaccepted) = checked.unzip();
        }
        Ok(Some((found, late)))
    }

    /// The report to tell of: that of a round which was interrupted after it had been stored, or a
    /// new one. `None` where the daemon ended it.
    fn stored(&self) -> anyhow::Result<Option<(PendingWork, StoredReport)>> {
        let RoundContext { folder, store, .. } = self.place;
        let before = store.list()?.reports;
        if let Some(pending) = PendingWork::of(folder, self.order)
            && let Some(stored) = pending.report(&before)
        {
            return Ok(Some((pending, stored)));
        }
        let previous = References::new(folder).previous(
            store,
            (&self.order.device, &self.place.beside),
            self.order.extent,
        )?;
        let mut pending = PendingWork::begin(folder, self.order, previous, &before)?;
        let measured = self.measure(pending.before.is_some());
        // It may have been ended after it had stored its report.
        match (pending.report(&store.list()?.reports), measured) {
            (Some(stored), _) => {
                pending.note(folder, &stored)?;
                Ok(Some((pending, stored)))
            }
            (None, measured) => {
                PendingWork::end(folder, self.order);
                anyhow::ensure!(!measured?, "the run left no report in the store");
                Ok(None)
            }
        }
    }

    /// Where a run writes its report.
    fn report(&self) -> PathBuf {
        self.order.report(&self.place.folder)
    }

    /// Runs, or continues a run that was interrupted; whether it came to its end before the daemon
    /// ended it. A quick run compares itself with what was before: it has judged already what a
    /// comparison needs.
    fn measure(&self, has_before: bool) -> anyhow::Result<bool> {
        let (report, store) = (self.report(), self.place.store.folder());
        let run = RunOptions {
            report: &report,
            store,
            jobs: self.place.jobs,
            timeout: self.place.timeout,
        };
        let mut journal = report.clone().into_os_string();
        journal.push(".journal");
        // A quick run is as quickly begun anew; what a default run has is not measured again.
        if self.order.extent == RunExtent::Full && PathBuf::from(&journal).exists() {
            let done = self.step(&ProcessStep::Resume(run), self.limits.time)?;
            match done.ended {
                JobResult::Stopped => return Ok(false),
                // Not the same driver or program any more.
                JobResult::Status(2) => {}
                JobResult::Status(status) => return measured(status, &done),
                JobResult::Broken(reason) => bail!("the run that went on was broken off: {reason}"),
            }
        }
        let (difference, before) =
            (self.difference(), pending_work::reference(&self.place.folder, self.order));
        let quick = (self.order.extent == RunExtent::Quick).then(|| {
            let _ = fs::remove_file(&difference);
            has_before.then_some((&*before, &*difference))
        });
        let (device, random) = (&*self.order.device.key, self.place.random);
        let done = self.step(
            &ProcessStep::Run { device, run, seed: seed(random), random, quick },
            self.limits.time,
        )?;
        match done.ended {
            JobResult::Stopped => Ok(false),
            JobResult::Status(status) => measured(status, &done),
            JobResult::Broken(ref reason) => {
                bail!("the run was broken off: {reason} ({})", done.last())
            }
        }
    }

    /// What is wrong with the report that it is compared with.
    fn damage(&self) -> Option<String> {
        let reference = pending_work::reference(&self.place.folder, self.order);
        let bytes = limited::bytes(&reference, SIZE_LIMIT).ok()?;
        container::unpack(&bytes, reference.parent()?).err().map(|damage| damage.to_string())
    }

    /// Where the difference goes.
    fn difference(&self) -> PathBuf {
        self.place.work().join(format!("{}-diff.json", self.order.name()))
    }

    /// The difference: that which the run wrote, or one that is made now.
    fn compare(&self, stored: &StoredReport) -> anyhow::Result<(RoundChanges, PathBuf)> {
        let path = self.difference();
        let new = self.place.store.folder().join(&stored.entry.file);
        if let Ok(diff) = changes::read::<Diff>(&path)
            && matches!(&diff.new[..], [only] if *only.file == *new.display().to_string())
        {
            return Ok((diff.into(), path));
        }
        let old = pending_work::reference(&self.place.folder, self.order);
        self.succeed(&ProcessStep::Compare { old: &old, new: &new, output: &path }, &[0])?;
        Ok((changes::read::<Diff>(&path)?.into(), path))
    }

    /// Has a difference call the report of before by its place in the store, or by its id where it
    /// is there no more: its copy of this round will be gone.
    fn call(&self, diff: &Path, before: &str) -> anyhow::Result<()> {
        let store = &self.place.store;
        let stored = store.list()?.reports.into_iter().find(|stored| stored.entry.id() == before);
        let name = stored.map_or_else(
            || format!("report {before}"),
            |stored| store.folder().join(stored.entry.file).display().to_string(),
        );
        let copy = pending_work::reference(&self.place.folder, self.order).display().to_string();
        let text = fs::read_to_string(diff)?.replacen(
            &serde_json::to_string(&copy)?,
            &serde_json::to_string(&name)?,
            1,
        );
        Ok(save(diff, |out| out.write_all(text.as_bytes()))?)
    }

    fn check(
        &self,
        baseline: &Path,
        stored: &StoredReport,
    ) -> anyhow::Result<(PathBuf, Vec<Change>)> {
        let path = self.place.work().join(format!("{}-check.json", stored.entry.id()));
        let report = self.place.store.folder().join(&stored.entry.file);
        let check = ProcessStep::Check {
            baseline,
            report: &report,
            device: &self.order.device.key,
            output: &path,
        };
        self.succeed(&check, &[0, 3, 5])?;
        let deviations = changes::read::<CheckResult>(&path)?.regressed().cloned().collect();
        Ok((path, deviations))
    }

    fn metrics(&self, stored: &StoredReport) -> anyhow::Result<String> {
        let path = self.place.work().join("metrics.prom");
        let (store, report) = (self.place.store.folder(), stored.entry.id());
        self.succeed(
            &ProcessStep::Render { store, report, output: &path, format: Some("prometheus") },
            &[0],
        )?;
        Ok(fs::read_to_string(&path)?)
    }

    fn succeed(&self, step: &ProcessStep<'_>, expected: &[i32]) -> anyhow::Result<()> {
        let name = step.name();
        let done = self.step(step, STEP)?;
        match done.ended {
            JobResult::Status(status) if expected.contains(&status) => Ok(()),
            JobResult::Status(status) => {
                bail!("`{name}` ended with status {status}: {}", done.last())
            }
            JobResult::Broken(ref reason) => bail!("`{name}` was broken off: {reason}"),
            JobResult::Stopped => Err(StepCancelled.into()),
        }
    }

    fn step(&self, step: &ProcessStep<'_>, time: Duration) -> anyhow::Result<Done> {
        let arguments = self.place.door.arguments(&self.place.config, step);
        job::run(&arguments, &JobLimits { time, ..self.limits.clone() })
            .context("failed to start a process")
    }
}

/// A step was ended because something else is required.
#[derive(Debug, thiserror::Error)]
#[error("a step was told to end")]
struct StepCancelled;

/// What a step gives; where it fails, nothing, and a failure more.
fn beside<T: Default>(result: anyhow::Result<T>, problems: &mut Vec<String>) -> anyhow::Result<T> {
    result.or_else(|error| {
        if error.is::<StepCancelled>() {
            return Err(error);
        }
        problems.push(format!("{error:#}"));
        Ok(T::default())
    })
}

/// That a run measured, or why it did not.
fn measured(status: i32, done: &Done) -> anyhow::Result<bool> {
    match status {
        0 | 3 | 5 => Ok(true),
        _ => bail!("the run ended with status {status}: {}", done.last()),
    }
}
