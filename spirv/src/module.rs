//! One module for the kernels of a [`Plan`]: SPIR-V 1.3 (Vulkan 1.1), entry point `main`.
//!
//! A work group's row (y) says which kernel it runs, its column (x) which slots, counted from the
//! variant's shift on. All rows share what gets at memory: operands are loaded, a switch on the row
//! computes, results are stored. Operands that are constants are never loaded: see `folded.rs`. The
//! words depend on the plan alone.

mod atomic;
mod buffer_io;
mod constant_block;
mod counting;
mod element_loop;
mod folded;
mod matrix;
mod operands;
mod piecewise;
pub mod point_list;
mod subgroup;
mod texels;
pub mod triangle;
pub mod triangles;

use std::collections::{BTreeMap, BTreeSet};

use rspirv::binary::Assemble;
use rspirv::dr::{Module, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, MemoryModel, Op, SelectionControl, StorageClass, Word,
};

use crate::build_error::BuildError;
use crate::controls::Controls;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::glsl;
use crate::image::ImageVariable;
use crate::kernel::{Kernel, Shape};
use crate::modes;
use crate::needs::float_formats;
use crate::op::Team;
use crate::plan::access::{self, BufferAccess};
use crate::plan::records::records;
use crate::plan::{Element, Image, Plan};
use crate::route::{Stage, Via};

use atomic::SharedArray;
use buffer_io::ResultElements;
use constant_block::ConstantBlock;
use element_loop::ElementArray;
use operands::OperandSource;

const COORDINATES: Shape = Shape::vector(Format::U32, 3);

/// Where an invocation is: its slot, and its work group's row. `local`: its slot within the
/// constant block, if there is one. `zero`: a number that is 0 at run time, for kernels that need
/// one. `lane`: its place in its subgroup or work group, for kernels that those compute together.
#[derive(Clone, Copy)]
struct InvocationPosition {
    slot: Word,
    row: Word,
    local: Option<Word>,
    zero: Option<Word>,
    lane: Option<Word>,
}

/// What a module reads and writes.
struct ModuleMemory {
    operands: Vec<BufferAccess>,
    results: Vec<BufferAccess>,
    /// Of the records that go through arrays, by their buffers.
    element_arrays: BTreeMap<usize, ElementArray>,
    buffers: Vec<Word>,
    /// Of each kernel, where they are about texels that a shader gets at.
    images: Vec<ImageVariable>,
    /// Of each kernel, where they are inputs of a fragment shader.
    inputs: Vec<Word>,
    constant_block: Option<ConstantBlock>,
    shared: Option<SharedArray>,
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

/// Builds the vertex shader before the module of a plan, where that is of a later stage: words of a
/// module, entry point `main`.
pub fn vertex_shader(plan: &Plan) -> Result<Option<Vec<u32>>, BuildError> {
    Ok(match plan.shader() {
        Stage::Compute | Stage::Vertex => None,
        _ if plan.covers() => Some(triangle::triangle(plan)?),
        _ if plan.has_triangles() => Some(triangles::triangles(plan)?),
        _ => Some(point_list::point_list(plan)?),
    })
}

/// Front end and controls of all kernels of a plan, which have one route, too.
fn agreed(plan: &Plan) -> Result<(Via, Controls), BuildError> {
    let of = |kernel: &Kernel| (kernel.via, kernel.controls, kernel.route, kernel.stage);
    let mut kernels = plan.placed.iter().map(|placed| &placed.kernel);
    let Some(first) = kernels.next() else {
        return Ok((Via::default(), Controls::NONE));
    };
    match kernels.find(|kernel| of(kernel) != of(first)) {
        Some(other) => {
            Err(BuildError::Mixed { first: first.to_string(), other: other.to_string() })
        }
        None => Ok((first.via, first.controls)),
    }
}

/// The module without its controls, instruction by instruction.
fn direct(plan: &Plan) -> Result<Module, BuildError> {
    let plan = &plan.by_invocation();
    let mut emitter = Emitter::new();
    let floats = plan.placed.iter().flat_map(|placed| float_formats(&placed.kernel)).collect();
    emitter.preamble(&floats, plan.buffers.iter().any(|buffer| buffer.element == Element::F16));
    let (operands, results) = (access::operands(plan), access::results(plan));
    let element_arrays = records(&operands).into_iter().chain(records(&results));
    let element_arrays =
        element_arrays.filter_map(|record| emitter.declare_element_array(&record)).collect();
    let memory = ModuleMemory {
        element_arrays,
        operands,
        results,
        buffers: plan.buffers.iter().map(|buffer| emitter.declare_buffer(buffer)).collect(),
        images: plan
            .images()
            .filter(Image::is_of_shader)
            .map(|image| emitter.declare_image(image))
            .collect::<Result<_, _>>()?,
        inputs: if plan.has_triangles() { emitter.declare_inputs(plan) } else { Vec::new() },
        constant_block: plan.route().and_then(|route| emitter.declare_constant_block(route)),
        shared: emitter.declare_shared_array(plan),
    };
    emitter.declare_specialised(plan);

    let place = match plan.shader() {
        Stage::Compute => emitter.begin_main(plan, memory.constant_block)?,
        stage => {
            let texels = memory.images.iter().filter_map(ImageVariable::interface);
            let variables: Vec<Word> = texels.chain(memory.inputs.iter().copied()).collect();
            emitter.begin_drawn(plan, stage, &variables)?
        }
    };
    match plan.placed.len() {
        0 => {}
        // Rows one after the other, where there are no instances. All attachments are as large as
        // the longest list needs: beyond the slots of a kernel nothing is put out, and what
        // its attachment holds there is nobody's answer.
        2.. if plan.covers() => {
            let rows = emitter.word(plan.rows);
            emitter.counted(rows, |emitter, row| {
                emitter.body(plan, &memory, InvocationPosition { row, ..place })
            })?;
        }
        _ => emitter.body(plan, &memory, place)?,
    }
    emitter.end_entry()
}

impl Emitter {
    /// Begins a module that computes with these floats; `storage16`: and has binary16 in buffers.
    pub(crate) fn preamble(&mut self, floats: &BTreeSet<Format>, storage16: bool) {
        let builder = &mut self.builder;
        builder.set_version(1, 3);
        builder.capability(Capability::Shader);
        for (capability, extension) in floats.iter().filter_map(|format| format.declared()) {
            modes::require(builder, capability, extension);
        }
        if storage16 {
            modes::require(builder, Capability::StorageBuffer16BitAccess, "SPV_KHR_16bit_storage");
        }
        builder.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    }

    /// Declares and opens `main`.
    fn begin_main(
        &mut self,
        plan: &Plan,
        constant_block: Option<ConstantBlock>,
    ) -> Result<InvocationPosition, BuildError> {
        let uint = self.scalar(Format::U32);
        let invocation = self.built_in(BuiltIn::GlobalInvocationId, COORDINATES, "invocation");
        // A module of one kernel has one row, and no need to ask.
        let work_group =
            (plan.rows > 1).then(|| self.built_in(BuiltIn::WorkgroupId, COORDINATES, "work_group"));
        // Matrices belong to a subgroup as a whole.
        let mut teams = plan.placed.iter().filter(|placed| placed.kernel.matrix.is_none());
        let built_in = teams.find_map(|placed| match placed.kernel.op.code.team()? {
            Team::Subgroup => Some(BuiltIn::SubgroupLocalInvocationId),
            Team::WorkGroup => Some(BuiltIn::LocalInvocationIndex),
            Team::Quad | Team::Triangle => None,
        });
        let number = Shape::scalar(Format::U32);
        let lane = built_in.map(|built_in| self.built_in(built_in, number, "lane"));
        let size = plan.group();
        let void = self.builder.type_void();
        let signature = self.builder.type_function(void, []);
        let main = self.builder.begin_function(void, None, FunctionControl::NONE, signature)?;
        self.builder.name(main, "main");
        self.builder.entry_point(
            ExecutionModel::GLCompute,
            main,
            "main",
            [Some(invocation), work_group, lane].into_iter().flatten().collect::<Vec<_>>(),
        );
        self.builder.execution_mode(main, ExecutionMode::LocalSize, [size, 1, 1]);
        self.builder.begin_block(None)?;
        let vector = self.shape(COORDINATES);
        let coordinates = self.value(Op::Load, vector, ids([invocation]))?;
        let x = self.component(COORDINATES, coordinates, 0)?;
        let run_time =
            plan.placed.iter().any(|placed| placed.kernel.op.code.has_run_time_condition());
        let zero = run_time.then(|| self.component(COORDINATES, coordinates, 2)).transpose()?;
        let lane = lane.map(|lane| self.value(Op::Load, uint, ids([lane]))).transpose()?;
        let row = match work_group {
            Some(work_group) => {
                let y = self.value(Op::Load, vector, ids([work_group]))?;
                self.component(COORDINATES, y, 1)?
            }
            None => self.word(0),
        };
        // The invocations of the work groups that do nothing wrap around to slots that no kernel
        // has.
        let first = self.word(plan.variant.shift * size);
        let slot = self.value(Op::ISub, uint, ids([x, first]))?;
        let place = match constant_block {
            Some(constant_block) => self.through(constant_block, slot, row)?,
            None => InvocationPosition { slot, row, local: None, zero, lane },
        };
        self.builder.name(place.slot, "slot");
        Ok(place)
    }

    fn built_in(&mut self, built_in: BuiltIn, shape: Shape, name: &str) -> Word {
        let kind = self.shape(shape);
        let pointer = self.builder.type_pointer(None, StorageClass::Input, kind);
        let variable = self.builder.variable(pointer, None, StorageClass::Input, None);
        self.builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
        self.builder.name(variable, name);
        variable
    }

    /// What is done where the row's kernel has this slot: `if (slot < slots) { load; switch (row) {
    /// ... } store; }`.
    fn body(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        place: InvocationPosition,
    ) -> Result<(), BuildError> {
        if plan.placed.iter().any(|placed| placed.kernel.matrix.is_some()) {
            return self.cooperative_body(plan, memory, place);
        }
        if place.lane.is_some() {
            self.team_body(plan, memory, place)
        } else {
            self.slot_body(plan, memory, place)
        }
    }

    /// The same of one slot.
    fn slot_body(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        place: InvocationPosition,
    ) -> Result<(), BuildError> {
        let slots: Vec<Option<u32>> = plan.placed.iter().map(|placed| Some(placed.slots)).collect();
        let bool = self.scalar(Format::Bool);
        let slots = self.of_row(place.row, &slots)?;
        let slots = self.number(slots);
        let inside = self.value(Op::ULessThan, bool, ids([place.slot, slots]))?;
        let (body, merge) = (self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(inside, body, merge, [])?;
        self.builder.begin_block(Some(body))?;
        let only =
            if let [only] = plan.placed.as_slice() { Some(only.kernel.label()) } else { None };
        self.builder.name(body, only.as_deref().unwrap_or("operands"));
        let operands = self.operands(plan, memory, place)?;
        let results = match only {
            Some(_) => self.computed(plan, memory, 0, &operands, place)?,
            None => self.chosen(plan, memory, &operands, place)?,
        };
        let stored = match place.lane {
            Some(lane) => self.by_storing_lane(plan, lane, |emitter| {
                emitter.store_elements(memory, place, &results)
            }),
            None => self.store_elements(memory, place, &results),
        };
        stored?;
        self.builder.branch(merge)?;
        self.builder.begin_block(Some(merge))?;
        Ok(())
    }

    /// The results of the row's kernel: a switch with one case a kernel. Elements that are none of
    /// its results are 0.
    fn chosen(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        operands: &OperandSource,
        place: InvocationPosition,
    ) -> Result<ResultElements, BuildError> {
        let labels: Vec<Word> = plan.placed.iter().map(|_| self.builder.id()).collect();
        let merge = self.builder.id();
        let targets = (0..).map(Operand::LiteralBit32).zip(labels.iter().copied());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        // There are no other rows, so the last kernel may stand for the default.
        let last = labels.last().copied().unwrap_or(merge);
        self.builder.switch(place.row, last, targets.take(plan.placed.len().saturating_sub(1)))?;
        let mut computed = Vec::new();
        for (index, (placed, block)) in plan.placed.iter().zip(&labels).enumerate() {
            self.builder.begin_block(Some(*block))?;
            self.builder.name(*block, placed.kernel.label());
            let results = self.computed(plan, memory, index, operands, place)?;
            // An operation may end in another block than it began in.
            computed.push((results, self.block()?));
            self.builder.branch(merge)?;
        }
        self.builder.begin_block(Some(merge))?;
        let mut chosen = ResultElements::new();
        for access in &memory.results {
            let element = access.element.shape();
            let (kind, nothing) = (self.shape(element), self.constant(element, 0));
            for index in 0..access.most() {
                let key = (access.number, access.buffer, index);
                let edges = computed
                    .iter()
                    .flat_map(|(results, end)| [*results.get(&key).unwrap_or(&nothing), *end]);
                chosen.insert(key, self.value(Op::Phi, kind, ids(edges))?);
            }
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests;
