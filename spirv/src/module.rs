//! One compute module for the kernels of a [`Plan`]: SPIR-V 1.3 (Vulkan 1.1), entry point `main`.
//!
//! A work group's row (y) says which kernel it runs, its column (x) which slots, counted from the variant's shift on.
//! Kernels that read the same operands share their load and, behind a switch on the row, their store. The words depend on the plan alone.

use rspirv::binary::Assemble;
use rspirv::dr::{Module, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, MemoryModel, Op,
    SelectionControl, StorageClass, Word,
};

use crate::controls::Controls;
use crate::emitter::{Emitter, ids};
use crate::error::BuildError;
use crate::format::Format;
use crate::glsl;
use crate::kernel::{Kernel, Shape};
use crate::modes;
use crate::needs::float_formats;
use crate::plan::{Element, GROUP, Group, Placed, Plan};
use crate::route::Via;

const COORDINATES: Shape = Shape { format: Format::U32, width: 3 };

/// Where an invocation is: its slot, and its work group's row.
#[derive(Clone, Copy)]
struct Place {
    slot: Word,
    row: Word,
}

/// Builds the module of a plan. Gives its words, header included.
pub fn build(plan: &Plan) -> Result<Vec<u32>, BuildError> {
    let (via, controls) = agreed(plan)?;
    let module = match via {
        Via::Spirv => direct(plan)?,
        Via::Glsl => glsl::compile(plan)?,
    };
    Ok(modes::apply(module, controls)?.assemble())
}

/// Front end and controls of all kernels of a plan.
fn agreed(plan: &Plan) -> Result<(Via, Controls), BuildError> {
    let of = |kernel: &Kernel| (kernel.via, kernel.controls);
    let mut kernels = plan.placed.iter().map(|placed| &placed.kernel);
    let Some(first) = kernels.next() else {
        return Ok((Via::default(), Controls::NONE));
    };
    match kernels.find(|kernel| of(kernel) != of(first)) {
        Some(other) => Err(BuildError::Mixed { first: first.to_string(), other: other.to_string() }),
        None => Ok(of(first)),
    }
}

/// The module without its controls, instruction by instruction.
fn direct(plan: &Plan) -> Result<Module, BuildError> {
    let mut emitter = Emitter::new();
    emitter.preamble(plan);
    let buffers: Vec<Word> = plan.buffers.iter().map(|buffer| emitter.declare_buffer(buffer)).collect();
    let image = plan.image.map(|image| emitter.declare_image(image)).transpose()?;

    let place = emitter.begin_main(plan)?;
    for group in plan.groups() {
        emitter.group(plan, group, &buffers, image, place)?;
    }
    emitter.builder.ret()?;
    emitter.builder.end_function()?;

    let mut module = emitter.builder.module();
    if let Some(header) = &mut module.header {
        // 0: no registered generator. rspirv would sign with its own number.
        header.generator = 0;
    }
    Ok(module)
}

impl Emitter {
    fn preamble(&mut self, plan: &Plan) {
        let builder = &mut self.builder;
        builder.set_version(1, 3);
        builder.capability(Capability::Shader);
        let has = |format| plan.placed.iter().any(|placed| float_formats(&placed.kernel).contains(&format));
        if has(Format::F16) {
            builder.capability(Capability::Float16);
        }
        if has(Format::F64) {
            builder.capability(Capability::Float64);
        }
        if plan.buffers.iter().any(|buffer| buffer.element == Element::F16) {
            modes::require(builder, Capability::StorageBuffer16BitAccess, "SPV_KHR_16bit_storage");
        }
        if plan.image.is_some() {
            builder.capability(Capability::StorageImageExtendedFormats);
        }
        builder.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    }

    /// Declares and opens `main`.
    fn begin_main(&mut self, plan: &Plan) -> Result<Place, BuildError> {
        let uint = self.scalar(Format::U32);
        let invocation = self.built_in(BuiltIn::GlobalInvocationId, "invocation");
        // A module of one kernel has one row, and no need to ask.
        let work_group = (plan.rows > 1).then(|| self.built_in(BuiltIn::WorkgroupId, "work_group"));
        let void = self.builder.type_void();
        let signature = self.builder.type_function(void, []);
        let main = self.builder.begin_function(void, None, FunctionControl::NONE, signature)?;
        self.builder.name(main, "main");
        self.builder.entry_point(
            ExecutionModel::GLCompute,
            main,
            "main",
            [Some(invocation), work_group].into_iter().flatten().collect::<Vec<_>>(),
        );
        self.builder.execution_mode(main, ExecutionMode::LocalSize, [GROUP, 1, 1]);
        self.builder.begin_block(None)?;
        let vector = self.shape(COORDINATES);
        let x = self.value(Op::Load, vector, ids([invocation]))?;
        let x = self.component(COORDINATES, x, 0)?;
        let row = match work_group {
            Some(work_group) => {
                let y = self.value(Op::Load, vector, ids([work_group]))?;
                self.component(COORDINATES, y, 1)?
            }
            None => self.word(0),
        };
        // The invocations of the work groups that do nothing wrap around to slots that no kernel has.
        let first = self.word(plan.variant.shift * GROUP);
        let slot = self.value(Op::ISub, uint, ids([x, first]))?;
        self.builder.name(slot, "slot");
        Ok(Place { slot, row })
    }

    fn built_in(&mut self, built_in: BuiltIn, name: &str) -> Word {
        let vector = self.shape(COORDINATES);
        let pointer = self.builder.type_pointer(None, StorageClass::Input, vector);
        let variable = self.builder.variable(pointer, None, StorageClass::Input, None);
        self.builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
        self.builder.name(variable, name);
        variable
    }

    /// Kernels of the same operands: `if (slot < slots && row is one of ours) { x = operands[slot]; ... }`.
    fn group(
        &mut self,
        plan: &Plan,
        group: Group<'_>,
        buffers: &[Word],
        image: Option<Word>,
        place: Place,
    ) -> Result<(), BuildError> {
        let Some(first) = group.placed.first() else { return Ok(()) };
        let (bool, uint) = (self.scalar(Format::Bool), self.scalar(Format::U32));
        let slots = self.word(first.slots);
        let mut inside = self.value(Op::ULessThan, bool, ids([place.slot, slots]))?;
        let mut number = place.row;
        if group.first > 0 {
            let from = self.word(group.first);
            number = self.value(Op::ISub, uint, ids([place.row, from]))?;
        }
        let count = group.placed.len() as u32;
        if count < plan.rows {
            let (op, limit) = if count == 1 { (Op::IEqual, 0) } else { (Op::ULessThan, count) };
            let limit = self.word(limit);
            let ours = self.value(op, bool, ids([number, limit]))?;
            inside = self.value(Op::LogicalAnd, bool, ids([inside, ours]))?;
        }
        let (body, merge) = (self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(inside, body, merge, [])?;
        self.builder.begin_block(Some(body))?;
        let params: Result<Vec<Word>, BuildError> =
            first.params.iter().map(|region| self.load(plan, buffers, region, place.slot)).collect();
        let params = params?;
        match (group.placed, first.result) {
            ([only], _) => {
                self.builder.name(body, only.kernel.label());
                self.alone(plan, only, &params, buffers, image, place.slot)?;
            }
            (several, Some(result)) => {
                self.builder.name(body, "operands");
                let value = self.chosen(several, &params, number)?;
                let stride = self.word(group.stride());
                let further = self.value(Op::IMul, uint, ids([number, stride]))?;
                self.store(plan, buffers, &result, place.slot, Some(further), value)?;
            }
            (several, None) => {
                let kernel = several[0].kernel.to_string();
                return Err(BuildError::Operands { kernel, given: params.len() });
            }
        }
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        Ok(())
    }

    /// The result of the kernel of this number: a switch, one case a kernel.
    fn chosen(&mut self, placed: &[Placed], params: &[Word], number: Word) -> Result<Word, BuildError> {
        let labels: Vec<Word> = placed.iter().map(|_| self.builder.id()).collect();
        let merge = self.builder.id();
        let targets = labels.iter().enumerate().map(|(case, label)| (Operand::LiteralBit32(case as u32), *label));
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        // The guard lets no other number in, so the last kernel may stand for the default.
        let last = labels.last().copied().unwrap_or(merge);
        self.builder.switch(number, last, targets.take(placed.len().saturating_sub(1)))?;
        let mut results = Vec::new();
        for (placed, block) in placed.iter().zip(&labels) {
            self.builder.begin_block(Some(*block))?;
            self.builder.name(*block, placed.kernel.label());
            let value = self.operation(&placed.kernel, params)?;
            // An operation may end in another block than it began in.
            let end = self.block()?;
            self.builder.branch(merge)?;
            results.extend([value, end]);
        }
        self.builder.begin_block(Some(merge))?;
        let kind = self.shape(placed[0].kernel.result());
        self.value(Op::Phi, kind, ids(results))
    }

    /// A kernel that shares with none.
    fn alone(
        &mut self,
        plan: &Plan,
        placed: &Placed,
        params: &[Word],
        buffers: &[Word],
        image: Option<Word>,
        slot: Word,
    ) -> Result<(), BuildError> {
        let kernel = &placed.kernel;
        match (plan.image.zip(image), params, &placed.result) {
            (None, _, Some(result)) => {
                let value = self.operation(kernel, params)?;
                self.store(plan, buffers, result, slot, None, value)
            }
            (Some((image, variable)), [], Some(result)) => {
                let value = self.read_texel(image, variable, slot, result.shape)?;
                self.store(plan, buffers, result, slot, None, value)
            }
            (Some((image, variable)), [value], None) => {
                self.write_texel(image, variable, slot, placed.params[0].shape, *value)
            }
            _ => Err(BuildError::Operands { kernel: kernel.to_string(), given: params.len() }),
        }
    }
}

#[cfg(test)]
mod tests;
