//! A lane: one worker at a time of one device, asked one batch after the other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::queue::{Batch, Next, Queue};
use super::trouble::Troubles;
use super::trouble::is_violent;
use super::{Ask, Settings, Target};
use crate::event::{Event, Listener};
use crate::protocol::{Answer, Failure, Job, Request, Response};

use super::process::Worker;
use fpprobe_profiles::Outcome;

/// What the lanes of a device share.
pub struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    /// Shares a queue.
    pub fn new(queue: Queue) -> Shared {
        Shared { queue: Mutex::new(queue), changed: Condvar::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch, waiting while one may still come back; `None` at the end.
    fn next(&self) -> Option<Batch> {
        let mut queue = self.queue();
        loop {
            match queue.next() {
                Next::Ask(batch) => return Some(batch),
                Next::Finished => return None,
                Next::Wait => queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn update<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        let result = change(&mut self.queue());
        self.changed.notify_all();
        result
    }

    /// Answers and troubles, when every lane has ended.
    pub fn into_results(self) -> (Vec<Answer>, Troubles) {
        self.queue.into_inner().unwrap_or_else(PoisonError::into_inner).into_results()
    }
}

/// Runs one lane until nothing is left to ask.
pub fn run(shared: &Shared, device: usize, target: &Target, asks: &[Ask], settings: &Settings, listener: Listener<'_>) {
    let label = target.label();
    let subject = label.as_str();
    let mut worker: Option<Worker<'_>> = None;
    while let Some(batch) = shared.next() {
        let mut ready = match worker.take() {
            Some(worker) => worker,
            None => match open(target, settings, listener) {
                Ok(worker) => worker,
                Err(failure) => {
                    let (settled, plan) = shared.update(|queue| queue.fail_to_start(batch, &failure));
                    listener(&Event::Trouble {
                        subject,
                        text: &format!("{failure}, while opening the device; {plan}"),
                    });
                    listener(&Event::Settled { device, kernels: settled });
                    continue;
                }
            },
        };
        let ids: Vec<String> = batch.places.iter().map(|place| asks[*place].kernel.to_string()).collect();
        listener(&Event::Asking { device, worker: ready.id(), kernels: &ids });
        let settled = match ask(&mut ready, &batch, &ids, asks, settings) {
            Ok(answers) => {
                worker = Some(ready);
                shared.update(|queue| queue.finish(&batch, answers))
            }
            Err(failure) => {
                // A refusal leaves the worker as it was; anything else ends it before the batch goes on.
                if is_violent(failure.outcome) {
                    drop(ready);
                } else {
                    worker = Some(ready);
                }
                let what = if let [id] = ids.as_slice() {
                    id.clone()
                } else {
                    format!("{} kernels from {}", ids.len(), ids[0])
                };
                let (settled, plan) = shared.update(|queue| queue.fail(batch, &failure));
                listener(&Event::Trouble { subject, text: &format!("{failure}, while measuring {what}; {plan}") });
                settled
            }
        };
        listener(&Event::Settled { device, kernels: settled });
    }
}

fn open<'a>(target: &Target, settings: &Settings, listener: Listener<'a>) -> Result<Worker<'a>, Failure> {
    let mut worker = Worker::start(&target.manifest, &settings.environment, settings.timeout, listener)?;
    let request = Request::Open { index: target.index, key: target.found.identity.key.clone() };
    match worker.call(&request, settings.timeout)? {
        Response::Opened => Ok(worker),
        other => Err(unexpected(&other)),
    }
}

fn ask(
    worker: &mut Worker<'_>,
    batch: &Batch,
    ids: &[String],
    asks: &[Ask],
    settings: &Settings,
) -> Result<Vec<Answer>, Failure> {
    let job = |(place, id): (&usize, &String)| {
        let cases = &asks[*place].cases;
        // The catalogue's cases are the same in every process of this program; others travel.
        let given = cases.name.is_empty().then(|| cases.iter().flatten().copied().collect());
        Job { kernel: id.clone(), cases: given }
    };
    let jobs: Vec<Job> = batch.places.iter().zip(ids).map(job).collect();
    // The device's own deadline comes first, so that a hang is told by the worker where it can still speak.
    let request = Request::Measure { jobs, timeout: settings.timeout.mul_f64(0.9) };
    match worker.call(&request, settings.timeout)? {
        Response::Measured(answers) if answers.len() == ids.len() && fit(&answers, batch, asks) => Ok(answers),
        other => Err(unexpected(&other)),
    }
}

/// Whether every answer has as many values as were asked for: what a worker says is not trusted either.
fn fit(answers: &[Answer], batch: &Batch, asks: &[Ask]) -> bool {
    answers.iter().zip(&batch.places).all(|(answer, place)| {
        let Ask { kernel, cases } = &asks[*place];
        let full = cases.len() * kernel.result().width as usize;
        let expected = if matches!(answer.outcome, Outcome::Ran | Outcome::Flaky) { full } else { 0 };
        answer.out.len() == expected && answer.second.as_ref().is_none_or(|second| second.len() == expected)
    })
}

fn unexpected(response: &Response) -> Failure {
    let what = match response {
        Response::Hello(_) => "a greeting",
        Response::Devices(_) => "a list of devices",
        Response::Opened => "an open device",
        Response::Measured(_) => "answers of another shape",
        Response::Failed(_) => "a failure",
    };
    Failure::new(Outcome::Crashed, format!("the worker lost its senses: it answered with {what}"))
}
