//! The fingerprint of one kernel, block by block.

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
}

impl PrintLedger<'_> {
    fn step(&self, span: Span) -> BlockSpan {
        BlockSpan {
            device: self.device.clone(),
            kernel: self.print.domain.kernel().to_string(),
            first: span.first / span.inputs,
            count: u64::from(span.blocks),
        }
    }
}

impl Ledger for PrintLedger<'_> {
    fn intent(&mut self, span: Span) {
        if let Some(journal) = self.journal {
            journal.write(&SweepRecord::Intent(self.step(span)));
        }
    }

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let step = self.step(span);
        let sums: Vec<[u32; 3]> =
            digests(span, results)?.into_iter().map(|(_, digest)| digest.sums).collect();
        for (block, sums) in (step.first as usize..).zip(&sums) {
            self.print.blocks[block] = Some(*sums);
        }
        if let Some(journal) = self.journal {
            journal.write(&SweepRecord::Digests { step, sums: hex(&sums), pass: self.pass });
        }
        self.course.advance(u64::from(span.blocks) * span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
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
