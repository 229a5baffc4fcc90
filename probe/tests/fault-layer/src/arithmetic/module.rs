//! The module under rewriting: its types, constants and decorations, and new ids.

use fpprobe_spirv::Format;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Capability, Decoration, Op, Word};

/// A module, and the instructions of the block that is being written.
pub struct Rewriter {
    pub(super) module: Module,
    pub(super) call: u64,
    pub(super) out: Vec<Instruction>,
    next: Word,
}

/// Operands that are ids.
pub fn ids(ids: impl IntoIterator<Item = Word>) -> Vec<Operand> {
    ids.into_iter().map(Operand::IdRef).collect()
}

impl Rewriter {
    pub fn new(module: Module, call: u64) -> Rewriter {
        let next = module.header.as_ref().map_or(1, |header| header.bound);
        Rewriter { module, call, out: Vec::new(), next }
    }

    /// The module with its new bound.
    pub fn finish(mut self) -> Module {
        if let Some(header) = &mut self.module.header {
            header.bound = self.next;
        }
        self.module
    }

    pub fn id(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    /// A type or constant: the one there is, for SPIR-V forbids two alike types (section 2.8).
    fn global(&mut self, op: Op, kind: Option<Word>, operands: Vec<Operand>) -> Word {
        let globals = &self.module.types_global_values;
        let same = |inst: &&Instruction| {
            inst.class.opcode == op && inst.result_type == kind && inst.operands == operands
        };
        if let Some(id) = globals.iter().find(same).and_then(|inst| inst.result_id) {
            return id;
        }
        let id = self.id();
        self.module.types_global_values.push(Instruction::new(op, kind, Some(id), operands));
        id
    }

    fn capability(&mut self, capability: Capability) {
        let operands = vec![Operand::Capability(capability)];
        if self.module.capabilities.iter().all(|inst| inst.operands != operands) {
            self.module.capabilities.push(Instruction::new(Op::Capability, None, None, operands));
        }
    }

    /// The set of extended instructions that kernels use.
    pub fn glsl(&mut self) -> Word {
        if let Some(id) = glsl_set(&self.module) {
            return id;
        }
        let id = self.id();
        let name = vec![Operand::LiteralString(GLSL.to_owned())];
        self.module.ext_inst_imports.push(Instruction::new(
            Op::ExtInstImport,
            None,
            Some(id),
            name,
        ));
        id
    }

    pub fn int(&mut self, width: u32, signed: u32) -> Word {
        let capability = match width {
            8 => Some(Capability::Int8),
            16 => Some(Capability::Int16),
            64 => Some(Capability::Int64),
            _ => None,
        };
        if let Some(capability) = capability {
            self.capability(capability);
        }
        self.global(Op::TypeInt, None, [width, signed].map(Operand::LiteralBit32).to_vec())
    }

    /// Type of a component.
    pub fn scalar(&mut self, format: Format) -> Word {
        match format {
            Format::Bool => self.global(Op::TypeBool, None, Vec::new()),
            Format::I32 => self.int(32, 1),
            _ if format.float().is_some() => {
                if format == Format::F64 {
                    self.capability(Capability::Float64);
                }
                let encoding = format.float_encoding().map(Operand::FPEncoding);
                let width = Operand::LiteralBit32(format.bits());
                self.global(Op::TypeFloat, None, [width].into_iter().chain(encoding).collect())
            }
            _ => self.int(32, 0),
        }
    }

    pub fn vector(&mut self, format: Format, count: u32) -> Word {
        let scalar = self.scalar(format);
        if count == 1 {
            return scalar;
        }
        self.global(
            Op::TypeVector,
            None,
            vec![Operand::IdRef(scalar), Operand::LiteralBit32(count)],
        )
    }

    pub fn matrix(&mut self, column: Word, columns: u32) -> Word {
        self.global(
            Op::TypeMatrix,
            None,
            vec![Operand::IdRef(column), Operand::LiteralBit32(columns)],
        )
    }

    pub fn literal(&mut self, kind: Word, format: Format, bits: u64) -> Word {
        let literal = if format == Format::F64 {
            Operand::LiteralBit64(bits)
        } else {
            Operand::LiteralBit32(bits as u32)
        };
        self.global(Op::Constant, Some(kind), vec![literal])
    }

    /// A constant of a float type itself, the same in every component.
    pub fn float_constant(&mut self, format: Format, count: u32, bits: u64) -> Word {
        let kind = self.scalar(format);
        let part = self.literal(kind, format, bits);
        if count == 1 {
            return part;
        }
        let kind = self.vector(format, count);
        self.global(Op::ConstantComposite, Some(kind), ids(vec![part; count as usize]))
    }

    /// Appends an instruction with a result.
    pub fn emit(&mut self, op: Op, kind: Word, operands: Vec<Operand>) -> Word {
        let id = self.id();
        self.out.push(Instruction::new(op, Some(kind), Some(id), operands));
        id
    }

    /// Decorates a value that nothing may contract.
    pub fn exact(&mut self, id: Word) -> Word {
        let operands = vec![Operand::IdRef(id), Operand::Decoration(Decoration::NoContraction)];
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
        id
    }

    /// Lets decorations of one id speak of another.
    pub fn redecorate(&mut self, old: Word, new: Word) {
        for inst in &mut self.module.annotations {
            if inst.operands.first() == Some(&Operand::IdRef(old)) {
                inst.operands[0] = Operand::IdRef(new);
            }
        }
    }

    /// Takes `NoContraction` off a value. Gives whether it was there.
    pub fn contract(&mut self, id: Word) -> bool {
        let operands = [Operand::IdRef(id), Operand::Decoration(Decoration::NoContraction)];
        let before = self.module.annotations.len();
        self.module.annotations.retain(|inst| inst.operands != operands);
        self.module.annotations.len() < before
    }
}

const GLSL: &str = "GLSL.std.450";

/// The id of the set of extended instructions that kernels use.
pub fn glsl_set(module: &Module) -> Option<Word> {
    let name = [Operand::LiteralString(GLSL.to_owned())];
    module
        .ext_inst_imports
        .iter()
        .find(|inst| inst.operands == name)
        .and_then(|inst| inst.result_id)
}
