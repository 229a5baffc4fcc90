//! A worker slot: one worker process at a time of one device, given one batch after the other.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fpprobe_profiles::Outcome;
use fpprobe_reports::journal::FailureStage;
use fpprobe_spirv::Format;

use super::batch::Batching;
use super::failures::{FailureList, is_violent};
use super::process::{LEFT_BEHIND, Worker};
use super::queue::{Batch, BatchQueue, Consequence, Next};
use super::track::Track;
use super::{DeviceSession, WorkItem};
use crate::event::RunEvent;
use fpprobe_worker::protocol::{Failure, Job, JobCases, KernelResult, Request, Response};

/// Longest wait between two looks at whether to end.
const TICK: Duration = Duration::from_millis(100);
/// Wait before a new worker after the first of several failures in a row; it doubles with each.
const BACKOFF: Duration = Duration::from_millis(20);
/// The longest such wait.
const LONGEST: Duration = Duration::from_millis(400);

/// How a worker slot goes on after a step.
enum After<'w> {
    /// With this worker, or with a new one.
    Go(Option<Worker<'w>>),
    /// Not at all: the others do the rest.
    Retire,
}

/// What the worker slots of a device share.
pub struct SlotState<'a> {
    queue: Mutex<BatchQueue>,
    changed: Condvar,
    site: &'a DeviceSession<'a>,
    track: Option<&'a Track<'a>>,
    work: &'a [WorkItem],
    batching: Batching,
    /// When the first kernel that may be left out in a deadline could be asked.
    reached: OnceLock<Instant>,
}

impl<'a> SlotState<'a> {
    /// Shares a queue over these kernels.
    pub fn new(
        queue: BatchQueue,
        site: &'a DeviceSession<'a>,
        track: Option<&'a Track<'a>>,
        (work, batching): (&'a [WorkItem], Batching),
    ) -> SlotState<'a> {
        SlotState {
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            site,
            track,
            work,
            batching,
            reached: OnceLock::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, BatchQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch, waiting while one may still come back; `None` at the end.
    fn next(&self) -> Option<Batch> {
        let mut queue = self.queue();
        while !self.site.settings.stop.is_requested() {
            if self.site.is_over() {
                let failure = self.site.overtime();
                let given_up = queue.give_up(&failure, "its time is over");
                drop(queue);
                self.report(&failure.detail, &given_up);
                return None;
            }
            if let Some(deadline) = self.site.deadline {
                if queue.is_past(deadline.from) {
                    self.reached.get_or_init(Instant::now);
                }
                if self.reached.get().is_some_and(|reached| deadline.is_over(*reached)) {
                    queue.leave_out(deadline.from);
                }
            }
            match queue.next() {
                Next::Run(batch) => return Some(batch),
                Next::Finished => return None,
                Next::Wait => {
                    let waited = self.changed.wait_timeout(queue, TICK);
                    queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        None
    }

    fn update<T>(&self, change: impl FnOnce(&mut BatchQueue) -> T) -> T {
        let result = change(&mut self.queue());
        self.changed.notify_all();
        result
    }

    /// Passes new final results to the observer, those of earlier processes included.
    pub fn show(&self) {
        let Some(seer) = self.site.seer else { return };
        let unseen = self.queue().take_unseen();
        for (place, answer) in &unseen {
            seer(&self.work[*place], answer);
        }
    }

    /// Answers and failures, when every worker slot has ended, and the places that were left out.
    pub fn into_results(self) -> (Vec<Option<KernelResult>>, FailureList, Vec<usize>) {
        let queue = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left_out = queue.left_out().to_vec();
        let (answers, problems) = queue.into_results();
        (answers, problems, left_out)
    }

    fn report(&self, what: &str, consequence: &Consequence) {
        let DeviceSession { number, target, listener, .. } = self.site;
        let text = format!("{what}; {}", consequence.plan);
        listener(&RunEvent::Failure { subject: &target.label(), text: &text });
        listener(&RunEvent::Settled { device: *number, kernels: consequence.settled });
    }

    /// Runs batches, on one worker after the other, until nothing is left.
    pub fn run(&self) {
        let mut worker = None;
        while let Some(batch) = self.next() {
            let ids: Vec<String> =
                batch.places.iter().map(|place| self.work[*place].kernel.to_string()).collect();
            match self.step(worker, batch, &ids) {
                After::Go(left) => worker = left,
                After::Retire => return,
            }
        }
    }

    /// Runs one batch, on this worker or on a new one.
    fn step<'w>(&'w self, worker: Option<Worker<'w>>, batch: Batch, ids: &[String]) -> After<'w> {
        let DeviceSession { number, settings, listener, .. } = *self.site;
        let mut worker = match worker.map_or_else(|| self.open(), Ok) {
            Ok(worker) => worker,
            Err(_) if settings.stop.is_requested() => {
                self.update(|queue| queue.put_back(batch));
                return After::Go(None);
            }
            Err(failure) => {
                self.note(|track| track.failure(ids, &failure, FailureStage::Start));
                let consequence = self.update(|queue| queue.fail_to_start(batch, &failure));
                self.report(&format!("{failure}, while opening the device"), &consequence);
                if consequence.retire {
                    return After::Retire;
                }
                self.rest(&consequence);
                return After::Go(None);
            }
        };
        listener(&RunEvent::Running { device: number, worker: worker.id(), kernels: ids });
        self.note(|track| track.intent(ids));
        let failure = match self.request(&mut worker, &batch, ids) {
            Ok(answers) => {
                self.note(|track| track.answers(ids, &answers));
                let settled = self.update(|queue| queue.finish(&batch, answers));
                self.show();
                listener(&RunEvent::Settled { device: number, kernels: settled });
                return After::Go(Some(worker));
            }
            Err(failure) => failure,
        };
        if settings.stop.is_requested() {
            self.update(|queue| queue.put_back(batch));
            return After::Go(None);
        }
        // A refusal leaves the worker as it was; anything else ends it before the batch goes on.
        let (left, has_ended) =
            if is_violent(failure.outcome) { (None, worker.end()) } else { (Some(worker), true) };
        self.note(|track| track.failure(ids, &failure, FailureStage::Work));
        let what = if let [id] = ids {
            id.clone()
        } else {
            format!("{} kernels from {}", ids.len(), ids[0])
        };
        let consequence = self.update(|queue| {
            let consequence = queue.fail(batch, &failure);
            if has_ended {
                return consequence;
            }
            // Another worker would get stuck in the same place.
            queue.mark(&Failure::new(
                Outcome::Hung,
                format!("{LEFT_BEHIND} ({failure}, while measuring {what})"),
            ));
            let given_up = queue.give_up(&failure, "one of its workers cannot be ended");
            Consequence { settled: consequence.settled + given_up.settled, ..given_up }
        });
        self.show();
        self.report(&format!("{failure}, while measuring {what}"), &consequence);
        if left.is_none() {
            self.rest(&consequence);
        }
        After::Go(left)
    }

    fn note(&self, write: impl FnOnce(&Track<'_>)) {
        if let Some(track) = self.track {
            write(track);
        }
    }

    /// Waits before a new worker is started, the longer the more have failed; not for those killed
    /// from outside.
    fn rest(&self, consequence: &Consequence) {
        let doublings = consequence.in_a_row.min(16) as u32;
        let until = Instant::now() + (BACKOFF * (1 << doublings) / 2).min(LONGEST);
        while consequence.in_a_row > 0
            && Instant::now() < until
            && !self.site.settings.stop.is_requested()
        {
            std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
    }

    fn open(&self) -> Result<Worker<'_>, Failure> {
        let DeviceSession { target, settings, listener, .. } = *self.site;
        let mut worker = Worker::start(&target.manifest, settings, self.site.timeout(), listener)?;
        match worker.call(&super::open_request(target, settings), self.site.timeout())? {
            Response::Opened => Ok(worker),
            other => Err(unexpected(&other)),
        }
    }

    fn request(
        &self,
        worker: &mut Worker<'_>,
        batch: &Batch,
        ids: &[String],
    ) -> Result<Vec<KernelResult>, Failure> {
        let job = |(place, id): (&usize, &String)| {
            let cases = &self.work[*place].cases;
            let cases = match cases.name.as_str() {
                "" => JobCases::Given(cases.iter().flatten().copied().collect()),
                name => JobCases::Listed(name.to_owned()),
            };
            Job { kernel: id.clone(), cases }
        };
        let jobs: Vec<Job> = batch.places.iter().zip(ids).map(job).collect();
        let timeout = self.site.timeout();
        // The device's own deadline comes first, so that the worker reports a hang where it can
        // still speak.
        let kernels = batch.places.iter().map(|place| &self.work[*place].kernel);
        let runs = self.batching.runs(kernels, self.site.settings.conditions);
        let request = Request::Measure { jobs, runs, timeout: timeout.mul_f64(0.9) };
        match worker.call(&request, timeout)? {
            Response::Measured(answers) if fit(&answers, batch, self.work) => Ok(answers),
            other => Err(unexpected(&other)),
        }
    }
}

/// Whether these are answers to this batch: one for each kernel, with as many values as the kernel
/// has lanes.
pub fn fit(answers: &[KernelResult], batch: &Batch, work: &[WorkItem]) -> bool {
    answers.len() == batch.places.len()
        && answers.iter().zip(&batch.places).all(|(answer, place)| {
            let WorkItem { kernel, cases } = &work[*place];
            let full = cases.len() * kernel.outputs();
            let expected = if answer.outcome.answered() { full } else { 0 };
            let masks: Vec<u64> = kernel.output_formats().map(Format::mask).collect();
            let fits = |values: &[u64]| {
                let mut lanes = values.iter().zip(masks.iter().cycle());
                values.len() == expected && lanes.all(|(value, mask)| value & !mask == 0)
            };
            fits(&answer.out)
                && answer.second.is_some() == (answer.outcome == Outcome::Flaky)
                && answer.second.as_deref().is_none_or(fits)
        })
}

pub fn unexpected(response: &Response) -> Failure {
    let what = match response {
        Response::Hello(_) => "a greeting",
        Response::Devices(_) | Response::NoDevice(_) => "a list of devices",
        Response::Matrices(_) => "a list of products",
        Response::Opened => "an open device",
        Response::Measured(_) => "answers of another shape",
        Response::Swept { .. } => "blocks of a sweep",
        Response::Failed(_) => "a failure",
    };
    Failure::new(Outcome::Crashed, format!("the worker lost its senses: it answered with {what}"))
}
