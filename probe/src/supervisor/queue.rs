//! The batches of one device: which wait, which failed, which kernels have their answer. No processes, no time.
//!
//! A batch that fails is halved and asked again, at the end of the line; a kernel that fails alone after that is named.
//! A kernel that was alone from the start gets one more try.

use std::collections::VecDeque;

use fpprobe_profiles::Outcome;

use super::trouble::{Troubles, is_violent};
use crate::protocol::{Answer, Failure};

/// Kernels that are asked together, as places in the list of all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Their places.
    pub places: Vec<usize>,
    /// The trouble it is a piece of.
    trouble: Option<usize>,
}

/// What a lane is to do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Ask these.
    Ask(Batch),
    /// Wait: a batch that is being asked may yet fail and come back.
    Wait,
    /// Nothing is left.
    Finished,
}

/// The state of one device's measurement.
pub struct Queue {
    waiting: VecDeque<Batch>,
    asked: usize,
    answers: Vec<Option<Answer>>,
    troubles: Troubles,
    in_a_row: usize,
    starts_in_a_row: usize,
    total: usize,
    limit: usize,
}

/// Most failures of a device in total, as a multiple of the limit in a row.
const TOTAL: usize = 16;
/// Most workers that may fail to become ready, one after the other.
const STARTS: usize = 3;

impl Queue {
    /// A queue of these batches over `kernels` kernels; `limit` is the number of failures in a row that ends it.
    pub fn new(kernels: usize, batches: Vec<Vec<usize>>, limit: usize) -> Queue {
        Queue {
            waiting: batches.into_iter().map(|places| Batch { places, trouble: None }).collect(),
            asked: 0,
            answers: vec![None; kernels],
            troubles: Troubles::default(),
            in_a_row: 0,
            starts_in_a_row: 0,
            total: 0,
            limit,
        }
    }

    /// The next batch.
    pub fn next(&mut self) -> Next {
        match self.waiting.pop_front() {
            Some(batch) => {
                self.asked += 1;
                Next::Ask(batch)
            }
            None if self.asked > 0 => Next::Wait,
            None => Next::Finished,
        }
    }

    /// A batch has its answers. Returns how many kernels are settled by that.
    pub fn finish(&mut self, batch: &Batch, answers: Vec<Answer>) -> usize {
        self.asked -= 1;
        (self.in_a_row, self.starts_in_a_row) = (0, 0);
        for (place, answer) in batch.places.iter().zip(answers) {
            self.answers[*place] = Some(answer);
        }
        batch.places.len()
    }

    /// A batch failed. Returns how many kernels are settled by that, and what is done about the others.
    pub fn fail(&mut self, batch: Batch, failure: &Failure) -> (usize, String) {
        self.asked -= 1;
        let violent = is_violent(failure.outcome);
        if violent {
            self.in_a_row += 1;
            self.total += 1;
        }
        if self.in_a_row > self.limit || self.total > self.limit * TOTAL {
            self.waiting.push_back(batch);
            return self.give_up(failure, &format!("{} workers failed", self.total));
        }
        // A module that is merely refused is refused every time: one kernel alone needs no second try.
        let certain = batch.trouble.is_some() || !violent;
        if let ([place], true) = (batch.places.as_slice(), certain) {
            self.answers[*place] = Some(Answer::none(failure.outcome, &failure.detail));
            if let Some(trouble) = batch.trouble {
                self.troubles.name(trouble, *place, failure.clone());
            }
            return (1, "this kernel is named, the others go on".to_owned());
        }
        let trouble = batch.trouble.unwrap_or_else(|| self.troubles.open(&batch.places, failure));
        let half = batch.places.len().div_ceil(2);
        let pieces = batch.places.chunks(half).map(|places| Batch { places: places.to_vec(), trouble: Some(trouble) });
        let before = self.waiting.len();
        self.waiting.extend(pieces);
        let plan = if self.waiting.len() - before == 1 { "it is asked once more" } else { "each half is asked again" };
        (0, plan.to_owned())
    }

    /// No worker could be made ready for a batch, which is not to blame. Returns as [`Queue::fail`] does.
    pub fn fail_to_start(&mut self, batch: Batch, failure: &Failure) -> (usize, String) {
        self.asked -= 1;
        self.starts_in_a_row += 1;
        self.total += 1;
        self.waiting.push_front(batch);
        if self.starts_in_a_row >= STARTS {
            return self.give_up(failure, "no worker could open it");
        }
        self.troubles.start(failure);
        (0, "a new worker is started".to_owned())
    }

    /// Ends the measurement: what has no answer gets this one.
    fn give_up(&mut self, failure: &Failure, why: &str) -> (usize, String) {
        let left: Vec<usize> = self.waiting.drain(..).flat_map(|batch| batch.places).collect();
        for place in &left {
            let detail = format!("not asked: the device was given up, because {why}; the last: {failure}");
            self.answers[*place] = Some(Answer::none(failure.outcome, detail));
        }
        self.troubles.give_up(left.len(), why, failure);
        (left.len(), format!("the device is given up: {why}"))
    }

    /// Every answer, and what went wrong.
    pub fn into_results(self) -> (Vec<Answer>, Troubles) {
        let missing = || Answer::none(Outcome::Crashed, "not asked: the measurement ended early");
        (self.answers.into_iter().map(|answer| answer.unwrap_or_else(missing)).collect(), self.troubles)
    }
}

#[cfg(test)]
mod tests;
