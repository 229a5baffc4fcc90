//! A campaign: every selected device measured and judged, one report, and a journal on the way there.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::Judge;
use fpprobe_reports::journal::{Device as Journaled, Pass, Quick, Run};
use fpprobe_reports::judged::Judged;
use fpprobe_reports::model::{Answer, Device, Incident, Outcome, ProfileResult, SCHEMA, TexelPath};
use fpprobe_reports::record::Recorder;
use fpprobe_reports::store::Store;
use fpprobe_reports::unrun::unrun;
use fpprobe_reports::{Report, demanded};
use fpprobe_spirv::Kernel;
use fpprobe_spirv::catalogue::Extent;

use crate::against::Before;
use crate::cli::Measuring;
use crate::event::Event;
use crate::exit::{Status, say, usage_error};
use crate::journal::Journal;
use crate::judging::Plan;
use crate::progress::Progress;
use crate::session::Session;
use crate::supervisor::{Ask, Batching, Environment, Hurry, Measured, Row, Site, Target, measure, side_by_side};
use crate::tally::Tally;
use crate::{absent, alone, asking, colour, hurry, judging, quick, select};
use fpprobe_reports::support::Support;
use fpprobe_system::host;

/// What to measure, what to judge by, and where to keep it.
pub struct Campaign<'a> {
    /// Configuration, drivers, signals.
    pub session: &'a Session,
    /// How to measure.
    pub measuring: &'a Measuring,
    /// What to judge by, and where the report goes.
    pub plan: &'a Plan,
    /// What was asked for, now or when the journal began.
    pub run: Run,
    /// The store with the reports of before, where there is one.
    pub store: Option<Store>,
    /// Whether a quick run begins.
    pub quick: bool,
    /// Where each step is noted.
    pub journal: Noted,
    /// Whether to ask again what is in quarantine.
    pub retry: bool,
    /// A report to compare with.
    pub before: Option<Before>,
}

/// The journal of a campaign.
pub enum Noted {
    /// There is none: no file is to be written.
    Nowhere,
    /// One that begins here, when it is known what there is to ask.
    At(PathBuf),
    /// One that goes on.
    On(Journal),
}

impl<'a> Campaign<'a> {
    /// Asks what has no answer yet, judges, and writes the report.
    pub fn lead(mut self) -> anyhow::Result<Status> {
        let (plan, session, before) = (self.plan, self.session, self.before.take());
        let Gathered { report, journal, whole, status, judges } = self.gather()?;
        plan.output.save(&report)?;
        // A report that lacks something leaves the journal, to go on from.
        journal.map_or(Ok(()), |journal| journal.close(whole))?;
        plan.output.show(&report, colour::on_stdout(session.config.colour))?;
        let kept = match (&plan.keep, session.stop.cause()) {
            (Some(_), Some(cause)) => {
                say(&format!("the report was not stored: {cause}, and it lacks the rest"));
                None
            }
            (Some(keep), None) => keep.keep(&report, plan.output.is_file())?,
            (None, _) => None,
        };
        let status = status.and(plan.requirements(&report));
        if let (Some(before), Some(file)) = (before, kept)
            && let Err(error) = before.compare(&judges, report, &file)
        {
            say(&format!("warning: the report is there, and was not compared: {error:#}"));
        }
        Ok(status)
    }

    /// Asks and judges; what comes of the report is the caller's matter.
    pub fn gather(self) -> anyhow::Result<Gathered<'a>> {
        let Campaign { session, measuring, plan, mut run, store, quick, journal, retry, before: _ } = self;
        let profiles = &plan.profiles;
        let judges = Judge::together(profiles);
        let mut settings = session.settings(measuring)?;
        settings.conditions = run.conditions;
        settings.environment.application.clone_from(&run.application);
        let progress = Progress::new(session.verbose);
        let listener = |event: &Event<'_>| progress.show(event);
        let rows = session.survey(&settings, &listener)?;
        let targets: Vec<Target> =
            select::devices(&rows, &run.devices)?.into_iter().map(|(_, target)| target).collect();
        let names = names(&targets);
        if let Some(store) = store.as_ref().filter(|_| quick) {
            run.quick = Some(quick::again(store, targets.iter().map(|target| &target.found.identity))?);
        }
        let journal = match journal {
            Noted::Nowhere => None,
            Noted::At(path) => Some(Journal::begin(&path, run.clone(), retry, &session.stop)?),
            Noted::On(journal) => Some(journal),
        };
        check(journal.as_ref(), &names, &rows)?;
        let extent = run.extent();
        let mut work = Vec::with_capacity(targets.len());
        for (target, name) in targets.iter().zip(&names) {
            let claims = &target.found.claims;
            let support = Support::new(claims);
            let (asks, families) = if let Some(quick) = &run.quick {
                let again = quick::known(quick, &target.found.identity);
                let (kernels, families) = quick::kernels(profiles, again, &support);
                (quick::asks(&kernels, again, run.conditions), families)
            } else {
                let kernels = asking::kernels(profiles, &run.filter, extent, &support)?;
                (asking::asks(&kernels, extent, run.conditions), kernels.len())
            };
            work.push((target, name, asks, families));
        }
        let results = side_by_side(&work, |number, (target, name, asks, families)| {
            let site = Site::new(number, target, &settings, &listener);
            let quick = run.quick.as_ref().map(|quick| (quick, *families));
            device(&site, name, (asks, extent, quick, run.filter.is_empty()), &judges, journal.as_ref())
        });
        let mut tally = Tally::default();
        let mut recorder = Recorder::new();
        let (mut devices, mut whole) = (Vec::new(), true);
        for (target, result) in targets.iter().zip(results) {
            let result = result.map_err(usage_error)?;
            if target.found.obstacle.is_some() {
                tally.obstructed();
            }
            tally.device(&result.measured);
            // What is in quarantine keeps the journal by itself.
            whole &= result.measured.unasked == 0;
            let device = entry(target, result, &settings.environment, &mut recorder);
            for unrun in unrun(&device) {
                say(&format!("{} claims to support what it does not run: {unrun}", target.label()));
            }
            devices.push(device);
        }
        let mut report = Report {
            schema: SCHEMA.to_owned(),
            program: host::program(),
            host: host::host(),
            started: run.started.clone(),
            finished: host::now(),
            run: Some(run.conditions),
            inputs: recorder.inputs_table(),
            devices,
            incomplete: Vec::new(),
        };
        // Who selects devices has asked for those alone.
        if run.devices.is_empty() {
            report.incomplete = rows.iter().filter_map(|row| row.devices.as_ref().err().cloned()).collect();
            report.incomplete.extend(rows.iter().filter_map(Row::recovered));
            let absent = absent::incidents(&rows, store.as_ref());
            absent::print(&absent);
            report.incomplete.extend(absent);
            tally.incidents(report.incomplete.iter().filter(|incident| incident.is_failure()).count());
        }
        Ok(Gathered { report, journal, whole, status: tally.status(), judges })
    }
}

/// What a campaign gathered.
pub struct Gathered<'a> {
    /// Everything.
    pub report: Report,
    /// How the measuring ended.
    pub status: Status,
    journal: Option<Journal>,
    whole: bool,
    /// Who judged it.
    judges: Vec<Judge<'a>>,
}

/// What the journal calls each device: its key, and a number where two have the same.
fn names(targets: &[Target]) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let keys = targets.iter().map(|target| target.found.identity.key.as_str());
    keys.map(|key| {
        let count = seen.entry(key).or_default();
        *count += 1;
        if *count == 1 { key.to_owned() } else { format!("{key} {count}") }
    })
    .collect()
}

/// A device that was begun must still be there, with the same driver: answers of two drivers do not mix.
fn check(journal: Option<&Journal>, names: &[String], rows: &[Row]) -> anyhow::Result<()> {
    let gone = journal.and_then(|journal| journal.devices().find(|begun| !names.contains(&begun.device)));
    let Some(gone) = gone else { return Ok(()) };
    let failed: Vec<String> =
        rows.iter().filter_map(|row| row.devices.as_ref().err()).map(|i| i.detail.clone()).collect();
    let Journaled { name, device, .. } = gone;
    let message = if failed.is_empty() {
        format!(
            "{name} ({device}) is not there any more, or its driver was changed since; start anew with `fpprobe run -o`"
        )
    } else {
        format!("{name} ({device}) was not found now ({}); try again", failed.join("; "))
    };
    Err(usage_error(format!("failed to resume: {message}")))
}

/// What came of one device.
struct Outcomes {
    measured: Measured,
    /// Kernels whose results are those of an isolated run.
    isolated: BTreeSet<String>,
    /// What there was no time for: nothing that went wrong.
    hurried: Vec<Incident>,
    profiles: Vec<ProfileResult>,
    answers: Vec<Answer>,
    texels: Vec<TexelPath>,
}

/// Measures one device, judges its answers, asks for what smaller recipes lack, and measures what deviates again, alone.
fn device(
    site: &Site<'_>,
    name: &str,
    (asks, extent, quick, whole): (&[Ask], Extent, Option<(&Quick, usize)>, bool),
    judges: &[Judge<'_>],
    journal: Option<&Journal>,
) -> Result<Outcomes, String> {
    let track = |pass| journal.map(|journal| journal.track(name, pass));
    let mut measured = if let Some(obstacle) = &site.target.found.obstacle {
        obstructed(obstacle)
    } else {
        let track = track(Pass::Shared);
        track.as_ref().map_or(Ok(()), |track| track.begin(site, asks))?;
        match quick {
            Some((_, families)) => hurry::measure(site, asks, families, judges, track.as_ref())?,
            None => measure(site, asks, Batching::Shared, track.as_ref())?,
        }
    };
    // What a device does beside the rules a few kernels do not show.
    let judge = if quick.is_some() { judging::rules } else { judging::judge_by };
    let mut judged = judge(judges, &measured.observations);
    let claims = &site.target.found.claims;
    let support = Support::new(claims);
    // Whether a recipe is enough is a default run's matter. What was run may show what else it takes.
    let mut selected: HashSet<Kernel> = HashSet::new();
    while measured.unasked == 0 && quick.is_none() {
        // Texels wait in runs of everything alone.
        let is_next = |kernel: &Kernel| {
            (whole || !kernel.op.code.is_of_texels()) && support.lacks(kernel).is_none() && selected.insert(*kernel)
        };
        judged.unasked.retain(is_next);
        if judged.unasked.is_empty() {
            break;
        }
        let asks = asking::asks(&judged.unasked, extent, site.settings.conditions);
        measured.absorb(measure(site, &asks, Batching::Shared, track(Pass::Recipes).as_ref())?);
        judged = judge(judges, &measured.observations);
    }
    let mut alone_site = *site;
    let (mut tried, mut isolated) = (BTreeSet::new(), BTreeSet::new());
    if let Some((quick, _)) = quick {
        alone_site.hurry = Some(Hurry { from: 0, until: site.begun() + quick::TIME_ALONE, least: Duration::ZERO });
        tried.extend(quick::known(quick, &site.target.found.identity).iter().cloned());
    }
    let mut alone = Measured::default();
    // Which kernels deviate is not known before all have answered. What is judged by its isolated result may show that
    // another deviates, which should answer like it.
    while measured.unasked + alone.unasked == 0 {
        judged.deviating.retain(|kernel| tried.insert(kernel.to_string()));
        if judged.deviating.is_empty() {
            break;
        }
        let mut again = alone::again(&alone_site, &measured.observations, &judged, track)?;
        let own = std::mem::take(&mut again.observations);
        alone.absorb(again);
        isolated.extend(own.iter().map(|own| own.kernel.to_string()));
        if !put_in_place(&mut measured.observations, own) {
            break;
        }
        judged = judge(judges, &measured.observations);
    }
    let unclaimed = demanded::unclaimed(&site.target.found.identity, &site.target.found.claims);
    measured.findings.splice(0..0, unclaimed.into_iter().chain(judged.findings));
    let unasked = [(measured.unasked, ""), (alone.unasked, " again, each in a module of its own")];
    let hurried = hurry::left_out(&measured.left_out, &std::mem::take(&mut alone.left_out));
    measured.absorb(alone);
    measured.incidents.extend(measured.held.iter().map(quarantined));
    let unasked = unasked.into_iter().filter(|(kernels, _)| *kernels > 0);
    measured.incidents.extend(unasked.map(|(kernels, how)| interrupted(site, kernels, how, journal)));
    let Judged { profiles, answers, texels, .. } = judged;
    Ok(Outcomes { measured, isolated, hurried, profiles, answers, texels })
}

/// Puts isolated results in the place of batched ones; whether any is another.
fn put_in_place(observations: &mut [Observation], isolated: Vec<Observation>) -> bool {
    let mut others = false;
    for own in isolated {
        if let Some(place) = observations.iter_mut().find(|batched| batched.kernel == own.kernel) {
            others |= *place != own;
            *place = own;
        }
    }
    others
}

fn interrupted(site: &Site<'_>, unasked: usize, how: &str, journal: Option<&Journal>) -> Incident {
    let cause = site.settings.stop.cause().unwrap_or_else(|| "the device was given up".to_owned());
    let next = journal.map(|journal| format!("; `{}` goes on", journal.command())).unwrap_or_default();
    let kernels = if unasked == 1 { "1 kernel was".to_owned() } else { format!("{unasked} kernels were") };
    Incident { subject: "-".to_owned(), outcome: None, detail: format!("{cause}: {kernels} not asked{how}{next}") }
}

fn quarantined(kernel: &Kernel) -> Incident {
    let detail =
        "in quarantine: the machine went down while it was being measured; `--retry-quarantined` measures it again";
    Incident { subject: kernel.to_string(), outcome: None, detail: detail.to_owned() }
}

fn obstructed(obstacle: &str) -> Measured {
    let outcome = Some(Outcome::Unsupported);
    let incident = Incident { subject: "-".to_owned(), outcome, detail: obstacle.to_owned() };
    Measured { incidents: vec![incident], ..Measured::default() }
}

/// The device's entry of the report.
fn entry(target: &Target, result: Outcomes, environment: &Environment, recorder: &mut Recorder) -> Device {
    let found = &target.found;
    let mut observations = recorder.device(&result.measured.observations);
    for one in &mut observations {
        one.isolated = result.isolated.contains(&one.kernel);
    }
    Device {
        identity: found.identity.clone(),
        claims: found.claims.clone(),
        taint: found.taint.clone(),
        caches_off: environment.caches_off(),
        application: environment.application.clone(),
        observations,
        profiles: result.profiles,
        findings: result.measured.findings,
        answers: result.answers,
        texels: result.texels,
        incomplete: [result.measured.incidents, result.hurried].concat(),
    }
}
