//! Blocks that need not be handed over: what a device most likely answers is known, and the digest of its answers tells whether it
//! did.
//!
//! A digest ([`fpprobe_spirv::sweep::Digest`]) hashes every result with its input, one to one, so that a single other result always
//! changes it; that several others leave all three of its sums as they are happens by accident once in 2^96 blocks. It is the host
//! that computes what is expected: a device whose own integer arithmetic is wrong fails to agree.

use fpprobe_spirv::op::Function;
use fpprobe_spirv::sweep::{Digest, Digesting};
use pulp::Arch;

use super::fast::{Plan, SPAN};
use super::kind::{Fast, SIGN, Way};
use super::native::{Fill, fill, float};
use super::{Tally, Verifier};

/// Results that are computed at once.
const PIECE: usize = 1 << 14;
/// What devices give where there is no result: zeros, NaNs, and integers at the ends of their range.
const CONSTANTS: [u32; 6] = [0, SIGN, 0x7fc0_0000, 0xffc0_0000, 0x7fff_ffff, 0xffff_ffff];

/// What a device may answer to the inputs of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guess {
    /// What the host's own instruction gives: correctly rounded results, where there are any.
    Own,
    /// The same to all.
    Constant(u32),
}

/// The host's own instruction for a kernel that IEEE 754 defines.
pub(super) fn own(way: &Way) -> Option<Fill> {
    match way {
        Way::Equal(native) => Some(native.fill),
        Way::Near(Function::Sqrt) => Some(|arch: Arch, first: u32, results: &mut [u32]| {
            fill(arch, first, results, |x| float(x).sqrt().to_bits());
        }),
        Way::Near(_) => None,
    }
}

impl Verifier {
    /// Whether anything is expected of devices, so that digests are worth asking for.
    pub fn guesses(&self) -> bool {
        self.fast.as_ref().is_some_and(|fast| fast.own.is_some())
    }

    /// Judges a block of so many inputs, a multiple of 2^16, by its digest: where it is that of a guess, what that says is judged in
    /// place of the results. Gives that guess; `likely` is tried first. `None`: the results have to be looked at.
    pub fn agreed(&self, first: u64, inputs: u64, digest: Digest, likely: Guess, tally: &mut Tally) -> Option<Guess> {
        let fast = self.fast.as_ref()?;
        let own = fast.own?;
        let mut words = vec![0; PIECE];
        let mut pieces = |guess: Guess, take: &mut dyn FnMut(u64, &[u32])| {
            if let Guess::Constant(result) = guess {
                words.fill(result);
            }
            for start in (first..first + inputs).step_by(PIECE) {
                if guess == Guess::Own {
                    own(fast.arch, start as u32, &mut words);
                }
                take(start, &words);
            }
        };
        // Where what is accepted is the same for all, results mostly are.
        let constant = matches!(self.plan(fast, first as u32 + 1, SPAN - 1), Plan::Constant(_));
        let constants = CONSTANTS.map(Guess::Constant).into_iter().filter(|_| constant);
        let rest = std::iter::once(Guess::Own).chain(constants).filter(|guess| *guess != likely);
        let likely = Some(likely).filter(|likely| constant || *likely == Guess::Own);
        let guess = likely.into_iter().chain(rest).find(|guess| {
            let mut digesting = Digesting::default();
            pieces(*guess, &mut |start, words| digest_piece(fast, &mut digesting, start as u32, words));
            digesting.digest() == digest
        })?;
        pieces(guess, &mut |start, words| self.block(start, words, tally));
        Some(guess)
    }
}

fn digest_piece(fast: &Fast, digesting: &mut Digesting, first: u32, words: &[u32]) {
    fast.arch.dispatch(
        #[inline(always)]
        || digesting.add(first, words),
    );
}
