//! The report of a run: an entry for each device, and what else there is to say.

use std::collections::BTreeSet;
use std::io;

use fpprobe_profiles::Observation;
use fpprobe_reports::Report;
use fpprobe_reports::host;
use fpprobe_reports::journal::RunStart;
use fpprobe_reports::judged::DeviceJudgement;
use fpprobe_reports::model::{
    Conditions, Device, Host, Incident, LEFT_OUT, Recompiled, SELF_CONTAINED,
};
use fpprobe_reports::record::Recorder;
use fpprobe_reports::render::{self, unrun::unrun};
use fpprobe_reports::store::Store;
use fpprobe_spirv::Kernel;
use fpprobe_system::usage::say;

use super::status::RunStatus;
use crate::absent;
use crate::journal::RunJournal;
use crate::supervisor::{DeviceSession, ManifestRow, Measurement, Target, WorkerEnvironment};

/// What came of one device.
pub struct DeviceResult {
    /// What was measured.
    pub measured: Measurement,
    /// Kernels whose results are those of an isolated run.
    pub isolated: BTreeSet<String>,
    /// Kernels that a quick run had no time for: nothing that went wrong.
    pub left_out: Vec<Incident>,
    /// What it is judged to be.
    pub judged: DeviceJudgement,
}

impl DeviceResult {
    /// Of what was measured batched and isolated, and how it was judged. Says what there was no
    /// time for, and what was interrupted.
    pub fn new(
        site: &DeviceSession<'_>,
        mut measured: Measurement,
        (mut alone, isolated): (Measurement, BTreeSet<String>),
        judged: DeviceJudgement,
        journal: Option<&RunJournal>,
    ) -> DeviceResult {
        let unmeasured =
            [(measured.skipped, ""), (alone.skipped, " again, each in a module of its own")];
        let left_out = left_out(&measured.left_out, &std::mem::take(&mut alone.left_out));
        measured.absorb(alone);
        measured.incidents.extend(measured.quarantined.iter().map(quarantined));
        let unmeasured = unmeasured.into_iter().filter(|(kernels, _)| *kernels > 0);
        measured
            .incidents
            .extend(unmeasured.map(|(kernels, how)| interrupted(site, kernels, how, journal)));
        DeviceResult { measured, isolated, left_out, judged }
    }
}

/// What there was no time for, as the report names it: kernels, and kernels that were not run
/// again, alone.
fn left_out(kernels: &[Kernel], alone: &[Kernel]) -> Vec<Incident> {
    let incident = |subject: String, detail: String| Incident { subject, outcome: None, detail };
    let mut incidents: Vec<Incident> =
        kernels.iter().map(|kernel| incident(kernel.to_string(), LEFT_OUT.to_owned())).collect();
    if !alone.is_empty() {
        let detail =
            format!("{LEFT_OUT}: the second look at {} that deviate, each isolated", alone.len());
        incidents.push(incident("-".to_owned(), detail));
    }
    incidents
}

/// Puts the report together; also the status of the run, and whether all of it ran.
pub fn assemble<'a>(
    run: &RunStart,
    rows: &[ManifestRow],
    store: Option<&Store>,
    (host, environment): (Host, &WorkerEnvironment),
    results: impl Iterator<Item = (&'a Target, DeviceResult)>,
) -> (Report, RunStatus, bool) {
    let (mut status, mut recorder) = (RunStatus::default(), Recorder::new());
    let (mut devices, mut whole) = (Vec::new(), true);
    for (target, result) in results {
        if target.found.obstacle.is_some() {
            status.obstructed();
        }
        status.device(&result.measured);
        // What is in quarantine keeps the journal by itself.
        whole &= result.measured.skipped == 0;
        let device = entry(target, result, (environment, run.conditions), &mut recorder);
        for unrun in unrun(&device) {
            say(&format!("{} claims to support what it does not run: {unrun}", target.label()));
        }
        devices.push(device);
    }
    let mut report = Report {
        schema: SELF_CONTAINED.to_owned(),
        program: host::program(),
        host,
        started: run.started.clone(),
        finished: host::now(),
        run: Some(run.conditions),
        observations: None,
        inputs: recorder.inputs_table(),
        devices,
        incomplete: Vec::new(),
    };
    // Who selects devices has selected those alone.
    if run.devices.is_empty() {
        report.incomplete =
            rows.iter().filter_map(|row| row.devices.as_ref().err().cloned()).collect();
        report.incomplete.extend(rows.iter().filter_map(ManifestRow::recovered));
        let absent = absent::incidents(rows, store);
        absent::print(&absent);
        report.incomplete.extend(absent);
        status.incidents(report.incomplete.iter().filter(|incident| incident.is_failure()).count());
    }
    (report, status, whole)
}

fn interrupted(
    site: &DeviceSession<'_>,
    unmeasured: usize,
    how: &str,
    journal: Option<&RunJournal>,
) -> Incident {
    let cause = site.settings.stop.cause().unwrap_or_else(|| "the device was given up".to_owned());
    let next =
        journal.map(|journal| format!("; `{}` goes on", journal.command())).unwrap_or_default();
    let kernels = if unmeasured == 1 {
        "1 kernel was".to_owned()
    } else {
        format!("{unmeasured} kernels were")
    };
    Incident {
        subject: "-".to_owned(),
        outcome: None,
        detail: format!("{cause}: {kernels} not asked{how}{next}"),
    }
}

fn quarantined(kernel: &Kernel) -> Incident {
    let detail = "in quarantine: the machine went down while it was being measured; `--retry-quarantined` measures it again";
    Incident { subject: kernel.to_string(), outcome: None, detail: detail.to_owned() }
}

/// What the first observations of a device come to, as lines for a reader; `all` kernels are being
/// measured.
pub fn first_verdicts(
    site: &DeviceSession<'_>,
    observations: &[Observation],
    judged: DeviceJudgement,
    all: usize,
) -> io::Result<String> {
    let settings = site.settings;
    let measured = Measurement { observations: observations.to_vec(), ..Measurement::default() };
    let result = DeviceResult { measured, isolated: BTreeSet::new(), left_out: Vec::new(), judged };
    let conditions = (&settings.environment, settings.conditions);
    let device = entry(site.target, result, conditions, &mut Recorder::new());
    let mut text = Vec::new();
    render::first_verdicts(&device, all, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The device's entry of the report.
fn entry(
    target: &Target,
    result: DeviceResult,
    (environment, conditions): (&WorkerEnvironment, Conditions),
    recorder: &mut Recorder,
) -> Device {
    let found = &target.found;
    let mut observations = recorder.device(&result.measured.observations);
    for one in &mut observations {
        one.isolated = result.isolated.contains(&one.kernel);
    }
    let recompiled = match conditions.recompiled {
        Recompiled::All => Vec::new(),
        Recompiled::Eighth => {
            let own = result.measured.observations.iter().zip(&observations);
            let own = own.filter(|(own, entry)| {
                own.outcome.answered() && (entry.isolated || conditions.recompiles(&own.kernel))
            });
            own.map(|(_, entry)| entry.kernel.clone()).collect()
        }
    };
    let mut device = Device {
        identity: found.identity.clone(),
        claims: found.claims.clone(),
        taint: found.taint.clone(),
        caches_off: environment.caches_off(),
        application: environment.application.clone(),
        recompiled,
        causes: result.judged.causes,
        observations,
        profiles: result.judged.profiles,
        findings: result.measured.findings,
        answers: result.judged.answers,
        texels: result.judged.texels,
        traits: result.judged.traits,
        incomplete: [result.measured.incidents, result.left_out].concat(),
    };
    device.score();
    device
}
