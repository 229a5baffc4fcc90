//! What becomes of the results of a sweep.

use rspirv::spirv::{MemorySemantics, Op, Scope, StorageClass, Word};
use serde::{Deserialize, Serialize};

use super::digest;
use super::{Digest, Domain};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::layout::FloatLayout;

/// What becomes of the results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Sink {
    /// Every result is stored, [`Domain::words`] words each, input by input from the dispatch's
    /// first on.
    Store,
    /// Of each block its [`Digest`] is added to four words of its own, which must be 0 before.
    /// `normalise`: every NaN counts as the positive quiet one without payload.
    Digest {
        /// Whether NaNs are all the same.
        normalise: bool,
    },
    /// The words of all results are summed up, into one word for each block, which must be 0
    /// before: the least that can be done with them. It measures the kernel itself.
    Raw,
}

/// One result on its way into the sink.
#[derive(Clone, Copy)]
pub(super) struct SinkInput<'a> {
    /// The input's number.
    pub input: Word,
    /// Its place, counted from the dispatch's first input.
    pub place: Word,
    /// The words of the result.
    pub words: &'a [Word],
}

/// Where an invocation stands.
#[derive(Clone, Copy)]
pub(super) struct Stand {
    /// Its block, counted from the dispatch's first.
    pub block: Word,
    /// Its number among those of the block.
    pub lane: Word,
    /// The buffer of results.
    pub buffer: Word,
}

impl Sink {
    /// Words of the buffer of results that `blocks` blocks of N inputs fill.
    pub fn room(self, domain: &Domain, blocks: u64, inputs: u64) -> u64 {
        match self {
            Sink::Store => blocks * inputs * u64::from(domain.words()),
            Sink::Digest { .. } => blocks * Digest::WORDS as u64,
            Sink::Raw => blocks,
        }
    }

    /// Numbers that an invocation carries from one result to the next, all 0 at first.
    pub(super) fn carried(self) -> usize {
        match self {
            Sink::Store => 0,
            Sink::Digest { .. } => digest::CARRIED,
            Sink::Raw => 1,
        }
    }
}

impl Emitter {
    /// Takes one result; gives what is carried on.
    pub(super) fn take(
        &mut self,
        sink: Sink,
        domain: &Domain,
        stand: Stand,
        found: SinkInput<'_>,
        carried: &[Word],
    ) -> Result<Vec<Word>, BuildError> {
        match sink {
            Sink::Store => {
                self.store_words(stand.buffer, found.place, domain.words(), found.words)?;
                Ok(Vec::new())
            }
            Sink::Digest { normalise: false } => self.digested(found.input, found.words, carried),
            Sink::Digest { normalise: true } => {
                let words = self.normalised(domain, found.words)?;
                self.digested(found.input, &words, carried)
            }
            Sink::Raw => {
                let uint = self.scalar(Format::U32);
                let add = |sum, word: &Word| self.value(Op::IAdd, uint, ids([sum, *word]));
                Ok(vec![found.words.iter().try_fold(carried[0], add)?])
            }
        }
    }

    /// Hands over what an invocation has carried to its end.
    pub(super) fn hand_over(
        &mut self,
        sink: Sink,
        stand: Stand,
        carried: &[Word],
    ) -> Result<(), BuildError> {
        let own = match sink {
            Sink::Store => return Ok(()),
            Sink::Digest { .. } => self.digest(stand.lane, carried)?,
            Sink::Raw => carried.to_vec(),
        };
        self.add_words(stand.buffer, stand.block, &own)
    }

    /// Stores words side by side at a place among values of `width` words.
    fn store_words(
        &mut self,
        buffer: Word,
        place: Word,
        width: u32,
        words: &[Word],
    ) -> Result<(), BuildError> {
        for (number, word) in (0..).zip(words) {
            let pointer = self.word_at(buffer, place, width, number)?;
            self.builder.store(pointer, *word, None, [])?;
        }
        Ok(())
    }

    /// Adds words to those at a place, each for itself and at once.
    fn add_words(&mut self, buffer: Word, place: Word, words: &[Word]) -> Result<(), BuildError> {
        let uint = self.scalar(Format::U32);
        let (scope, relaxed) =
            (self.word(Scope::Device as u32), self.word(MemorySemantics::RELAXED.bits()));
        for (number, word) in (0..).zip(words) {
            let pointer = self.word_at(buffer, place, words.len() as u32, number)?;
            self.value(
                Op::AtomicIAdd,
                uint,
                ids([pointer]).into_iter().chain(scoped(scope, relaxed, *word)).collect(),
            )?;
        }
        Ok(())
    }

    /// Pointer to a word of a value of `width` words.
    fn word_at(
        &mut self,
        buffer: Word,
        place: Word,
        width: u32,
        number: u32,
    ) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let mut at = place;
        if width != 1 {
            let (width, number) = (self.word(width), self.word(number));
            at = self.value(Op::IMul, uint, ids([at, width]))?;
            at = self.value(Op::IAdd, uint, ids([at, number]))?;
        }
        let member = self.word(0);
        let pointer = self.builder.type_pointer(None, StorageClass::StorageBuffer, uint);
        self.value(Op::AccessChain, pointer, ids([buffer, member, at]))
    }

    /// The words of a result with every NaN as the positive quiet one without payload.
    fn normalised(&mut self, domain: &Domain, words: &[Word]) -> Result<Vec<Word>, BuildError> {
        let mut rest = words;
        let mut all = Vec::new();
        for format in domain.outputs() {
            let (own, after) = rest.split_at(format.bits().div_ceil(32) as usize);
            rest = after;
            match format.float() {
                Some(layout) => all.extend(self.one_nan(layout, own)?),
                None => all.extend_from_slice(own),
            }
        }
        Ok(all)
    }

    /// The words of one number, lowest first.
    fn one_nan(&mut self, layout: FloatLayout, words: &[Word]) -> Result<Vec<Word>, BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let above = 32 * (words.len() as u32 - 1);
        let high = |bits: u64| (bits >> above) as u32;
        let last = layout.first_nan() - 1;
        let (mask, infinity) = (self.word(high(layout.magnitude_mask())), self.word(high(last)));
        let magnitude = self.value(Op::BitwiseAnd, uint, ids([words[words.len() - 1], mask]))?;
        let mut is_nan = self.value(Op::UGreaterThan, bool, ids([magnitude, infinity]))?;
        if let [low, _] = words {
            let zero = self.word(0);
            let same = self.value(Op::IEqual, bool, ids([magnitude, infinity]))?;
            let some = self.value(Op::INotEqual, bool, ids([*low, zero]))?;
            let payload = self.value(Op::LogicalAnd, bool, ids([same, some]))?;
            is_nan = self.value(Op::LogicalOr, bool, ids([is_nan, payload]))?;
        }
        let quiet = layout.infinity() | layout.quiet_bit();
        let choose = |(number, word): (u32, &Word)| {
            let quiet = self.word((quiet >> (32 * number)) as u32);
            self.value(Op::Select, uint, ids([is_nan, quiet, *word]))
        };
        (0..).zip(words).map(choose).collect()
    }
}

/// Scope, semantics and value of an atomic instruction.
fn scoped(scope: Word, semantics: Word, value: Word) -> [rspirv::dr::Operand; 3] {
    use rspirv::dr::Operand;
    [Operand::IdScope(scope), Operand::IdMemorySemantics(semantics), Operand::IdRef(value)]
}
