//! Cooperative matrices: the invocations of a subgroup bring the lines of the matrices together in
//! shared memory, load, multiply and store them, and take their elements back.
//!
//! A work group is one subgroup, so that all of it takes part in each instruction ("Cooperative
//! Matrix Instructions": these are in dynamically uniform control flow); an invocation without a
//! slot does what the last slot does, and stores nothing. Invocation `i` has line `i` of A, B and
//! C: its result lies on the diagonal. Where a subgroup has more invocations than the matrices
//! lines, it multiplies several times. The variant's order decides which layouts are used, so that
//! two modules of a kernel load and store in all of them, and what lies in the gaps.

use std::ops::Range;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, CooperativeMatrixLayout, CooperativeMatrixOperands,
    CooperativeMatrixUse, MemoryAccess, MemoryModel, MemorySemantics, Op, Scope, SelectionControl,
    StorageClass, Word,
};

use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::matrix::{MatrixComponent, MatrixUnit, MatrixUse};
use crate::modes;
use crate::op::Code;
use crate::plan::Plan;
use crate::plan::access::{self, BufferAccess};

/// How shared memory is accessed: others wait at barriers for it (SPIR-V, "Memory Operands").
const SHARED: MemoryAccess = MemoryAccess::NON_PRIVATE_POINTER;

/// Lines of matrices in shared memory, one for each invocation and more where a matrix has more.
#[derive(Clone, Copy)]
struct SharedLines {
    variable: Word,
    component: MatrixComponent,
    part: MatrixUse,
    /// Whether the elements of a line lie one after the other; otherwise those of one place in all
    /// lines do.
    along: bool,
    /// From one line to the next, or from one place to the next; in elements.
    stride: u32,
    /// Elements of a line.
    width: u32,
}

/// How the invocations of a subgroup share out a unit's lines.
#[derive(Clone, Copy)]
struct Sharing {
    invocations: u32,
    /// Invocations whose lines one matrix holds.
    together: u32,
}

/// Where the result of an invocation is.
enum SharedResult {
    /// On the diagonal of a matrix.
    Element(SharedLines, Sharing),
    /// In a line.
    Line(SharedLines),
}

impl Sharing {
    /// `lines`: of the matrix that has the fewest.
    fn new(invocations: u32, lines: u32) -> Sharing {
        Sharing { invocations, together: invocations.min(lines) }
    }

    /// Matrices that it takes until each invocation had its turn.
    fn rounds(self) -> u32 {
        self.invocations.div_ceil(self.together)
    }

    /// How often each invocation's line is there, so that the last matrix finds all of its lines.
    fn copies(self, lines: u32) -> u32 {
        ((self.rounds() - 1) * self.together + lines).div_ceil(self.invocations)
    }
}

/// The memory of the kernel, and where this invocation is in it.
struct KernelMemory<'a> {
    memory: &'a ModuleMemory,
    place: InvocationPosition,
    /// Its place in the subgroup.
    local: Word,
}

impl Emitter {
    /// The body of a module whose kernel multiplies or moves matrices.
    pub(super) fn cooperative_body(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        place: InvocationPosition,
    ) -> Result<(), BuildError> {
        let kernel = &plan.placed[0].kernel;
        let Some(unit) = kernel.matrix else {
            return Err(BuildError::Operands {
                kernel: kernel.to_string(),
                given: memory.operands.len(),
            });
        };
        modes::require(
            &mut self.builder,
            Capability::CooperativeMatrixKHR,
            "SPV_KHR_cooperative_matrix",
        );
        // SPIR-V, "Universal Validation Rules": shaders with cooperative matrices use this memory
        // model.
        modes::require(
            &mut self.builder,
            Capability::VulkanMemoryModel,
            "SPV_KHR_vulkan_memory_model",
        );
        self.builder.memory_model(AddressingModel::Logical, MemoryModel::Vulkan);
        if unit.has_bytes() {
            modes::require(&mut self.builder, Capability::Int8, "");
        }
        for (format, capability, extension) in [
            (Format::Bf16, Capability::BFloat16CooperativeMatrixKHR, "SPV_KHR_bfloat16"),
            (Format::E4m3, Capability::Float8CooperativeMatrixEXT, "SPV_EXT_float8"),
            (Format::E5m2, Capability::Float8CooperativeMatrixEXT, "SPV_EXT_float8"),
        ] {
            if kernel.formats().contains(&format) {
                modes::require(&mut self.builder, capability, extension);
            }
        }
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let slots = plan.placed[0].slots;
        let (slots, last) = (self.word(slots), self.word(slots.saturating_sub(1)));
        let inside = self.value(Op::ULessThan, bool, ids([place.slot, slots]))?;
        let slot = self.value(Op::Select, uint, ids([inside, place.slot, last]))?;
        let group = self.word(plan.group());
        let local = self.value(Op::UMod, uint, ids([place.slot, group]))?;
        let own = KernelMemory { memory, place: InvocationPosition { slot, ..place }, local };
        let result = match kernel.op.code {
            Code::MatrixLoadStore(part) => self.load_store(plan, (unit, part), &own)?,
            _ => self.mul_add(plan, (kernel, unit), &own)?,
        };
        let (store, merge) = (self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(inside, store, merge, [])?;
        self.builder.begin_block(Some(store))?;
        self.builder.name(store, kernel.label());
        match result {
            // The element on the diagonal of the matrix that this invocation's line was in.
            SharedResult::Element(shared, sharing) => {
                let [together, rows] = [sharing.together, unit.m].map(|number| self.word(number));
                let round = self.value(Op::UDiv, uint, ids([local, together]))?;
                let line = self.value(Op::UMod, uint, ids([local, together]))?;
                let first = self.value(Op::IMul, uint, ids([round, rows]))?;
                let row = self.value(Op::IAdd, uint, ids([first, line]))?;
                let (value, zero) = (self.shared_element(shared, row, line)?, self.word(0));
                self.put(&own, zero, value)?;
            }
            SharedResult::Line(shared) => {
                let gap = shared.component.gap();
                self.each(
                    0..if shared.along { shared.width + gap } else { shared.width },
                    |emitter, index| {
                        let value = emitter.shared_element(shared, local, index)?;
                        emitter.put(&own, index, value)
                    },
                )?;
                if !shared.along {
                    self.each(shared.width..shared.width + gap, |emitter, index| {
                        let value = emitter.operand(&own, 0, index)?;
                        let value = emitter.narrowed(shared.component, value)?;
                        let value = emitter.widened(shared.component, value)?;
                        emitter.put(&own, index, value)
                    })?;
                }
            }
        }
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        Ok(())
    }

    fn mul_add(
        &mut self,
        plan: &Plan,
        (kernel, unit): (&Kernel, MatrixUnit),
        own: &KernelMemory<'_>,
    ) -> Result<SharedResult, BuildError> {
        let (sharing, along) =
            (Sharing::new(plan.group(), unit.m.min(unit.n)), !plan.variant.reversed);
        let mut staged = Vec::new();
        for (number, part) in
            [MatrixUse::A, MatrixUse::B, MatrixUse::Accumulator].into_iter().enumerate()
        {
            let (lines, width) = unit.lines(part);
            let copies = sharing.copies(lines);
            let shared = self.shared_lines(
                unit.component(part),
                part,
                along,
                (plan.group() * copies, width),
            );
            // All elements of a row of C are the one of this invocation.
            let is_one = part == MatrixUse::Accumulator;
            let zero = self.word(0);
            self.stage(shared, 0..width, (sharing, copies), own, |emitter, index| {
                emitter.operand(own, number, if is_one { zero } else { index })
            })?;
            self.stage_gap(shared, (sharing, copies), own)?;
            staged.push(shared);
        }
        // The format of the result is its element, of 32 bits or a binary16.
        let result = MatrixComponent::find(kernel.format.name()).unwrap_or(unit.c);
        let part = MatrixUse::Accumulator;
        let given = self.shared_lines(result, part, along, (sharing.rounds() * unit.m, unit.n));
        self.barrier()?;
        let kind = self.matrix_type(unit, part, result);
        let mut flags = CooperativeMatrixOperands::NONE_KHR;
        for (component, flag) in [
            (unit.a, CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR),
            (unit.b, CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR),
            (unit.c, CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR),
            (result, CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR),
        ] {
            flags |= if component.is_signed() { flag } else { CooperativeMatrixOperands::NONE_KHR };
        }
        if unit.saturating {
            flags |= CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR;
        }
        for round in 0..sharing.rounds() {
            let mut operands = Vec::new();
            for shared in &staged {
                operands.push(self.load_matrix(unit, *shared, round * sharing.together)?);
            }
            let mut operands = ids(operands);
            if !flags.is_empty() {
                operands.push(Operand::CooperativeMatrixOperands(flags));
            }
            let product = self.value(Op::CooperativeMatrixMulAddKHR, kind, operands)?;
            self.store_matrix(given, product, round * unit.m)?;
        }
        self.barrier()?;
        Ok(SharedResult::Element(given, sharing))
    }

    /// A line is brought in one layout, loaded and stored in the other.
    fn load_store(
        &mut self,
        plan: &Plan,
        (unit, part): (MatrixUnit, MatrixUse),
        own: &KernelMemory<'_>,
    ) -> Result<SharedResult, BuildError> {
        let ((lines, width), component) = (unit.lines(part), unit.component(part));
        let (sharing, along) = (Sharing::new(plan.group(), lines), !plan.variant.reversed);
        let copies = sharing.copies(lines);
        let rows = plan.group() * copies;
        let from = self.shared_lines(component, part, along, (rows, width));
        let to = self.shared_lines(component, part, !along, (rows, width));
        // What is in the gaps of the one must not come into the other, nor what is in the other's
        // be lost.
        self.stage(from, 0..width, (sharing, copies), own, |emitter, index| {
            emitter.operand(own, 0, index)
        })?;
        self.stage_gap(from, (sharing, copies), own)?;
        let poison = self.poison(component, along);
        self.stage(to, 0..width, (sharing, copies), own, |_, _| Ok(poison))?;
        if to.along {
            self.stage(
                to,
                width..width + component.gap(),
                (sharing, copies),
                own,
                |emitter, index| emitter.operand(own, 0, index),
            )?;
        }
        self.barrier()?;
        for round in 0..sharing.rounds() {
            let matrix = self.load_matrix(unit, from, round * sharing.together)?;
            self.store_matrix(to, matrix, round * sharing.together)?;
        }
        self.barrier()?;
        Ok(SharedResult::Line(to))
    }

    /// What is done with each of these numbers; it stands in the code once, since each access takes
    /// a compiler long.
    fn each(
        &mut self,
        numbers: Range<u32>,
        emit: impl FnOnce(&mut Emitter, Word) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let uint = self.scalar(Format::U32);
        let (count, first) = (self.word(numbers.end - numbers.start), self.word(numbers.start));
        self.counted(count, |emitter, index| {
            let index = emitter.value(Op::IAdd, uint, ids([first, index]))?;
            emit(emitter, index)
        })
    }

    /// An element of an operand of this invocation.
    fn operand(
        &mut self,
        own: &KernelMemory<'_>,
        number: usize,
        index: Word,
    ) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let (access, shape) = at(&own.memory.operands, number)?;
        let (first, further) = self.first(access, own.place)?;
        let place = self.value(Op::IAdd, uint, ids([first, index]))?;
        let pointer =
            self.access_chain(access.element, own.memory.buffers[access.buffer], (place, further))?;
        let kind = self.shape(access.element.shape());
        let raw = self.value(Op::Load, kind, ids([pointer]))?;
        self.decode(shape.format, access.element, raw)
    }

    /// Stores an element of the result of this invocation.
    fn put(&mut self, own: &KernelMemory<'_>, index: Word, value: Word) -> Result<(), BuildError> {
        let uint = self.scalar(Format::U32);
        let (access, shape) = at(&own.memory.results, 0)?;
        let (first, further) = self.first(access, own.place)?;
        let place = self.value(Op::IAdd, uint, ids([first, index]))?;
        let pointer =
            self.access_chain(access.element, own.memory.buffers[access.buffer], (place, further))?;
        let raw = self.encode(shape.format, access.element, value)?;
        Ok(self.builder.store(pointer, raw, None, [])?)
    }

    /// Declares shared memory for N lines, each of a width, with a gap behind each line, or behind
    /// all of them.
    fn shared_lines(
        &mut self,
        component: MatrixComponent,
        part: MatrixUse,
        along: bool,
        (lines, width): (u32, u32),
    ) -> SharedLines {
        let (inner, outer) = if along { (width, lines) } else { (lines, width) };
        let stride = inner.next_multiple_of(component.gap()) + component.gap();
        let (element, length) = (self.matrix_component(component), self.word(stride * outer));
        let array = self.builder.type_array(element, length);
        let pointer = self.builder.type_pointer(None, StorageClass::Workgroup, array);
        // The builder would put it into the function that is open.
        let (variable, place) =
            (self.builder.id(), vec![Operand::StorageClass(StorageClass::Workgroup)]);
        let declared = Instruction::new(Op::Variable, Some(pointer), Some(variable), place);
        self.builder.module_mut().types_global_values.push(declared);
        SharedLines { variable, component, part, along, stride, width }
    }

    fn matrix_component(&mut self, component: MatrixComponent) -> Word {
        match component {
            MatrixComponent::I8 => self.builder.type_int(8, 1),
            MatrixComponent::U8 => self.builder.type_int(8, 0),
            _ => self.scalar(component.format()),
        }
    }

    /// What gaps hold: a NaN, or another value that no result has by chance.
    fn poison(&mut self, component: MatrixComponent, first: bool) -> Word {
        let bits = match component.format().float() {
            Some(layout) if first => layout.infinity() | layout.quiet_bit(),
            Some(layout) => layout.max_finite(),
            None if first => 0x55,
            None => 0x2a,
        };
        self.constant(Shape::scalar(component.format()), bits)
    }

    /// An element as it lies in shared memory.
    fn narrowed(&mut self, component: MatrixComponent, value: Word) -> Result<Word, BuildError> {
        let kind = self.matrix_component(component);
        match component {
            MatrixComponent::I8 => self.value(Op::SConvert, kind, ids([value])),
            MatrixComponent::U8 => self.value(Op::UConvert, kind, ids([value])),
            _ => Ok(value),
        }
    }

    /// An element as kernels have it.
    fn widened(&mut self, component: MatrixComponent, value: Word) -> Result<Word, BuildError> {
        let kind = self.scalar(component.format());
        match component {
            MatrixComponent::I8 => self.value(Op::SConvert, kind, ids([value])),
            MatrixComponent::U8 => self.value(Op::UConvert, kind, ids([value])),
            _ => Ok(value),
        }
    }

    /// Puts elements of the line of each invocation into shared memory, as often as the matrices
    /// need it.
    fn stage(
        &mut self,
        shared: SharedLines,
        places: Range<u32>,
        (sharing, copies): (Sharing, u32),
        own: &KernelMemory<'_>,
        element: impl FnOnce(&mut Emitter, Word) -> Result<Word, BuildError>,
    ) -> Result<(), BuildError> {
        let uint = self.scalar(Format::U32);
        self.each(places, |emitter, place| {
            let value = element(emitter, place)?;
            let value = emitter.narrowed(shared.component, value)?;
            for copy in 0..copies {
                let before = emitter.word(copy * sharing.invocations);
                let line = emitter.value(Op::IAdd, uint, ids([own.local, before]))?;
                let pointer = emitter.shared_pointer(shared, line, place)?;
                emitter.builder.store(pointer, value, Some(SHARED), [])?;
            }
            Ok(())
        })
    }

    /// Poisons the gap behind a line; places in all lines have no gap.
    fn stage_gap(
        &mut self,
        shared: SharedLines,
        sharing: (Sharing, u32),
        own: &KernelMemory<'_>,
    ) -> Result<(), BuildError> {
        if !shared.along {
            return Ok(());
        }
        let poison = self.poison(shared.component, shared.along);
        self.stage(
            shared,
            shared.width..shared.width + shared.component.gap(),
            sharing,
            own,
            |_, _| Ok(poison),
        )
    }

    fn shared_element(
        &mut self,
        shared: SharedLines,
        line: Word,
        place: Word,
    ) -> Result<Word, BuildError> {
        let kind = self.matrix_component(shared.component);
        let pointer = self.shared_pointer(shared, line, place)?;
        let value = self.value(Op::Load, kind, accessed([pointer]))?;
        self.widened(shared.component, value)
    }

    fn shared_pointer(
        &mut self,
        shared: SharedLines,
        line: Word,
        place: Word,
    ) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let (outer, inner) = if shared.along { (line, place) } else { (place, line) };
        let stride = self.word(shared.stride);
        let first = self.value(Op::IMul, uint, ids([outer, stride]))?;
        let index = self.value(Op::IAdd, uint, ids([first, inner]))?;
        let kind = self.matrix_component(shared.component);
        let pointer = self.builder.type_pointer(None, StorageClass::Workgroup, kind);
        self.value(Op::AccessChain, pointer, ids([shared.variable, index]))
    }

    fn matrix_type(
        &mut self,
        unit: MatrixUnit,
        part: MatrixUse,
        component: MatrixComponent,
    ) -> Word {
        let (rows, columns) = unit.size(part);
        let element = self.matrix_component(component);
        let part = match part {
            MatrixUse::A => CooperativeMatrixUse::MatrixAKHR,
            MatrixUse::B => CooperativeMatrixUse::MatrixBKHR,
            MatrixUse::Accumulator => CooperativeMatrixUse::MatrixAccumulatorKHR,
        };
        let [scope, rows, columns, part] =
            [Scope::Subgroup as u32, rows, columns, part as u32].map(|number| self.word(number));
        self.builder.type_cooperative_matrix_khr(element, scope, rows, columns, part)
    }

    /// Pointer to the first element of a matrix whose first line is this one, its layout and its
    /// stride.
    fn matrix_place(&mut self, shared: SharedLines, first: u32) -> Result<[Word; 3], BuildError> {
        let (first, zero) = (self.word(first), self.word(0));
        let pointer = self.shared_pointer(shared, first, zero)?;
        // A line of B is a column.
        let layout = if shared.along == (shared.part == MatrixUse::B) {
            CooperativeMatrixLayout::ColumnMajorKHR
        } else {
            CooperativeMatrixLayout::RowMajorKHR
        };
        Ok([pointer, self.word(layout as u32), self.word(shared.stride)])
    }

    fn load_matrix(
        &mut self,
        unit: MatrixUnit,
        shared: SharedLines,
        first: u32,
    ) -> Result<Word, BuildError> {
        let kind = self.matrix_type(unit, shared.part, shared.component);
        let place = self.matrix_place(shared, first)?;
        self.value(Op::CooperativeMatrixLoadKHR, kind, accessed(place))
    }

    fn store_matrix(
        &mut self,
        shared: SharedLines,
        matrix: Word,
        first: u32,
    ) -> Result<(), BuildError> {
        let [pointer, layout, stride] = self.matrix_place(shared, first)?;
        Ok(self.builder.cooperative_matrix_store_khr(
            pointer,
            matrix,
            layout,
            Some(stride),
            Some(SHARED),
            [],
        )?)
    }

    fn barrier(&mut self) -> Result<(), BuildError> {
        let made = MemorySemantics::MAKE_AVAILABLE | MemorySemantics::MAKE_VISIBLE;
        let semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY | made;
        let [scope, semantics] =
            [Scope::Workgroup as u32, semantics.bits()].map(|number| self.word(number));
        Ok(self.builder.control_barrier(scope, scope, semantics)?)
    }
}

/// Operands of an access of shared memory.
fn accessed(values: impl IntoIterator<Item = Word>) -> Vec<Operand> {
    ids(values).into_iter().chain([Operand::MemoryAccess(SHARED)]).collect()
}

/// The access of this number of the kernel, and what the kernel takes the value for.
fn at(accesses: &[BufferAccess], number: usize) -> Result<(&BufferAccess, Shape), BuildError> {
    let found = access::of_row(accesses, 0).find(|(access, _)| access.number == number);
    found.ok_or_else(|| BuildError::Operands {
        kernel: "of matrices".to_owned(),
        given: accesses.len(),
    })
}
