//! `fpprobe screen`

mod listed;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fpprobe_reports::expected::{Expected, ExpectedDevice};
use fpprobe_reports::host;
use fpprobe_reports::model::Conditions;
use fpprobe_reports::screen::{
    SCHEMA, SCREENS, Screen, ScreenRound, ScreenedDevice, ScreenedKernels, Sensors,
};
use fpprobe_reports::support::Support;
use fpprobe_reports::sweep::{Fingerprint, FingerprintDevice};
use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::{Domain, Sink};
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

use self::listed::ListedKernels;
use super::gate::{SWEPT, items, kernels};
use crate::cli::{MeasureArgs, ScreenArgs};
use crate::event::RunEvent;
use crate::exit::Status;
use crate::output::Page;
use crate::progress::Progress;
use crate::remote::{self, Delivery, Destination};
use crate::select;
use crate::session::Session;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::{BlockQueue, Ledger, SweepOrder, SweepStrategy, sweep};
use crate::supervisor::{DeviceSession, MeasureSettings, Target, side_by_side};
use crate::sweep::files;
use crate::sweep::screened::{STRATEGIES, ScreenPass, ScreenedBlocks};
use fpprobe_worker::protocol::{Failure, Span};

/// The kernel of `--load`.
const LOAD: &str = "f32.sin";
/// Rounds that blocks are to run in.
const ROUNDS: u32 = 5;
/// Rounds of a document at most, of one length at least.
const MOST_ROUNDS: u32 = 1000;
/// Passes that a kernel may fail in before it is left out.
const FAILURES: usize = 3;
/// Between two lines of progress.
const PAUSE: Duration = Duration::from_secs(10);
/// Failures that are reported of a device.
const REPORTED: usize = 100;

/// Searches devices for results that differ.
pub fn main(session: &Session, args: &ScreenArgs) -> anyhow::Result<Status> {
    let remote = args.output.as_deref().map(Destination::named).transpose()?.flatten();
    let file = args.output.as_deref().filter(|_| remote.is_none());
    let page = Page::new(SCREENS, file, args.format.as_deref())?;
    let expected = args.expect.as_deref().map(Expected::read).transpose().or_usage()?;
    let version = host::program().version;
    if let Some(expected) = expected.as_ref().filter(|expected| expected.program != version) {
        let theirs = &expected.program;
        return Err(usage_error(format!(
            "the expected results are of fpprobe {theirs}, and this is {version}"
        )));
    }
    let reference = args.reference.as_deref().map(files::fingerprint).transpose()?;
    let measuring = MeasureArgs { label: args.label.clone(), ..MeasureArgs::default() };
    let settings = session.settings(&measuring)?;
    let progress = Progress::new(session.verbose);
    let listener = |event: &RunEvent<'_>| progress.show_failures(event);
    let rows = session.survey(&settings, &listener)?;
    session.warn_of_absent(&rows);
    let targets = select::devices(&rows, session.selections(&args.devices.device))?;
    // Before anything runs: what names nothing is an error.
    let known = fpprobe_spirv::catalogue::plain();
    let named =
        (!args.filter.is_empty()).then(|| select::kernels(&args.filter, known)).transpose()?;
    let started = host::now();
    let screened = side_by_side(&targets, |number, (_, target)| {
        let (begun, expected) =
            (Instant::now(), expected.as_ref().and_then(|all| all.of(&target.found.identity)));
        let (settings, listener, reference) = (&settings, &listener, reference.as_ref());
        let screening = DeviceScreening {
            number,
            target,
            args,
            settings,
            listener,
            begun,
            expected,
            reference,
        };
        screening.run(named.as_deref())
    });
    let screen = Screen {
        schema: SCHEMA.to_owned(),
        program: host::program(),
        host: session.host(&measuring),
        started,
        duration_s: args.duration.as_secs_f64(),
        load: args.load,
        devices: screened,
        incomplete: rows.iter().filter_map(|row| row.devices.as_ref().err().cloned()).collect(),
    };
    if let Some(to) = &remote {
        let delivery = Delivery::of_screen(to, &screen, &host::now())?;
        remote::send(&delivery, Instant::now() + remote::TIME)?;
    }
    page.write(session.style(), |form, style, out| form.render(&screen, style, out))?;
    if let Some(cause) = session.stop.cause() {
        say(&format!("{cause}: the screening is not finished"));
    }
    let is_incomplete = |device: &ScreenedDevice| !device.incomplete.is_empty();
    let incomplete = screen.devices.iter().any(is_incomplete) || !screen.incomplete.is_empty();
    Ok(Status::Nothing
        .when(screen.devices.iter().all(|device| device.results == 0))
        .and(Status::Unmet.when(screen.devices.iter().any(|device| !device.findings.is_empty())))
        .and(Status::Incomplete.when(incomplete || session.stop.is_requested())))
}

/// The screening of one device.
struct DeviceScreening<'a> {
    number: usize,
    target: &'a Target,
    args: &'a ScreenArgs,
    settings: &'a MeasureSettings,
    listener: &'a (dyn Fn(&RunEvent<'_>) + Sync),
    begun: Instant,
    expected: Option<&'a ExpectedDevice>,
    reference: Option<&'a Fingerprint>,
}

impl DeviceScreening<'_> {
    fn run(&self, named: Option<&[Kernel]>) -> ScreenedDevice {
        let found = &self.target.found;
        let mut screened = ScreenedDevice {
            identity: found.identity.clone(),
            taint: found.taint.clone(),
            kernels: ScreenedKernels::default(),
            results: 0,
            rounds: Vec::new(),
            findings: Vec::new(),
            incomplete: found.obstacle.iter().cloned().collect(),
        };
        if found.obstacle.is_some() {
            return screened;
        }
        let (mut swept, mut listed) = self.work(named, &mut screened.incomplete);
        screened.kernels =
            ScreenedKernels { swept: swept.len() as u64, listed: listed.items.len() as u64 };
        let is_busy = AtomicBool::new(self.args.load);
        std::thread::scope(|scope| {
            let is_busy = &is_busy;
            scope.spawn(move || self.load(is_busy));
            self.rounds(&mut swept, &mut listed, &mut screened);
            is_busy.store(false, Ordering::Relaxed);
        });
        // Time is up; what differs is looked at all the same.
        let settings = self.settings(0);
        let site = DeviceSession::new(self.number, self.target, &settings, self.listener);
        let rounds = &screened.rounds;
        screened.findings =
            swept.iter().filter_map(|(_, blocks)| blocks.finding(&site, rounds)).collect();
        screened.findings.extend(listed.findings(rounds));
        screened
    }

    /// The kernels of which blocks run, and those that run on lists of cases: those that were
    /// named, or a few and all.
    fn work(
        &self,
        named: Option<&[Kernel]>,
        incomplete: &mut Vec<String>,
    ) -> (Swept, ListedKernels) {
        let support = Support::new(&self.target.found.claims);
        let swept: Vec<Kernel> = SWEPT.iter().filter_map(|id| id.parse().ok()).collect();
        let lacks = |kernel: &Kernel| Some(format!("{kernel}: {}", support.lacks(kernel)?));
        incomplete.extend(named.unwrap_or_default().iter().filter_map(lacks));
        let is_there = |kernel: &&Kernel| support.lacks(kernel).is_none();
        let domains = named
            .unwrap_or(&swept)
            .iter()
            .filter(is_there)
            .filter_map(|kernel| Domain::of(kernel).ok());
        let cases: Vec<Kernel> = match named {
            None => kernels(self.target).collect(),
            Some(named) => named
                .iter()
                .filter(is_there)
                .filter(|one| Domain::of(one).is_err())
                .copied()
                .collect(),
        };
        let identity = &self.target.found.identity;
        let own = FingerprintDevice::from(identity);
        let is_equal =
            |one: &FingerprintDevice| (&one.name, &one.driver) == (&own.name, &own.driver);
        incomplete.extend(self.without_equal(is_equal));
        let blocks = |domain: Domain| {
            let print = self.reference.and_then(|all| all.of(identity, domain.kernel()));
            let print = print.filter(|print| is_equal(&print.device));
            let normalise = self.reference.is_none_or(|all| all.normalise_nan);
            (domain.kernel().to_string(), ScreenedBlocks::new(domain, print, normalise))
        };
        (domains.map(blocks).collect(), ListedKernels::new(items(cases.into_iter()), self.expected))
    }

    /// What says nothing of this device, since it is of other models or drivers: then nobody knows
    /// what is wrong each time.
    fn without_equal(&self, is_equal: impl Fn(&FingerprintDevice) -> bool) -> Vec<String> {
        let path = |file: &Option<PathBuf>| {
            file.as_ref().map_or(String::new(), |path| path.display().to_string())
        };
        let is_expected = self.args.expect.is_none() || self.expected.is_some();
        let prints = || self.reference.iter().flat_map(|all| &all.prints);
        let is_known = self.reference.is_none() || prints().any(|print| is_equal(&print.device));
        let expect = (!is_expected).then(|| {
            format!("--expect: this model and driver are not in {}", path(&self.args.expect))
        });
        let reference = (!is_known).then(|| {
            let of = prints().next().map_or("nothing".to_owned(), |print| {
                format!("{}, {}", print.device.name, print.device.driver)
            });
            format!(
                "--reference: {} is of {of}, not of this model and driver",
                path(&self.args.reference)
            )
        });
        expect.into_iter().chain(reference).collect()
    }

    /// Round after round until time is up.
    fn rounds(&self, swept: &mut Swept, listed: &mut ListedKernels, screened: &mut ScreenedDevice) {
        let mut problems = Problems::default();
        let kinds = swept.len() as u32 + u32::from(!listed.items.is_empty());
        let slice = self.args.duration / (ROUNDS * kinds.max(1));
        let mut shown = Instant::now();
        let works = |swept: &Swept, listed: &ListedKernels, problems: &Problems| {
            !listed.items.is_empty()
                || swept.iter().any(|(kernel, _)| !problems.is_given_up(kernel))
        };
        while !self.is_over() && works(swept, listed, &problems) {
            let (round, at_s) = (screened.rounds.len(), self.begun.elapsed().as_secs_f64());
            let group = STRATEGIES[round % STRATEGIES.len()].group;
            screened.rounds.push(ScreenRound { at_s, group, results: 0, sensors: self.sensors() });
            let least = Instant::now() + self.args.duration / MOST_ROUNDS;
            loop {
                let settings = self.settings(round as u64);
                let until = || (Instant::now() + slice).min(self.begun + self.args.duration);
                let site = DeviceSession::new(self.number, self.target, &settings, self.listener);
                let mut results = 0;
                for (kernel, blocks) in swept.iter_mut() {
                    if self.is_over() || problems.is_given_up(kernel) {
                        continue;
                    }
                    let end = self.begun + self.args.duration;
                    let pass = ScreenPass { round, begun: self.begun, slice, end };
                    let (ended, count, differs) = blocks.pass(&site, pass);
                    results += count;
                    problems.extend(kernel, ended.failures);
                    if let Some(failure) = ended.failure {
                        problems.give_up(kernel);
                        problems.extend(kernel, [failure.detail]);
                    }
                    if differs {
                        self.announce(kernel);
                    }
                }
                if !self.is_over() && !listed.items.is_empty() {
                    results += listed.pass(self, &site, round, until(), &mut problems);
                }
                screened.results += results;
                let sensors = self.sensors();
                if let Some(round) = screened.rounds.last_mut() {
                    round.results += results;
                    round.sensors = round.sensors.max(sensors);
                }
                if shown.elapsed() >= PAUSE {
                    shown = Instant::now();
                    self.show(screened.results, sensors);
                }
                if Instant::now() >= least || self.is_over() {
                    break;
                }
            }
        }
        screened.incomplete.extend(problems.lines());
    }

    fn is_over(&self) -> bool {
        self.settings.stop.is_requested() || self.begun.elapsed() >= self.args.duration
    }

    /// Of a round: the local sizes of lists follow from its number, and two queues run at the same
    /// time.
    fn settings(&self, round: u64) -> MeasureSettings {
        let left = self.args.duration.saturating_sub(self.begun.elapsed());
        let conditions = Conditions { seed: round, stress: true, ..self.settings.conditions };
        MeasureSettings {
            conditions,
            device_timeout: left + self.settings.timeout,
            ..self.settings.clone()
        }
    }

    fn sensors(&self) -> Sensors {
        let identity = &self.target.found.identity;
        fpprobe_daemon::sensors(&self.args.sys, &identity.slot, &identity.kind)
    }

    fn announce(&self, kernel: &str) {
        let after = self.begun.elapsed().as_secs_f64();
        say(&format!("{}: {kernel} differs, after {after:.1} s", self.target.label()));
    }

    fn show(&self, results: u64, sensors: Sensors) {
        let percent = 100.0 * self.begun.elapsed().as_secs_f64() / self.args.duration.as_secs_f64();
        let temperature =
            sensors.temperature_c.map_or_else(String::new, |degrees| format!(", {degrees:.0} °C"));
        let billions = results as f64 / 1e9;
        say(&format!(
            "{}: {percent:.0} %, {billions:.2} billion results{temperature}",
            self.target.label()
        ));
    }

    /// Keeps the device at work until there is no need any more.
    fn load(&self, is_busy: &AtomicBool) {
        let Some(domain) = LOAD.parse().ok().and_then(|kernel| Domain::of(&kernel).ok()) else {
            return;
        };
        while is_busy.load(Ordering::Relaxed) && !self.is_over() {
            let settings = self.settings(0);
            let site = DeviceSession::new(self.number, self.target, &settings, self.listener);
            let blocks = BlockQueue::new(0..domain.blocks());
            let sink = Sink::Digest { normalise: true };
            let (longest, memory) = (Duration::from_millis(50), 64 << 20);
            let order = SweepOrder {
                domain: &domain,
                sink,
                blocks,
                longest,
                memory,
                way: SweepStrategy::FIRST,
            };
            if sweep(&site, order, &mut LoadLedger(is_busy)).failure.is_some() {
                return;
            }
        }
    }
}

/// Ends when there is no need for it any more.
struct LoadLedger<'a>(&'a AtomicBool);

impl Ledger for LoadLedger<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, _: Span, _: &Results<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn is_enough(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Kernels by their ids, with their blocks.
type Swept = Vec<(String, ScreenedBlocks)>;

/// What went wrong, and how often.
#[derive(Default)]
struct Problems {
    lines: BTreeMap<String, usize>,
    /// Passes that failed, by kernel.
    failures: BTreeMap<String, usize>,
}

impl Problems {
    fn extend(&mut self, kernel: &str, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            let line = if line.contains(kernel) { line } else { format!("{kernel}: {line}") };
            if self.lines.len() < REPORTED || self.lines.contains_key(&line) {
                *self.lines.entry(line).or_default() += 1;
            }
        }
    }

    /// A pass over the kernel has failed.
    fn give_up(&mut self, kernel: &str) {
        *self.failures.entry(kernel.to_owned()).or_default() += 1;
    }

    /// Whether it failed so often that it is left out.
    fn is_given_up(&self, kernel: &str) -> bool {
        self.failures.get(kernel).is_some_and(|count| *count >= FAILURES)
    }

    fn lines(self) -> impl Iterator<Item = String> {
        let line = |(line, count): (String, usize)| {
            if count > 1 { format!("{line} ({count} times)") } else { line }
        };
        self.lines.into_iter().map(line)
    }
}
