//! Every result of one kernel judged, while the device computes the next ones.

use std::time::{Duration, Instant};

use fpprobe_profiles::parallel;
use fpprobe_profiles::sweep::{SweepStatistics, Verifier};
use fpprobe_reports::sweep::record::{BlockSpan, SweepRecord};
use fpprobe_reports::sweep::{Blocks, Unstable};
use fpprobe_spirv::sweep::Domain;

use super::journal::SweepJournal;
use super::progress::Course;
use super::repeat::RepeatQueue;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::Ledger;
use fpprobe_worker::protocol::{Failure, Span};

/// Between two notes of what was found until then.
const PAUSE: Duration = Duration::from_secs(5);
/// Results that are read at once: they stay in a core's cache.
const PIECE: usize = 1 << 16;

/// Judges results as they arrive.
pub struct VerifyLedger<'a> {
    /// The device's key, and the kernel.
    key: (String, String),
    pub(super) verifier: &'a Verifier,
    blocks: Blocks,
    pub(super) statistics: SweepStatistics,
    repeating: RepeatQueue,
    domain: &'a Domain,
    journal: Option<&'a SweepJournal>,
    course: &'a Course,
    deadline: Option<Instant>,
    noted: Instant,
}

impl<'a> VerifyLedger<'a> {
    /// Goes on from what is known.
    pub fn new(
        key: (String, String),
        (domain, verifier): (&'a Domain, &'a Verifier),
        known: (Blocks, SweepStatistics, Unstable),
        journal: Option<&'a SweepJournal>,
        course: &'a Course,
        deadline: Option<Instant>,
    ) -> VerifyLedger<'a> {
        let (blocks, sweep_statistics, repeating) = (known.0, known.1, RepeatQueue::new(known.2));
        VerifyLedger {
            key,
            verifier,
            blocks,
            statistics: sweep_statistics,
            repeating,
            domain,
            journal,
            course,
            deadline,
            noted: Instant::now(),
        }
    }

    /// The blocks that were judged, what was found, and what did not come again.
    pub fn end(mut self) -> (Blocks, SweepStatistics, Unstable) {
        self.note();
        (self.blocks, self.statistics, self.repeating.unstable)
    }

    /// The blocks that were judged so far.
    pub fn done(&self) -> &Blocks {
        &self.blocks
    }

    /// Takes blocks of N inputs that were judged.
    pub(super) fn judged(
        &mut self,
        blocks: impl Iterator<Item = (u64, SweepStatistics)>,
        inputs: u64,
    ) {
        for (block, sweep_statistics) in blocks {
            self.statistics.merge(&sweep_statistics);
            self.blocks.insert(block);
            self.course.advance(inputs);
        }
        if self.noted.elapsed() >= PAUSE {
            self.note();
        }
    }

    fn note(&mut self) {
        let Some(journal) = self.journal else { return };
        let (device, kernel) = self.key.clone();
        let blocks = self.blocks.clone();
        let (sweep_statistics, unstable) =
            (self.statistics.clone(), self.repeating.unstable.clone());
        journal.write(&SweepRecord::Verified {
            device,
            kernel,
            blocks,
            statistics: sweep_statistics,
            unstable,
        });
        self.noted = Instant::now();
    }
}

impl Ledger for VerifyLedger<'_> {
    fn intent(&mut self, span: Span) {
        let Some(journal) = self.journal else { return };
        let (device, kernel) = self.key.clone();
        let (first, count) = (span.first / span.inputs, u64::from(span.blocks));
        journal.write(&SweepRecord::Intent(BlockSpan { device, kernel, first, count }));
    }

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let first = span.first / span.inputs;
        let blocks: Vec<u64> = (first..first + u64::from(span.blocks)).collect();
        let whole = |block: u64| {
            let mut words = vec![0; span.inputs as usize];
            results.read((block * span.inputs - span.first) as usize, &mut words).map(|()| words)
        };
        if RepeatQueue::is_repeat(&span) {
            for block in blocks {
                let settled =
                    self.repeating.take(self.domain, self.verifier, block, &whole(block)?);
                self.judged(
                    settled.map(|sweep_statistics| (block, sweep_statistics)).into_iter(),
                    span.inputs,
                );
            }
            return Ok(());
        }
        // Once a share of the domain is judged, a budget ends what is under way as well.
        let is_late = || self.blocks.count() > 0 && self.is_enough();
        let judge = |block: &u64| {
            let mut sweep_statistics = self.verifier.beside(&self.statistics, block * span.inputs);
            let mut words = vec![0; PIECE.min(span.inputs as usize)];
            for from in (block * span.inputs - span.first..)
                .step_by(words.len())
                .take(span.inputs as usize / words.len())
            {
                if is_late() {
                    return Ok(None);
                }
                results.read(from as usize, &mut words)?;
                self.verifier.block(span.first + from, &words, &mut sweep_statistics);
            }
            Ok(Some(sweep_statistics))
        };
        let all_statistics: Vec<Option<SweepStatistics>> =
            parallel::map(&blocks, judge).into_iter().collect::<Result<_, Failure>>()?;
        let (deviating, others): (Vec<_>, Vec<_>) = blocks
            .into_iter()
            .zip(all_statistics)
            .filter_map(|(block, judged)| Some((block, judged?)))
            .partition(|(_, sweep_statistics)| sweep_statistics.deviating > 0);
        self.judged(others.into_iter(), span.inputs);
        for (block, sweep_statistics) in deviating {
            self.repeating.hold(block, sweep_statistics, whole(block)?);
        }
        Ok(())
    }

    fn again(&mut self) -> Vec<(u64, u32)> {
        self.repeating.again()
    }

    fn is_enough(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
