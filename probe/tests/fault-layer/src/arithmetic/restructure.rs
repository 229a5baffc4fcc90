//! What changes instructions before anything is put around them: copies to hold on to, fused and
//! split operations.

use std::collections::{HashMap, HashSet};

use fpprobe_spirv::op::Code;
use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{GlslStd450Op as GLOp, Op, Word};

use super::fault::{Fault, Operation, Verb};
use super::instruction::chooses;
use super::module::{Rewriter, ids};
use super::origins::Origins;
use super::place::Places;

impl Rewriter {
    /// Gives the kernels of `load_store` that share their loads and store with others an
    /// instruction: a copy, in the block that is otherwise empty, of what the phi behind it
    /// takes from there.
    pub fn hold_on(
        &mut self,
        faults: &[Fault],
        places: &Places,
        functions: &mut [Function],
    ) -> bool {
        let mut copies: HashMap<Word, Word> = HashMap::new();
        for function in &mut *functions {
            let kernels = places.kernels(&function.blocks);
            for (block, kernel) in function.blocks.iter_mut().zip(kernels) {
                let Some(operation) = kernel.filter(|(_, op)| op.code == Code::LoadStore) else {
                    continue;
                };
                let ([_branch], Some(label)) = (block.instructions.as_slice(), block.label_id())
                else {
                    continue;
                };
                let expected = |fault: &&Fault| !matches!(fault.verb, Verb::Flush { .. });
                if faults.iter().filter(expected).any(|fault| chooses(fault, operation, kernel)) {
                    copies.insert(label, self.id());
                }
            }
        }
        // Of what else the row might have given, a kernel gives a constant.
        let constants: HashSet<Word> =
            self.module.types_global_values.iter().filter_map(|inst| inst.result_id).collect();
        let mut made: Vec<(Word, Instruction)> = Vec::new();
        for inst in functions
            .iter_mut()
            .flat_map(Function::all_inst_iter_mut)
            .filter(|i| i.class.opcode == Op::Phi)
        {
            for pair in inst.operands.chunks_exact_mut(2) {
                let [Operand::IdRef(value), Operand::IdRef(from)] = pair else { continue };
                let Some(copy) = copies.get(from).filter(|_| !constants.contains(value)) else {
                    continue;
                };
                made.push((
                    *from,
                    Instruction::new(Op::CopyObject, inst.result_type, Some(*copy), ids([*value])),
                ));
                pair[0] = Operand::IdRef(*copy);
            }
        }
        let changed = !made.is_empty();
        for (label, copy) in made {
            let mut blocks = functions.iter_mut().flat_map(|function| &mut function.blocks);
            if let Some(block) = blocks.find(|block| block.label_id() == Some(label)) {
                block.instructions.insert(0, copy);
            }
        }
        changed
    }

    /// `fuse` and `split`.
    pub fn regroup(
        &mut self,
        faults: &[Fault],
        places: &Places,
        functions: &mut [Function],
    ) -> bool {
        let expected: Vec<&Fault> = faults.iter().filter(|fault| fault.verb.regroups()).collect();
        if expected.is_empty() {
            return false;
        }
        let origins = Origins::new(functions);
        let mut changed = false;
        for function in functions {
            let kernels = places.kernels(&function.blocks);
            for (block, kernel) in function.blocks.iter_mut().zip(kernels) {
                for inst in std::mem::take(&mut block.instructions) {
                    if let Some(split) = self.not_atomic(&inst, kernel, &expected) {
                        changed = true;
                        block.instructions.extend(split);
                        continue;
                    }
                    let found = places.find(&inst, kernel);
                    let chosen = |verb: &Verb| {
                        found.as_ref().is_some_and(|found| {
                            expected
                                .iter()
                                .any(|f| f.verb == *verb && chooses(f, found.operation, kernel))
                        })
                    };
                    let new = if chosen(&Verb::Fuse) {
                        self.fused(&inst, &origins, places)
                    } else if chosen(&Verb::Drop) {
                        origins.dropped(&inst, places)
                    } else if chosen(&Verb::Split) {
                        self.split_up(&inst, places)
                    } else {
                        None
                    };
                    changed |= new.is_some();
                    block.instructions.extend(new.unwrap_or_else(|| vec![inst]));
                }
            }
        }
        changed
    }

    /// A split atomic operation: a load, the operation, and a store.
    fn not_atomic(
        &mut self,
        atomic: &Instruction,
        kernel: Option<Operation>,
        expected: &[&Fault],
    ) -> Option<Vec<Instruction>> {
        let operation = kernel?;
        let own = matches!(operation.1.code, Code::Atomic(code, _) if code == atomic.class.opcode);
        let is_split =
            |fault: &&Fault| fault.verb == Verb::Split && chooses(fault, operation, kernel);
        if !own || !expected.iter().any(is_split) {
            return None;
        }
        let (kind, original, stored) = (atomic.result_type?, atomic.result_id?, self.id());
        let [pointer, scope, semantics, value] =
            <[Operand; 4]>::try_from(atomic.operands.clone()).ok()?;
        let extended = |op: GLOp, set| {
            let operands = vec![
                Operand::IdRef(set),
                Operand::LiteralExtInstInteger(op as Word),
                Operand::IdRef(original),
                value.clone(),
            ];
            (Op::ExtInst, operands)
        };
        let (op, operands) = match atomic.class.opcode {
            Op::AtomicFAddEXT => (Op::FAdd, vec![Operand::IdRef(original), value.clone()]),
            Op::AtomicFMinEXT => extended(GLOp::NMin, self.glsl()),
            Op::AtomicFMaxEXT => extended(GLOp::NMax, self.glsl()),
            _ => return None,
        };
        let place = vec![pointer, scope, semantics];
        let store = place.iter().cloned().chain([Operand::IdRef(stored)]).collect();
        Some(vec![
            Instruction::new(Op::AtomicLoad, Some(kind), Some(original), place),
            Instruction::new(op, Some(kind), Some(stored), operands),
            Instruction::new(Op::AtomicStore, None, None, store),
        ])
    }

    /// A quotient as a product with the reciprocal.
    fn split_up(&mut self, quotient: &Instruction, places: &Places) -> Option<Vec<Instruction>> {
        if quotient.class.opcode != Op::FDiv {
            return None;
        }
        let (kind, result) = (quotient.result_type?, quotient.result_id?);
        let (x, y) =
            (quotient.operands.first()?.id_ref_any()?, quotient.operands.get(1)?.id_ref_any()?);
        let view = places.view(result)?;
        let layout = view.format.float()?;
        let one = u64::from(layout.bias().cast_unsigned()) << layout.fraction;
        let (one, reciprocal) = (self.float_constant(view.format, view.count, one), self.id());
        if self.contract(result) {
            self.exact(result);
            self.exact(reciprocal);
        }
        let new = |op, id, operands| Instruction::new(op, Some(kind), Some(id), ids(operands));
        Some(vec![new(Op::FDiv, reciprocal, [one, y]), new(Op::FMul, result, [x, reciprocal])])
    }
}
