//! `fpprobe run`

use fpprobe_reports::Report;
use fpprobe_reports::model::{Device, Incident, Outcome, SCHEMA};
use fpprobe_reports::record::Recorder;

use crate::cli::RunArgs;
use crate::event::{Event, Listener};
use crate::exit::Status;
use crate::progress::Progress;
use crate::session::Session;
use crate::supervisor::{Batching, Measured, Settings, Target, measure};
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
    let mut work = Vec::new();
    for target in targets.iter().filter(|target| target.found.obstacle.is_none()) {
        let kernels = asking::kernels(profiles, &args.filter, |control| asking::supports(&target.found, control))?;
        work.push((target.clone(), asking::asks(&kernels, &mut lists)));
    }
    let mut measured = measure(&work, Batching::Shared, &settings, &listener).into_iter();
    let mut tally = Tally::default();
    let mut recorder = Recorder::new();
    let mut devices = Vec::with_capacity(targets.len());
    for target in &targets {
        let measured = match &target.found.obstacle {
            Some(obstacle) => {
                tally.obstructed();
                obstructed(obstacle)
            }
            None => measured.next().unwrap_or_default(),
        };
        devices.push(device(target, measured, profiles, &settings, &listener, &mut recorder, &mut tally));
    }
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

fn obstructed(obstacle: &str) -> Measured {
    let incident = Incident { subject: "-".to_owned(), outcome: Outcome::Unsupported, detail: obstacle.to_owned() };
    Measured { incidents: vec![incident], ..Measured::default() }
}

/// Judges one device and makes its entry of the report.
fn device(
    target: &Target,
    mut measured: Measured,
    profiles: &[fpprobe_profiles::Profile],
    settings: &Settings,
    listener: Listener<'_>,
    recorder: &mut Recorder,
    tally: &mut Tally,
) -> Device {
    let found = &target.found;
    let judged = judging::judge(profiles, &measured.observations);
    let alone = alone::again(target, &measured.observations, &judged.deviating, settings, listener);
    measured.incidents.extend(alone.incidents);
    tally.device(&measured.observations, measured.incidents.len());
    let mut findings = judged.findings;
    findings.extend(measured.findings);
    findings.extend(alone.findings);
    Device {
        identity: found.identity.clone(),
        claims: found.claims.clone(),
        taint: found.taint.clone(),
        caches_off: settings.environment.caches_off(),
        observations: recorder.device(&measured.observations),
        profiles: judged.profiles,
        findings,
        incomplete: measured.incidents,
    }
}
