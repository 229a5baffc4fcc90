//! One device measured and compared: run, store, diff against the last report of the slot, check against the baseline.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail};
use fpprobe_reports::limited;
use fpprobe_reports::load::SIZE_LIMIT;
use fpprobe_reports::save::save;
use fpprobe_reports::store::{Store, Stored, container};
use serde::{Deserialize, Serialize};

use super::changes::{self, Changes, Checked, Deviation, Reported, Rule};
use super::job::{self, Done, Ended, Limits};
use super::references::References;
use super::roster::Known;
use super::trigger::Trigger;
use super::unfinished::{self, Unfinished};

/// Time for each step behind a run.
const STEP: Duration = Duration::from_mins(10);

/// How much is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// What a quick run asks.
    #[default]
    Quick,
    /// What a default run asks.
    Full,
}

impl Extent {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Extent::Quick => "quick",
            Extent::Full => "full",
        }
    }
}

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The device.
    pub device: Known,
    /// How much of it.
    pub extent: Extent,
    /// Why.
    pub trigger: Trigger,
    /// How often it has failed.
    pub failures: u32,
}

impl Order {
    /// One that has not failed yet.
    pub fn new(device: Known, extent: Extent, trigger: Trigger) -> Order {
        Order { device, extent, trigger, failures: 0 }
    }

    /// Name of its files: there is one order for each device and extent at a time.
    pub fn name(&self) -> String {
        format!("{}-{}", self.extent.name(), self.device.key.replace(['/', '.'], "_"))
    }

    /// Where its run writes the report, in this folder of the daemon's.
    pub fn report(&self, folder: &Path) -> PathBuf {
        folder.join("work").join(format!("{}.json", self.name()))
    }
}

/// Where, and with what.
#[derive(Clone, Debug)]
pub struct Place {
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
    pub beside: Vec<Known>,
}

impl Place {
    /// Folder of files on their way.
    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Id of the stored report.
    pub report: String,
    /// Its file within the store.
    pub file: String,
    /// Whether a kernel, or the device, crashed, hung or was lost.
    pub incomplete: bool,
    /// Id of the report before, where there is one.
    pub before: Option<String>,
    /// What changed since then.
    pub changes: Changes,
    /// Rules that accept no more what the device does.
    pub regressions: Vec<Rule>,
    /// The document of the changes.
    pub diff: Option<PathBuf>,
    /// The document of the baseline's check.
    pub check: Option<PathBuf>,
    /// What the baseline does not accept; none where there is no baseline.
    pub unaccepted: Option<Vec<Deviation>>,
    /// Why the device is better left alone.
    pub hung: Option<String>,
    /// Metrics of the report.
    pub metrics: String,
    /// What could not be found out beside the difference.
    pub troubles: Vec<String>,
}

/// How a round ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was to be measured.
    pub order: Order,
    /// What came of it; `None` where the daemon ended it.
    pub found: Result<Option<Found>, String>,
    /// Whether that was measured for an older order, and this one is still to be done.
    pub late: bool,
    /// How long it took.
    pub time: Duration,
}

/// Measures.
pub fn round(order: Order, place: &Place, limits: &Limits) -> Outcome {
    let begun = Instant::now();
    let (found, late) = match (Round { order: &order, place, limits }).go() {
        Ok(Some((found, late))) => (Ok(Some(found)), late),
        Ok(None) => (Ok(None), false),
        // What is in the store is compared and told when the order's turn comes again.
        Err(error) if error.is::<Stopped>() => (Ok(None), false),
        Err(error) => (Err(format!("{error:#}")), false),
    };
    Outcome { order, found, late, time: begun.elapsed() }
}

/// Another seed for each run, so that poison, orders, places and sizes rotate: the time in seconds.
fn seed() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

struct Round<'a> {
    order: &'a Order,
    place: &'a Place,
    limits: &'a Limits,
}

impl Round<'_> {
    /// What was found, and whether that was measured for an older order.
    fn go(&self) -> anyhow::Result<Option<(Found, bool)>> {
        let Some((unfinished, stored)) = self.stored()? else { return Ok(None) };
        let late = unfinished.order.trigger != self.order.trigger;
        let reported = changes::read::<Reported>(&self.report()).unwrap_or_default();
        let (id, file) = (stored.entry.id().to_owned(), stored.entry.file.clone());
        let (incomplete, hung) = (reported.is_incomplete(), reported.hung());
        let mut found = Found { report: id, file, incomplete, hung, ..Found::default() };
        if unfinished.before.is_some() {
            match self.compare(&stored) {
                Ok((changes, path)) => {
                    if let Some(before) = &unfinished.before {
                        self.call(&path, before)?;
                    }
                    found.changes = changes;
                    found.regressions = found.changes.regressions();
                    (found.before, found.diff) = (unfinished.before, Some(path));
                }
                Err(error) => match self.damage() {
                    // It is compared with nothing; the next one has this one to be compared with.
                    Some(damage) => found.troubles.push(format!("the report of before is damaged: {damage}")),
                    None => return Err(error),
                },
            }
        }
        // What only adds to the difference does not keep it from being told.
        let troubles = &mut found.troubles;
        found.metrics = beside(self.metrics(&stored), troubles)?;
        if let Some(baseline) = &self.place.baseline {
            let checked = beside(self.check(baseline, &stored).map(Some), troubles)?;
            (found.check, found.unaccepted) = checked.unzip();
        }
        Ok(Some((found, late)))
    }

    /// The report to tell of: that of a round which was interrupted after it had been stored, or a new one. `None` where the
    /// daemon ended it.
    fn stored(&self) -> anyhow::Result<Option<(Unfinished, Stored)>> {
        let Place { folder, store, .. } = self.place;
        let before = store.list()?.reports;
        if let Some(unfinished) = Unfinished::of(folder, self.order)
            && let Some(stored) = unfinished.report(&before)
        {
            return Ok(Some((unfinished, stored)));
        }
        let previous =
            References::new(folder).previous(store, (&self.order.device, &self.place.beside), self.order.extent)?;
        let mut unfinished = Unfinished::begin(folder, self.order, previous, &before)?;
        let measured = self.measure(unfinished.before.is_some());
        // It may have been ended after it had stored its report.
        match (unfinished.report(&store.list()?.reports), measured) {
            (Some(stored), _) => {
                unfinished.note(folder, &stored)?;
                Ok(Some((unfinished, stored)))
            }
            (None, measured) => {
                Unfinished::end(folder, self.order);
                anyhow::ensure!(!measured?, "the run left no report in the store");
                Ok(None)
            }
        }
    }

    /// Where a run writes its report.
    fn report(&self) -> PathBuf {
        self.order.report(&self.place.folder)
    }

    /// Runs, or goes on with a run that was interrupted; whether it came to its end before the daemon ended it. A quick run
    /// compares itself with what was before: it has judged already what a comparison needs.
    fn measure(&self, has_before: bool) -> anyhow::Result<bool> {
        let (extent, device) = (self.order.extent, &self.order.device);
        let report = self.report();
        let kept = ["--store".into(), "--store-path".into(), self.place.store.folder().into()];
        let jobs = ["--jobs".into(), self.place.jobs.to_string().into()];
        let mut journal = report.clone().into_os_string();
        journal.push(".journal");
        // A quick run is as quickly begun anew; what a default run has is not measured again.
        if extent == Extent::Full && PathBuf::from(&journal).exists() {
            let mut resume: Vec<OsString> = vec!["run".into(), "--resume".into(), report.clone().into()];
            resume.extend(kept.iter().chain(&jobs).cloned());
            let done = self.step(resume, self.limits.time)?;
            match done.ended {
                Ended::Stopped => return Ok(false),
                // Not the same driver or program any more.
                Ended::Status(2) => {}
                Ended::Status(status) => return measured(status, &done),
                Ended::Broken(reason) => bail!("the run that went on was broken off: {reason}"),
            }
        }
        let mut run: Vec<OsString> = vec!["run".into(), "--device".into(), device.key.clone().into()];
        run.extend([
            "--seed".into(),
            seed().to_string().into(),
            "--random".into(),
            self.place.random.to_string().into(),
        ]);
        if extent == Extent::Quick {
            run.push("--quick".into());
            let _ = fs::remove_file(self.difference());
            let before = unfinished::reference(&self.place.folder, self.order);
            let against = ["--against".into(), before.into(), "--difference".into(), self.difference().into()];
            run.extend(against.into_iter().filter(|_| has_before));
        }
        run.extend(["-o".into(), report.into()].into_iter().chain(kept).chain(jobs));
        let done = self.step(run, self.limits.time)?;
        match done.ended {
            Ended::Stopped => Ok(false),
            Ended::Status(status) => measured(status, &done),
            Ended::Broken(ref reason) => bail!("the run was broken off: {reason} ({})", done.last()),
        }
    }

    /// What is wrong with the report that it is compared with.
    fn damage(&self) -> Option<String> {
        let bytes = limited::bytes(&unfinished::reference(&self.place.folder, self.order), SIZE_LIMIT).ok()?;
        container::unpack(&bytes).err().map(|damage| damage.to_string())
    }

    /// Where the difference goes.
    fn difference(&self) -> PathBuf {
        self.place.work().join(format!("{}-diff.json", self.order.name()))
    }

    /// The difference: that which the run wrote, or one that is made now.
    fn compare(&self, stored: &Stored) -> anyhow::Result<(Changes, PathBuf)> {
        let path = self.difference();
        let new = self.place.store.folder().join(&stored.entry.file);
        if let Ok(changes) = changes::read::<Changes>(&path)
            && changes.is_of(&new)
        {
            return Ok((changes, path));
        }
        let old = unfinished::reference(&self.place.folder, self.order).into_os_string();
        let diff = ["diff".into(), "--common".into(), old, new.into(), "-o".into(), path.clone().into()];
        self.succeed(diff.to_vec(), &[0])?;
        Ok((changes::read(&path)?, path))
    }

    /// Has a difference call the report of before by its place in the store, or by its id where it is there no more: its copy of this
    /// round will be gone.
    fn call(&self, diff: &Path, before: &str) -> anyhow::Result<()> {
        let store = &self.place.store;
        let stored = store.list()?.reports.into_iter().find(|stored| stored.entry.id() == before);
        let name = stored.map_or_else(
            || format!("report {before}, which is kept no more"),
            |stored| store.folder().join(stored.entry.file).display().to_string(),
        );
        let copy = unfinished::reference(&self.place.folder, self.order).display().to_string();
        let text =
            fs::read_to_string(diff)?.replacen(&serde_json::to_string(&copy)?, &serde_json::to_string(&name)?, 1);
        Ok(save(diff, |out| out.write_all(text.as_bytes()))?)
    }

    fn check(&self, baseline: &Path, stored: &Stored) -> anyhow::Result<(PathBuf, Vec<Deviation>)> {
        let path = self.place.work().join(format!("{}-check.json", stored.entry.id()));
        let report = self.place.store.folder().join(&stored.entry.file);
        let device = ["--device".into(), self.order.device.key.clone().into()];
        let check = ["check".into(), "--baseline".into(), baseline.into(), report.into()];
        let output = ["-o".into(), path.clone().into()];
        self.succeed(check.into_iter().chain(device).chain(output).collect(), &[0, 3, 5])?;
        let deviations = changes::read::<Checked>(&path)?.deviations;
        Ok((path, deviations))
    }

    fn metrics(&self, stored: &Stored) -> anyhow::Result<String> {
        let path = self.place.work().join("metrics.prom");
        let store = self.place.store.folder();
        let show = ["history".into(), "--store-path".into(), store.into(), "show".into(), stored.entry.id().into()];
        let output = ["-o".into(), path.clone().into(), "--format".into(), "prometheus".into()];
        self.succeed(show.into_iter().chain(output).collect(), &[0])?;
        Ok(fs::read_to_string(&path)?)
    }

    fn succeed(&self, arguments: Vec<OsString>, expected: &[i32]) -> anyhow::Result<()> {
        let name = arguments.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let done = self.step(arguments, STEP)?;
        match done.ended {
            Ended::Status(status) if expected.contains(&status) => Ok(()),
            Ended::Status(status) => bail!("`{name}` ended with status {status}: {}", done.last()),
            Ended::Broken(ref reason) => bail!("`{name}` was broken off: {reason}"),
            Ended::Stopped => Err(Stopped.into()),
        }
    }

    fn step(&self, arguments: Vec<OsString>, time: Duration) -> anyhow::Result<Done> {
        let timeout = format!("workers.timeout={}", self.place.timeout);
        let mut all =
            vec!["--config".into(), self.place.config.clone().into_os_string(), "--set".into(), timeout.into()];
        all.extend(arguments);
        job::run(&all, &Limits { time, ..self.limits.clone() }).context("failed to start a process")
    }
}

/// A step was ended because something else is wanted.
#[derive(Debug, thiserror::Error)]
#[error("a step was told to end")]
struct Stopped;

/// What a step gives; where it fails, nothing, and a trouble more.
fn beside<T: Default>(result: anyhow::Result<T>, troubles: &mut Vec<String>) -> anyhow::Result<T> {
    result.or_else(|error| {
        if error.is::<Stopped>() {
            return Err(error);
        }
        troubles.push(format!("{error:#}"));
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
