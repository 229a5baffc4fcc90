//! What a set of controls adds to a module, whichever front end wrote it: extensions, capabilities,
//! execution modes and decorations.
//!
//! Sources: `SPV_KHR_float_controls`, `SPV_KHR_float_controls2`, SPIR-V 1.6 section 3.20
//! (decorations).

use std::collections::BTreeSet;

use rspirv::dr::{Builder, Instruction, Module, Operand};
use rspirv::spirv::{Capability, Decoration, ExecutionMode, GlslStd450Op, Op, Word};

use crate::build_error::BuildError;
use crate::controls::{Control, Controls};

/// Adds everything that the controls ask for.
///
/// Every control is added whether or not the module has a type it governs: a program carries its
/// recipe in every module, and a mode names a width, not a type. `FPFastMathDefault` alone names
/// types, so it is added for those there are.
pub(crate) fn apply(module: Module, controls: Controls) -> Result<Module, BuildError> {
    let entry = entry_point(&module)?;
    let mut builder = Builder::new_from_module(module);
    for control in controls.iter() {
        match control {
            Control::NoContract => no_contraction(&mut builder),
            Control::FastMath0 => fast_math_default(&mut builder, entry),
            _ => {
                if let Some(mode) = control.mode() {
                    require(&mut builder, mode.capability, mode.extension);
                    builder.execution_mode(entry, mode.mode, mode.width.as_slice());
                }
            }
        }
    }
    Ok(builder.module())
}

fn entry_point(module: &Module) -> Result<Word, BuildError> {
    module
        .entry_points
        .first()
        .and_then(|inst| inst.operands.get(1)?.id_ref_any())
        .ok_or(BuildError::NoEntryPoint)
}

/// Declares a capability and the extension it comes from, once each.
pub(crate) fn require(builder: &mut Builder, capability: Capability, extension: &str) {
    let module = builder.module_ref();
    let declared = |insts: &[Instruction], operand: Operand| {
        insts.iter().any(|inst| inst.operands == [operand.clone()])
    };
    let (known, extended) = (
        declared(&module.capabilities, Operand::Capability(capability)),
        extension.is_empty()
            || declared(&module.extensions, Operand::LiteralString(extension.to_owned())),
    );
    if !known {
        builder.capability(capability);
    }
    if !extended {
        builder.extension(extension);
    }
}

/// Mode None (0) allows nothing: neither contraction nor reassociation, and NaN, infinity and the
/// sign of zero count.
fn fast_math_default(builder: &mut Builder, entry: Word) {
    if let Some(mode) = Control::FastMath0.mode() {
        require(builder, mode.capability, mode.extension);
    }
    let globals = &builder.module_ref().types_global_values;
    let floats: Vec<Word> = globals
        .iter()
        .filter(|inst| inst.class.opcode == Op::TypeFloat)
        .filter_map(|inst| inst.result_id)
        .collect();
    let uint = builder.type_int(32, 0);
    let none = uint_zero(builder, uint);
    for float in floats {
        let operands = vec![
            Operand::IdRef(entry),
            Operand::ExecutionMode(ExecutionMode::FPFastMathDefault),
            Operand::IdRef(float),
            Operand::IdRef(none),
        ];
        builder.module_mut().execution_modes.push(Instruction::new(
            Op::ExecutionModeId,
            None,
            None,
            operands,
        ));
    }
}

fn uint_zero(builder: &mut Builder, uint: Word) -> Word {
    let is_zero = |inst: &&Instruction| {
        inst.class.opcode == Op::Constant
            && inst.result_type == Some(uint)
            && inst.operands == [Operand::LiteralBit32(0)]
    };
    let found = builder
        .module_ref()
        .types_global_values
        .iter()
        .find(is_zero)
        .and_then(|inst| inst.result_id);
    found.unwrap_or_else(|| builder.constant_bit32(uint, 0))
}

fn no_contraction(builder: &mut Builder) {
    let targets: Vec<Word> =
        arithmetic(builder.module_ref()).filter_map(|inst| inst.result_id).collect();
    for target in targets {
        builder.decorate(target, Decoration::NoContraction, []);
    }
}

/// The floating-point arithmetic instructions of a module's functions.
///
/// SPIR-V calls arithmetic what stands in its section "Arithmetic Instructions", whose opcodes are
/// consecutive; instructions of GLSL.std.450 count as well, but for those that pack or unpack,
/// which convert (theirs are consecutive, too).
pub(crate) fn arithmetic(module: &Module) -> impl Iterator<Item = &Instruction> {
    let floats = float_types(module);
    let glsl = module
        .ext_inst_imports
        .iter()
        .find(|inst| inst.operands == [Operand::LiteralString("GLSL.std.450".into())]);
    let glsl = glsl.and_then(|inst| inst.result_id);
    module.functions.iter().flat_map(rspirv::dr::Function::all_inst_iter).filter(move |inst| {
        let computes = match (inst.class.opcode, inst.operands.as_slice()) {
            (Op::ExtInst, [Operand::IdRef(set), Operand::LiteralExtInstInteger(number), ..]) => {
                let packing =
                    GlslStd450Op::PackSnorm4x8 as Word..=GlslStd450Op::UnpackDouble2x32 as Word;
                Some(*set) == glsl && !packing.contains(number)
            }
            (op, _) => (Op::SNegate as Word..=Op::SMulExtended as Word).contains(&(op as Word)),
        };
        computes && inst.result_type.is_some_and(|kind| floats.contains(&kind))
    })
}

/// Float scalars, vectors and matrices of them, and structures that begin with one: what
/// `ModfStruct` and `FrexpStruct` give.
fn float_types(module: &Module) -> BTreeSet<Word> {
    let mut floats = BTreeSet::new();
    for inst in &module.types_global_values {
        let of_floats = match (inst.class.opcode, inst.operands.first()) {
            (Op::TypeFloat, _) => true,
            (Op::TypeVector | Op::TypeMatrix | Op::TypeStruct, Some(Operand::IdRef(part))) => {
                floats.contains(part)
            }
            _ => false,
        };
        if of_floats {
            floats.extend(inst.result_id);
        }
    }
    floats
}
