//! Which operation of fpprobe's table an instruction is, and within which kernel it stands.

use std::collections::{HashMap, HashSet};

use fpprobe_spirv::op::{Code, Function as Of, Inst};
use fpprobe_spirv::{AtomicForm, Format, OPS, Op};
use rspirv::dr::{Block, Function, Instruction, Module, Operand};
use rspirv::spirv::{Decoration, ExecutionMode, Op as SpvOp, Word};

use super::bits::View;
use super::fault::Operation;
use super::module::glsl_set;
use crate::kernels::parts;

/// What the ids of a module mean.
pub struct Places {
    views: HashMap<Word, View>,
    types: HashMap<Word, Word>,
    kernels: HashMap<Word, Operation>,
    /// Results that are decorated to saturate.
    saturated: HashSet<Word>,
    glsl: Option<Word>,
}

/// An instruction that is an operation.
pub struct Found {
    pub operation: Operation,
    /// Which of its operands are the operation's, and how they are made.
    pub args: Vec<(usize, View)>,
    /// How its result, or what it writes, is made; `None` for two results in a structure.
    pub result: Option<View>,
}

/// Whether an operation leaves bits alone; its instruction is then one that other code uses, too.
pub fn moves(op: &Op) -> bool {
    matches!(op.function, Of::Move | Of::Choose)
}

/// The operation that an atomic one becomes where it is split.
pub fn split_into(op: &Op) -> Option<&'static str> {
    match op.code {
        Code::Atomic(SpvOp::AtomicFAddEXT, _) => Some("fadd"),
        Code::Atomic(SpvOp::AtomicFMinEXT, _) => Some("nmin"),
        Code::Atomic(SpvOp::AtomicFMaxEXT, _) => Some("nmax"),
        _ => None,
    }
}

/// Whether an operation is the driver's conversion from or to a texel.
pub fn image(op: &Op) -> bool {
    matches!(op.function, Of::Store | Of::Load)
}

impl Places {
    pub fn new(module: &Module, functions: &[Function]) -> Places {
        let all =
            functions.iter().flat_map(Function::all_inst_iter).chain(&module.types_global_values);
        let types = all.filter_map(|inst| inst.result_id.zip(inst.result_type)).collect();
        let mut views: HashMap<Word, View> = HashMap::new();
        for inst in &module.types_global_values {
            let scalar = |format| Some(View { format, count: 1, columns: 1, packed: None });
            let view = match (inst.class.opcode, inst.operands.as_slice()) {
                (SpvOp::TypeBool, _) => scalar(Format::Bool),
                (SpvOp::TypeInt, [Operand::LiteralBit32(32), Operand::LiteralBit32(0)]) => {
                    scalar(Format::U32)
                }
                (SpvOp::TypeInt, [Operand::LiteralBit32(32), _]) => scalar(Format::I32),
                (SpvOp::TypeFloat, [Operand::LiteralBit32(width)]) => {
                    Format::of_float_type(*width, None).and_then(scalar)
                }
                (SpvOp::TypeFloat, [Operand::LiteralBit32(width), Operand::FPEncoding(own)]) => {
                    Format::of_float_type(*width, Some(*own)).and_then(scalar)
                }
                (SpvOp::TypeVector, [Operand::IdRef(part), Operand::LiteralBit32(count)]) => {
                    views.get(part).map(|view| View { count: *count, ..*view })
                }
                (SpvOp::TypeMatrix, [Operand::IdRef(column), Operand::LiteralBit32(columns)]) => {
                    views.get(column).map(|view| View {
                        count: view.count * columns,
                        columns: *columns,
                        ..*view
                    })
                }
                _ => None,
            };
            views.extend(inst.result_id.zip(view));
        }
        let kernels = module.debug_names.iter().filter_map(named).collect();
        let saturated = module.annotations.iter().filter_map(saturates).collect();
        Places { views, types, kernels, saturated, glsl: glsl_set(module) }
    }

    /// How a value is made; `None` for pointers, images and the like.
    pub fn view(&self, value: Word) -> Option<View> {
        self.views.get(self.types.get(&value)?).copied()
    }

    /// The types of single numbers.
    pub fn scalars(&self) -> impl Iterator<Item = (Word, Format)> {
        let scalars = self.views.iter().filter(|(_, view)| view.count == 1);
        scalars.map(|(kind, view)| (*kind, view.format))
    }

    /// The kernel that each block of a function belongs to: from the block of its name to where the
    /// construct around that block merges.
    pub fn kernels(&self, blocks: &[Block]) -> Vec<Option<Operation>> {
        let mut merges: HashSet<Word> = HashSet::new();
        let mut ends: HashSet<Word> = HashSet::new();
        let mut current = None;
        let mut kernels = Vec::new();
        for block in blocks {
            let label = block.label_id();
            if let Some(kernel) = label.and_then(|label| self.kernels.get(&label)) {
                (current, ends) = (Some(*kernel), merges.clone());
            } else if label.is_some_and(|label| ends.contains(&label)) {
                current = None;
            }
            kernels.push(current);
            let merge =
                block.instructions.iter().find(|inst| inst.class.opcode == SpvOp::SelectionMerge);
            merges.extend(merge.and_then(|inst| inst.operands.first()?.id_ref_any()));
        }
        kernels
    }

    /// The operation that an instruction is, in the code of a kernel.
    pub fn find(&self, inst: &Instruction, kernel: Option<Operation>) -> Option<Found> {
        if let Some((format, op)) = kernel.filter(|(_, op)| moves(op)) {
            let opcodes: &[SpvOp] = match op.code {
                // Alone it is the load, or what makes a float of the word; in company a copy made
                // for it.
                Code::LoadStore => {
                    &[SpvOp::Load, SpvOp::CompositeExtract, SpvOp::Bitcast, SpvOp::CopyObject]
                }
                Code::Phi | Code::PhiConstants => &[SpvOp::Phi],
                Code::SelectConstants => &[SpvOp::Select],
                Code::Shuffle => &[SpvOp::CompositeExtract],
                Code::Inst(Inst::Core(ref code)) | Code::Atomic(ref code, AtomicForm::Original) => {
                    std::slice::from_ref(code)
                }
                Code::Interpolated(_) => &[SpvOp::Load],
                Code::Atomic(SpvOp::AtomicStore, _) => &[SpvOp::Load, SpvOp::AtomicLoad],
                Code::Atomic(..) => &[SpvOp::AtomicLoad],
                _ => &[],
            };
            let result = self.view(inst.result_id?)?;
            let is = opcodes.contains(&inst.class.opcode)
                && result.format == op.result.format.unwrap_or(format);
            // Two halves made of a word are not the value yet.
            let is = is
                && (inst.class.opcode != SpvOp::Bitcast
                    || result.count == 1
                    || op.code != Code::LoadStore);
            return is.then(|| Found {
                operation: (format, op),
                args: Vec::new(),
                result: Some(result),
            });
        }
        if let Some((format, op)) = kernel.filter(|(_, op)| image(op)) {
            // The operands of a write begin with the vector; a read has none but the texel.
            let texel = |id: Option<Word>| {
                id.and_then(|id| self.view(id)).is_some_and(|view| view.count == 4)
            };
            let stored = || inst.operands.get(1).and_then(Operand::id_ref_any);
            let first = match (op.code, inst.class.opcode) {
                (_, SpvOp::ImageWrite) => 2,
                // An attachment; of depths it is a single number.
                (Code::ImageWrite | Code::DepthClamp | Code::Blend(_), SpvOp::Store)
                    if texel(stored()) || format.is_depth() =>
                {
                    1
                }
                (_, SpvOp::ImageRead | SpvOp::ImageFetch | SpvOp::ImageSampleExplicitLod) => {
                    inst.operands.len()
                }
                // An attribute.
                (Code::ImageRead, SpvOp::Load) if texel(inst.result_id) => inst.operands.len(),
                _ => return None,
            };
            return self
                .fitting(op, inst, first)
                .map(|found| Found { operation: (format, op), ..found });
        }
        // The instruction is that of several operations, or one of several invocations; what it
        // takes is the value of one.
        let held_at = |(_, op): Operation| match op.code {
            Code::Subgroup(code, _) if code == inst.class.opcode => Some(2),
            Code::Derivative(code) if code == inst.class.opcode => Some(0),
            _ => None,
        };
        if let Some((operation, at)) = kernel.and_then(|own| Some((own, held_at(own)?))) {
            let held =
                inst.operands.get(at).and_then(Operand::id_ref_any).and_then(|id| self.view(id));
            let result = self.view(inst.result_id?)?;
            return Some(Found {
                operation,
                args: held.map(|view| (at, view)).into_iter().collect(),
                result: Some(result),
            });
        }
        // What memory holds afterwards, which the instruction does not return.
        let stores = |(_, op): &Operation| matches!(op.code, Code::Atomic(..));
        if let Some(operation) =
            kernel.filter(stores).filter(|_| inst.class.opcode == SpvOp::AtomicLoad)
        {
            let result = Some(self.view(inst.result_id?)?);
            return Some(Found { operation, args: Vec::new(), result });
        }
        OPS.iter().filter(|op| !moves(op)).find_map(|op| {
            let saturates = self.saturates(inst);
            let first = match (op.code, inst.class.opcode, inst.operands.as_slice()) {
                (Code::Inst(Inst::Core(code)), opcode, _) if code == opcode && !saturates => 0,
                (Code::Inst(Inst::Saturated(code)), opcode, _) if code == opcode && saturates => 0,
                (
                    Code::Inst(Inst::Ext(code)),
                    SpvOp::ExtInst,
                    [Operand::IdRef(set), Operand::LiteralExtInstInteger(number), ..],
                ) if Some(*set) == self.glsl && *number == code as Word => 2,
                _ => return None,
            };
            self.fitting(op, inst, first)
        })
    }

    /// Whether the result of an instruction is decorated to saturate.
    pub fn saturates(&self, inst: &Instruction) -> bool {
        inst.result_id.is_some_and(|result| self.saturated.contains(&result))
    }

    /// The instruction as this operation, if operands and result are of a format that the operation
    /// exists for.
    fn fitting(&self, op: &'static Op, inst: &Instruction, first: usize) -> Option<Found> {
        let args: Vec<(usize, View)> = (first..inst.operands.len())
            .filter_map(|at| Some((at, self.view(inst.operands[at].id_ref_any()?)?)))
            .collect();
        let result = match inst.result_id {
            Some(_) if op.second.is_some() => None,
            Some(id) => Some(self.view(id)?),
            None => Some(args.first()?.1),
        };
        let format = *op.formats.iter().find(|own| {
            let is = |operand: &fpprobe_spirv::op::OperandType, view: &View| {
                view.format == operand.format.unwrap_or(**own) || !own.channels().is_empty()
            };
            // The texel that is blended with is none of the shader's.
            let given = op.params.len() - usize::from(op.code.is_blended());
            let params = args.len() == given
                && op.params.iter().zip(&args).all(|(own, (_, view))| is(own, view));
            (params || op.function == Of::Load)
                && result.is_none_or(|result| is(&op.result, &result))
        })?;
        let result = if matches!(op.function, Of::PackHalf | Of::PackNorm { .. }) {
            fields(op)
        } else {
            result
        };
        let packed =
            fields(op).filter(|_| matches!(op.function, Of::UnpackHalf | Of::UnpackNorm { .. }));
        let args = args.into_iter().map(|(at, view)| (at, packed.unwrap_or(view))).collect();
        Some(Found { operation: (format, op), args, result })
    }
}

/// What a decoration makes saturate.
fn saturates(inst: &Instruction) -> Option<Word> {
    match inst.operands[..] {
        [
            Operand::IdRef(id),
            Operand::Decoration(Decoration::SaturatedToLargestFloat8NormalConversionEXT),
        ] => Some(id),
        _ => None,
    }
}

/// The fields of a word that an operation packs or unpacks: halves, or bits that stand for a
/// number.
fn fields(op: &Op) -> Option<View> {
    let (format, bits) = match op.function {
        Of::PackHalf | Of::UnpackHalf => (Format::F16, 16),
        Of::PackNorm { bits, .. } | Of::UnpackNorm { bits, .. } => (Format::U32, bits),
        _ => return None,
    };
    Some(View { format, count: 32 / bits, columns: 1, packed: Some(bits) })
}

/// What the labels of a module's kernels have after their stems, and its local size.
pub fn ways(module: &Module) -> HashSet<String> {
    let local = module.execution_modes.iter().find_map(|inst| match inst.operands[..] {
        [_, Operand::ExecutionMode(ExecutionMode::LocalSize), Operand::LiteralBit32(size), ..] => {
            Some(size)
        }
        _ => None,
    });
    let labels = module.debug_names.iter().filter(|inst| named(inst).is_some());
    let names = labels.filter_map(|inst| match inst.operands.get(1) {
        Some(Operand::LiteralString(name)) => Some(name),
        _ => None,
    });
    names
        .flat_map(|name| parts(name).1)
        .map(str::to_owned)
        .chain(local.map(|size| format!("local{size}")))
        .collect()
}

/// The label that a name marks as a kernel's.
fn named(inst: &Instruction) -> Option<(Word, Operation)> {
    let [Operand::IdRef(id), Operand::LiteralString(name)] = inst.operands.as_slice() else {
        return None;
    };
    let (format, op) = parts(name).0.split_once('.')?;
    let (format, op) =
        (Format::ALL.into_iter().find(|known| known.name() == format)?, Op::find(op)?);
    op.formats.contains(&format).then_some((*id, (format, op)))
}
