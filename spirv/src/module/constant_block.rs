//! Constant blocks in a module: a block in uniform memory or push constants, laid out as
//! [`crate::plan::constant_block`] says.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use super::InvocationPosition;
use crate::build_error::BuildError;
use crate::capacity::{VECTOR, vectors};
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::Plan;
use crate::plan::constant_block::{UNIFORM_BINDING, most_vectors};
use crate::route::Route;

const VECTOR_OF_WORDS: Shape = Shape::vector(Format::U32, 4);

/// The constant block's variable.
#[derive(Clone, Copy)]
pub(super) struct ConstantBlock {
    variable: Word,
    class: StorageClass,
}

impl Emitter {
    /// Declares the constant block of a route, if it has one.
    pub(super) fn declare_constant_block(&mut self, route: Route) -> Option<ConstantBlock> {
        let (count, uniform) = (vectors(route)?, route == Route::Uniform);
        let class = if uniform { StorageClass::Uniform } else { StorageClass::PushConstant };
        let vector = self.shape(VECTOR_OF_WORDS);
        let count = self.word(count);
        let builder = &mut self.builder;
        let array = builder.type_array(vector, count);
        let block = builder.type_struct([vector, array]);
        let pointer = builder.type_pointer(None, class, block);
        let variable = builder.variable(pointer, None, class, None);
        builder.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(VECTOR)]);
        builder.decorate(block, Decoration::Block, []);
        builder.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        builder.member_decorate(block, 1, Decoration::Offset, [Operand::LiteralBit32(VECTOR)]);
        builder.name(variable, "window");
        if uniform {
            self.bind(variable, UNIFORM_BINDING);
        }
        Some(ConstantBlock { variable, class })
    }

    /// Slot and row of the whole module, by what the constant block's header says. Invocations
    /// beyond its slots get a slot that no kernel has.
    pub(super) fn through(
        &mut self,
        constant_block: ConstantBlock,
        local: Word,
        row: Word,
    ) -> Result<InvocationPosition, BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let member = self.word(0);
        let header = self.vector_at(constant_block, [member])?;
        let parts = (0..3).map(|index| self.component(VECTOR_OF_WORDS, header, index));
        let [first, count, rows] = parts.collect::<Result<Vec<_>, _>>()?[..] else {
            return Err(BuildError::NoEntryPoint);
        };
        let inside = self.value(Op::ULessThan, bool, ids([local, count]))?;
        let slot = self.value(Op::IAdd, uint, ids([first, local]))?;
        let nowhere = self.word(u32::MAX);
        let slot = self.value(Op::Select, uint, ids([inside, slot, nowhere]))?;
        let row = self.value(Op::IAdd, uint, ids([row, rows]))?;
        Ok(InvocationPosition { slot, row, local: Some(local), zero: None, lane: None })
    }

    /// The words of a slot of the constant block, as many as the kernel with the most operands has.
    pub(super) fn load_constant_block(
        &mut self,
        plan: &Plan,
        constant_block: ConstantBlock,
        local: Word,
    ) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let mut first = None;
        // Push constants hold one slot.
        if constant_block.class == StorageClass::Uniform {
            let member = self.word(0);
            let header = self.vector_at(constant_block, [member])?;
            let each = self.component(VECTOR_OF_WORDS, header, 3)?;
            first = Some(self.value(Op::IMul, uint, ids([local, each]))?);
        }
        let mut words = Vec::new();
        for vector in 0..most_vectors(plan) {
            let mut index = self.word(vector);
            if let Some(first) = first {
                index = self.value(Op::IAdd, uint, ids([first, index]))?;
            }
            let member = self.word(1);
            let vector = self.vector_at(constant_block, [member, index])?;
            for part in 0..VECTOR_OF_WORDS.width {
                words.push(self.component(VECTOR_OF_WORDS, vector, part)?);
            }
        }
        Ok(words)
    }

    fn vector_at(
        &mut self,
        constant_block: ConstantBlock,
        indices: impl IntoIterator<Item = Word>,
    ) -> Result<Word, BuildError> {
        let vector = self.shape(VECTOR_OF_WORDS);
        let pointer = self.builder.type_pointer(None, constant_block.class, vector);
        let at = self.value(
            Op::AccessChain,
            pointer,
            ids([constant_block.variable].into_iter().chain(indices)),
        )?;
        self.value(Op::Load, vector, ids([at]))
    }
}
