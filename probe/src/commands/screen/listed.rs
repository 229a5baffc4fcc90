//! Kernels that run on lists of cases, again and again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fpprobe_profiles::Observation;
use fpprobe_reports::expected::{ExpectedDevice, digest_of_run, first_difference};
use fpprobe_reports::screen::{ScreenFinding, ScreenRound, ScreenRuns, WorkRuns};
use fpprobe_reports::values;

use super::{DeviceScreening, Problems};
use crate::supervisor::{Batching, Deadline, DeviceSession, WorkItem, measure};

/// A pass takes at least as long, so that workers come to run some.
const LEAST: Duration = Duration::from_secs(1);
/// Different results of a list that are kept.
const KEPT: usize = 16;

/// Kernels that run on lists of cases.
pub(super) struct ListedKernels {
    pub(super) items: Vec<WorkItem>,
    /// What ran, by kernel.
    work: BTreeMap<String, ListedRuns>,
    /// At which of them the next pass begins.
    next: usize,
}

/// The runs of one list of cases.
struct ListedRuns {
    runs: WorkRuns<String>,
    count: u64,
    /// The first results of each digest.
    results: BTreeMap<String, Arc<[u64]>>,
    observation: Option<Observation>,
}

impl ListedKernels {
    pub(super) fn new(items: Vec<WorkItem>, expected: Option<&ExpectedDevice>) -> ListedKernels {
        let runs = |id: &String| ListedRuns {
            runs: WorkRuns::new(expected.and_then(|expected| expected.kernels.get(id)).cloned()),
            count: 0,
            results: BTreeMap::new(),
            observation: None,
        };
        let ids = items.iter().map(|item| item.kernel.to_string());
        ListedKernels { work: ids.map(|id| (id.clone(), runs(&id))).collect(), items, next: 0 }
    }

    /// Runs as many kernels as there is time for; gives the number of results.
    pub(super) fn pass(
        &mut self,
        screening: &DeviceScreening<'_>,
        site: &DeviceSession<'_>,
        round: usize,
        until: Instant,
        problems: &mut Problems,
    ) -> u64 {
        let count = self.items.len();
        self.items.rotate_left(self.next % count);
        let deadline = Deadline { from: 0, until, least: LEAST };
        let measured = match measure(&site.until(deadline), &self.items, Batching::Shared, None) {
            Ok(measured) => measured,
            Err(error) => {
                problems.extend("lists of cases", [error]);
                return 0;
            }
        };
        let left_out = |item: &WorkItem| measured.left_out.contains(&item.kernel);
        self.next = self.items.iter().position(left_out).unwrap_or(0);
        for incident in &measured.incidents {
            problems.extend(&incident.subject, [incident.detail.clone()]);
        }
        let (at_s, mut results, mut failed) =
            (screening.begun.elapsed().as_secs_f64(), 0, Vec::new());
        for observation in measured.observations {
            let id = observation.kernel.to_string();
            if !observation.outcome.answered() {
                problems.extend(
                    &id,
                    [format!("{:?}: {}", observation.outcome, observation.detail).to_lowercase()],
                );
                failed.push(observation.kernel);
                continue;
            }
            let Some(work) = self.work.get_mut(&id) else { continue };
            let before = work.runs.differs();
            results += work.add(observation, round, at_s);
            if work.runs.differs() && !before {
                screening.announce(&id);
            }
        }
        // What did not run once will not the next time, and costs workers.
        self.items.retain(|item| !failed.contains(&item.kernel));
        results
    }

    pub(super) fn findings(&self, rounds: &[ScreenRound]) -> Vec<ScreenFinding> {
        let finding = |(id, work): (&String, &ListedRuns)| {
            let observation = work.observation.as_ref()?;
            let cases = observation.cases.iter().count() as u64;
            let all = [(None, work.runs.clone())];
            let runs = ScreenRuns { kernel: id, results_per_run: cases, work: &all, rounds };
            let mut finding = runs.finding()?;
            for (failure, (_, right, wrong)) in finding.list.iter_mut().zip(runs.listed()) {
                let results = |digest: &String| work.results.get(digest);
                let Some(wrong) = results(wrong) else { continue };
                let right = right.and_then(results);
                let Some((case, _)) =
                    right.and_then(|right| first_difference(observation, right, wrong))
                else {
                    continue;
                };
                let kernel = &observation.kernel;
                let shown = |all: &Arc<[u64]>| {
                    values::encode_answer(
                        kernel,
                        &all[case * kernel.outputs()..][..kernel.outputs()],
                    )
                };
                let operands: Vec<u64> =
                    observation.cases.iter().nth(case).into_iter().flatten().copied().collect();
                failure.inputs = values::encode_case(kernel, &operands);
                (failure.expected, failure.out) = (right.map(shown), Some(shown(wrong)));
            }
            Some(finding)
        };
        self.work.iter().filter_map(finding).collect()
    }
}

impl ListedRuns {
    /// Adds both runs of a kernel; gives the number of results.
    fn add(&mut self, observation: Observation, round: usize, at_s: f64) -> u64 {
        let mut count = 0;
        // A second list is there where two runs differ.
        for results in std::iter::once(&observation.out).chain(&observation.second) {
            let digest = digest_of_run(&observation, results);
            self.runs.add(&digest, round, at_s, self.count);
            self.count += 1;
            count += observation.cases.iter().count() as u64;
            if self.results.len() < KEPT {
                self.results.entry(digest).or_insert_with(|| Arc::clone(results));
            }
        }
        self.observation.get_or_insert(observation);
        count
    }
}
