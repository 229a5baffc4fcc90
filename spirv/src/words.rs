//! Values as 32-bit words: component by component, a binary64 in two words, the lower first.

use rspirv::spirv::{Op, Word};

use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::Element;

const PAIR: Shape = Shape::vector(Format::U32, 2);

impl Emitter {
    /// The words of a value.
    pub(crate) fn to_words(&mut self, shape: Shape, value: Word) -> Result<Vec<Word>, BuildError> {
        let mut words = Vec::new();
        for index in 0..shape.width {
            let part = self.component(shape, value, index)?;
            if shape.format.bits() <= 32 {
                words.push(self.encode(shape.format, Element::U32, part)?);
                continue;
            }
            let kind = self.shape(PAIR);
            let pair = self.value(Op::Bitcast, kind, ids([part]))?;
            words.extend([self.component(PAIR, pair, 0)?, self.component(PAIR, pair, 1)?]);
        }
        Ok(words)
    }

    /// The value of these words.
    pub(crate) fn from_words(&mut self, shape: Shape, words: &[Word]) -> Result<Word, BuildError> {
        let mut parts = Vec::new();
        for words in words.chunks((shape.words() / shape.width) as usize) {
            parts.push(if let [word] = words {
                self.decode(shape.format, Element::U32, *word)?
            } else {
                let pair = self.compose(PAIR, words)?;
                let kind = self.scalar(shape.format);
                self.value(Op::Bitcast, kind, ids([pair]))?
            });
        }
        self.compose(shape, &parts)
    }
}
