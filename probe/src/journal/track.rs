//! The part of a journal that belongs to one pass over one device.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fpprobe_reports::journal::{Answer, Answers, Batch, Device, Failure, Pass, Record, Stage, digest};

use super::Journal;
use crate::protocol;
use crate::supervisor::Ask;

/// Writes the steps of one pass over one device, and knows those of earlier processes.
pub struct Track<'a> {
    journal: &'a Journal,
    device: &'a str,
    pass: Pass,
}

impl<'a> Track<'a> {
    pub(super) fn new(journal: &'a Journal, device: &'a str, pass: Pass) -> Track<'a> {
        Track { journal, device, pass }
    }

    /// Notes what the device is going to be asked. What earlier processes have noted must be the same.
    pub fn begin(&self, name: &str, asks: &[Ask]) -> Result<(), String> {
        let own = Device { device: self.device.to_owned(), name: name.to_owned(), asks: of(asks) };
        match self.journal.devices().find(|known| known.device == own.device) {
            Some(known) if known.asks == own.asks => Ok(()),
            Some(_) => Err(format!(
                "failed to resume: {name} would now be asked other kernels or inputs than those of the journal; start anew with `fpprobe run -o`"
            )),
            None => {
                self.journal.write(&Record::Device(own));
                Ok(())
            }
        }
    }

    /// The steps of earlier processes, with numbers of lines.
    pub fn past(&self) -> impl Iterator<Item = (usize, &Record)> {
        let own = |device: &str, pass: Pass| device == self.device && pass == self.pass;
        self.journal.past.iter().map(|(line, record)| (*line, record)).filter(move |(_, record)| match record {
            Record::Intent(batch) | Record::Quarantined(batch) | Record::Released(batch) => {
                own(&batch.device, batch.pass)
            }
            Record::Answers(answers) => own(&answers.device, answers.pass),
            Record::Failure(failure) => own(&failure.device, failure.pass),
            Record::Run(_) | Record::Leg(_) | Record::Device(_) => false,
        })
    }

    /// A worker is about to be asked these; on disk when this returns.
    pub fn intent(&self, kernels: &[String]) {
        let (device, kernels) = (self.device.to_owned(), kernels.to_vec());
        self.journal.write(&Record::Intent(Batch { device, pass: self.pass, kernels }));
    }

    /// A worker has answered.
    pub fn answers(&self, kernels: &[String], answers: &[protocol::Answer]) {
        let answer = |(kernel, answer): (&String, &protocol::Answer)| Answer {
            kernel: kernel.clone(),
            outcome: answer.outcome,
            detail: answer.detail.clone(),
            out: answer.out.clone(),
            second: answer.second.clone(),
        };
        let answers = kernels.iter().zip(answers).map(answer).collect();
        self.journal.write(&Record::Answers(Answers { device: self.device.to_owned(), pass: self.pass, answers }));
    }

    /// A worker has failed.
    pub fn failure(&self, kernels: &[String], failure: &protocol::Failure, stage: Stage) {
        self.journal.write(&Record::Failure(Failure {
            device: self.device.to_owned(),
            pass: self.pass,
            kernels: kernels.to_vec(),
            outcome: failure.outcome,
            detail: failure.detail.clone(),
            stage: if failure.outside { Stage::Killed } else { stage },
        }));
    }
}

/// A digest of kernels and inputs.
fn of(asks: &[Ask]) -> String {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for ask in asks {
        let Ask { kernel, cases } = ask;
        // Lists are shared, and large: each is looked at once.
        let list = (cases.name.as_str(), cases.len());
        // Writing into a text cannot fail.
        let _ = writeln!(text, "{kernel} {} {}", list.0, list.1);
        if seen.insert(list) || cases.name.is_empty() {
            let values: Vec<u8> = cases.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
            text += &digest(&values);
        }
    }
    digest(text.as_bytes())
}
