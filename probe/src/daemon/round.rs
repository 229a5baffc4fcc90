//! One device measured and compared: run, store, diff against the last report of the slot, check against the baseline.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use fpprobe_reports::store::{Held, Store, Stored};
use serde::Serialize;

use super::changes::{self, Changes, Checked, Deviation, Reported, Rule};
use super::job::{self, Done, Ended, Limits};
use super::roster::Known;
use super::trigger::Trigger;
use crate::exit::Status;

/// Time for each step behind a run.
const STEP: Duration = Duration::from_mins(10);

/// Exit status of a run that lacks something.
const INCOMPLETE: i32 = Status::Incomplete as i32;

/// How much is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
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
#[derive(Clone, Debug)]
pub struct Order {
    /// The device.
    pub device: Known,
    /// How much of it.
    pub extent: Extent,
    /// Why.
    pub trigger: Trigger,
}

/// Where, and with what.
#[derive(Clone, Debug)]
pub struct Place {
    /// Folder of files on their way.
    pub work: PathBuf,
    /// The configuration in effect, as a file.
    pub config: PathBuf,
    /// The store.
    pub store: Store,
    /// Worker processes.
    pub jobs: u32,
    /// The baseline, if there is one.
    pub baseline: Option<PathBuf>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Id of the stored report.
    pub report: String,
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
    /// What the baseline does not accept; none where there is no baseline.
    pub unaccepted: Option<Vec<Deviation>>,
    /// Why the device is better left alone.
    pub hung: Option<String>,
    /// Metrics of the report.
    pub metrics: String,
}

/// How a round ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was to be measured.
    pub order: Order,
    /// What came of it; `None` where the daemon ended it.
    pub found: Result<Option<Found>, String>,
    /// How long it took.
    pub time: Duration,
}

/// Measures.
pub fn round(order: Order, place: &Place, limits: &Limits) -> Outcome {
    let begun = Instant::now();
    let found = Round { order: &order, place, limits }.go().map_err(|error| format!("{error:#}"));
    Outcome { order, found, time: begun.elapsed() }
}

struct Round<'a> {
    order: &'a Order,
    place: &'a Place,
    limits: &'a Limits,
}

impl Round<'_> {
    fn go(&self) -> anyhow::Result<Option<Found>> {
        let before = self.place.store.list()?.reports;
        let Some((status, report)) = self.measure()? else { return Ok(None) };
        let hung = changes::read::<Reported>(&report).ok().and_then(|report| report.hung());
        for leftover in ["", ".journal.old"] {
            let mut path = report.clone().into_os_string();
            path.push(leftover);
            let _ = fs::remove_file(path);
        }
        let after = self.place.store.list()?.reports;
        let fresh = |stored: &&Stored| {
            holds(stored, |held| held.key == self.order.device.key)
                && !before.iter().any(|old| old.entry == stored.entry)
        };
        let stored = after.iter().rev().find(fresh).ok_or_else(|| anyhow!("the run left no report in the store"))?;
        let mut found =
            Found { report: stored.entry.id().to_owned(), incomplete: status == INCOMPLETE, hung, ..Found::default() };
        found.metrics = self.metrics(stored)?;
        if let Some(previous) = self.previous(&before) {
            let path = self.compare(previous, stored)?;
            found.changes = changes::read(&path)?;
            found.regressions = found.changes.regressions();
            (found.before, found.diff) = (Some(previous.entry.id().to_owned()), Some(path));
        }
        if let Some(baseline) = &self.place.baseline {
            found.unaccepted = Some(self.check(baseline, stored)?);
        }
        Ok(Some(found))
    }

    /// Runs, or goes on with a run that was interrupted. Status and report; `None` where the daemon ended it.
    fn measure(&self) -> anyhow::Result<Option<(i32, PathBuf)>> {
        let (extent, device) = (self.order.extent, &self.order.device);
        let report = self.place.work.join(format!("{}-{}.json", extent.name(), device.key.replace(['/', '.'], "_")));
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
                Ended::Stopped => return Ok(None),
                // Not the same driver or program any more.
                Ended::Status(2) => {}
                Ended::Status(status) => return measured(status, &done, report).map(Some),
                Ended::Broken(reason) => bail!("the run that went on was broken off: {reason}"),
            }
        }
        let mut run: Vec<OsString> = vec!["run".into(), "--device".into(), device.key.clone().into()];
        run.extend((extent == Extent::Quick).then(|| "--quick".into()));
        run.extend(["-o".into(), report.clone().into()].into_iter().chain(kept).chain(jobs));
        let done = self.step(run, self.limits.time)?;
        match done.ended {
            Ended::Stopped => Ok(None),
            Ended::Status(status) => measured(status, &done, report).map(Some),
            Ended::Broken(ref reason) => bail!("the run was broken off: {reason} ({})", done.last()),
        }
    }

    /// The newest report of the slot before, of the same driver where there is one.
    fn previous<'a>(&self, before: &'a [Stored]) -> Option<&'a Stored> {
        let Known { slot, driver, .. } = &self.order.device;
        let newest = |is: &dyn Fn(&Held) -> bool| before.iter().rev().find(|stored| holds(stored, is));
        newest(&|held| held.slot == *slot && held.driver == *driver).or_else(|| newest(&|held| held.slot == *slot))
    }

    fn compare(&self, old: &Stored, new: &Stored) -> anyhow::Result<PathBuf> {
        let path = self.place.work.join("diff.json");
        let [old, new] = [old, new].map(|stored| self.place.store.folder().join(&stored.entry.file).into_os_string());
        let diff = ["diff".into(), "--common".into(), old, new, "-o".into(), path.clone().into()];
        self.succeed(diff.to_vec(), &[0])?;
        Ok(path)
    }

    fn check(&self, baseline: &std::path::Path, stored: &Stored) -> anyhow::Result<Vec<Deviation>> {
        let path = self.place.work.join("check.json");
        let report = self.place.store.folder().join(&stored.entry.file);
        let check =
            ["check".into(), "--baseline".into(), baseline.into(), report.into(), "-o".into(), path.clone().into()];
        self.succeed(check.to_vec(), &[0, 3, 5])?;
        Ok(changes::read::<Checked>(&path)?.deviations)
    }

    fn metrics(&self, stored: &Stored) -> anyhow::Result<String> {
        let path = self.place.work.join("metrics.prom");
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
            Ended::Stopped => bail!("`{name}` was broken off: the daemon ends"),
        }
    }

    fn step(&self, arguments: Vec<OsString>, time: Duration) -> anyhow::Result<Done> {
        let mut all = vec!["--config".into(), self.place.config.clone().into_os_string()];
        all.extend(arguments);
        job::run(&all, &Limits { time, ..self.limits.clone() }).context("failed to start a process")
    }
}

fn holds(stored: &Stored, is: impl Fn(&Held) -> bool) -> bool {
    stored.entry.devices.iter().any(is)
}

/// A run that measured, or why it did not.
fn measured(status: i32, done: &Done, report: PathBuf) -> anyhow::Result<(i32, PathBuf)> {
    match status {
        0 | 3 | 5 => Ok((status, report)),
        _ => bail!("the run ended with status {status}: {}", done.last()),
    }
}
