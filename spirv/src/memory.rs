//! Storage buffers: declaring them, and moving the values of a region in and out bit by bit.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use crate::emitter::{Emitter, ids};
use crate::error::BuildError;
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::{Buffer, Direction, Element, Plan, Region};

const HALVES: Shape = Shape { format: Format::F16, width: 2 };

impl Element {
    /// The format that the elements have in the shader.
    pub(crate) fn format(self) -> Format {
        match self {
            Element::F16 => Format::F16,
            Element::F32 => Format::F32,
            Element::F64 => Format::F64,
            Element::U32 => Format::U32,
        }
    }
}

impl Buffer {
    /// Name in a listing: `in_f32`, `out_u32`.
    pub(crate) fn name(&self) -> String {
        let direction = match self.direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        format!("{direction}_{}", self.element.format())
    }
}

impl Emitter {
    /// Declares a storage buffer: a block of one runtime array. Gives the variable.
    pub(crate) fn declare_buffer(&mut self, buffer: &Buffer) -> Word {
        let element = self.scalar(buffer.element.format());
        let builder = &mut self.builder;
        // Array and block carry decorations of their own, so each buffer has its own: a type shared by deduplication
        // would be decorated twice.
        let array = builder.id();
        builder.type_runtime_array_id(Some(array), element);
        let block = builder.id();
        builder.type_struct_id(Some(block), [array]);
        let pointer = builder.type_pointer(None, StorageClass::StorageBuffer, block);
        let variable = builder.variable(pointer, None, StorageClass::StorageBuffer, None);
        let stride = Operand::LiteralBit32(buffer.element.bytes() as u32);
        builder.decorate(array, Decoration::ArrayStride, [stride]);
        builder.decorate(block, Decoration::Block, []);
        builder.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        builder.name(variable, buffer.name());
        self.bind(variable, buffer.binding());
        if buffer.direction == Direction::In {
            self.builder.decorate(variable, Decoration::NonWritable, []);
        }
        variable
    }

    /// Gives a variable its place in descriptor set 0.
    pub(crate) fn bind(&mut self, variable: Word, binding: u32) {
        self.builder.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
        self.builder.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    }

    /// Loads the operand that a region holds for this slot.
    pub(crate) fn load(
        &mut self,
        plan: &Plan,
        variables: &[Word],
        region: &Region,
        slot: Word,
    ) -> Result<Word, BuildError> {
        let element = plan.buffers[region.buffer].element;
        let kind = self.scalar(element.format());
        let mut parts = Vec::new();
        for index in 0..region.shape.width {
            let pointer = self.element(kind, variables[region.buffer], region, slot, None, index)?;
            let raw = self.value(Op::Load, kind, ids([pointer]))?;
            parts.push(self.decode(region.shape.format, element, raw)?);
        }
        self.compose(region.shape, &parts)
    }

    /// Stores a result into its region, `further` elements on.
    pub(crate) fn store(
        &mut self,
        plan: &Plan,
        variables: &[Word],
        region: &Region,
        slot: Word,
        further: Option<Word>,
        value: Word,
    ) -> Result<(), BuildError> {
        let element = plan.buffers[region.buffer].element;
        let kind = self.scalar(element.format());
        for index in 0..region.shape.width {
            let part = self.component(region.shape, value, index)?;
            let raw = self.encode(region.shape.format, element, part)?;
            let pointer = self.element(kind, variables[region.buffer], region, slot, further, index)?;
            self.builder.store(pointer, raw, None, [])?;
        }
        Ok(())
    }

    /// Pointer to component `index` of a slot: element `base + further + slot * width + index`.
    fn element(
        &mut self,
        kind: Word,
        variable: Word,
        region: &Region,
        slot: Word,
        further: Option<Word>,
        index: u32,
    ) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let mut at = slot;
        if region.shape.width > 1 {
            let width = self.word(region.shape.width);
            at = self.value(Op::IMul, uint, ids([at, width]))?;
        }
        if let Some(further) = further {
            at = self.value(Op::IAdd, uint, ids([at, further]))?;
        }
        if region.base + index > 0 {
            let first = self.word(region.base + index);
            at = self.value(Op::IAdd, uint, ids([at, first]))?;
        }
        let member = self.word(0);
        let pointer = self.builder.type_pointer(None, StorageClass::StorageBuffer, kind);
        self.value(Op::AccessChain, pointer, ids([variable, member, at]))
    }

    /// A value from the element that carries it. `OpBitcast` keeps every bit, so that no conversion is in the way.
    fn decode(&mut self, format: Format, element: Element, raw: Word) -> Result<Word, BuildError> {
        let kind = self.scalar(format);
        match (element, format) {
            (Element::U32, Format::F16) => {
                let halves = self.shape(HALVES);
                let pair = self.value(Op::Bitcast, halves, ids([raw]))?;
                self.component(HALVES, pair, 0)
            }
            (Element::U32, Format::Bool) => {
                let zero = self.word(0);
                self.value(Op::INotEqual, kind, ids([raw, zero]))
            }
            (Element::U32, Format::I32) => self.value(Op::Bitcast, kind, ids([raw])),
            _ => Ok(raw),
        }
    }

    /// The element that carries a value; the reverse of [`Emitter::decode`].
    fn encode(&mut self, format: Format, element: Element, value: Word) -> Result<Word, BuildError> {
        let kind = self.scalar(element.format());
        match (element, format) {
            (Element::U32, Format::F16) => {
                let zero = self.constant(Shape { format: Format::F16, width: 1 }, 0);
                let pair = self.compose(HALVES, &[value, zero])?;
                self.value(Op::Bitcast, kind, ids([pair]))
            }
            (Element::U32, Format::Bool) => {
                let (yes, no) = (self.word(1), self.word(0));
                self.value(Op::Select, kind, ids([value, yes, no]))
            }
            (Element::U32, Format::I32) => self.value(Op::Bitcast, kind, ids([value])),
            _ => Ok(value),
        }
    }
}
