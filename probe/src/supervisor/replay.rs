//! A queue brought to where earlier processes left it: the steps of the journal, taken again.

use std::collections::{BTreeSet, HashMap};

use fpprobe_reports::journal::{self, FailureStage, Record};

use super::queue::{Batch, BatchQueue};
use super::track::Track;
use super::{WorkItem, worker_slot};
use fpprobe_worker::protocol::{Failure, KernelResult};

/// Takes the steps of a journal. Returns the kernels in quarantine. Answers that cannot be this
/// device's are an error that names the line.
pub fn replay(
    queue: &mut BatchQueue,
    work: &[WorkItem],
    track: &Track<'_>,
) -> Result<BTreeSet<usize>, String> {
    let places: HashMap<String, usize> =
        work.iter().enumerate().map(|(place, item)| (item.kernel.to_string(), place)).collect();
    let known = |kernels: &[String]| {
        kernels.iter().filter_map(|kernel| places.get(kernel).copied()).collect::<Vec<_>>()
    };
    // Batches in the hands of a worker, as they were then: the failure of another worker did not
    // touch them.
    let mut running: HashMap<Vec<usize>, Batch> = HashMap::new();
    let mut aside = BTreeSet::new();
    for (line, record) in track.past() {
        match record {
            Record::Intent(batch) => {
                // What is not asked any more, alone because it does not deviate any more, needs no
                // replaying.
                let found = known(&batch.kernels);
                if found.len() == batch.kernels.len() {
                    let claimed = running.remove(&found).unwrap_or_else(|| queue.claim(&found));
                    running.insert(found, claimed);
                }
            }
            Record::Answers(answers) => {
                let kernels: Vec<String> =
                    answers.answers.iter().map(|answer| answer.kernel.clone()).collect();
                let answers: Vec<KernelResult> = answers.answers.iter().map(answer).collect();
                if let Some(batch) = running.remove(&known(&kernels)) {
                    if !worker_slot::fit(&answers, &batch, work) {
                        return Err(format!(
                            "failed to resume: line {line} of the journal holds what is no answer of these kernels"
                        ));
                    }
                    queue.finish(&batch, answers);
                }
            }
            Record::Failure(failed) => {
                let failure = Failure::new(failed.outcome, failed.detail.clone());
                match (failed.stage, running.remove(&known(&failed.kernels))) {
                    (FailureStage::Work, Some(batch)) => {
                        queue.fail(batch, &failure);
                    }
                    (FailureStage::Start, _) => queue.recall_start(&failure),
                    // Whoever killed it then has no say in what is tried now, but is reported.
                    (_, Some(batch)) => {
                        queue.recall_kill(&batch, &failure);
                        queue.put_back(batch);
                    }
                    (_, None) => {}
                }
            }
            Record::Quarantined(held) => {
                aside.extend(known(&held.kernels));
                queue.set_aside(&aside);
            }
            Record::Released(held) => {
                let free: BTreeSet<usize> =
                    known(&held.kernels).into_iter().filter(|one| aside.remove(one)).collect();
                queue.take_up(&free);
            }
            Record::Run(_) | Record::Leg(_) | Record::Device(_) | Record::Ended { .. } => {
                // A leg is over.
                drop_all(queue, &mut running, &aside);
            }
        }
    }
    drop_all(queue, &mut running, &aside);
    Ok(aside)
}

/// Nobody is at anything any more: what was asked waits again, but for what is in quarantine.
fn drop_all(
    queue: &mut BatchQueue,
    running: &mut HashMap<Vec<usize>, Batch>,
    aside: &BTreeSet<usize>,
) {
    for (_, batch) in running.drain() {
        queue.put_back(batch);
    }
    queue.set_aside(aside);
}

fn answer(answer: &journal::RecordedResult) -> KernelResult {
    KernelResult {
        outcome: answer.outcome,
        detail: answer.detail.clone(),
        out: answer.out.as_slice().into(),
        second: answer.second.as_deref().map(Into::into),
    }
}
