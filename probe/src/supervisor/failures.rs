//! What went wrong while a device was measured, from first sign to named kernel, and how the report
//! shows it.

use fpprobe_reports::common::BATCH_DEPENDENT;
use fpprobe_reports::model::{Finding, Incident, Outcome, RESOLVED};

use super::{Measurement, WorkItem};
use fpprobe_worker::protocol::{Failure, KernelResult};

/// What the detail of an incident says of workers that were killed by somebody else.
const KILLED: &str = "ended from outside, by another process or by the system for want of memory";

/// A batch that failed, and what became of its kernels.
#[derive(Clone, Debug)]
struct BatchFailure {
    places: Vec<usize>,
    failure: Failure,
    /// Kernels that failed alone, each with how.
    named: Vec<(usize, Failure)>,
}

/// Every failure of a device.
#[derive(Clone, Debug, Default)]
pub struct FailureList {
    batches: Vec<BatchFailure>,
    starts: Vec<Failure>,
    marks: Vec<Failure>,
    /// Modules in whose company kernels wrote nothing: number of kernels, and those which did not.
    unwritten: Vec<(usize, Vec<usize>)>,
    /// Workers that were killed from outside: what they were at, and how.
    killed: Vec<(Vec<usize>, String)>,
    given_up: Option<(usize, String)>,
}

impl FailureList {
    /// A batch failed for the first time.
    pub fn open(&mut self, places: &[usize], failure: &Failure) -> usize {
        self.batches.push(BatchFailure {
            places: places.to_vec(),
            failure: failure.clone(),
            named: Vec::new(),
        });
        self.batches.len() - 1
    }

    /// A kernel of that batch failed alone.
    pub fn name(&mut self, problem: usize, place: usize, failure: Failure) {
        self.batches[problem].named.push((place, failure));
    }

    /// A worker did not become ready.
    pub fn start(&mut self, failure: &Failure) {
        self.starts.push(failure.clone());
    }

    /// Something that concerns the device as a whole.
    pub fn mark(&mut self, failure: &Failure) {
        self.marks.push(failure.clone());
    }

    /// A worker was killed from outside.
    pub fn kill(&mut self, places: &[usize], failure: &Failure) {
        self.killed.push((places.to_vec(), failure.detail.clone()));
    }

    /// Kernels wrote nothing in a module of this many.
    pub fn unwritten(&mut self, company: usize, places: &[usize]) {
        self.unwritten.push((company, places.to_vec()));
    }

    /// Of the kernels that wrote nothing batched, only those count that did so alone.
    pub fn written(&mut self, answers: &[Option<KernelResult>]) {
        let did = |place: &usize| {
            answers[*place].as_ref().is_some_and(|answer| answer.outcome.answered())
        };
        self.unwritten.iter_mut().for_each(|(_, places)| places.retain(did));
        self.unwritten.retain(|(_, places)| !places.is_empty());
        self.unwritten.sort();
    }

    /// The device was given up with this many kernels not asked.
    pub fn give_up(&mut self, kernels: usize, why: &str, failure: &Failure) {
        let before = self.given_up.take().map_or(0, |(kernels, _)| kernels);
        let kernels = kernels + before;
        self.starts.push(failure.clone());
        self.given_up =
            Some((kernels, format!("given up with {kernels} kernels not asked, because {why}")));
    }

    /// Incidents for what took a worker with it, findings for modules that were refused though each
    /// kernel alone was not.
    ///
    /// They come in the order of the kernels, however the lanes came to them.
    pub fn into_incidents(mut self, work: &[WorkItem]) -> Measurement {
        self.batches.sort_by(|one, other| one.places.cmp(&other.places));
        self.batches.iter_mut().for_each(|problem| problem.named.sort_by_key(|(place, _)| *place));
        let mut measured = Measurement::default();
        let id = |place: &usize| work[*place].kernel.to_string();
        let what = |places: &[usize]| match places {
            [place] => id(place),
            places => format!(
                "{} kernels in one module, the first being {}",
                places.len(),
                id(&places[0])
            ),
        };
        let incident = |subject: String, failure: &Failure, detail: String| Incident {
            subject,
            outcome: Some(failure.outcome),
            detail,
        };
        for problem in &self.batches {
            let violent =
                || problem.named.iter().filter(|(_, failure)| is_violent(failure.outcome));
            for (place, failure) in violent() {
                let company = problem.places.len();
                let detail = if company == 1 {
                    format!("{failure}; twice, in a module of its own")
                } else {
                    format!("{failure}; found by halving a module of {company} kernels")
                };
                measured.incidents.push(incident(id(place), failure, detail));
            }
            let what = what(&problem.places);
            let failure = &problem.failure;
            let whole = self.given_up.is_none();
            if is_violent(failure.outcome) && violent().next().is_none() && whole {
                let detail = format!("{failure}, while measuring {what}; {RESOLVED}");
                measured.incidents.push(incident("-".to_owned(), failure, detail));
            } else if problem.named.is_empty() && failure.outcome == Outcome::Rejected && whole {
                let (kind, text) = if problem.places.len() == 1 {
                    (
                        "flaky",
                        format!(
                            "{what} was refused once ({failure}), though not when it was asked again"
                        ),
                    )
                } else {
                    (
                        BATCH_DEPENDENT,
                        format!(
                            "{what} were refused together ({failure}), though not in smaller modules"
                        ),
                    )
                };
                measured.findings.push(Finding {
                    kind: kind.to_owned(),
                    text,
                    evidence: Vec::new(),
                });
            }
        }
        for (company, places) in &self.unwritten {
            let (count, first) = (places.len(), id(&places[0]));
            let text = format!(
                "{count} of {company} kernels in one module, the first being {first}, left results unwritten, though not isolated"
            );
            measured.findings.push(Finding {
                kind: BATCH_DEPENDENT.to_owned(),
                text,
                evidence: Vec::new(),
            });
        }
        self.killed.sort();
        if let Some((places, how)) = self.killed.first() {
            let workers = if self.killed.len() == 1 {
                "1 worker was"
            } else {
                &format!("{} workers were", self.killed.len())
            };
            let detail = format!(
                "{workers} {KILLED}: {how}, while measuring {}; another worker measured it again",
                what(places)
            );
            let failure = Failure::new(Outcome::Crashed, "");
            measured.incidents.push(incident("-".to_owned(), &failure, detail));
        }
        measured.incidents.extend(
            self.marks.iter().map(|mark| incident("-".to_owned(), mark, mark.detail.clone())),
        );
        match (&self.given_up, self.starts.first(), self.starts.last()) {
            (Some((_, text)), _, Some(last)) => {
                measured.incidents.push(incident(
                    "-".to_owned(),
                    last,
                    format!("{text}; the last: {last}"),
                ));
            }
            (None, Some(first), _) => {
                let detail = format!(
                    "{first}, before it was asked anything; another worker was ready, and nothing is missing"
                );
                measured.incidents.push(incident("-".to_owned(), first, detail));
            }
            _ => {}
        }
        measured
    }
}

/// Whether an outcome takes the worker with it.
pub fn is_violent(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Crashed | Outcome::Hung | Outcome::DeviceLost | Outcome::OutOfMemory)
}
