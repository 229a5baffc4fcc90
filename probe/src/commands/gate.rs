//! `fpprobe gate`

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::expected::{Expected, ExpectedDevice, digest};
use fpprobe_reports::support::Support;
use fpprobe_reports::{limited, save};
use fpprobe_spirv::{Cases, Kernel, Route, Stage, cases, catalogue};
use fpprobe_system::host;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

use crate::cli::{GateArgs, GateStyle, MeasureArgs};
use crate::event::RunEvent;
use crate::exit::Status;
use crate::progress::Progress;
use crate::run::RunStatus;
use crate::session::Session;
use crate::supervisor::{
    Batching, Deadline, DeviceSession, MeasureSettings, Measurement, Target, WorkItem, measure,
    side_by_side,
};
use crate::{keep, output, select};

/// Kernels of a module at most: few, so that none takes long.
const BATCH: usize = 4;

/// The same while the expected results are measured the second time: results that depend on what
/// shares their module are no device's own.
const OTHER_BATCH: usize = 7;

/// Cases of the longest list that is run whole.
const LONGEST: usize = 1 << 12;

/// Kernels named of a device.
const NAMED: usize = 3;

/// Longest line of a message for Node Problem Detector.
const NPD: usize = 80;

/// Compares the devices of this host with what is expected of them, or records that.
pub fn main(session: &Session, args: &GateArgs) -> anyhow::Result<Status> {
    let begun = Instant::now();
    if args.record {
        return record(session, args);
    }
    let answer = match (answer(session, args, begun), args.style) {
        (Err(error), GateStyle::Own) => return Err(error),
        (Err(error), _) => GateAnswer::unknown(format!("{error:#}")),
        (Ok(answer), _) => answer,
    };
    let mut out = output::stdout();
    writeln!(out, "{}", answer.line(args.style))?;
    out.flush()?;
    Ok(answer.verdict.status(args.style))
}

/// What a comparison came to, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum GateVerdict {
    Same,
    Unknown,
    Different,
}

impl GateVerdict {
    fn name(self, style: GateStyle) -> &'static str {
        match (self, style) {
            (GateVerdict::Same, GateStyle::Nagios) => "FPPROBE OK",
            (GateVerdict::Unknown, GateStyle::Nagios) => "FPPROBE UNKNOWN",
            (GateVerdict::Different, GateStyle::Nagios) => "FPPROBE CRITICAL",
            (GateVerdict::Same, _) => "same",
            (GateVerdict::Unknown, _) => "unknown",
            (GateVerdict::Different, _) => "different",
        }
    }

    /// The number that a convention has for it; here it has another name.
    fn status(self, style: GateStyle) -> Status {
        match (self, style) {
            (GateVerdict::Same, _) => Status::Done,
            (GateVerdict::Different, GateStyle::Own)
            | (GateVerdict::Unknown, GateStyle::Nagios) => Status::Unmet,
            (GateVerdict::Unknown, GateStyle::Own) => Status::Nothing,
            (GateVerdict::Different, GateStyle::Npd) => Status::Internal,
            (GateVerdict::Unknown, GateStyle::Npd)
            | (GateVerdict::Different, GateStyle::Nagios) => Status::Usage,
        }
    }
}

/// What was found, of one device or of all.
struct GateAnswer {
    verdict: GateVerdict,
    text: String,
    kernels: usize,
    results: usize,
}

impl GateAnswer {
    fn unknown(text: String) -> GateAnswer {
        GateAnswer { verdict: GateVerdict::Unknown, text, kernels: 0, results: 0 }
    }

    /// Of several, the worst of which speak.
    fn of(all: &[GateAnswer], expected: usize) -> GateAnswer {
        let Some(verdict) = all.iter().map(|one| one.verdict).max() else {
            return GateAnswer::unknown("no device was found".to_owned());
        };
        let kernels = all.iter().map(|one| one.kernels).sum();
        let results = all.iter().map(|one| one.results).sum();
        let speaking: Vec<&str> =
            all.iter().filter(|one| one.verdict == verdict).map(|one| one.text.as_str()).collect();
        let text = match verdict {
            GateVerdict::Same => {
                format!(
                    "{results} results of {kernels} kernels (of {expected}), devices: {}",
                    speaking.join(", ")
                )
            }
            _ => speaking.join("; "),
        };
        GateAnswer { verdict, text, kernels, results }
    }

    fn line(&self, style: GateStyle) -> String {
        let text = self.text.replace(['\n', '|'], " ");
        let line = format!("{}: {text}", self.verdict.name(style));
        match style {
            GateStyle::Own => line,
            GateStyle::Npd => line.chars().take(NPD).collect(),
            GateStyle::Nagios => {
                format!("{line} | kernels={} results={}", self.kernels, self.results)
            }
        }
    }
}

fn answer(session: &Session, args: &GateArgs, begun: Instant) -> anyhow::Result<GateAnswer> {
    let expected = Expected::read(&args.expect).or_usage()?;
    let version = host::program().version;
    if expected.program != version {
        return Ok(GateAnswer::unknown(format!(
            "{} is of fpprobe {}, and this is {version}: record it again",
            args.expect.display(),
            expected.program
        )));
    }
    let mut settings = session.settings(&MeasureArgs::default())?;
    (settings.batch, settings.timeout) = (BATCH, args.budget / 2);
    let progress = Progress::new(session.verbose);
    // The line says what went wrong.
    let quiet = |event: &RunEvent<'_>| {
        if session.verbose {
            progress.show_failures(event);
        }
    };
    let rows = session.survey(&settings, &quiet)?;
    let targets = select::devices(&rows, session.selections(&args.devices.device))?;
    // Ending a worker takes time as well.
    let left = (args.budget * 9 / 10).saturating_sub(begun.elapsed());
    (settings.timeout, settings.device_timeout) = (left, left);
    let mut places = GatePositions::read();
    let until = begun + args.budget / 2;
    let compared = side_by_side(&targets, |number, (_, target)| {
        let site = DeviceSession::new(number, target, &settings, &quiet);
        let place = places.of(target);
        expected
            .of(&target.found.identity)
            .map(|expected| (expected, compare(&site, expected, place, until)))
    });
    let mut answers = Vec::new();
    let mut all = 0;
    for ((_, target), compared) in targets.iter().zip(compared) {
        let Some((expected, (answer, next))) = compared else {
            answers.push(GateAnswer::unknown(format!(
                "{}: it is not in {}",
                target.label(),
                args.expect.display()
            )));
            continue;
        };
        all += expected.kernels.len();
        places.put(target, next);
        answers.push(answer);
    }
    places.save();
    if let Some(cause) = session.stop.cause() {
        answers.push(GateAnswer::unknown(format!("{cause} before it ended")));
    }
    if args.devices.device.is_empty() {
        let failed = rows.iter().filter_map(|row| row.devices.as_ref().err().map(|why| (row, why)));
        answers.extend(failed.map(|(row, why)| {
            GateAnswer::unknown(format!("{}: {}", row.manifest.display(), why.detail))
        }));
    }
    Ok(GateAnswer::of(&answers, all))
}

/// Compares one device, from this kernel on, and takes no other kernels after a while; also where
/// the next comparison begins.
fn compare(
    site: &DeviceSession<'_>,
    expected: &ExpectedDevice,
    place: usize,
    until: Instant,
) -> (GateAnswer, usize) {
    let label = site.target.label();
    let unknown = |why: &str| GateAnswer::unknown(format!("{label}: {why}"));
    if let Some(obstacle) = &site.target.found.obstacle {
        return (unknown(obstacle), place);
    }
    let mut work = items(expected.kernels.keys().filter_map(|id| id.parse().ok()));
    let place = if work.is_empty() { 0 } else { place % work.len() };
    work.rotate_left(place);
    let deadline = Deadline { from: 0, until, least: Duration::ZERO };
    let unseen = |_: &WorkItem, _: &_| {};
    let measured = match measure(&site.until(deadline, &unseen), &work, Batching::Shared, None) {
        Ok(measured) => measured,
        Err(error) => return (unknown(&error), place),
    };
    let next = work.iter().position(|item| measured.left_out.contains(&item.kernel));
    let next = next.map_or(place, |done| (place + done) % work.len());
    let answer = judged(&label, expected, &measured);
    if answer.verdict == GateVerdict::Unknown && site.is_over() {
        let kernels = answer.kernels;
        return (
            unknown(&format!(
                "it did not end in time after {kernels} kernels; --budget gives more"
            )),
            next,
        );
    }
    (answer, next)
}

/// What the results say.
fn judged(label: &str, expected: &ExpectedDevice, measured: &Measurement) -> GateAnswer {
    let is_other =
        |one: &&Observation| digest(one).as_ref() != expected.kernels.get(&one.kernel.to_string());
    let answered = || measured.observations.iter().filter(|one| one.outcome.answered());
    let (kernels, results) = (answered().count(), answered().map(|one| one.out.len()).sum());
    let different: Vec<String> =
        answered().filter(is_other).map(|one| one.kernel.to_string()).collect();
    let lost = measured.observations.iter().find(|one| !one.outcome.answered());
    let (verdict, text) = if !different.is_empty() {
        let more = different.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let named = different[..different.len().min(NAMED)].join(", ");
        (
            GateVerdict::Different,
            format!(
                "{label}: other results by {named}{more}; `fpprobe eval {}` runs it",
                different[0]
            ),
        )
    } else if let Some(Observation { kernel, outcome, detail, .. }) = lost {
        let outcome = if *outcome == Outcome::Hung {
            "hung".to_owned()
        } else {
            format!("{outcome:?}").to_lowercase()
        };
        (GateVerdict::Unknown, format!("{label}: {kernel} {outcome}: {detail}"))
    } else if let Some(incident) = measured.incidents.first() {
        (GateVerdict::Unknown, format!("{label}: {}", incident.detail))
    } else if kernels == 0 {
        (
            GateVerdict::Unknown,
            format!("{label}: there was no time for any kernel; --budget gives more"),
        )
    } else {
        (GateVerdict::Same, label.to_owned())
    };
    GateAnswer { verdict, text, kernels, results }
}

/// Kernels with their cases: of those with thousands the boundary cases.
pub fn items(kernels: impl Iterator<Item = Kernel>) -> Vec<WorkItem> {
    let cases = |kernel: &Kernel| {
        let all = cases::cases(kernel);
        if all.len() > LONGEST { cases::boundary(kernel) } else { all }
    };
    kernels.map(|kernel| WorkItem { kernel, cases: cases(&kernel) }).collect()
}

/// The kernels of which results are expected: each operation in each format, by compute shaders.
pub fn kernels(target: &Target) -> impl Iterator<Item = Kernel> {
    let support = Support::new(&target.found.claims);
    all().filter(move |kernel| support.lacks(kernel).is_none())
}

fn all() -> impl Iterator<Item = Kernel> {
    catalogue::plain().into_iter().filter(|kernel| {
        let is_direct = !kernel.op.code.is_of_texels() || kernel.route == Route::StorageImage;
        is_direct && kernel.stage == Stage::Compute
    })
}

/// Whether an observation is of a kernel and of cases that a gate compares.
pub fn items_of() -> impl Fn(&Observation) -> bool + Sync {
    let all: HashMap<Kernel, Cases> =
        items(all()).into_iter().map(|item| (item.kernel, item.cases)).collect();
    move |one| all.get(&one.kernel).is_some_and(|cases| cases.iter().eq(one.cases.iter()))
}

/// Measures what is expected from now on.
fn record(session: &Session, args: &GateArgs) -> anyhow::Result<Status> {
    let version = host::program().version;
    let mut expected = if args.expect.exists() {
        Expected::read(&args.expect).or_usage()?
    } else {
        Expected::of_none(&version)
    };
    if expected.program != version {
        return Err(usage_error(format!(
            "{} is of fpprobe {}, and this is {version}: remove it, and record every model again",
            args.expect.display(),
            expected.program
        )));
    }
    let settings = session.settings(&MeasureArgs::default())?;
    let progress = Progress::new(session.verbose);
    let listener = |event: &RunEvent<'_>| progress.show(event);
    let rows = session.survey(&settings, &listener)?;
    session.warn_of_absent(&rows);
    let targets = select::devices(&rows, session.selections(&args.devices.device))?;
    if let Some((_, tainted)) = targets.iter().find(|(_, target)| !target.found.taint.is_empty()) {
        let taint = tainted.found.taint.join("; ");
        return Err(usage_error(format!(
            "{} is tainted ({taint}), so its results may not be the driver's own; record without that",
            tainted.label()
        )));
    }
    let measured = side_by_side(&targets, |number, (_, target)| {
        recorded(number, target, &settings, &listener)
    });
    let mut status = RunStatus::default();
    let mut recorded = 0;
    for ((_, target), passes) in targets.iter().zip(measured) {
        let passes = passes.map_err(anyhow::Error::msg)?;
        let Some(first) = passes.first() else {
            status.obstructed();
            continue;
        };
        status.device(first);
        let measured = first.observations.len();
        let observations: Vec<Vec<Observation>> =
            passes.into_iter().map(|pass| pass.observations).collect();
        let device = ExpectedDevice::new(&target.found.identity, &observations);
        let kernels = device.kernels.len();
        say(&format!(
            "{}: {kernels} of {measured} kernels gave the same twice and are expected to",
            target.label()
        ));
        if kernels > 0 {
            recorded += 1;
            expected.put(device);
        }
    }
    if recorded > 0 {
        let text = serde_json::to_string_pretty(&expected)? + "\n";
        save::save(&args.expect, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(status.status())
}

/// Two passes over all kernels, in other company and order; none where the device cannot be
/// measured.
fn recorded(
    number: usize,
    target: &Target,
    settings: &MeasureSettings,
    listener: &(dyn Fn(&RunEvent<'_>) + Sync),
) -> Result<Vec<Measurement>, String> {
    if target.found.obstacle.is_some() {
        return Ok(Vec::new());
    }
    let mut work = items(kernels(target));
    let mut passes = Vec::new();
    for batch in [BATCH, OTHER_BATCH] {
        let settings = MeasureSettings { batch, ..settings.clone() };
        let site = DeviceSession::new(number, target, &settings, listener);
        passes.push(measure(&site, &work, Batching::Shared, None)?);
        work.reverse();
    }
    Ok(passes)
}

/// At which kernel the next comparison of each device begins: a file of the state folder. Where it
/// cannot be kept, each comparison begins at the first.
struct GatePositions {
    file: Option<PathBuf>,
    by_device: BTreeMap<String, usize>,
}

/// Longest such file, in bytes.
const POSITIONS: u64 = 1 << 20;

impl GatePositions {
    fn read() -> GatePositions {
        let file = keep::state().map(|folder| folder.join("gate.json"));
        let text = file.as_ref().and_then(|file| limited::text(file, POSITIONS).ok());
        let by_device = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        GatePositions { file, by_device }
    }

    fn of(&self, target: &Target) -> usize {
        self.by_device.get(&target.found.identity.key).copied().unwrap_or(0)
    }

    fn put(&mut self, target: &Target, place: usize) {
        self.by_device.insert(target.found.identity.key.clone(), place);
    }

    fn save(&self) {
        let Some(file) = &self.file else { return };
        let text = serde_json::to_string(&self.by_device).unwrap_or_default();
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let saved = folder.map_err(|error| error.to_string()).and_then(|()| {
            save::save(file, |out| out.write_all(text.as_bytes()))
                .map_err(|error| error.to_string())
        });
        if let Err(error) = saved {
            say(&format!("warning: the next comparison begins where this one did: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(verdict: GateVerdict, text: &str) -> GateAnswer {
        GateAnswer { verdict, text: text.to_owned(), kernels: 2, results: 8 }
    }

    #[test]
    fn the_worst_device_speaks() {
        let all = GateAnswer::of(
            &[of(GateVerdict::Same, "a"), of(GateVerdict::Different, "b: f32.fma")],
            9,
        );
        assert_eq!(all.line(GateStyle::Own), "different: b: f32.fma");
        let all =
            GateAnswer::of(&[of(GateVerdict::Same, "a"), of(GateVerdict::Unknown, "c: hung")], 9);
        assert_eq!(all.line(GateStyle::Own), "unknown: c: hung");
        let all = GateAnswer::of(&[of(GateVerdict::Same, "a"), of(GateVerdict::Same, "b")], 9);
        assert_eq!(all.line(GateStyle::Own), "same: 16 results of 4 kernels (of 9), devices: a, b");
        assert_eq!(GateAnswer::of(&[], 0).verdict, GateVerdict::Unknown);
    }

    #[test]
    fn lines_and_statuses_follow_their_conventions() {
        let numbers = |style| {
            [GateVerdict::Same, GateVerdict::Different, GateVerdict::Unknown]
                .map(|one| one.status(style) as u8)
        };
        assert_eq!(numbers(GateStyle::Own), [0, 3, 4]);
        assert_eq!(numbers(GateStyle::Npd), [0, 1, 2]);
        assert_eq!(numbers(GateStyle::Nagios), [0, 2, 3]);
        let long = of(GateVerdict::Different, &"x".repeat(200));
        assert_eq!(long.line(GateStyle::Npd).chars().count(), NPD);
        let nagios = of(GateVerdict::Same, "a|b\nc").line(GateStyle::Nagios);
        assert_eq!(nagios, "FPPROBE OK: a b c | kernels=2 results=8");
    }
}
