//! The fingerprint of one kernel, block by block.

use std::time::Instant;

use fpprobe_profiles::Outcome;
use fpprobe_reports::sweep::Print;
use fpprobe_reports::sweep::record::{Record, Step, hex};
use fpprobe_spirv::sweep::{Digest, LANES};

use super::journal::Journal;
use super::progress::Course;
use crate::protocol::{Failure, Span};
use crate::supervisor::sweep::Ledger;

/// Keeps digests as they arrive.
pub struct Printing<'a> {
    /// The device, as journals know it.
    pub device: String,
    /// Where they go.
    pub print: &'a mut Print,
    /// Where they go at once.
    pub journal: Option<&'a Journal>,
    /// Who is told.
    pub course: &'a Course,
    /// When it is enough.
    pub deadline: Option<Instant>,
}

impl Printing<'_> {
    fn step(&self, span: Span) -> Step {
        Step {
            device: self.device.clone(),
            kernel: self.print.domain.kernel().to_string(),
            first: span.first / span.inputs,
            count: u64::from(span.blocks),
        }
    }
}

impl Ledger for Printing<'_> {
    fn intent(&mut self, span: Span) {
        if let Some(journal) = self.journal {
            journal.write(&Record::Intent(self.step(span)));
        }
    }

    fn take(&mut self, span: Span, words: &[u32]) -> Result<(), Failure> {
        let step = self.step(span);
        let digests: Vec<Digest> = words
            .chunks_exact(Digest::WORDS)
            .map(|words| Digest::new([words[0], words[1], words[2], words[3]]))
            .collect();
        if let Some((block, digest)) = (step.first..).zip(&digests).find(|(_, digest)| digest.lanes != LANES) {
            let detail = format!("{} of {LANES} invocations of block {block} left their sums", digest.lanes);
            return Err(Failure::new(Outcome::NotWritten, detail));
        }
        let sums: Vec<[u32; 3]> = digests.iter().map(|digest| digest.sums).collect();
        for (block, sums) in (step.first as usize..).zip(&sums) {
            self.print.blocks[block] = Some(*sums);
        }
        if let Some(journal) = self.journal {
            journal.write(&Record::Digests { step, sums: hex(&sums) });
        }
        self.course.advance(u64::from(span.blocks) * span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Keeps nothing.
pub struct Nothing<'a>(pub &'a Course);

impl Ledger for Nothing<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, _: &[u32]) -> Result<(), Failure> {
        self.0.advance(u64::from(span.blocks) * span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        false
    }
}
