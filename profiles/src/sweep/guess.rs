//! Blocks that need not be handed over: what a device most likely answers is known, and the digest
//! of its answers shows whether it did.
//!
//! A digest ([`fpprobe_spirv::sweep::Digest`]) hashes every result with its input, one to one, so
//! that a single other result always changes it; that several others leave all three of its sums as
//! they are happens by accident once in 2^96 blocks. It is the host that computes what is expected:
//! a device whose own integer arithmetic is wrong fails to agree.

use fpprobe_spirv::sweep::{Digest, Digesting};
use pulp::Arch;

use super::half::HalfBehaviour;
use super::spans::SpanPlan;
use super::work::SPAN;
use super::{SweepStatistics, Verifier};
use crate::filter::kind::SIGN;

/// Results that are computed at once.
const PIECE: usize = 1 << 14;
/// What devices give where there is no result: zeros, NaNs, and integers at the ends of their
/// range.
const CONSTANTS: [u32; 6] = [0, SIGN, 0x7fc0_0000, 0xffc0_0000, 0x7fff_ffff, 0xffff_ffff];

/// What a device may answer to the inputs of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guess {
    /// What the host's own instruction gives: correctly rounded results, where there are any.
    Own,
    /// The same in another behaviour.
    Own16(HalfBehaviour),
    /// The same to all.
    Constant(u32),
}

impl Verifier {
    /// Whether anything is expected of devices, so that digests are worth requesting.
    pub fn guesses(&self) -> bool {
        self.pairs.is_some() || self.fast.as_ref().is_some_and(|fast| fast.own.is_some())
    }

    /// Judges a block of N inputs, a multiple of 2^16, by its digest: where it is that of a guess,
    /// what that says is judged in place of the results. Gives that guess; `likely` is tried
    /// first, and where `manners` are known, no other. `None`: the results have to be looked
    /// at.
    pub fn agreed(
        &self,
        first: u64,
        inputs: u64,
        digest: Digest,
        likely: Guess,
        try_behaviours: bool,
        statistics: &mut SweepStatistics,
    ) -> Option<Guess> {
        let mut words = vec![0; PIECE.min(inputs as usize)];
        let mut pieces = |guess: Guess, take: &mut dyn FnMut(u64, &[u32])| {
            for start in (first..first + inputs).step_by(words.len()) {
                self.fill(guess, start as u32, &mut words);
                take(start, &words);
            }
        };
        let mut guesses = self.likely(first, likely, try_behaviours).into_iter();
        // Mostly it is the first: that is judged at once.
        let guess = guesses.next()?;
        let (mut digesting, mut judged, mut sum) =
            (Digesting::default(), statistics.clone(), self.sum());
        pieces(guess, &mut |start, words| {
            digest_piece(&mut digesting, start as u32, words);
            self.judge(start, words, guess == Guess::Own, &mut sum, &mut judged);
        });
        if digesting.digest() == digest {
            sum.add_to(&self.rules, &mut judged);
            *statistics = judged;
            return Some(guess);
        }
        let guess = guesses.find(|guess| {
            let mut digesting = Digesting::default();
            pieces(*guess, &mut |start, words| digest_piece(&mut digesting, start as u32, words));
            digesting.digest() == digest
        })?;
        let mut sum = self.sum();
        pieces(guess, &mut |start, words| {
            self.judge(start, words, guess == Guess::Own, &mut sum, statistics);
        });
        sum.add_to(&self.rules, statistics);
        Some(guess)
    }

    /// What may be answered to a block, the likeliest first.
    fn likely(&self, first: u64, likely: Guess, try_behaviours: bool) -> Vec<Guess> {
        let own = || std::iter::once(Guess::Own);
        let all: Vec<Guess> = match &self.fast {
            Some(fast) if fast.own.is_none() => return Vec::new(),
            // Where what is accepted is the same for all, results mostly are.
            Some(fast)
                if matches!(
                    self.plan(fast, first as u32 + 1, SPAN - 1),
                    SpanPlan::Constant(..)
                ) =>
            {
                own().chain(CONSTANTS.map(Guess::Constant)).collect()
            }
            None if self.pairs.is_some() && !try_behaviours => {
                own().chain(HalfBehaviour::all().map(Guess::Own16)).collect()
            }
            None if self.pairs.is_some() => vec![likely],
            _ => vec![Guess::Own],
        };
        let rest = all.iter().copied().filter(|guess| *guess != likely);
        all.iter().copied().filter(|guess| *guess == likely).chain(rest).collect()
    }

    /// What a guess says of inputs from the first on.
    fn fill(&self, guess: Guess, first: u32, words: &mut [u32]) {
        let own = self.fast.as_ref().and_then(|fast| Some((fast.arch, fast.own?)));
        match (guess, own, &self.pairs) {
            (Guess::Constant(result), ..) => words.fill(result),
            (_, Some((arch, own)), _) => own(arch, first, words),
            (Guess::Own16(behaviour), None, Some(pairs)) => pairs.fill(behaviour, first, words),
            (Guess::Own, None, Some(pairs)) => pairs.fill(HalfBehaviour::HOST, first, words),
            (_, None, None) => {}
        }
    }
}

fn digest_piece(digesting: &mut Digesting, first: u32, words: &[u32]) {
    Arch::new().dispatch(
        #[inline(always)]
        || digesting.add(first, words),
    );
}
