//! The part of a journal that belongs to one pass over one device.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fpprobe_reports::journal::{
    BatchRecord, BatchResults, DeviceRecord, FailureRecord, FailureStage, Pass, Record,
    RecordedResult, digest,
};

use super::{DeviceSession, WorkItem};
use crate::journal::RunJournal;
use fpprobe_worker::protocol;

/// Writes the steps of one pass over one device, and knows those of earlier processes.
pub struct Track<'a> {
    journal: &'a RunJournal,
    device: &'a str,
    pass: Pass,
}

impl<'a> Track<'a> {
    /// Of this journal.
    pub fn new(journal: &'a RunJournal, device: &'a str, pass: Pass) -> Track<'a> {
        Track { journal, device, pass }
    }

    /// Notes what the device is going to be asked, and under which circumstances. Those of earlier
    /// processes must be the same: answers of two kinds do not mix.
    pub fn begin(&self, site: &DeviceSession<'_>, items: &[WorkItem]) -> Result<(), String> {
        let own = DeviceRecord {
            device: self.device.to_owned(),
            name: site.target.label(),
            work: of(items),
            taint: site.target.found.taint.clone(),
            caches_off: site.settings.environment.caches_off(),
        };
        let Some(known) = self.journal.devices().find(|known| known.device == own.device) else {
            self.journal.write(&Record::Device(own));
            return Ok(());
        };
        let differs = if known.work != own.work {
            "it would now be asked other kernels or inputs than those of the journal".to_owned()
        } else if known.taint != own.taint {
            format!(
                "then it was measured with {}, now with {}",
                list(&known.taint),
                list(&own.taint)
            )
        } else if known.caches_off != own.caches_off {
            let (then, now) = (list(&known.caches_off), list(&own.caches_off));
            format!("then it was measured with {then} against drivers' caches, now with {now}")
        } else {
            return Ok(());
        };
        let anew = "go on as it was begun, or start anew with `fpprobe run -o`";
        Err(format!("failed to resume: {}: {differs}; {anew}", own.name))
    }

    /// The steps of earlier processes, with numbers of lines.
    pub fn past(&self) -> impl Iterator<Item = (usize, &Record)> {
        let own = |device: &str, pass: Pass| device == self.device && pass == self.pass;
        self.journal.past().filter(move |(_, record)| match record {
            Record::Intent(batch) => own(&batch.device, batch.pass),
            Record::Answers(answers) => own(&answers.device, answers.pass),
            Record::Failure(failure) => own(&failure.device, failure.pass),
            Record::Quarantined(held) | Record::Released(held) => held.device == self.device,
            Record::Leg(_) | Record::Ended { .. } => true,
            Record::Run(_) | Record::Device(_) => false,
        })
    }

    /// A worker is about to run these; on disk when this returns.
    pub fn intent(&self, kernels: &[String]) {
        let (device, kernels) = (self.device.to_owned(), kernels.to_vec());
        self.journal.write(&Record::Intent(BatchRecord { device, pass: self.pass, kernels }));
    }

    /// A worker has answered.
    pub fn answers(&self, kernels: &[String], answers: &[protocol::KernelResult]) {
        let answer = |(kernel, answer): (&String, &protocol::KernelResult)| RecordedResult {
            kernel: kernel.clone(),
            outcome: answer.outcome,
            detail: answer.detail.clone(),
            out: answer.out.to_vec(),
            second: answer.second.as_deref().map(<[u64]>::to_vec),
        };
        let answers = kernels.iter().zip(answers).map(answer).collect();
        self.journal.write(&Record::Answers(BatchResults {
            device: self.device.to_owned(),
            pass: self.pass,
            answers,
        }));
    }

    /// A worker has failed.
    pub fn failure(&self, kernels: &[String], failure: &protocol::Failure, stage: FailureStage) {
        self.journal.write(&Record::Failure(FailureRecord {
            device: self.device.to_owned(),
            pass: self.pass,
            kernels: kernels.to_vec(),
            outcome: failure.outcome,
            detail: failure.detail.clone(),
            stage: if failure.outside { FailureStage::Killed } else { stage },
        }));
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// A digest of kernels and inputs.
fn of(items: &[WorkItem]) -> String {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for item in items {
        let WorkItem { kernel, cases } = item;
        // Lists are shared, and large: each is looked at once.
        let list = (cases.name.as_str(), cases.len());
        // Writing into a text cannot fail.
        let _ = writeln!(text, "{kernel} {} {}", list.0, list.1);
        if seen.insert(list) || cases.name.is_empty() {
            let values: Vec<u8> =
                cases.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
            text += &digest(&values);
        }
    }
    digest(text.as_bytes())
}
