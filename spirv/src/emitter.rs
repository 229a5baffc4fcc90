//! The emitter: rspirv's builder with the types, constants and values that kernels need.

use std::collections::BTreeMap;

use rspirv::dr::{Block, Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use crate::build_error::BuildError;
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::constants::SpecialisationConstant;

/// Builds one module. Memory, image and operations extend it in files of their own.
pub(crate) struct Emitter {
    pub(crate) builder: Builder,
    constants: BTreeMap<(Word, Vec<u64>), Word>,
    /// Specialisation constants, as `module/folded.rs` declares them.
    pub(crate) specialised: BTreeMap<SpecialisationConstant, Word>,
    glsl: Option<Word>,
}

/// Operands that are ids.
pub(crate) fn ids(ids: impl IntoIterator<Item = Word>) -> Vec<Operand> {
    ids.into_iter().map(Operand::IdRef).collect()
}

/// The encoding of 1.0.
impl Emitter {
    pub(crate) fn new() -> Emitter {
        Emitter {
            builder: Builder::new(),
            constants: BTreeMap::new(),
            specialised: BTreeMap::new(),
            glsl: None,
        }
    }

    /// Type of a scalar. Packed texels travel in words; so do bools in memory, where they have no
    /// bit pattern (SPIR-V, `OpTypeBool`).
    pub(crate) fn scalar(&mut self, format: Format) -> Word {
        match format {
            _ if format.float().is_some() => {
                self.builder.type_float(format.bits(), format.float_encoding())
            }
            Format::I32 => self.builder.type_int(32, 1),
            Format::Bool => self.builder.type_bool(),
            _ => self.builder.type_int(32, 0),
        }
    }

    /// Type of a scalar, vector or matrix; of more vectors than a matrix has, an array.
    pub(crate) fn shape(&mut self, shape: Shape) -> Word {
        let Some((part, count)) = shape.parts() else { return self.scalar(shape.format) };
        let part = self.shape(part);
        match shape.columns {
            1 => self.builder.type_vector(part, count),
            2..=4 if shape.width > shape.columns => self.builder.type_matrix(part, count),
            _ => {
                let length = self.word(count);
                self.builder.type_array(part, length)
            }
        }
    }

    /// Type of what an instruction gives: a result, or a structure of two.
    pub(crate) fn structure(&mut self, results: &[Shape]) -> Word {
        let members: Vec<Word> = results.iter().map(|shape| self.shape(*shape)).collect();
        if let [only] = members[..] { only } else { self.builder.type_struct(members) }
    }

    /// A constant with these bits in every component.
    pub(crate) fn constant(&mut self, shape: Shape, bits: u64) -> Word {
        self.constants(shape, &vec![bits; shape.width as usize])
    }

    /// A constant of these components.
    pub(crate) fn constants(&mut self, shape: Shape, bits: &[u64]) -> Word {
        let kind = self.shape(shape);
        let Some((part, _)) = shape.parts() else {
            let value = bits.first().copied().unwrap_or_default();
            return self.cached(kind, vec![value], |builder| match shape.format {
                Format::Bool if value == 0 => builder.constant_false(kind),
                Format::Bool => builder.constant_true(kind),
                _ if shape.format.bits() > 32 => builder.constant_bit64(kind, value),
                _ => builder.constant_bit32(kind, value as u32),
            });
        };
        let parts: Vec<Word> =
            bits.chunks(part.width as usize).map(|bits| self.constants(part, bits)).collect();
        self.cached(kind, bits.to_vec(), |builder| builder.constant_composite(kind, parts))
    }

    /// An unsigned 32-bit constant.
    pub(crate) fn word(&mut self, value: u32) -> Word {
        self.constant(Shape::scalar(Format::U32), u64::from(value))
    }

    fn cached(
        &mut self,
        kind: Word,
        bits: Vec<u64>,
        make: impl FnOnce(&mut Builder) -> Word,
    ) -> Word {
        *self.constants.entry((kind, bits)).or_insert_with(|| make(&mut self.builder))
    }

    /// The import of GLSL.std.450, made at its first use.
    pub(crate) fn glsl(&mut self) -> Word {
        let builder = &mut self.builder;
        *self.glsl.get_or_insert_with(|| builder.ext_inst_import("GLSL.std.450"))
    }

    /// Appends an instruction with a result of this type to the current block.
    pub(crate) fn value(
        &mut self,
        op: Op,
        kind: Word,
        operands: Vec<Operand>,
    ) -> Result<Word, BuildError> {
        let id = self.builder.id();
        self.define(id, op, kind, operands)?;
        Ok(id)
    }

    /// Appends an instruction whose result has an id already, as what a loop carries must have.
    pub(crate) fn define(
        &mut self,
        id: Word,
        op: Op,
        kind: Word,
        operands: Vec<Operand>,
    ) -> Result<(), BuildError> {
        let instruction = Instruction::new(op, Some(kind), Some(id), operands);
        Ok(self.builder.insert_into_block(InsertPoint::End, instruction)?)
    }

    /// Label of the block that instructions go to.
    pub(crate) fn block(&self) -> Result<Word, BuildError> {
        let function = self
            .builder
            .selected_function()
            .and_then(|index| self.builder.module_ref().functions.get(index));
        let block = function
            .zip(self.builder.selected_block())
            .and_then(|(function, index)| function.blocks.get(index));
        block
            .and_then(Block::label_id)
            .ok_or(BuildError::Assemble(rspirv::dr::Error::MismatchedTerminator))
    }

    /// Puts components together; one component is its own value.
    pub(crate) fn compose(
        &mut self,
        shape: Shape,
        components: &[Word],
    ) -> Result<Word, BuildError> {
        let (part, [_, _, ..]) = (shape.parts().map_or(shape, |(part, _)| part), components) else {
            return Ok(components[0]);
        };
        let parts =
            components.chunks(part.width as usize).map(|components| self.compose(part, components));
        let parts = parts.collect::<Result<Vec<Word>, BuildError>>()?;
        let kind = self.shape(shape);
        self.value(Op::CompositeConstruct, kind, ids(parts))
    }

    /// One component of a vector or matrix, or the scalar itself.
    pub(crate) fn component(
        &mut self,
        shape: Shape,
        value: Word,
        index: u32,
    ) -> Result<Word, BuildError> {
        let Some((part, _)) = shape.parts() else { return Ok(value) };
        let kind = self.scalar(shape.format);
        let mut operands = vec![Operand::IdRef(value), Operand::LiteralBit32(index / part.width)];
        if part.width > 1 {
            operands.push(Operand::LiteralBit32(index % part.width));
        }
        self.value(Op::CompositeExtract, kind, operands)
    }

    /// The results that an instruction gave: its value, or the members of the structure.
    pub(crate) fn members(
        &mut self,
        results: &[Shape],
        value: Word,
    ) -> Result<Vec<Word>, BuildError> {
        if results.len() == 1 {
            return Ok(vec![value]);
        }
        let members = (0..).zip(results).map(|(index, shape)| {
            let kind = self.shape(*shape);
            self.value(
                Op::CompositeExtract,
                kind,
                vec![Operand::IdRef(value), Operand::LiteralBit32(index)],
            )
        });
        members.collect()
    }
}
