//! The digest of a block: numbers that show whether any result differs, whatever the order in which
//! they were found, and where only one does also which, and what it was.
//!
//! Each word of a result is hashed together with the number of its input; an invocation sums the
//! hashes of its inputs, and sums its sums, so that a hash counts as often as steps are left. A
//! block has the totals of both, and that of the first with each lane's number as its weight. A
//! single result that differs makes the three differ by `d`, `d * (steps - step)` and `d * lane`.

use rspirv::spirv::{Op, Word};

use super::LANES;
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;

/// What makes the hash of one input another than that of the next: 2^32 divided by the golden
/// ratio.
const STEP: u32 = 0x9e37_79b9;
/// The same for one word of a result and the next.
const WORD: u32 = 0x85eb_ca6b;

/// A round of the hash: `x ^= x >> shift`, then, but for the last, `x *= factor`. A bijection of 32
/// bits with low bias, by the constants of Chris Wellons, "Prospecting for Hash Functions" (2018).
const ROUNDS: [(u32, u32); 3] = [(16, 0x7feb_352d), (15, 0x846c_a68b), (16, 1)];

/// The hash of a word of the result of an input; `place` is the word's number in the result.
#[expect(
    clippy::inline_always,
    reason = "loops over many results are compiled for the processor's instructions"
)]
#[inline(always)]
pub fn mix(input: u32, place: u32, word: u32) -> u32 {
    let start = word ^ salt(input, place);
    ROUNDS.iter().fold(start, |x, (shift, factor)| (x ^ x >> shift).wrapping_mul(*factor))
}

/// The word with this hash.
pub fn unmix(input: u32, place: u32, hash: u32) -> u32 {
    let undone = ROUNDS
        .iter()
        .rev()
        .fold(hash, |x, (shift, factor)| unshifted(x.wrapping_mul(inverse(*factor)), *shift));
    undone ^ salt(input, place)
}

#[expect(clippy::inline_always, reason = "see mix")]
#[inline(always)]
fn salt(input: u32, place: u32) -> u32 {
    input.wrapping_mul(STEP).wrapping_add(place.wrapping_mul(WORD))
}

/// The x of `x ^ x >> shift`.
fn unshifted(value: u32, shift: u32) -> u32 {
    (shift..32).step_by(shift as usize).fold(value, |x, _| value ^ x >> shift)
}

/// The reciprocal of an odd number modulo 2^32, by Newton's iteration: each step doubles the number
/// of right bits.
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(x))))
}

/// The digest of a block, as it lies in the results: three sums modulo 2^32, and how many
/// invocations have added theirs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Digest {
    /// Of the hashes, of the hashes weighted by the steps left, of the hashes weighted by the
    /// lane.
    pub sums: [u32; 3],
    /// Invocations; [`LANES`] where none was left out.
    pub lanes: u32,
}

impl Digest {
    /// Words of it.
    pub const WORDS: usize = 4;

    /// From the words of a buffer.
    pub fn new(words: [u32; Digest::WORDS]) -> Digest {
        let [sums @ .., lanes] = words;
        Digest { sums, lanes }
    }

    /// The digest of these results, `words` a result, of consecutive inputs from `first` on that
    /// make a block.
    pub fn of(first: u32, results: &[u32], words: u32) -> Digest {
        let inputs = results.len() as u32 / words.max(1);
        let steps = inputs / LANES;
        let mut sums = [0_u32; 3];
        for (number, result) in (0..).zip(results.chunks_exact(words.max(1) as usize)) {
            let input = first.wrapping_add(number);
            let hash = (0..)
                .zip(result)
                .fold(0, |sum: u32, (place, word)| sum.wrapping_add(mix(input, place, *word)));
            let (step, lane) = (number / LANES, number % LANES);
            for (sum, weight) in sums.iter_mut().zip([1, steps - step, lane]) {
                *sum = sum.wrapping_add(hash.wrapping_mul(weight));
            }
        }
        Digest { sums, lanes: LANES }
    }

    /// Where the one result lies that differs between an older digest of a block of N steps and
    /// this one, counted from the block's first input, and how much larger its hash is now.
    /// `None` where it cannot have been one alone, or where several places would do.
    pub fn single(self, older: Digest, steps: u32) -> Option<(u32, u32)> {
        let [change, of_steps, of_lanes] =
            [0, 1, 2].map(|sum| self.sums[sum].wrapping_sub(older.sums[sum]));
        let find = |target: u32, most: u32| {
            let mut found = (0..=most).filter(|weight| change.wrapping_mul(*weight) == target);
            found.next().filter(|_| found.next().is_none())
        };
        if change == 0 || self.lanes != older.lanes {
            return None;
        }
        let (left, lane) = (find(of_steps, steps)?, find(of_lanes, LANES - 1)?);
        let step = steps.checked_sub(left).filter(|_| left > 0)?;
        Some((step * LANES + lane, change))
    }
}

/// The digest of a block whose results, of one word each, come piece by piece: it sums as the
/// invocations do.
#[derive(Clone, Debug)]
pub struct Digesting {
    totals: [u32; LANES as usize],
    weighted: [u32; LANES as usize],
}

impl Default for Digesting {
    fn default() -> Digesting {
        Digesting { totals: [0; LANES as usize], weighted: [0; LANES as usize] }
    }
}

impl Digesting {
    /// Adds the next results, of consecutive inputs from `first` on; their number is a multiple of
    /// [`LANES`].
    #[expect(clippy::inline_always, reason = "see mix")]
    #[inline(always)]
    pub fn add(&mut self, first: u32, results: &[u32]) {
        let mut input = first;
        for row in results.as_chunks::<{ LANES as usize }>().0 {
            for (lane, result) in row.iter().enumerate() {
                self.totals[lane] = self.totals[lane].wrapping_add(mix(
                    input.wrapping_add(lane as u32),
                    0,
                    *result,
                ));
                self.weighted[lane] = self.weighted[lane].wrapping_add(self.totals[lane]);
            }
            input = input.wrapping_add(LANES);
        }
    }

    /// The digest of all.
    pub fn digest(&self) -> Digest {
        let sum = |words: &mut dyn Iterator<Item = u32>| words.fold(0, u32::wrapping_add);
        let by_lane =
            (0..).zip(self.totals).map(|(lane, total): (u32, u32)| lane.wrapping_mul(total));
        let sums = [
            sum(&mut self.totals.into_iter()),
            sum(&mut self.weighted.into_iter()),
            sum(&mut by_lane.into_iter()),
        ];
        Digest { sums, lanes: LANES }
    }
}

/// What an invocation has summed up, as its loop carries it.
pub(super) const CARRIED: usize = 2;

impl Emitter {
    /// The sums with the hashes of one result.
    pub(super) fn digested(
        &mut self,
        input: Word,
        words: &[Word],
        sums: &[Word],
    ) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let step = self.word(STEP);
        let salt = self.value(Op::IMul, uint, ids([input, step]))?;
        let mut total = sums[0];
        for (place, word) in (0..).zip(words) {
            let salt = if place == 0 {
                salt
            } else {
                let own = self.word(WORD.wrapping_mul(place));
                self.value(Op::IAdd, uint, ids([salt, own]))?
            };
            let mut hash = self.value(Op::BitwiseXor, uint, ids([*word, salt]))?;
            for (shift, factor) in ROUNDS {
                let shift = self.word(shift);
                let shifted = self.value(Op::ShiftRightLogical, uint, ids([hash, shift]))?;
                hash = self.value(Op::BitwiseXor, uint, ids([hash, shifted]))?;
                if factor != 1 {
                    let factor = self.word(factor);
                    hash = self.value(Op::IMul, uint, ids([hash, factor]))?;
                }
            }
            total = self.value(Op::IAdd, uint, ids([total, hash]))?;
        }
        let weighted = self.value(Op::IAdd, uint, ids([sums[1], total]))?;
        Ok(vec![total, weighted])
    }

    /// What an invocation adds to its block's digest.
    pub(super) fn digest(&mut self, lane: Word, sums: &[Word]) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let by_lane = self.value(Op::IMul, uint, ids([lane, sums[0]]))?;
        let one = self.word(1);
        Ok(vec![sums[0], sums[1], by_lane, one])
    }
}
