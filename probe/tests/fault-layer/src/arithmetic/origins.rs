//! Where values come from: sums of products, conversions of sums, conversions that undo each other,
//! which a compiler may make one of, or none.

use std::collections::HashMap;

use fpprobe_spirv::Format;
use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::module::{Rewriter, ids};
use super::place::Places;

/// Additions, multiplications and conversions by their results.
pub struct Origins(HashMap<Word, (Op, Vec<Operand>)>);

impl Origins {
    pub fn new(functions: &[Function]) -> Origins {
        let all = functions.iter().flat_map(Function::all_inst_iter);
        let own =
            all.filter(|inst| matches!(inst.class.opcode, Op::FAdd | Op::FMul | Op::FConvert));
        let origin = |inst: &Instruction| {
            Some((inst.result_id?, (inst.class.opcode, inst.operands.clone())))
        };
        Origins(own.filter_map(origin).collect())
    }

    /// The operands of the instruction of this kind that a value is the result of.
    fn of(&self, value: &Operand, opcode: Op) -> Option<&[Operand]> {
        let (own, operands) = self.0.get(&value.id_ref_any()?)?;
        (*own == opcode).then_some(operands)
    }

    /// The factors of a product, widened or not.
    fn factors(&self, value: &Operand) -> Option<&[Operand]> {
        let product = |value: &Operand| self.of(value, Op::FMul);
        product(value).or_else(|| product(self.of(value, Op::FConvert)?.first()?))
    }

    /// What an instruction rounds, unrounded: the operand of `OpQuantizeToF16`, or what was
    /// converted before it is converted back.
    pub fn dropped(&self, inst: &Instruction, places: &Places) -> Option<Vec<Instruction>> {
        let operand = inst.operands.first()?;
        let source = match inst.class.opcode {
            Op::QuantizeToF16 => operand,
            Op::FConvert => self.of(operand, Op::FConvert)?.first()?,
            _ => return None,
        };
        let is_alike = places.view(source.id_ref_any()?)? == places.view(inst.result_id?)?;
        let copy = || {
            Instruction::new(Op::CopyObject, inst.result_type, inst.result_id, vec![source.clone()])
        };
        is_alike.then(|| vec![copy()])
    }
}

impl Rewriter {
    /// The sum of a product, or the conversion of a sum or product, in binary64, where products are
    /// exact: drivers may carry out `Fma` in two roundings, which is what this is not to be.
    pub fn fused(
        &mut self,
        inst: &Instruction,
        origins: &Origins,
        places: &Places,
    ) -> Option<Vec<Instruction>> {
        let result = inst.result_id?;
        let kind = self.vector(Format::F64, places.view(result)?.count);
        let mut wide = |operand: &Operand| self.emit(Op::FConvert, kind, vec![operand.clone()]);
        let first = inst.operands.first()?;
        let value = if inst.class.opcode == Op::FConvert {
            let (opcode, operands) = [Op::FAdd, Op::FMul]
                .into_iter()
                .find_map(|opcode| Some((opcode, origins.of(first, opcode)?)))?;
            let operands = ids([wide(operands.first()?), wide(operands.get(1)?)]);
            self.emit(opcode, kind, operands)
        } else {
            let second = inst.operands.get(1)?;
            let (factors, other) = match (origins.factors(first), origins.factors(second)) {
                (Some(factors), _) => (factors, second),
                (None, Some(factors)) => (factors, first),
                (None, None) => return None,
            };
            let [x, y, z] = [factors.first()?, factors.get(1)?, other].map(wide);
            let product = self.emit(Op::FMul, kind, ids([x, y]));
            self.emit(Op::FAdd, kind, ids([product, z]))
        };
        self.contract(result);
        self.out.push(Instruction::new(Op::FConvert, inst.result_type, Some(result), ids([value])));
        Some(std::mem::take(&mut self.out))
    }
}
