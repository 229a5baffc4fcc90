//! Where values come from: sums from products, conversions from conversions that they undo. A
//! compiler may make one of the two, or none.

use std::collections::HashMap;

use fpprobe_spirv::Format;
use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::module::{Rewriter, ids};
use super::place::Places;

/// Multiplications and conversions by their results.
pub struct Origins(HashMap<Word, (Op, Vec<Operand>)>);

impl Origins {
    pub fn new(functions: &[Function]) -> Origins {
        let all = functions.iter().flat_map(Function::all_inst_iter);
        let own = all.filter(|inst| matches!(inst.class.opcode, Op::FMul | Op::FConvert));
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
    /// The sum of a product in binary64, where products are exact: drivers may carry out `Fma` in
    /// two roundings, which is what this is not to be.
    pub fn fused(
        &mut self,
        sum: &Instruction,
        origins: &Origins,
        places: &Places,
    ) -> Option<Vec<Instruction>> {
        let (first, second) = (sum.operands.first()?, sum.operands.get(1)?);
        let (factors, other) = match (origins.factors(first), origins.factors(second)) {
            (Some(factors), _) => (factors, second),
            (None, Some(factors)) => (factors, first),
            (None, None) => return None,
        };
        let result = sum.result_id?;
        self.contract(result);
        let kind = self.vector(Format::F64, places.view(result)?.count);
        let [x, y, z] = [factors.first()?, factors.get(1)?, other]
            .map(|operand| self.emit(Op::FConvert, kind, vec![operand.clone()]));
        let product = self.emit(Op::FMul, kind, ids([x, y]));
        let wide = self.emit(Op::FAdd, kind, ids([product, z]));
        self.out.push(Instruction::new(Op::FConvert, sum.result_type, Some(result), ids([wide])));
        Some(std::mem::take(&mut self.out))
    }
}
