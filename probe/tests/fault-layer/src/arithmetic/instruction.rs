//! One instruction, between what goes before it and what comes after.

use fpprobe_spirv::op::Function;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::bits::{Bits, View};
use super::conditions::Scene;
use super::fault::{Fault, Operation, Sign, Verb};
use super::module::{Rewriter, ids};
use super::place::{Found, Places, image, moves};
use super::round::Rounded;

/// Whether a fault is about an operation in the code of a kernel.
pub fn chooses(fault: &Fault, operation: Operation, kernel: Option<Operation>) -> bool {
    fault.operations.contains(&operation)
        && (fault.at.is_empty() || kernel.is_some_and(|kernel| fault.at.contains(&kernel)))
}

/// What becomes of subnormals of these components; the last statement has the last word.
fn flushing(faults: &[&Fault], of_operands: bool, view: View) -> Option<Sign> {
    faults.iter().rev().find_map(|fault| match fault.verb {
        Verb::Flush { format, operands, flush }
            if operands == of_operands && format == view.format =>
        {
            Some(flush)
        }
        _ => None,
    })?
}

impl Rewriter {
    /// Does the faults to every instruction they choose. Gives whether there was one.
    pub fn apply(&mut self, faults: &[Fault]) -> Result<bool, String> {
        let mut functions = std::mem::take(&mut self.module.functions);
        let places = Places::new(&self.module, &functions);
        let mut changed = self.hold_on(faults, &places, &mut functions);
        changed |= self.regroup(faults, &places, &mut functions);
        let places = if changed { Places::new(&self.module, &functions) } else { places };
        for function in &mut functions {
            let kernels = places.kernels(&function.blocks);
            for (block, kernel) in function.blocks.iter_mut().zip(kernels) {
                for inst in std::mem::take(&mut block.instructions) {
                    let Some(found) = places.find(&inst, kernel) else {
                        self.out.push(inst);
                        continue;
                    };
                    let own: Vec<&Fault> = faults
                        .iter()
                        .filter(|fault| {
                            chooses(fault, found.operation, kernel) && found.concerns(fault)
                        })
                        .collect();
                    let (format, op) = found.operation;
                    changed |= self
                        .around(inst, &found, &own)
                        .map_err(|error| format!("{format}.{}: {error}", op.name))?;
                }
                block.instructions = std::mem::take(&mut self.out);
            }
        }
        self.module.functions = functions;
        Ok(changed)
    }

    /// Appends an instruction with the faults around it. Gives whether there is anything around it.
    fn around(
        &mut self,
        mut inst: Instruction,
        found: &Found,
        faults: &[&Fault],
    ) -> Result<bool, String> {
        if !found.struck(faults) {
            self.out.push(inst);
            return Ok(false);
        }
        let mut given = Vec::new();
        for (at, view) in &found.args {
            let value = inst.operands[*at].id_ref_any().ok_or("an operand is no id")?;
            given.push(self.split(value, *view));
        }
        let used = self.before(&mut inst, found, faults, &given)?;
        self.after(inst, found, faults, given, &used)?;
        Ok(true)
    }

    /// What an instruction's operands become: its components as used.
    fn before(
        &mut self,
        inst: &mut Instruction,
        found: &Found,
        faults: &[&Fault],
        given: &[Vec<Bits>],
    ) -> Result<Vec<Vec<Bits>>, String> {
        let mut used = given.to_vec();
        for (place, (at, view)) in found.args.iter().enumerate() {
            let parts = &mut used[place];
            self.flush(parts, flushing(faults, true, *view))?;
            for fault in faults {
                let Some(new) = fault.verb.passed(place) else { continue };
                for (index, part) in parts.iter_mut().enumerate() {
                    let scene = Scene { operands: component(given, index), result: None };
                    *part = self.replaced(*part, new, &fault.when, &scene)?;
                }
            }
            // What is written has no result, so that it is the operand that is given.
            if inst.result_id.is_none() {
                self.give(parts, given, faults)?;
            }
            if *parts != given[place] {
                inst.operands[*at] = Operand::IdRef(self.join(parts, *view));
            }
        }
        Ok(used)
    }

    /// Appends an instruction and what becomes of its result.
    fn after(
        &mut self,
        mut inst: Instruction,
        found: &Found,
        faults: &[&Fault],
        mut given: Vec<Vec<Bits>>,
        used: &[Vec<Bits>],
    ) -> Result<(), String> {
        let sign = found.result.and_then(|view| flushing(faults, false, view));
        let renewed =
            faults.iter().any(|fault| matches!(fault.verb, Verb::Give(_) | Verb::Round(_)));
        let (Some(result), Some(view), true) =
            (inst.result_id, found.result, sign.is_some() || renewed)
        else {
            self.out.push(inst);
            return Ok(());
        };
        // The id that the program uses becomes the last one's; what decorates the instruction stays
        // with it.
        let kind = inst.result_type;
        let inner = self.id();
        self.redecorate(result, inner);
        inst.result_id = Some(inner);
        self.out.push(inst);
        let mut parts = self.split(inner, view);
        if moves(found.operation.1) {
            given = vec![parts.clone()];
        }
        for fault in faults {
            let Verb::Round(direction) = fault.verb else { continue };
            for (index, part) in parts.iter_mut().enumerate() {
                let of = Rounded { operation: found.operation, component: index };
                let from = operands_of(found.operation.1.function, used, index);
                *part = self.rounded(direction, of, &from, *part)?;
            }
        }
        self.flush(&mut parts, sign)?;
        self.give(&mut parts, &given, faults)?;
        let value = self.join(&parts, view);
        self.out.push(Instruction::new(Op::CopyObject, kind, Some(result), ids([value])));
        Ok(())
    }

    fn flush(&mut self, parts: &mut [Bits], sign: Option<Sign>) -> Result<(), String> {
        let Some(sign) = sign else { return Ok(()) };
        for part in parts {
            *part = self.flushed(*part, sign)?;
        }
        Ok(())
    }

    /// The components as `give` has them.
    fn give(
        &mut self,
        parts: &mut [Bits],
        operands: &[Vec<Bits>],
        faults: &[&Fault],
    ) -> Result<(), String> {
        for fault in faults {
            let Verb::Give(new) = &fault.verb else { continue };
            for (index, part) in parts.iter_mut().enumerate() {
                let scene = Scene { operands: component(operands, index), result: Some(*part) };
                *part = self.replaced(*part, new, &fault.when, &scene)?;
            }
        }
        Ok(())
    }
}

/// What a component of a result comes of: of an outer product, column by column, a component of the
/// first vector and one of the second.
fn operands_of(function: Function, operands: &[Vec<Bits>], index: usize) -> Vec<Bits> {
    match (function, operands) {
        (Function::OuterProduct, [rows, columns]) => {
            vec![rows[index % rows.len()], columns[index / rows.len()]]
        }
        _ => component(operands, index),
    }
}

/// One component of each operand.
fn component(operands: &[Vec<Bits>], index: usize) -> Vec<Bits> {
    operands.iter().filter_map(|parts| parts.get(index).or(parts.first())).copied().collect()
}

impl Found {
    /// Whether a fault that chooses the operation is about this instruction as it stands.
    fn concerns(&self, fault: &Fault) -> bool {
        match fault.verb {
            // What moves bits, image stores and loads among it, leaves subnormals alone.
            Verb::Flush { .. } => {
                let op = self.operation.1;
                !moves(op) && !image(op) && op.function != Function::Transpose
            }
            Verb::Fuse | Verb::Drop | Verb::Split => false,
            Verb::Give(_) | Verb::Round(_) => self.result.is_some(),
            Verb::Pass(..) => true,
        }
    }

    /// Whether these faults leave anything to be done.
    fn struck(&self, faults: &[&Fault]) -> bool {
        faults.iter().any(|fault| !matches!(fault.verb, Verb::Flush { .. }))
            || self.args.iter().any(|(_, view)| flushing(faults, true, *view).is_some())
            || self.result.is_some_and(|view| flushing(faults, false, view).is_some())
    }
}
