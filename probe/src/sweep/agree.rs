//! Blocks that are judged by their digests, so that the others alone have to be handed over.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use fpprobe_profiles::parallel;
use fpprobe_profiles::sweep::Guess;

use super::print::digests;
use super::verify::VerifyLedger;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::Ledger;
use fpprobe_worker::protocol::{Failure, Span};

/// Judges blocks that have the digest of what is expected.
pub struct AgreementLedger<'a, 'b> {
    verifying: &'b mut VerifyLedger<'a>,
    /// What the last block that agreed was.
    likely: Mutex<Guess>,
    /// Blocks that were looked at until one agreed.
    tried: AtomicU32,
    others: Vec<u64>,
}

/// After N blocks of which none agreed, a device has a behaviour of its own.
const TRIES: u32 = 8;

impl<'a, 'b> AgreementLedger<'a, 'b> {
    /// What is judged goes to `verifying`.
    pub fn new(verifying: &'b mut VerifyLedger<'a>) -> AgreementLedger<'a, 'b> {
        AgreementLedger {
            verifying,
            likely: Mutex::new(Guess::Own),
            tried: AtomicU32::new(0),
            others: Vec::new(),
        }
    }

    /// The blocks that do not agree.
    pub fn others(self) -> Vec<u64> {
        self.others
    }
}

impl Ledger for AgreementLedger<'_, '_> {
    fn intent(&mut self, span: Span) {
        self.verifying.intent(span);
    }

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let (digests, verifier) = (digests(span, results)?, self.verifying.verifier);
        let known = &self.verifying.statistics;
        let likely = || self.likely.lock().unwrap_or_else(PoisonError::into_inner);
        let judged = parallel::map(&digests, |(block, digest)| {
            let (mut sweep_statistics, guess) =
                (verifier.beside(known, block * span.inputs), *likely());
            let try_behaviours = self.tried.fetch_add(1, Ordering::Relaxed) >= TRIES;
            let agreed = verifier.agreed(
                block * span.inputs,
                span.inputs,
                *digest,
                guess,
                try_behaviours,
                &mut sweep_statistics,
            )?;
            *likely() = agreed;
            Some((*block, sweep_statistics))
        });
        let open = digests
            .iter()
            .zip(&judged)
            .filter(|(_, judged)| judged.is_none())
            .map(|((block, _), _)| *block);
        self.others.extend(open);
        self.verifying.judged(judged.into_iter().flatten(), span.inputs);
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.verifying.is_enough()
    }
}
