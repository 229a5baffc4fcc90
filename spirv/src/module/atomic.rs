//! Atomic operations: each slot has memory of its own, which holds an operand before. Of a buffer
//! it is the place of the result, of a work group an element of an array, of an image a texel.
//!
//! Where many invocations work on one memory, all of a work group take its slots one after the
//! other: one of them fills the memory, each does its share of the operations, the first one reads
//! what has become of it.

use rspirv::dr::Operand;
use rspirv::spirv::{MemorySemantics, Op, Scope, StorageClass, Word};

use super::{InvocationPosition, ModuleMemory};
use crate::atomic::{AtomicForm, AtomicGroup};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::layout::FloatLayout;
use crate::modes;
use crate::op::Code;
use crate::plan::Plan;
use crate::route::Route;

/// An array of one element for each invocation of a work group, in its memory.
#[derive(Clone, Copy)]
pub(super) struct SharedArray(Word);

/// The memory of a slot, and how it is got at.
#[derive(Clone, Copy)]
struct AtomicMemory {
    pointer: Word,
    /// Type of what it points to.
    kind: Word,
    scope: Word,
    relaxed: Word,
}

impl Emitter {
    /// Declares the memory of a plan's kernels in a work group, if they have some.
    pub(super) fn declare_shared_array(&mut self, plan: &Plan) -> Option<SharedArray> {
        let kernel = &plan.placed.first()?.kernel;
        if kernel.route != Route::Shared {
            return None;
        }
        let (element, count) = (self.shape(kernel.result()), self.word(plan.group()));
        let array = self.builder.type_array(element, count);
        let pointer = self.builder.type_pointer(None, StorageClass::Workgroup, array);
        let variable = self.builder.variable(pointer, None, StorageClass::Workgroup, None);
        self.builder.name(variable, "shared");
        Some(SharedArray(variable))
    }

    /// The result of an atomic operation of the kernel of a row.
    pub(super) fn atomic(
        &mut self,
        (plan, memory): (&Plan, &ModuleMemory),
        row: usize,
        params: &[Word],
        place: InvocationPosition,
    ) -> Result<Word, BuildError> {
        let kernel = &plan.placed[row].kernel;
        let refused = || BuildError::Operands { kernel: kernel.to_string(), given: params.len() };
        let Code::Atomic(op, form) = kernel.op.code else { return Err(refused()) };
        let declared = AtomicGroup::of(op).declared(kernel.format.bits());
        if let Some((capability, extension)) = declared {
            modes::require(&mut self.builder, capability, extension);
        }
        let target = AtomicMemory {
            pointer: self.cell((plan, memory), row, place)?,
            kind: self.shape(kernel.result()),
            scope: self.word(kernel.scope.scope() as Word),
            relaxed: self.word(MemorySemantics::RELAXED.bits()),
        };
        match (op, form, params) {
            // Where a load and a store of their own are no conversion.
            (Op::AtomicLoad, _, [value]) => {
                self.builder.store(target.pointer, *value, None, [])?;
                self.atomic_load(target)
            }
            (Op::AtomicStore, _, [value]) if kernel.route != Route::StorageImage => {
                self.atomic_store(target, *value)?;
                self.value(Op::Load, target.kind, ids([target.pointer]))
            }
            (Op::AtomicStore, _, [value]) => {
                self.atomic_store(target, *value)?;
                self.atomic_load(target)
            }
            (Op::AtomicExchange, AtomicForm::Stored, [value]) => {
                let one = self.one(kernel);
                self.modified(target, op, (one, *value))?;
                self.atomic_load(target)
            }
            (Op::AtomicExchange, _, [value]) => {
                let one = self.one(kernel);
                self.modified(target, op, (*value, one))
            }
            (_, AtomicForm::Original, [before, value]) => {
                self.modified(target, op, (*before, *value))
            }
            (_, AtomicForm::Stored, [before, value]) => {
                self.modified(target, op, (*before, *value))?;
                self.atomic_load(target)
            }
            (_, AtomicForm::Many, [before, value, count]) => {
                let lane = place.lane.ok_or_else(refused)?;
                self.by_all(plan, (target, op), [*before, *value, *count], lane)
            }
            _ => Err(refused()),
        }
    }

    /// Has all invocations of the work group do their share of the operations. The result is that
    /// of the one that stores; others have 0.
    fn by_all(
        &mut self,
        plan: &Plan,
        (target, op): (AtomicMemory, Op),
        [before, value, count]: [Word; 3],
        lane: Word,
    ) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let zero = self.builder.constant_null(target.kind);
        self.in_storing_lane(plan, lane, (target.kind, zero), |emitter| {
            emitter.atomic_store(target, before)?;
            Ok(before)
        })?;
        self.team_barrier()?;
        // Number N of the operations is that of invocation N modulo their number.
        let (size, last) = (self.word(plan.group()), self.word(plan.group() - 1));
        let most = self.value(Op::IAdd, uint, ids([count, last]))?;
        let most = self.value(Op::ISub, uint, ids([most, lane]))?;
        let own = self.value(Op::UDiv, uint, ids([most, size]))?;
        self.counted(own, |emitter, _| {
            emitter.read_modify_write(target, op, value)?;
            Ok(())
        })?;
        self.team_barrier()?;
        self.in_storing_lane(plan, lane, (target.kind, zero), |emitter| emitter.atomic_load(target))
    }

    /// Fills the memory and carries out an instruction on it; gives what that returns.
    fn modified(
        &mut self,
        target: AtomicMemory,
        op: Op,
        (before, value): (Word, Word),
    ) -> Result<Word, BuildError> {
        self.atomic_store(target, before)?;
        self.read_modify_write(target, op, value)
    }

    fn read_modify_write(
        &mut self,
        AtomicMemory { pointer, kind, scope, relaxed }: AtomicMemory,
        op: Op,
        value: Word,
    ) -> Result<Word, BuildError> {
        let mut operands = atomic_operands(pointer, scope, relaxed);
        operands.push(Operand::IdRef(value));
        self.value(op, kind, operands)
    }

    fn atomic_load(
        &mut self,
        AtomicMemory { pointer, kind, scope, relaxed }: AtomicMemory,
    ) -> Result<Word, BuildError> {
        self.value(Op::AtomicLoad, kind, atomic_operands(pointer, scope, relaxed))
    }

    fn atomic_store(
        &mut self,
        AtomicMemory { pointer, scope, relaxed, .. }: AtomicMemory,
        value: Word,
    ) -> Result<(), BuildError> {
        Ok(self.builder.atomic_store(pointer, scope, relaxed, value)?)
    }

    /// Waits for all invocations of the work group, and for what they have done to memory.
    fn team_barrier(&mut self) -> Result<(), BuildError> {
        let memory = MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::UNIFORM_MEMORY
            | MemorySemantics::WORKGROUP_MEMORY
            | MemorySemantics::IMAGE_MEMORY;
        let (scope, memory) = (self.word(Scope::Workgroup as Word), self.word(memory.bits()));
        Ok(self.builder.control_barrier(scope, scope, memory)?)
    }

    fn one(&mut self, kernel: &Kernel) -> Word {
        let shape = kernel.result();
        self.constant(shape, shape.format.float().map_or(0, FloatLayout::one))
    }

    /// Pointer to the memory of this slot.
    fn cell(
        &mut self,
        (plan, memory): (&Plan, &ModuleMemory),
        row: usize,
        place: InvocationPosition,
    ) -> Result<Word, BuildError> {
        let placed = &plan.placed[row];
        let kernel = &placed.kernel;
        let refused = || BuildError::Operands { kernel: kernel.to_string(), given: 0 };
        let uint = self.scalar(Format::U32);
        match (kernel.route, memory.shared, memory.images.get(row)) {
            (Route::Shared, Some(SharedArray(array)), _) => {
                let element = self.shape(kernel.result());
                let size = self.word(plan.group());
                let index = self.value(Op::UMod, uint, ids([place.slot, size]))?;
                let kind = self.builder.type_pointer(None, StorageClass::Workgroup, element);
                self.value(Op::AccessChain, kind, ids([array, index]))
            }
            (Route::StorageImage, _, Some(image)) => self.texel_pointer(*image, place.slot),
            (Route::Buffer, ..) => {
                let region = placed.results.first().ok_or_else(refused)?;
                let element = plan.buffers[region.buffer].element;
                if element.shape() != Shape::scalar(kernel.format) {
                    return Err(refused());
                }
                self.access_chain(element, memory.buffers[region.buffer], (place.slot, region.base))
            }
            _ => Err(refused()),
        }
    }
}

fn atomic_operands(pointer: Word, scope: Word, semantics: Word) -> Vec<Operand> {
    vec![Operand::IdRef(pointer), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)]
}
