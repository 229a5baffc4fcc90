//! Operations over the invocations of a subgroup: all of them take the cases of the subgroup one
//! after the other. Each loads the operands of the case, holds the one or the other of them, a
//! value that changes no result, or one that spoils it where it is none of the result's; one of
//! them stores the result.
//!
//! A work group is one subgroup. The invocation that stores is the last but one, so that a scan has
//! one behind it. Who holds what is the same in each run: where results depend on that, they are
//! not taken for unstable ones.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op, Scope, SelectionControl, Word};

use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::modes;
use crate::op::Function;
use crate::plan::Plan;
use crate::subgroup::{OrderValues, SMALLEST_SUBGROUP, SubgroupForm};

/// From the last invocation of a subgroup to the one that stores.
const BEHIND: u32 = 1;

/// Invocations of a subgroup: at least those that hold something.
fn size(plan: &Plan) -> u32 {
    plan.group().max(SMALLEST_SUBGROUP)
}

impl Emitter {
    /// The body of a module whose results the invocations of a subgroup or work group compute
    /// together.
    pub(super) fn team_body(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        place: InvocationPosition,
    ) -> Result<(), BuildError> {
        if plan.placed.iter().any(|placed| placed.kernel.op.code.is_of_subgroups()) {
            modes::require(&mut self.builder, Capability::GroupNonUniform, "");
        }
        let uint = self.scalar(Format::U32);
        let (size, idle) = (self.word(size(plan)), self.word(plan.idle()));
        let invocation = self.value(Op::IAdd, uint, ids([place.slot, idle]))?;
        let local = self.value(Op::UMod, uint, ids([invocation, size]))?;
        let first = self.value(Op::ISub, uint, ids([place.slot, local]))?;
        self.counted(size, |emitter, number| {
            let slot = emitter.value(Op::IAdd, uint, ids([first, number]))?;
            emitter.slot_body(plan, memory, InvocationPosition { slot, ..place })
        })
    }

    /// What the one invocation does that stores the results of a subgroup.
    pub(super) fn by_storing_lane(
        &mut self,
        plan: &Plan,
        lane: Word,
        emit: impl FnOnce(&mut Emitter) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let storing = self.storing_lane(plan);
        let is_storing = self.is_lane(lane, storing)?;
        let (store, merge) = (self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(is_storing, store, merge, [])?;
        self.builder.begin_block(Some(store))?;
        emit(self)?;
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        Ok(())
    }

    /// A value of this type that this one invocation finds; the other one in all others.
    pub(super) fn in_storing_lane(
        &mut self,
        plan: &Plan,
        lane: Word,
        (kind, other): (Word, Word),
        emit: impl FnOnce(&mut Emitter) -> Result<Word, BuildError>,
    ) -> Result<Word, BuildError> {
        let before = self.block()?;
        let mut found = None;
        self.by_storing_lane(plan, lane, |emitter| {
            found = Some((emit(emitter)?, emitter.block()?));
            Ok(())
        })?;
        match found {
            Some((value, end)) => self.value(Op::Phi, kind, ids([value, end, other, before])),
            None => Ok(other),
        }
    }

    /// The result of an operation over a subgroup in this invocation.
    pub(super) fn of_subgroup(
        &mut self,
        plan: &Plan,
        (kernel, op, form): (&Kernel, Op, SubgroupForm),
        params: &[Word],
        lane: Word,
    ) -> Result<Word, BuildError> {
        modes::require(&mut self.builder, form.capability(), "");
        let (uint, kind) = (self.scalar(Format::U32), self.shape(kernel.result()));
        let (held, active) = match (kernel.op.function, params) {
            (Function::SummationOrder | Function::ProductOrder, [masking, restoring]) => {
                let [one, zero] = [1, 0].map(|number| self.word(number));
                let odd = self.value(Op::BitwiseAnd, uint, ids([lane, one]))?;
                (self.order_value(kernel, lane, (*masking, *restoring))?, self.is_lane(odd, zero)?)
            }
            (_, [x, y]) => {
                let [first, second] = self.holders(plan, form);
                let neutral = self.neutral(kernel, op, *x);
                let value = self.where_lane(kernel, (lane, first), *x, neutral)?;
                let value = self.where_lane(kernel, (lane, second), *y, value)?;
                let part = self.takes_part(plan, form, (lane, [first, second]))?;
                (self.spoilt(kernel, op, part, value)?, part)
            }
            _ => {
                return Err(BuildError::Operands {
                    kernel: kernel.to_string(),
                    given: params.len(),
                });
            }
        };
        let scope = self.word(Scope::Subgroup as Word);
        let mut operands = vec![
            Operand::IdScope(scope),
            Operand::GroupOperation(form.operation()),
            Operand::IdRef(held),
        ];
        if form == SubgroupForm::Clustered {
            operands.push(Operand::IdRef(self.word(SMALLEST_SUBGROUP)));
        }
        if form != SubgroupForm::Partly {
            return self.value(op, kind, operands);
        }
        let (before, inside, merge) = (self.block()?, self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(active, inside, merge, [])?;
        self.builder.begin_block(Some(inside))?;
        let result = self.value(op, kind, operands)?;
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        self.value(Op::Phi, kind, ids([result, inside, held, before]))
    }

    /// The invocations that hold the operands: the last of the first half, and the last before the
    /// one that stores; or, of a cluster, the first two.
    fn holders(&mut self, plan: &Plan, form: SubgroupForm) -> [Word; 2] {
        let size = size(plan);
        let first = match form {
            SubgroupForm::Clustered => size - SMALLEST_SUBGROUP,
            _ => (size / 2 - 1).min(size - SMALLEST_SUBGROUP),
        };
        [first, size - SMALLEST_SUBGROUP + 1].map(|number| self.word(number))
    }

    /// A value with which the result is that without it.
    fn neutral(&mut self, kernel: &Kernel, op: Op, x: Word) -> Word {
        let shape = kernel.result();
        match (op, shape.format.float()) {
            (Op::GroupNonUniformFAdd, Some(layout)) => self.constant(shape, layout.sign_bit()),
            (Op::GroupNonUniformFMul, Some(layout)) => self.constant(shape, layout.one()),
            _ => x,
        }
    }

    /// Whether an invocation is one of those whose values the result is of.
    fn takes_part(
        &mut self,
        plan: &Plan,
        form: SubgroupForm,
        (lane, holders): (Word, [Word; 2]),
    ) -> Result<Word, BuildError> {
        let bool = self.scalar(Format::Bool);
        let storing = self.storing_lane(plan);
        let (compare, bound) = match form {
            SubgroupForm::Reduce => (Op::ULessThan, self.word(size(plan))),
            SubgroupForm::Inclusive => (Op::ULessThanEqual, storing),
            SubgroupForm::Exclusive => (Op::ULessThan, storing),
            SubgroupForm::Clustered => {
                (Op::UGreaterThanEqual, self.word(size(plan) - SMALLEST_SUBGROUP))
            }
            SubgroupForm::Partly => {
                let mut part = self.is_lane(lane, storing)?;
                for holder in holders {
                    let holds = self.is_lane(lane, holder)?;
                    part = self.value(Op::LogicalOr, bool, ids([part, holds]))?;
                }
                return Ok(part);
            }
        };
        self.value(compare, bool, ids([lane, bound]))
    }

    /// A value where it takes part, and one that spoils the result where it does not.
    fn spoilt(
        &mut self,
        kernel: &Kernel,
        op: Op,
        part: Word,
        value: Word,
    ) -> Result<Word, BuildError> {
        let shape = kernel.result();
        let Some(layout) = shape.format.float() else { return Ok(value) };
        let sign = if op == Op::GroupNonUniformFMin { layout.sign_bit() } else { 0 };
        let (kind, large) = (self.shape(shape), self.constant(shape, layout.max_finite() | sign));
        self.value(Op::Select, kind, ids([part, value, large]))
    }

    /// What an invocation holds where the order is looked at: the masking value, the restoring one,
    /// or a unit.
    fn order_value(
        &mut self,
        kernel: &Kernel,
        lane: Word,
        (masking, restoring): (Word, Word),
    ) -> Result<Word, BuildError> {
        let shape = kernel.result();
        let Some(layout) = shape.format.float() else {
            return Err(BuildError::Operands { kernel: kernel.to_string(), given: 2 });
        };
        let values = match kernel.op.function {
            Function::ProductOrder => OrderValues::of_product(layout),
            _ => OrderValues::of_sum(layout),
        };
        let [unit, first, second] =
            [values.unit, values.masking, values.restoring].map(|bits| self.constant(shape, bits));
        let value = self.where_lane(kernel, (lane, masking), first, unit)?;
        self.where_lane(kernel, (lane, restoring), second, value)
    }

    fn storing_lane(&mut self, plan: &Plan) -> Word {
        self.word(size(plan) - 1 - BEHIND)
    }

    fn is_lane(&mut self, lane: Word, number: Word) -> Result<Word, BuildError> {
        let bool = self.scalar(Format::Bool);
        self.value(Op::IEqual, bool, ids([lane, number]))
    }

    /// A value in one invocation, and another in all others.
    fn where_lane(
        &mut self,
        kernel: &Kernel,
        (lane, number): (Word, Word),
        value: Word,
        other: Word,
    ) -> Result<Word, BuildError> {
        let kind = self.shape(kernel.result());
        let is_own = self.is_lane(lane, number)?;
        self.value(Op::Select, kind, ids([is_own, value, other]))
    }
}
