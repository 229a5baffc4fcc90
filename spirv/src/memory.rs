//! Storage buffers: declaring them, and moving the values of a region in and out bit by bit.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, Op, StorageClass, Word};

use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::modes;
use crate::plan::{Buffer, Direction, Element};

const HALVES: Shape = Shape::vector(Format::F16, 2);

impl Element {
    /// What the elements are in the shader.
    pub(crate) fn shape(self) -> Shape {
        match self {
            Element::F16 => Shape::scalar(Format::F16),
            Element::F32 => Shape::scalar(Format::F32),
            Element::F64 => Shape::scalar(Format::F64),
            Element::U32 | Element::Words => Shape::scalar(Format::U32),
        }
    }
}

impl Buffer {
    /// Name in a listing: `in_f32`, `out_u32`, `in_words`.
    pub(crate) fn name(&self) -> String {
        let direction = match self.direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        match self.element {
            Element::Words => format!("{direction}_words"),
            element => format!("{direction}_{}", element.shape().format),
        }
    }
}

impl Emitter {
    /// Declares a storage buffer: a block of one runtime array. Gives the variable.
    pub(crate) fn declare_buffer(&mut self, buffer: &Buffer) -> Word {
        let element = self.shape(buffer.element.shape());
        let builder = &mut self.builder;
        // Array and block carry decorations of their own, so each buffer has its own: a type shared
        // by deduplication would be decorated twice.
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

    /// A value from the element that carries it. `OpBitcast` keeps every bit, so that no conversion
    /// is in the way.
    pub(crate) fn decode(
        &mut self,
        format: Format,
        element: Element,
        raw: Word,
    ) -> Result<Word, BuildError> {
        let kind = self.scalar(format);
        match (element, format) {
            (Element::U32, Format::F16) => {
                let halves = self.shape(HALVES);
                let pair = self.value(Op::Bitcast, halves, ids([raw]))?;
                self.component(HALVES, pair, 0)
            }
            (Element::U32, _) if format.float_encoding().is_some() => {
                let integer = self.integer_of(format);
                let bits = self.value(Op::UConvert, integer, ids([raw]))?;
                self.value(Op::Bitcast, kind, ids([bits]))
            }
            (Element::U32, Format::Bool) => {
                let zero = self.word(0);
                self.value(Op::INotEqual, kind, ids([raw, zero]))
            }
            (Element::U32, Format::I32 | Format::F32) => self.value(Op::Bitcast, kind, ids([raw])),
            _ => Ok(raw),
        }
    }

    /// The element that carries a value; the reverse of [`Emitter::decode`].
    pub(crate) fn encode(
        &mut self,
        format: Format,
        element: Element,
        value: Word,
    ) -> Result<Word, BuildError> {
        let kind = self.shape(element.shape());
        match (element, format) {
            (Element::U32, Format::F16) => {
                let zero = self.constant(Shape::scalar(Format::F16), 0);
                let pair = self.compose(HALVES, &[value, zero])?;
                self.value(Op::Bitcast, kind, ids([pair]))
            }
            (Element::U32, _) if format.float_encoding().is_some() => {
                let integer = self.integer_of(format);
                let bits = self.value(Op::Bitcast, integer, ids([value]))?;
                self.value(Op::UConvert, kind, ids([bits]))
            }
            (Element::U32, Format::Bool) => {
                let (yes, no) = (self.word(1), self.word(0));
                self.value(Op::Select, kind, ids([value, yes, no]))
            }
            (Element::U32, Format::I32 | Format::F32) => {
                self.value(Op::Bitcast, kind, ids([value]))
            }
            _ => Ok(value),
        }
    }

    /// The integers that carry floats that are no IEEE 754's.
    fn integer_of(&mut self, format: Format) -> Word {
        let capability = if format.bits() == 8 { Capability::Int8 } else { Capability::Int16 };
        modes::require(&mut self.builder, capability, "");
        self.builder.type_int(format.bits(), 0)
    }
}
