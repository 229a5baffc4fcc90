//! Blocks that are judged by their digests, so that the others alone have to be handed over.

use std::sync::Mutex;
use std::sync::PoisonError;

use fpprobe_profiles::parallel;
use fpprobe_profiles::sweep::{Guess, Tally};

use super::print::digests;
use super::verify::Verifying;
use crate::protocol::{Failure, Span};
use crate::supervisor::results::Results;
use crate::supervisor::sweep::Ledger;

/// Judges blocks that have the digest of what is expected.
pub struct Agreeing<'a, 'b> {
    verifying: &'b mut Verifying<'a>,
    /// What the last block that agreed was.
    likely: Mutex<Guess>,
    others: Vec<u64>,
}

impl<'a, 'b> Agreeing<'a, 'b> {
    /// What is judged goes to `verifying`.
    pub fn new(verifying: &'b mut Verifying<'a>) -> Agreeing<'a, 'b> {
        Agreeing { verifying, likely: Mutex::new(Guess::Own), others: Vec::new() }
    }

    /// The blocks that do not agree.
    pub fn others(self) -> Vec<u64> {
        self.others
    }
}

impl Ledger for Agreeing<'_, '_> {
    fn intent(&mut self, span: Span) {
        self.verifying.intent(span);
    }

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let (digests, verifier) = (digests(span, results)?, self.verifying.verifier);
        let likely = || self.likely.lock().unwrap_or_else(PoisonError::into_inner);
        let judged = parallel::map(&digests, |(block, digest)| {
            let (mut tally, guess) = (Tally::default(), *likely());
            let agreed = verifier.agreed(block * span.inputs, span.inputs, *digest, guess, &mut tally)?;
            *likely() = agreed;
            Some((*block, tally))
        });
        let open = digests.iter().zip(&judged).filter(|(_, judged)| judged.is_none()).map(|((block, _), _)| *block);
        self.others.extend(open);
        self.verifying.judged(judged.into_iter().flatten(), span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.verifying.is_enough()
    }
}
