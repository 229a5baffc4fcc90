//! Every result of one kernel judged, while the device computes the next ones.

use std::time::{Duration, Instant};

use fpprobe_profiles::parallel;
use fpprobe_profiles::sweep::{Tally, Verifier};
use fpprobe_reports::sweep::Blocks;
use fpprobe_reports::sweep::record::{Record, Step};

use super::journal::Journal;
use super::progress::Course;
use crate::protocol::{Failure, Span};
use crate::supervisor::sweep::Ledger;

/// Between two notes of what was found until then.
const PAUSE: Duration = Duration::from_secs(5);

/// Judges results as they arrive.
pub struct Verifying<'a> {
    /// The device's key, and the kernel.
    key: (String, String),
    verifier: &'a Verifier,
    blocks: Vec<u64>,
    tally: Tally,
    journal: Option<&'a Journal>,
    course: &'a Course,
    deadline: Option<Instant>,
    noted: Instant,
}

impl<'a> Verifying<'a> {
    /// Goes on from what is known.
    pub fn new(
        key: (String, String),
        verifier: &'a Verifier,
        known: (Blocks, Tally),
        journal: Option<&'a Journal>,
        course: &'a Course,
        deadline: Option<Instant>,
    ) -> Verifying<'a> {
        let (blocks, tally) = (known.0.iter().collect(), known.1);
        Verifying { key, verifier, blocks, tally, journal, course, deadline, noted: Instant::now() }
    }

    /// The blocks that were judged, and what was found.
    pub fn end(mut self) -> (Blocks, Tally) {
        self.note();
        (self.blocks.into_iter().collect(), self.tally)
    }

    fn note(&mut self) {
        let Some(journal) = self.journal else { return };
        let (device, kernel) = self.key.clone();
        let blocks = self.blocks.iter().copied().collect();
        journal.write(&Record::Verified { device, kernel, blocks, tally: self.tally.clone() });
        self.noted = Instant::now();
    }
}

impl Ledger for Verifying<'_> {
    fn intent(&mut self, span: Span) {
        let Some(journal) = self.journal else { return };
        let (device, kernel) = self.key.clone();
        let (first, count) = (span.first / span.inputs, u64::from(span.blocks));
        journal.write(&Record::Intent(Step { device, kernel, first, count }));
    }

    fn take(&mut self, span: Span, words: &[u32]) -> Result<(), Failure> {
        let first = span.first / span.inputs;
        let blocks: Vec<(u64, &[u32])> = (first..).zip(words.chunks_exact(span.inputs as usize)).collect();
        let judge = |(block, results): &(u64, &[u32])| {
            let mut tally = Tally::default();
            self.verifier.block(block * span.inputs, results, &mut tally);
            tally
        };
        for tally in parallel::map(&blocks, judge) {
            self.tally.merge(&tally);
        }
        self.blocks.extend(blocks.iter().map(|(block, _)| block));
        if self.noted.elapsed() >= PAUSE {
            self.note();
        }
        self.course.advance(u64::from(span.blocks) * span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
