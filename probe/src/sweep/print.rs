//! The fingerprint of one kernel, bundle of blocks by bundle.

use std::collections::BTreeMap;
use std::time::Instant;

use fpprobe_profiles::Outcome;
use fpprobe_reports::sweep::Print;
use fpprobe_reports::sweep::record::{BlockSpan, SweepRecord, hex};
use fpprobe_spirv::sweep::{Digest, LANES};

use super::journal::SweepJournal;
use super::progress::Course;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::Ledger;
use fpprobe_worker::protocol::{Failure, Span};

/// Keeps digests as they arrive.
pub struct PrintLedger<'a> {
    /// The device, as journals know it.
    pub device: String,
    /// Where they go.
    pub print: &'a mut Print,
    /// Which time it is taken.
    pub pass: usize,
    /// Where they go at once.
    pub journal: Option<&'a SweepJournal>,
    /// Who is notified.
    pub course: &'a Course,
    /// When it is enough.
    pub deadline: Option<Instant>,
    /// Bundles of which some blocks have run: how many, and the sums of their digests.
    pub open: BTreeMap<u64, (u64, [u32; 3])>,
}

impl PrintLedger<'_> {
    fn step(&self, first: u64, count: u64) -> BlockSpan {
        let kernel = self.print.domain.kernel().to_string();
        BlockSpan { device: self.device.clone(), kernel, first, count }
    }

    /// Adds the digest of a block to its bundle's; gives the bundle's where it was the last.
    fn add(&mut self, block: u64, digest: Digest) -> Option<(u64, [u32; 3])> {
        let size = self.print.domain.bundle();
        let (bundle, open) = (block / size, self.open.entry(block / size).or_default());
        open.0 += 1;
        for (sum, own) in open.1.iter_mut().zip(digest.sums) {
            *sum = sum.wrapping_add(own);
        }
        if open.0 < size {
            return None;
        }
        self.open.remove(&bundle).map(|(_, sums)| (bundle, sums))
    }
}

impl Ledger for PrintLedger<'_> {
    fn intent(&mut self, span: Span) {
        if let Some(journal) = self.journal {
            let (first, blocks) = (span.first / span.inputs, u64::from(span.blocks));
            journal.write(&SweepRecord::Intent(self.step(first, blocks)));
        }
    }

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let digests = digests(span, results)?.into_iter();
        let done: Vec<(u64, [u32; 3])> =
            digests.filter_map(|(block, digest)| self.add(block, digest)).collect();
        self.print.bundles.extend(done.iter().copied());
        for run in done.chunk_by(|(one, _), (next, _)| one + 1 == *next) {
            let Some(journal) = self.journal else { break };
            let step = self.step(run[0].0, run.len() as u64);
            let sums = hex(&run.iter().map(|(_, sums)| *sums).collect::<Vec<_>>());
            journal.write(&SweepRecord::Digests { step, sums, pass: self.pass });
        }
        self.course.advance(u64::from(span.blocks) * span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        // However short its time is, a bundle becomes whole.
        !self.print.bundles.is_empty()
            && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The digests of a span's blocks, each with the block's number, if every invocation has left its
/// sums.
pub fn digests(span: Span, results: &Results<'_>) -> Result<Vec<(u64, Digest)>, Failure> {
    let words = results.words()?;
    let digests = words.as_chunks::<{ Digest::WORDS }>().0.iter().map(|words| Digest::new(*words));
    let digests: Vec<(u64, Digest)> = (span.first / span.inputs..).zip(digests).collect();
    match digests.iter().find(|(_, digest)| digest.lanes != LANES) {
        None => Ok(digests),
        Some((block, digest)) => {
            let detail =
                format!("{} of {LANES} invocations of block {block} left their sums", digest.lanes);
            Err(Failure::new(Outcome::NotWritten, detail))
        }
    }
}

/// Keeps nothing.
pub struct Nothing<'a>(pub &'a Course);

impl Ledger for Nothing<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, _: &Results<'_>) -> Result<(), Failure> {
        self.0.advance(u64::from(span.blocks) * span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        false
    }
}
