//! A queue brought to where earlier processes left it: the steps of the journal, taken again.

use std::collections::{BTreeSet, HashMap};

use fpprobe_profiles::Outcome;
use fpprobe_reports::journal::{self, Record, Stage};

use super::queue::{Batch, Queue};
use super::{Ask, lane};
use crate::journal::Track;
use crate::protocol::{Answer, Failure};

/// Takes the steps of a journal. Returns how many kernels are in quarantine. A step that does not fit is an error that
/// names its line.
pub fn replay(queue: &mut Queue, asks: &[Ask], track: &Track<'_>) -> Result<usize, String> {
    let places: HashMap<String, usize> =
        asks.iter().enumerate().map(|(place, ask)| (ask.kernel.to_string(), place)).collect();
    let find =
        |kernels: &[String]| kernels.iter().map(|kernel| places.get(kernel).copied()).collect::<Option<Vec<_>>>();
    let mut aside = BTreeSet::new();
    for (line, record) in track.past() {
        let stale = || format!("failed to resume: line {line} of the journal does not fit what this device is asked");
        match record {
            Record::Answers(answers) => {
                let kernels: Vec<String> = answers.answers.iter().map(|answer| answer.kernel.clone()).collect();
                let found = find(&kernels).ok_or_else(stale)?;
                let batch = queue.claim(&found).ok_or_else(stale)?;
                let answers: Vec<Answer> = answers.answers.iter().map(answer).collect();
                if !lane::fit(&answers, &batch, asks) {
                    return Err(stale());
                }
                queue.finish(&batch, answers);
            }
            Record::Failure(failed) => {
                let batch = find(&failed.kernels).and_then(|found| queue.claim(&found)).ok_or_else(stale)?;
                let failure = Failure::new(failed.outcome, failed.detail.clone());
                fail(queue, batch, &failure, failed.stage);
            }
            Record::Quarantined(batch) => {
                let found: BTreeSet<usize> = find(&batch.kernels).ok_or_else(stale)?.into_iter().collect();
                aside.extend(found.iter().copied());
                queue.set_aside(&found, &quarantined());
            }
            Record::Released(batch) => {
                let found: BTreeSet<usize> = find(&batch.kernels).ok_or_else(stale)?.into_iter().collect();
                aside.retain(|place| !found.contains(place));
                queue.take_up(&found);
            }
            Record::Intent(_) | Record::Run(_) | Record::Leg(_) | Record::Device(_) => {}
        }
    }
    if !aside.is_empty() {
        let ids: Vec<String> = aside.iter().map(|place| asks[*place].kernel.to_string()).collect();
        queue.mark(&Failure::new(Outcome::Crashed, format!("{}: {}", quarantined().detail, ids.join(", "))));
    }
    Ok(aside.len())
}

fn fail(queue: &mut Queue, batch: Batch, failure: &Failure, stage: Stage) {
    match stage {
        Stage::Ask => {
            queue.fail(batch, failure);
        }
        Stage::Start => {
            queue.fail_to_start(batch, failure);
        }
        // Whoever killed it then has no say in what is tried now.
        Stage::Killed => queue.put_back(batch),
    }
}

fn quarantined() -> Answer {
    let detail = "not asked: in quarantine, since the machine went down while it was being measured; \
        `--retry-quarantined` measures it again";
    Answer::none(Outcome::Crashed, detail)
}

fn answer(answer: &journal::Answer) -> Answer {
    Answer {
        outcome: answer.outcome,
        detail: answer.detail.clone(),
        out: answer.out.clone(),
        second: answer.second.clone(),
    }
}
