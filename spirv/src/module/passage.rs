//! Passages: arrays through which the words of long values go between memory and the code of the kernels.
//!
//! A loop moves word after word, so that the code gets at memory in one place, whatever the length: a driver spends most of
//! its time for a small kernel on accesses to memory, and a matrix has many words. Words are integers: no bit changes.

use rspirv::spirv::{Op, StorageClass, Word};

use super::Place;
use crate::emitter::{Emitter, ids};
use crate::error::BuildError;
use crate::format::Format;
use crate::plan::Direction;
use crate::plan::sites::Site;

/// The variable: an array of words.
#[derive(Clone, Copy)]
pub(super) struct Passage(Word);

impl Emitter {
    /// Declares the passage of a site, if that is long.
    pub(super) fn declare_passage(&mut self, site: &Site) -> Option<Passage> {
        if !site.is_long() {
            return None;
        }
        let (word, count) = (self.scalar(Format::U32), self.word(site.most()));
        let array = self.builder.type_array(word, count);
        let pointer = self.builder.type_pointer(None, StorageClass::Private, array);
        let variable = self.builder.variable(pointer, None, StorageClass::Private, None);
        let kind = if site.direction == Direction::In { "operand" } else { "result" };
        self.builder.name(variable, format!("{kind}{}", site.number));
        Some(Passage(variable))
    }

    /// The words of this row, from a buffer. Those that the row has not are any.
    pub(super) fn load_passage(
        &mut self,
        passage: Passage,
        site: &Site,
        buffer: Word,
        place: Place,
    ) -> Result<Vec<Word>, BuildError> {
        self.words_of_row(site, place, |emitter, index, at| {
            let (from, to) = (emitter.element_at(site, buffer, at)?, emitter.passed(passage, index)?);
            emitter.move_word(from, to)
        })?;
        let uint = self.scalar(Format::U32);
        let load = |index| {
            let index = self.word(index);
            let from = self.passed(passage, index)?;
            self.value(Op::Load, uint, ids([from]))
        };
        (0..site.most()).map(load).collect()
    }

    /// Stores those of these words that this row has into a buffer.
    pub(super) fn store_passage(
        &mut self,
        passage: Passage,
        site: &Site,
        buffer: Word,
        place: Place,
        words: impl IntoIterator<Item = Word>,
    ) -> Result<(), BuildError> {
        for (index, word) in (0..).zip(words) {
            let index = self.word(index);
            let to = self.passed(passage, index)?;
            self.builder.store(to, word, None, [])?;
        }
        self.words_of_row(site, place, |emitter, index, at| {
            let (from, to) = (emitter.passed(passage, index)?, emitter.element_at(site, buffer, at)?);
            emitter.move_word(from, to)
        })
    }

    /// Pointer to a word in a passage.
    fn passed(&mut self, Passage(variable): Passage, index: Word) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let pointer = self.builder.type_pointer(None, StorageClass::Private, uint);
        self.value(Op::AccessChain, pointer, ids([variable, index]))
    }

    fn move_word(&mut self, from: Word, to: Word) -> Result<(), BuildError> {
        let uint = self.scalar(Format::U32);
        let word = self.value(Op::Load, uint, ids([from]))?;
        Ok(self.builder.store(to, word, None, [])?)
    }

    /// A loop over the words that this row has: what it does with each, given its number and where it lies in the buffer.
    fn words_of_row(
        &mut self,
        site: &Site,
        place: Place,
        emit: impl FnOnce(&mut Emitter, Word, (Word, u32)) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let uint = self.scalar(Format::U32);
        let (first, base) = self.first(site, place)?;
        let count = self.of_row(place.row, &site.counts())?;
        let count = self.number(count);
        // Unrolled, it would be the many accesses again.
        self.counted(count, |emitter, index| {
            let at = emitter.value(Op::IAdd, uint, ids([first, index]))?;
            emit(emitter, index, (at, base))
        })
    }
}
