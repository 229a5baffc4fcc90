//! `fpprobe sweep`

use std::io::Write as _;
use std::time::{Duration, Instant};

use fpprobe_profiles::Outcome;
use fpprobe_reports::sweep::{
    Blocks, Fingerprint, FingerprintDevice, Print, SCHEMA, Sweep, SweptDevice, SweptKernel,
    Unstable,
};
use fpprobe_spirv::sweep::{Domain, Sink};

use crate::cli::SweepArgs;
use crate::exit::Status;
use crate::output::stdout;
use crate::progress;
use crate::select;
use crate::session::Session;
use crate::supervisor::sweep::{BlockQueue, SweepEnd, SweepOrder, SweepStrategy, sweep};
use crate::supervisor::{DeviceSession, MeasureSettings, Target, is_violent, side_by_side};
use crate::sweep::agree::AgreementLedger;
use crate::sweep::estimate::TimedKernel;
use crate::sweep::every::ListFolder;
use crate::sweep::files::{self, Files};
use crate::sweep::journal::SweepJournal;
use crate::sweep::plan::SweepPlan;
use crate::sweep::print::Nothing;
use crate::sweep::progress::{Course, SweepProgress};
use crate::sweep::resolve::{PrintPair, resolve};
use crate::sweep::twice::FingerprintContext;
use crate::sweep::verify::VerifyLedger;
use fpprobe_reports::host;
use fpprobe_reports::support::Support;
use fpprobe_system::usage::{say, usage_error};

/// The longest time that a device has, if none is set.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// Runs kernels over their entire input domain.
pub fn main(session: &Session, args: &SweepArgs) -> anyhow::Result<Status> {
    let plan = SweepPlan::new(args)?;
    let old = args.resolve.as_deref().map(files::fingerprint).transpose()?;
    if old.as_ref().is_some_and(|old| old.normalise_nan != args.normalise_nan) {
        let hint =
            if args.normalise_nan { "leave --normalise-nan out" } else { "add --normalise-nan" };
        return Err(usage_error(format!("the older fingerprint treats NaNs otherwise: {hint}")));
    }
    let files = Files::new(args.output.as_deref(), args.format.as_deref())?;
    let mut settings = session.settings(&args.measuring)?;
    if args.measuring.device_timeout.is_none() {
        // Whole domains take hours; each dispatch has a deadline.
        settings.device_timeout = LONGEST;
    }
    let events = progress::Progress::new(session.verbose);
    let listener = |event: &crate::event::RunEvent<'_>| events.show_failures(event);
    let rows = session.survey(&settings, &listener)?;
    session.warn_of_absent(&rows);
    let chosen = select::devices(&rows, session.selections(&args.devices.device))?;
    let journal = files.journal(options(args, &plan), &session.stop)?;
    let all = select::targets(&rows);
    let bars = SweepProgress::new();
    let bench = SweepContext {
        args,
        plan: &plan,
        old: old.as_ref(),
        lists: files.lists(),
        all: &all,
        settings: &settings,
        journal: journal.as_ref(),
    };
    let swept = side_by_side(&chosen, |number, (_, target)| {
        let inputs =
            (0..plan.domains.len()).map(|place| plan.count(place) * plan.domains[place].block());
        let passes = if args.fingerprint && !args.once { 2 } else { 1 };
        let budget = plan.budget.map(|each| each * plan.domains.len() as u32);
        let course = bars.course(&target.label(), passes * inputs.sum::<u64>(), budget);
        let swept =
            bench.device(&DeviceSession::new(number, target, &settings, &listener), &course);
        course.finish();
        swept
    });
    if let Some(devices) = args.plan {
        if let Some(cause) = session.stop.cause() {
            say(&format!("{cause}: nothing is estimated"));
            return Ok(Status::Incomplete);
        }
        return estimate(&chosen, &swept, devices, args);
    }
    let parts = |timed: Vec<TimedKernel>| -> (Vec<SweptKernel>, Vec<Print>) {
        timed.into_iter().map(|TimedKernel { swept, print, .. }| (swept, print)).unzip()
    };
    let (kernels, prints): (Vec<_>, Vec<_>) = swept.into_iter().map(parts).unzip();
    let device = |((_, target), kernels): (&(usize, Target), Vec<SweptKernel>)| SweptDevice {
        identity: target.found.identity.clone(),
        taint: target.found.taint.clone(),
        kernels,
    };
    let sweep = Sweep {
        schema: SCHEMA.to_owned(),
        program: host::program(),
        host: session.host(&args.measuring),
        normalise_nan: args.normalise_nan,
        profiles: plan.profiles.clone(),
        devices: chosen.iter().zip(kernels).map(device).collect(),
        incomplete: rows.iter().filter_map(|row| row.devices.as_ref().err().cloned()).collect(),
    };
    let prints = if args.fingerprint { prints.concat() } else { Vec::new() };
    let fingerprint = Fingerprint { normalise_nan: args.normalise_nan, prints };
    if let Some(cause) = session.stop.cause() {
        say(&format!("{cause}: the sweep is not finished"));
        if journal.is_some() {
            say("the same command again goes on with it");
            return Ok(Status::Incomplete);
        }
    }
    files.write(&sweep, &fingerprint, session.style())?;
    // What a budget leaves out is left out on purpose, but not what a failure does.
    let status = status(&sweep, args.shard.is_some() || args.raw);
    let is_done = match plan.budget {
        Some(_) => status == Status::Done,
        None => args.raw || !is_unfinished(&sweep, &plan),
    };
    if let (Some(journal), true) = (journal, is_done) {
        journal.close()?;
    }
    Ok(status.and(Status::Incomplete.when(session.stop.is_requested())))
}

/// Prints how long N devices like each of these take.
fn estimate(
    chosen: &[(usize, Target)],
    swept: &[Vec<TimedKernel>],
    devices: u64,
    args: &SweepArgs,
) -> anyhow::Result<Status> {
    let profiles = args.profile.iter().flat_map(|profile| [" --profile ", profile]);
    let mut options: String = profiles.collect();
    options.extend(args.devices.device.iter().flat_map(|device| [" --device ", device]));
    for (is_set, option) in [
        (args.fingerprint, " --fingerprint"),
        (args.once, " --once"),
        (args.normalise_nan, " --normalise-nan"),
    ] {
        options.push_str(if is_set { option } else { "" });
    }
    let (mut out, mut is_whole) = (stdout(), true);
    for ((_, target), kernels) in chosen.iter().zip(swept) {
        writeln!(out, "{}", target.label())?;
        for timed in kernels {
            for line in timed.estimate(devices, &options) {
                writeln!(out, "  {line}")?;
            }
            is_whole &= !timed.swept.measured.is_empty() && timed.swept.incomplete.is_empty();
            for failure in &timed.swept.incomplete {
                writeln!(out, "  {failure}")?;
            }
        }
    }
    out.flush()?;
    Ok(Status::Nothing.when(chosen.is_empty()).and(Status::Incomplete.when(!is_whole)))
}

/// What decides which blocks are asked and what is kept of them.
fn options(args: &SweepArgs, plan: &SweepPlan) -> String {
    let kernels: Vec<String> =
        plan.domains.iter().map(|domain| domain.kernel().to_string()).collect();
    let shard = args
        .shard
        .map_or_else(String::new, |shard| format!(" --shard {}/{}", shard.number, shard.of));
    let budget = args.budget.map_or_else(String::new, |time| {
        format!(" --budget {}s --seed {}", time.as_secs_f64(), args.seed)
    });
    let nan = if args.normalise_nan { " --normalise-nan" } else { "" };
    let judged = if args.fingerprint {
        format!(" --fingerprint{}", if args.once { " --once" } else { "" })
    } else {
        format!(" --profile {}", plan.profiles.join(" --profile "))
    };
    let devices: Vec<String> =
        args.devices.device.iter().map(|device| format!(" --device {device}")).collect();
    let old = args
        .resolve
        .as_ref()
        .map_or_else(String::new, |path| format!(" --resolve {}", path.display()));
    format!("{}{judged}{shard}{budget}{nan}{}{old}", kernels.join(" "), devices.concat())
}

/// Nothing where no device answered anything, incomplete where something is missing. The part of a
/// sweep may have no block of the kernels that a device has.
pub fn status(sweep: &Sweep, part: bool) -> Status {
    let kernels = || sweep.devices.iter().flat_map(|device| &device.kernels);
    let nothing = !part && kernels().all(|kernel| kernel.measured.count() == 0);
    let broken =
        kernels().flat_map(|kernel| &kernel.incomplete).any(|why| !why.starts_with(UNSUPPORTED));
    Status::Nothing
        .when(nothing || sweep.devices.is_empty())
        .and(Status::Incomplete.when(broken || !sweep.incomplete.is_empty()))
}

/// Whether blocks of a kernel that the device has were not run: a later try, or more time, may give
/// them.
fn is_unfinished(sweep: &Sweep, plan: &SweepPlan) -> bool {
    let lacks =
        |kernel: &SweptKernel| kernel.incomplete.iter().any(|why| why.starts_with(UNSUPPORTED));
    let missing = |(place, kernel): (usize, &SweptKernel)| {
        // Blocks that gave other sums each time were asked, and are in no fingerprint.
        let asked = kernel.measured.union(&kernel.unstable.blocks);
        !lacks(kernel) && asked.count() < plan.count(place)
    };
    let unfinished =
        sweep.devices.iter().any(|device| device.kernels.iter().enumerate().any(missing));
    if unfinished {
        say(
            "not every block was asked: the same command with the same -o goes on with those that are left",
        );
    }
    unfinished
}

/// How the reason begins where a device lacks what a kernel needs.
pub const UNSUPPORTED: &str = "unsupported: ";

/// What the sweeps of all devices have in common.
struct SweepContext<'a> {
    args: &'a SweepArgs,
    plan: &'a SweepPlan,
    old: Option<&'a Fingerprint>,
    lists: Option<ListFolder>,
    /// Every device of this machine.
    all: &'a [Target],
    settings: &'a MeasureSettings,
    journal: Option<&'a SweepJournal>,
}

impl SweepContext<'_> {
    /// Sweeps a device, kernel after kernel.
    fn device(&self, site: &DeviceSession<'_>, course: &Course) -> Vec<TimedKernel> {
        let found = &site.target.found;
        let support = Support::new(&found.claims);
        let kernel = |(place, domain): (usize, &Domain)| {
            let begun = Instant::now();
            let mut swept = SweptKernel::new(domain);
            let print = Print::new(FingerprintDevice::from(&found.identity), domain.clone());
            let lacks = found.obstacle.clone().or_else(|| support.lacks(domain.kernel()));
            let print = match lacks {
                Some(lacks) => {
                    swept.incomplete.push(format!("{UNSUPPORTED}{lacks}"));
                    print
                }
                None if self.args.raw => {
                    let blocks = BlockQueue::new(self.plan.blocks(place));
                    let order = self.order(domain, Sink::Raw, blocks, SweepStrategy::FIRST);
                    note(&mut swept, sweep(site, order, &mut Nothing(course)));
                    print
                }
                None if self.plan.verifiers.is_empty() => {
                    self.kernel(site, course, place, print, &mut swept)
                }
                None => {
                    self.verified(site, course, place, &mut swept);
                    print
                }
            };
            TimedKernel { swept, print, took: begun.elapsed() }
        };
        self.plan.domains.iter().enumerate().map(kernel).collect()
    }

    /// Has every result of a kernel judged.
    fn verified(
        &self,
        site: &DeviceSession<'_>,
        course: &Course,
        place: usize,
        swept: &mut SweptKernel,
    ) {
        let domain = &self.plan.domains[place];
        let key = (noted(site.target), swept.kernel.clone());
        let known = self
            .journal
            .and_then(|journal| journal.past.verified.get(&key))
            .cloned()
            .unwrap_or_default();
        let mut blocks = self.others(place, &known.0);
        course.advance(known.0.count() * domain.block());
        let deadline = self.plan.budget.map(|budget| Instant::now() + budget);
        let verifier = &self.plan.verifiers[place];
        let mut ledger =
            VerifyLedger::new(key, (domain, verifier), known, self.journal, course, deadline);
        // Under a budget, blocks that agree would leave the others no time, and be no fair sample.
        if verifier.guesses()
            && (deadline.is_none() || self.plan.is_estimate)
            && blocks.first().is_some()
        {
            let sink = Sink::Digest { normalise: false };
            let order = self.order(domain, sink, blocks, SweepStrategy::FIRST);
            let mut agreeing = AgreementLedger::new(&mut ledger);
            let ended = sweep(site, order, &mut agreeing);
            // What ran and did not agree is looked at however that ended; where requesting digests
            // is what the device refuses, all is.
            let others = agreeing.others();
            let refused =
                ended.failure.as_ref().is_some_and(|failure| !is_violent(failure.outcome));
            blocks =
                if refused { self.others(place, ledger.done()) } else { BlockQueue::new(others) };
            note(swept, ended);
        }
        if blocks.first().is_some() {
            let order = self.order(domain, Sink::Store, blocks, SweepStrategy::FIRST);
            note(swept, sweep(site, order, &mut ledger));
        }
        let (asked, statistics, unstable) = ledger.end();
        (swept.measured, swept.verified, swept.unstable) = (asked, Some(statistics), unstable);
    }

    /// The blocks of a kernel but for those that are done.
    fn others(&self, place: usize, done: &Blocks) -> BlockQueue {
        let done = done.clone();
        BlockQueue::new(self.plan.blocks(place).filter(move |block| !done.contains(*block)))
    }

    /// Takes the fingerprint of a kernel.
    fn kernel(
        &self,
        site: &DeviceSession<'_>,
        course: &Course,
        place: usize,
        mut print: Print,
        swept: &mut SweptKernel,
    ) -> Print {
        let domain = &self.plan.domains[place];
        let (device, bundles) = (noted(site.target), self.plan.bundles(place));
        let passes = if self.args.once { 1 } else { 2 };
        let budget = self.plan.budget.map(|budget| budget / passes);
        let taking = FingerprintContext { device: &device, journal: self.journal, course, budget };
        let sink = Sink::Digest { normalise: self.args.normalise_nan };
        let bundle = domain.bundle();
        let order = |bundles: Vec<u64>, way| {
            let blocks = bundles.into_iter().flat_map(move |own| own * bundle..(own + 1) * bundle);
            self.order(domain, sink, BlockQueue::new(blocks), way)
        };
        let ended = if self.args.once {
            vec![taking.once(site, &mut print, bundles, &order, 0)]
        } else {
            taking.twice(site, &mut print, bundles, &order)
        };
        for ended in ended {
            note(swept, ended);
        }
        swept.unstable = Unstable::of_blocks(print.unstable.of_bundles(bundle));
        swept.measured = print.measured().of_bundles(bundle);
        swept.root = print.root(self.args.normalise_nan);
        if let Some(old) =
            self.old.and_then(|old| old.of(&site.target.found.identity, domain.kernel()))
        {
            let pair = PrintPair { old, new: &print, normalise: self.args.normalise_nan };
            let older = self.all.iter().find(|target| {
                let key = &target.found.identity.key;
                *key == old.device.key
                    && *key != print.device.key
                    && target.found.obstacle.is_none()
            });
            let older = older.map(|target| {
                DeviceSession::new(site.number, target, self.settings, site.listener)
            });
            let order = |blocks: &Blocks| {
                let blocks: Vec<u64> = blocks.iter().collect();
                self.order(domain, Sink::Store, BlockQueue::new(blocks), SweepStrategy::FIRST)
            };
            // A bit for each of 2^48 inputs fills no disk.
            let list = self
                .lists
                .as_ref()
                .filter(|_| !domain.is_vast())
                .map(|lists| lists.path(&site.target.found.identity.key, &swept.kernel));
            let (changes, ended) = resolve(&pair, site, older.as_ref(), list.as_deref(), order);
            note(swept, ended);
            swept.changes = Some(changes);
        } else if self.old.is_some() {
            swept.incomplete.push(
                "the older fingerprint has not this kernel, or has it of several other devices"
                    .to_owned(),
            );
        }
        print
    }

    fn order<'d>(
        &self,
        domain: &'d Domain,
        sink: Sink,
        blocks: BlockQueue,
        way: SweepStrategy,
    ) -> SweepOrder<'d> {
        SweepOrder {
            domain,
            sink,
            blocks,
            longest: Duration::from_millis(self.args.dispatch),
            memory: self.args.memory << 20,
            way,
        }
    }
}

/// A device as journals know it: what it answers under layers does not mix with what it answers
/// without.
fn noted(target: &Target) -> String {
    let found = &target.found;
    std::iter::once(&found.identity.key)
        .chain(&found.taint)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Adds what went wrong.
fn note(swept: &mut SweptKernel, ended: SweepEnd) {
    swept.incomplete.extend(ended.failures);
    swept.incomplete.extend(ended.failure.map(|failure| match failure.outcome {
        Outcome::Unsupported => format!("{UNSUPPORTED}{}", failure.detail),
        Outcome::NotWritten => format!("not written: {}", failure.detail),
        Outcome::Flaky => format!("flaky: {}", failure.detail),
        _ => failure.detail,
    }));
}
