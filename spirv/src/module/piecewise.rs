//! Numbers that depend on the row, computed in the module.

use rspirv::spirv::{Op, Word};

use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::plan::piecewise::{Piece, pieces};

/// A number that each row has for itself: the same for all of them, or computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowNumber {
    Same(u32),
    Word(Word),
}

impl Emitter {
    /// The number of this row, out of those of all rows; a row that has no use for one may get any.
    pub(super) fn of_row(
        &mut self,
        row: Word,
        numbers: &[Option<u32>],
    ) -> Result<RowNumber, BuildError> {
        let pieces = pieces(numbers);
        let offset = self.of_piece(row, &pieces, |piece| piece.offset)?;
        let stride = self.of_piece(row, &pieces, |piece| piece.stride)?;
        if stride == RowNumber::Same(0) {
            return Ok(offset);
        }
        let uint = self.scalar(Format::U32);
        let (offset, stride) = (self.number(offset), self.number(stride));
        let further = self.value(Op::IMul, uint, ids([row, stride]))?;
        Ok(RowNumber::Word(self.value(Op::IAdd, uint, ids([further, offset]))?))
    }

    /// A number as a word.
    pub(super) fn number(&mut self, number: RowNumber) -> Word {
        match number {
            RowNumber::Same(number) => self.word(number),
            RowNumber::Word(word) => word,
        }
    }

    /// The number of the piece that this row is in.
    fn of_piece(
        &mut self,
        row: Word,
        pieces: &[Piece],
        of: fn(&Piece) -> u32,
    ) -> Result<RowNumber, BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let mut number = RowNumber::Same(pieces.first().map_or(0, of));
        for pair in pieces.windows(2) {
            if of(&pair[0]) != of(&pair[1]) {
                let (from, after, before) =
                    (self.word(pair[1].from), self.word(of(&pair[1])), self.number(number));
                let reached = self.value(Op::UGreaterThanEqual, bool, ids([row, from]))?;
                number =
                    RowNumber::Word(self.value(Op::Select, uint, ids([reached, after, before]))?);
            }
        }
        Ok(number)
    }
}
