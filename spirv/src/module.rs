//! One compute module for the kernels of a [`Plan`]: SPIR-V 1.3 (Vulkan 1.1), entry point `main`.
//!
//! Kernels that read the same operands share a selection block, entered by the invocations of their slots; slots are
//! counted from the variant's shift on. The words depend on the plan alone.

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
use crate::plan::{Element, GROUP, Placed, Plan};
use crate::route::Via;

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

    let slot = emitter.begin_main(plan.variant.shift)?;
    // Kernels that read the same operands stand together behind one guard and one load.
    for group in plan.placed.chunk_by(|a, b| a.slots == b.slots && !a.params.is_empty() && a.params == b.params) {
        emitter.group(plan, group, &buffers, image, slot)?;
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

/// Name of a kernel in a listing: its stem, and its width where that is not 1.
pub(crate) fn label(kernel: &Kernel) -> String {
    if kernel.width == 1 { kernel.stem() } else { format!("{}.x{}", kernel.stem(), kernel.width) }
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

    /// Declares and opens `main`. Gives the slot: the invocation's number less the work groups that do nothing, for
    /// which it wraps around to a number that no kernel has.
    fn begin_main(&mut self, shift: u32) -> Result<Word, BuildError> {
        const GLOBAL: Shape = Shape { format: Format::U32, width: 3 };
        let (uint, vector) = (self.scalar(Format::U32), self.shape(GLOBAL));
        let pointer = self.builder.type_pointer(None, StorageClass::Input, vector);
        let invocation = self.builder.variable(pointer, None, StorageClass::Input, None);
        let built_in = Operand::BuiltIn(BuiltIn::GlobalInvocationId);
        self.builder.decorate(invocation, Decoration::BuiltIn, [built_in]);
        self.builder.name(invocation, "invocation");

        let void = self.builder.type_void();
        let signature = self.builder.type_function(void, []);
        let main = self.builder.begin_function(void, None, FunctionControl::NONE, signature)?;
        self.builder.name(main, "main");
        self.builder.entry_point(ExecutionModel::GLCompute, main, "main", [invocation]);
        self.builder.execution_mode(main, ExecutionMode::LocalSize, [GROUP, 1, 1]);
        self.builder.begin_block(None)?;
        let global = self.value(Op::Load, vector, ids([invocation]))?;
        let x = self.component(GLOBAL, global, 0)?;
        let first = self.word(shift * GROUP);
        let slot = self.value(Op::ISub, uint, ids([x, first]))?;
        self.builder.name(slot, "slot");
        Ok(slot)
    }

    /// Kernels of the same operands: `if (slot < slots) { x = operands[slot]; result[slot] = operation(x); ... }`.
    fn group(
        &mut self,
        plan: &Plan,
        group: &[Placed],
        buffers: &[Word],
        image: Option<Word>,
        slot: Word,
    ) -> Result<(), BuildError> {
        let Some(first) = group.first() else { return Ok(()) };
        let bool = self.scalar(Format::Bool);
        let slots = self.word(first.slots);
        let inside = self.value(Op::ULessThan, bool, ids([slot, slots]))?;
        let (body, merge) = (self.builder.id(), self.builder.id());
        let labels: Vec<String> = group.iter().map(|placed| label(&placed.kernel)).collect();
        self.builder.name(body, labels.join(" "));
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(inside, body, merge, [])?;
        self.builder.begin_block(Some(body))?;
        let params: Result<Vec<Word>, BuildError> =
            first.params.iter().map(|region| self.load(plan, buffers, region, slot)).collect();
        let params = params?;
        for placed in group {
            self.kernel(plan, placed, &params, buffers, image, slot)?;
        }
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        Ok(())
    }

    /// One kernel on loaded operands.
    fn kernel(
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
                self.store(plan, buffers, result, slot, value)
            }
            (Some((image, variable)), [], Some(result)) => {
                let value = self.read_texel(image, variable, slot, result.shape)?;
                self.store(plan, buffers, result, slot, value)
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
