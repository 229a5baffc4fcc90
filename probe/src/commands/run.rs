//! `fpprobe run`

use fpprobe_profiles::Profile;
use fpprobe_reports::Report;
use fpprobe_reports::model::{Device, Incident, Outcome, ProfileResult, SCHEMA};
use fpprobe_reports::record::Recorder;

use crate::cli::RunArgs;
use crate::event::{Event, Listener};
use crate::exit::Status;
use crate::progress::Progress;
use crate::session::Session;
use crate::supervisor::{Ask, Batching, Measured, Settings, Target, measure, side_by_side};
use crate::tally::Tally;
use crate::{alone, asking, colour, host, judging, select};

/// Measures and judges.
pub fn main(session: &Session, args: &RunArgs) -> anyhow::Result<Status> {
    let started = host::now();
    let plan = judging::Plan::new(&session.config, &args.judging, &session.config.output)?;
    let profiles = &plan.profiles;
    // Filters are checked before any driver is touched.
    asking::kernels(profiles, &args.filter, |_| true)?;
    let settings = session.settings(&args.measuring);
    let progress = Progress::new(session.verbose);
    let listener = |event: &Event<'_>| progress.show(event);
    let rows = session.survey(&settings, &listener)?;
    let selections = session.selections(&args.devices.device);
    let targets: Vec<Target> = select::devices(&rows, selections)?.into_iter().map(|(_, target)| target).collect();
    let mut lists = asking::Lists::default();
    let mut work = Vec::with_capacity(targets.len());
    for target in targets {
        let kernels = asking::kernels(profiles, &args.filter, |control| asking::supports(&target.found, control))?;
        work.push((target, asking::asks(&kernels, &mut lists)));
    }
    let results =
        side_by_side(&work, |number, (target, asks)| device(number, target, asks, profiles, &settings, &listener));
    let mut tally = Tally::default();
    let mut recorder = Recorder::new();
    let devices = work.iter().zip(results).map(|((target, _), result)| {
        if target.found.obstacle.is_some() {
            tally.obstructed();
        }
        tally.device(&result.measured.observations, result.measured.incidents.len());
        entry(target, result, &settings, &mut recorder)
    });
    let devices = devices.collect();
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        program: host::program(),
        host: host::host(),
        started,
        finished: host::now(),
        inputs: recorder.inputs_table(),
        devices,
        incomplete: Vec::new(),
    };
    // Who selects devices has asked for those alone.
    if selections.is_empty() {
        report.incomplete = rows.iter().filter_map(|row| row.devices.as_ref().err().cloned()).collect();
        tally.incidents(report.incomplete.len());
    }
    plan.output.write(&report, colour::on_stdout(session.config.colour))?;
    Ok(tally.status().and(plan.requirements(&report)))
}

/// What came of one device.
struct Outcomes {
    measured: Measured,
    profiles: Vec<ProfileResult>,
}

/// Measures one device, judges its answers, and measures what deviates again, alone.
fn device(
    number: usize,
    target: &Target,
    asks: &[Ask],
    profiles: &[Profile],
    settings: &Settings,
    listener: Listener<'_>,
) -> Outcomes {
    let mut measured = match &target.found.obstacle {
        Some(obstacle) => obstructed(obstacle),
        None => measure(number, target, asks, Batching::Shared, settings, listener),
    };
    let judged = judging::judge(profiles, &measured.observations);
    let alone = alone::again(number, target, &measured.observations, &judged.deviating, settings, listener);
    measured.incidents.extend(alone.incidents);
    measured.findings.splice(0..0, judged.findings);
    measured.findings.extend(alone.findings);
    Outcomes { measured, profiles: judged.profiles }
}

fn obstructed(obstacle: &str) -> Measured {
    let incident = Incident { subject: "-".to_owned(), outcome: Outcome::Unsupported, detail: obstacle.to_owned() };
    Measured { incidents: vec![incident], ..Measured::default() }
}

/// The device's entry of the report.
fn entry(target: &Target, result: Outcomes, settings: &Settings, recorder: &mut Recorder) -> Device {
    let found = &target.found;
    Device {
        identity: found.identity.clone(),
        claims: found.claims.clone(),
        taint: found.taint.clone(),
        caches_off: settings.environment.caches_off(),
        observations: recorder.device(&result.measured.observations),
        profiles: result.profiles,
        findings: result.measured.findings,
        incomplete: result.measured.incidents,
    }
}
