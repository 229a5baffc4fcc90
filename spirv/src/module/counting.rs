//! Loops that count.

use rspirv::spirv::{LoopControl, Op, Word};

use crate::emitter::{Emitter, ids};
use crate::error::BuildError;
use crate::format::Format;

impl Emitter {
    /// What is done with each number below this one, in order. It stands in the code once.
    pub(super) fn counted(
        &mut self,
        count: Word,
        emit: impl FnOnce(&mut Emitter, Word) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let (zero, one) = (self.word(0), self.word(1));
        let before = self.block()?;
        let [header, body, next, merge, index, after] = std::array::from_fn(|_| self.builder.id());
        self.builder.branch(header)?;
        self.builder.begin_block(Some(header))?;
        self.define(index, Op::Phi, uint, ids([zero, before, after, next]))?;
        let inside = self.value(Op::ULessThan, bool, ids([index, count]))?;
        self.builder.loop_merge(merge, next, LoopControl::DONT_UNROLL, [])?;
        self.builder.branch_conditional(inside, body, merge, [])?;
        self.builder.begin_block(Some(body))?;
        emit(self, index)?;
        self.builder.branch(next)?;
        self.builder.begin_block(Some(next))?;
        self.define(after, Op::IAdd, uint, ids([index, one]))?;
        self.builder.branch(header)?;
        self.builder.begin_block(Some(merge))?;
        Ok(())
    }
}
