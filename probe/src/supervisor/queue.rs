//! The batches of one device: which wait, which failed, which kernels have their answer. No
//! processes, no time.
//!
//! A batch that fails is halved and run again, at the end of the line; a kernel that fails alone
//! after that is named. A kernel that was alone from the start gets one more try. A batch whose
//! worker was killed from outside is run again as it was. Every change of the queue is a step of
//! the journal; the same steps lead to the same state.

use std::collections::{BTreeSet, VecDeque};

use fpprobe_profiles::Outcome;

use super::failures::{FailureList, is_violent};
use fpprobe_worker::protocol::{Failure, KernelResult};

/// Kernels that are run together, as places in the list of all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Their places.
    pub places: Vec<usize>,
    /// The failure it is a piece of.
    failure: Option<usize>,
    /// How many workers were killed from outside while they were at it.
    killed: u32,
}

/// What a worker slot is to do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Run these.
    Run(Batch),
    /// Wait: a batch that is being asked may yet fail and come back.
    Wait,
    /// Nothing is left.
    Finished,
}

/// What a failure led to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consequence {
    /// Kernels that have their final answer by it.
    pub settled: usize,
    /// What is done about the others, in words.
    pub plan: String,
    /// Failures of the device so far since one of its workers last answered.
    pub in_a_row: usize,
    /// Whether the worker slot it happened to is to leave the rest to the others.
    pub retire: bool,
}

/// The state of one device's measurement.
pub struct BatchQueue {
    waiting: VecDeque<Batch>,
    selected: usize,
    answers: Vec<Option<KernelResult>>,
    /// Kernels whose final results [`BatchQueue::take_unseen`] has not returned yet.
    unseen: Vec<usize>,
    failures: FailureList,
    in_a_row: usize,
    starts_in_a_row: usize,
    total: usize,
    limit: usize,
    left_out: Vec<usize>,
}

/// Most failures of a device in total, as a multiple of the limit in a row.
const TOTAL: usize = 16;
/// Most workers that may fail to become ready, one after the other.
const STARTS: usize = 3;
/// Most workers that may be killed from outside at one batch before the batch is taken for the
/// cause: memory that it uses up may be why the system kills them.
const KILLS: u32 = 8;

impl Batch {
    fn new(places: Vec<usize>, problem: Option<usize>) -> Batch {
        Batch { places, failure: problem, killed: 0 }
    }
}

impl BatchQueue {
    /// A queue of these batches over `kernels` kernels. Nothing ends it but its end, until
    /// [`BatchQueue::limit`].
    pub fn new(kernels: usize, batches: Vec<Vec<usize>>) -> BatchQueue {
        BatchQueue {
            waiting: batches.into_iter().map(|places| Batch::new(places, None)).collect(),
            selected: 0,
            answers: vec![None; kernels],
            unseen: Vec::new(),
            failures: FailureList::default(),
            in_a_row: 0,
            starts_in_a_row: 0,
            total: 0,
            limit: usize::MAX,
            left_out: Vec::new(),
        }
    }

    /// From here on N failures in a row end it; what failed before is forgiven.
    pub fn limit(&mut self, limit: usize) {
        (self.in_a_row, self.starts_in_a_row, self.total, self.limit) = (0, 0, 0, limit);
    }

    /// The next batch.
    pub fn next(&mut self) -> Next {
        match self.waiting.pop_front() {
            Some(batch) => {
                self.selected += 1;
                Next::Run(batch)
            }
            None if self.selected > 0 => Next::Wait,
            None => Next::Finished,
        }
    }

    /// The batch of these kernels, as if it had been next: the one that waits, or one made of what
    /// waits elsewhere.
    pub fn claim(&mut self, places: &[usize]) -> Batch {
        self.selected += 1;
        if let Some(position) = self.waiting.iter().position(|batch| batch.places == places)
            && let Some(batch) = self.waiting.remove(position)
        {
            return batch;
        }
        self.set_aside(&places.iter().copied().collect());
        Batch::new(places.to_vec(), None)
    }

    /// A batch was not asked after all.
    pub fn put_back(&mut self, batch: Batch) {
        self.selected -= 1;
        self.waiting.push_front(batch);
    }

    /// A batch has its answers. Returns how many kernels are settled by that: those that wrote
    /// nothing batched are asked again, alone.
    pub fn finish(&mut self, batch: &Batch, answers: Vec<KernelResult>) -> usize {
        self.selected -= 1;
        self.starts_in_a_row = 0;
        // To be refused what the device does not offer takes no working device.
        if answers.iter().any(|answer| answer.outcome != Outcome::Unsupported) {
            self.in_a_row = 0;
        }
        let company = batch.places.len() > 1;
        let mut again = Vec::new();
        for (place, answer) in batch.places.iter().zip(answers) {
            if company && answer.outcome == Outcome::NotWritten {
                again.push(*place);
            } else {
                self.settle(*place, answer);
            }
        }
        if !again.is_empty() {
            self.waiting.extend(again.iter().map(|place| Batch::new(vec![*place], None)));
            self.failures.unwritten(batch.places.len(), &again);
        }
        batch.places.len() - again.len()
    }

    /// A batch failed.
    pub fn fail(&mut self, mut batch: Batch, failure: &Failure) -> Consequence {
        self.selected -= 1;
        if failure.outside && batch.killed < KILLS {
            batch.killed += 1;
            self.failures.kill(&batch.places, failure);
            self.waiting.push_front(batch);
            return self.consequence(0, "it is asked again");
        }
        let violent = is_violent(failure.outcome);
        if violent {
            self.in_a_row += 1;
            self.total += 1;
        }
        if self.in_a_row > self.limit || self.total > self.limit.saturating_mul(TOTAL) {
            self.waiting.push_back(batch);
            let why = format!("{} workers failed", self.total);
            return self.give_up(failure, &why);
        }
        if let ([place], Some(problem)) = (batch.places.as_slice(), batch.failure) {
            self.settle(*place, KernelResult::none(failure.outcome, &failure.detail));
            self.failures.name(problem, *place, failure.clone());
            return self.consequence(1, "this kernel is named, the others go on");
        }
        let problem = batch.failure.unwrap_or_else(|| self.failures.open(&batch.places, failure));
        let half = batch.places.len().div_ceil(2);
        let pieces =
            batch.places.chunks(half).map(|places| Batch::new(places.to_vec(), Some(problem)));
        self.waiting.extend(pieces);
        let plan = if batch.places.len() == 1 {
            "it is asked once more"
        } else {
            "each half is asked again"
        };
        self.consequence(0, plan)
    }

    /// No worker could be made ready for a batch, which is not to blame.
    pub fn fail_to_start(&mut self, batch: Batch, failure: &Failure) -> Consequence {
        self.selected -= 1;
        let places = batch.places.clone();
        self.waiting.push_front(batch);
        if failure.outside && self.starts_in_a_row < KILLS as usize {
            self.starts_in_a_row += 1;
            self.failures.kill(&places, failure);
            return self.consequence(0, "a new worker is started");
        }
        self.starts_in_a_row += 1;
        self.total += 1;
        if self.starts_in_a_row < STARTS {
            self.failures.start(failure);
            return self.consequence(0, "a new worker is started");
        }
        if self.selected == 0 {
            return self.give_up(failure, "no worker could open it");
        }
        // A device may have room for one at a time.
        self.failures.start(failure);
        Consequence {
            retire: true,
            ..self.consequence(0, "another worker has it open, and goes on alone")
        }
    }

    /// A worker was killed from outside, in an earlier process.
    pub fn recall_kill(&mut self, batch: &Batch, failure: &Failure) {
        self.failures.kill(&batch.places, failure);
    }

    /// A worker did not become ready, in an earlier process.
    pub fn recall_start(&mut self, failure: &Failure) {
        self.failures.start(failure);
    }

    /// Ends the measurement: what waits is not run.
    pub fn give_up(&mut self, failure: &Failure, why: &str) -> Consequence {
        let left: usize = self.waiting.drain(..).map(|batch| batch.places.len()).sum();
        self.failures.give_up(left, why, failure);
        self.consequence(0, &format!("the device is given up: {why}; {left} kernels are not asked"))
    }

    /// Something about the device as a whole that its report must tell.
    pub fn mark(&mut self, failure: &Failure) {
        self.failures.mark(failure);
    }

    /// Kernels that are not run.
    pub fn set_aside(&mut self, places: &BTreeSet<usize>) {
        for batch in &mut self.waiting {
            batch.places.retain(|place| !places.contains(place));
        }
        self.waiting.retain(|batch| !batch.places.is_empty());
    }

    /// Whether kernels from this place on come next.
    pub fn is_past(&self, from: usize) -> bool {
        self.waiting.front().is_some_and(|batch| batch.places.iter().all(|place| *place >= from))
    }

    /// What waits of the kernels from this place on is skipped, but for those batched with one
    /// before it.
    pub fn leave_out(&mut self, from: usize) {
        let (left, waiting) = self
            .waiting
            .drain(..)
            .partition(|batch| batch.places.iter().all(|place| *place >= from));
        self.waiting = waiting;
        self.left_out
            .extend::<Vec<usize>>(left.into_iter().flat_map(|batch: Batch| batch.places).collect());
    }

    /// What was left out.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Kernels that were set aside and are asked after all: each alone, after everything else.
    pub fn take_up(&mut self, places: &BTreeSet<usize>) {
        let unanswered = places.iter().filter(|place| self.answers[**place].is_none());
        self.waiting.extend(unanswered.map(|place| Batch::new(vec![*place], None)));
    }

    /// A kernel has its final result.
    fn settle(&mut self, place: usize, answer: KernelResult) {
        self.answers[place] = Some(answer);
        self.unseen.push(place);
    }

    /// The results that became final since the last call, with their places.
    pub fn take_unseen(&mut self) -> Vec<(usize, KernelResult)> {
        let places = std::mem::take(&mut self.unseen);
        places.into_iter().filter_map(|place| Some((place, self.answers[place].clone()?))).collect()
    }

    /// How many kernels have their answer.
    pub fn settled(&self) -> usize {
        self.answers.iter().flatten().count()
    }

    /// Every answer (none for what was not asked), and what went wrong.
    pub fn into_results(mut self) -> (Vec<Option<KernelResult>>, FailureList) {
        self.failures.written(&self.answers);
        (self.answers, self.failures)
    }

    fn consequence(&self, settled: usize, plan: &str) -> Consequence {
        Consequence {
            settled,
            plan: plan.to_owned(),
            in_a_row: self.in_a_row + self.starts_in_a_row,
            retire: false,
        }
    }
}

#[cfg(test)]
mod tests;
