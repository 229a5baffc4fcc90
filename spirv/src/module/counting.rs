//! Loops that count.

use rspirv::spirv::{LoopControl, Op, Word};

use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;

/// What a loop carries from turn to turn.
pub(super) struct LoopValues<'a> {
    /// The values in a turn.
    pub now: &'a [Word],
    /// Ids that the turn has to define: the values in the next one.
    pub next: &'a [Word],
}

impl Emitter {
    /// What is done with each number below this one, in order. It stands in the code once.
    pub(super) fn counted(
        &mut self,
        count: Word,
        emit: impl FnOnce(&mut Emitter, Word) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        self.carrying(count, &[], |emitter, index, _| emit(emitter, index)).map(drop)
    }

    /// The same with values of these shapes, all 0 at first. Gives what they are in the end.
    pub(super) fn carrying(
        &mut self,
        count: Word,
        shapes: &[Shape],
        emit: impl FnOnce(&mut Emitter, Word, LoopValues<'_>) -> Result<(), BuildError>,
    ) -> Result<Vec<Word>, BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let (zero, one) = (self.word(0), self.word(1));
        let first: Vec<Word> = shapes.iter().map(|shape| self.constant(*shape, 0)).collect();
        let now: Vec<Word> = shapes.iter().map(|_| self.builder.id()).collect();
        let next: Vec<Word> = shapes.iter().map(|_| self.builder.id()).collect();
        let before = self.block()?;
        let [header, body, onward, merge, index, after] =
            std::array::from_fn(|_| self.builder.id());
        self.builder.branch(header)?;
        self.builder.begin_block(Some(header))?;
        self.define(index, Op::Phi, uint, ids([zero, before, after, onward]))?;
        for (place, shape) in shapes.iter().enumerate() {
            let kind = self.shape(*shape);
            self.define(
                now[place],
                Op::Phi,
                kind,
                ids([first[place], before, next[place], onward]),
            )?;
        }
        let inside = self.value(Op::ULessThan, bool, ids([index, count]))?;
        // Unrolled, it would stand there many times again.
        self.builder.loop_merge(merge, onward, LoopControl::DONT_UNROLL, [])?;
        self.builder.branch_conditional(inside, body, merge, [])?;
        self.builder.begin_block(Some(body))?;
        emit(self, index, LoopValues { now: &now, next: &next })?;
        self.builder.branch(onward)?;
        self.builder.begin_block(Some(onward))?;
        self.define(after, Op::IAdd, uint, ids([index, one]))?;
        self.builder.branch(header)?;
        self.builder.begin_block(Some(merge))?;
        Ok(now)
    }
}
