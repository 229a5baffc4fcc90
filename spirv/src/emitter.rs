//! The emitter: rspirv's builder with the types, constants and values that kernels need.

use std::collections::BTreeMap;

use rspirv::dr::{Block, Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use crate::error::BuildError;
use crate::format::{FloatLayout, Format};
use crate::kernel::Shape;

/// Builds one module. Memory, image and operations extend it in files of their own.
pub(crate) struct Emitter {
    pub(crate) builder: Builder,
    constants: BTreeMap<(Word, Vec<u64>), Word>,
    glsl: Option<Word>,
}

/// Operands that are ids.
pub(crate) fn ids(ids: impl IntoIterator<Item = Word>) -> Vec<Operand> {
    ids.into_iter().map(Operand::IdRef).collect()
}

/// The encoding of 1.0.
pub(crate) fn one(layout: FloatLayout) -> u64 {
    u64::from(layout.bias().cast_unsigned()) << layout.fraction
}

impl Emitter {
    pub(crate) fn new() -> Emitter {
        Emitter { builder: Builder::new(), constants: BTreeMap::new(), glsl: None }
    }

    /// Type of a scalar. Packed texels travel in words; so do bools in memory, where they have no bit pattern (SPIR-V,
    /// `OpTypeBool`).
    pub(crate) fn scalar(&mut self, format: Format) -> Word {
        match format {
            Format::F16 | Format::F32 | Format::F64 => self.builder.type_float(format.bits(), None),
            Format::I32 => self.builder.type_int(32, 1),
            Format::U32 | Format::B10g11r11 => self.builder.type_int(32, 0),
            Format::Bool => self.builder.type_bool(),
        }
    }

    /// Type of a scalar or vector.
    pub(crate) fn shape(&mut self, shape: Shape) -> Word {
        let scalar = self.scalar(shape.format);
        if shape.width == 1 { scalar } else { self.builder.type_vector(scalar, shape.width) }
    }

    /// A constant with these bits in every component. Not for bool.
    pub(crate) fn constant(&mut self, shape: Shape, bits: u64) -> Word {
        let scalar = self.scalar(shape.format);
        let wide = shape.format.bits() > 32;
        let part = self.cached(scalar, vec![bits], |builder| {
            if wide { builder.constant_bit64(scalar, bits) } else { builder.constant_bit32(scalar, bits as u32) }
        });
        if shape.width == 1 {
            return part;
        }
        let vector = self.shape(shape);
        let parts = vec![part; shape.width as usize];
        self.cached(vector, vec![bits; shape.width as usize], |builder| builder.constant_composite(vector, parts))
    }

    /// An unsigned 32-bit constant.
    pub(crate) fn word(&mut self, value: u32) -> Word {
        self.constant(Shape { format: Format::U32, width: 1 }, u64::from(value))
    }

    fn cached(&mut self, kind: Word, bits: Vec<u64>, make: impl FnOnce(&mut Builder) -> Word) -> Word {
        *self.constants.entry((kind, bits)).or_insert_with(|| make(&mut self.builder))
    }

    /// The import of GLSL.std.450, made at its first use.
    pub(crate) fn glsl(&mut self) -> Word {
        let builder = &mut self.builder;
        *self.glsl.get_or_insert_with(|| builder.ext_inst_import("GLSL.std.450"))
    }

    /// Appends an instruction with a result of this type to the current block.
    pub(crate) fn value(&mut self, op: Op, kind: Word, operands: Vec<Operand>) -> Result<Word, BuildError> {
        let id = self.builder.id();
        self.builder.insert_into_block(InsertPoint::End, Instruction::new(op, Some(kind), Some(id), operands))?;
        Ok(id)
    }

    /// Label of the block that instructions go to.
    pub(crate) fn block(&self) -> Result<Word, BuildError> {
        let function =
            self.builder.selected_function().and_then(|index| self.builder.module_ref().functions.get(index));
        let block =
            function.zip(self.builder.selected_block()).and_then(|(function, index)| function.blocks.get(index));
        block.and_then(Block::label_id).ok_or(BuildError::Assemble(rspirv::dr::Error::MismatchedTerminator))
    }

    /// Puts components together; one component is its own value.
    pub(crate) fn compose(&mut self, shape: Shape, parts: &[Word]) -> Result<Word, BuildError> {
        if let [part] = parts {
            return Ok(*part);
        }
        let kind = self.shape(shape);
        self.value(Op::CompositeConstruct, kind, ids(parts.iter().copied()))
    }

    /// One component of a vector, or the scalar itself.
    pub(crate) fn component(&mut self, shape: Shape, value: Word, index: u32) -> Result<Word, BuildError> {
        if shape.width == 1 {
            return Ok(value);
        }
        let kind = self.scalar(shape.format);
        self.value(Op::CompositeExtract, kind, vec![Operand::IdRef(value), Operand::LiteralBit32(index)])
    }
}
