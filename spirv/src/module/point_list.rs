//! Kernels in shaders that draw: a point for each slot, an instance for each row. What covers an
//! attachment draws a [triangle](super::triangle) instead.
//!
//! A vertex shader knows both by their numbers. Shaders behind it receive both from the vertex
//! shader of [`point_list`], which puts the point of a slot where its texel lies in an attachment,
//! or all of them on one place where there is none.

use rspirv::binary::Assemble;
use rspirv::dr::{Module, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, MemoryModel, Op, StorageClass, Word,
};

use super::InvocationPosition;
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::layout::BINARY32;
use crate::modes;
use crate::op::FixedFunctionState;
use crate::plan::{IMAGE_WIDTH, Plan};
use crate::route::Stage;

const SINGLE: Shape = Shape::scalar(Format::F32);
const POSITION: Shape = Shape::vector(Format::F32, 4);

/// The vertex shader that a plan's fragment or geometry shader goes with: words of a module, entry
/// point `main`. Slot and row go to the locations 0 and 1.
pub fn point_list(plan: &Plan) -> Result<Vec<u32>, BuildError> {
    let mut emitter = Emitter::before();
    let uint = emitter.scalar(Format::U32);
    let (numbers, place) = emitter.numbered();
    let values = [0, 1].map(|location| emitter.interface(StorageClass::Output, uint, location));
    let interface = [&numbers[..], &place[..], &values[..]].concat();
    emitter.begin_entry(ExecutionModel::Vertex, &interface)?;
    let slot = emitter.slot(numbers[0], plan)?;
    let row = emitter.number_of(numbers[1])?;
    emitter.builder.store(values[0], slot, None, [])?;
    emitter.builder.store(values[1], row, None, [])?;
    let (zero, unit) = (emitter.constant(SINGLE, 0), emitter.constant(SINGLE, BINARY32.one()));
    let middle = match plan.image() {
        Some(image) => emitter.middle(slot, image.extent)?,
        None => [zero, zero],
    };
    let farthest =
        plan.image().is_some_and(|image| image.state() == Some(FixedFunctionState::MaxDepth));
    let depth = if farthest { unit } else { zero };
    let position = emitter.compose(POSITION, &[middle[0], middle[1], depth, unit])?;
    emitter.builder.store(place[0], position, None, [])?;
    emitter.builder.store(place[1], unit, None, [])?;
    Ok(emitter.end_entry()?.assemble())
}

impl Emitter {
    /// Of the shader that goes before one of kernels.
    pub(super) fn before() -> Emitter {
        let mut emitter = Emitter::new();
        emitter.builder.set_version(1, 3);
        emitter.builder.capability(Capability::Shader);
        emitter.builder.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        emitter
    }

    /// Declares and opens `main` of a shader that draws.
    pub(super) fn begin_drawn(
        &mut self,
        plan: &Plan,
        stage: Stage,
        variables: &[Word],
    ) -> Result<InvocationPosition, BuildError> {
        let uint = self.scalar(Format::U32);
        if stage == Stage::Geometry {
            return self.begin_geometry();
        }
        if stage == Stage::Fragment {
            let values =
                if plan.covers() { vec![self.coordinates()] } else { self.inputs().to_vec() };
            let interface: Vec<Word> = values.iter().chain(variables).copied().collect();
            let main = self.begin_entry(ExecutionModel::Fragment, &interface)?;
            self.builder.execution_mode(main, ExecutionMode::OriginUpperLeft, []);
            if plan.image().is_some_and(|image| image.is_depth_output()) {
                self.builder.execution_mode(main, ExecutionMode::DepthReplacing, []);
            }
            let (slot, row) = match values[..] {
                [slot, row] => (
                    self.value(Op::Load, uint, ids([slot]))?,
                    self.value(Op::Load, uint, ids([row]))?,
                ),
                // Its slot is that of every row.
                _ => (self.covered(plan, values[0])?, self.word(0)),
            };
            return Ok(InvocationPosition { slot, row, local: None, zero: None, lane: None });
        }
        let (numbers, place) = self.numbered();
        let interface: Vec<Word> = numbers.iter().chain(&place).chain(variables).copied().collect();
        self.begin_entry(ExecutionModel::Vertex, &interface)?;
        // Nothing is drawn, but what a point must have it has.
        let (zero, unit) = (self.constant(SINGLE, 0), self.constant(SINGLE, BINARY32.one()));
        let position = self.compose(POSITION, &[zero, zero, zero, unit])?;
        self.builder.store(place[0], position, None, [])?;
        self.builder.store(place[1], unit, None, [])?;
        let slot = self.slot(numbers[0], plan)?;
        let row = self.number_of(numbers[1])?;
        Ok(InvocationPosition { slot, row, local: None, zero: None, lane: None })
    }

    /// The same of a geometry shader, which takes a point and emits none.
    fn begin_geometry(&mut self) -> Result<InvocationPosition, BuildError> {
        modes::require(&mut self.builder, Capability::Geometry, "");
        let (uint, one) = (self.scalar(Format::U32), self.word(1));
        let primitive = self.builder.type_array(uint, one);
        let values =
            [0, 1].map(|location| self.interface(StorageClass::Input, primitive, location));
        let main = self.begin_entry(ExecutionModel::Geometry, &values)?;
        for (mode, number) in [
            (ExecutionMode::InputPoints, None),
            (ExecutionMode::Invocations, Some(1)),
            (ExecutionMode::OutputPoints, None),
            (ExecutionMode::OutputVertices, Some(1)),
        ] {
            self.builder.execution_mode(main, mode, number.as_slice());
        }
        let (pointer, first) =
            (self.builder.type_pointer(None, StorageClass::Input, uint), self.word(0));
        let mut place = [0; 2];
        for (variable, at) in values.into_iter().zip(&mut place) {
            let own = self.value(Op::AccessChain, pointer, ids([variable, first]))?;
            *at = self.value(Op::Load, uint, ids([own]))?;
        }
        let [slot, row] = place;
        Ok(InvocationPosition { slot, row, local: None, zero: None, lane: None })
    }

    /// Slot and row, as the shader of [`point_list`] tells them.
    fn inputs(&mut self) -> [Word; 2] {
        let uint = self.scalar(Format::U32);
        let values = [0, 1].map(|location| self.interface(StorageClass::Input, uint, location));
        for variable in values {
            self.builder.decorate(variable, Decoration::Flat, []);
        }
        values
    }

    /// The numbers of vertex and instance, and position and size of a point.
    pub(super) fn numbered(&mut self) -> ([Word; 2], [Word; 2]) {
        let int = self.scalar(Format::I32);
        let (position, size) = (self.shape(POSITION), self.scalar(Format::F32));
        let numbers = [(BuiltIn::VertexIndex, "vertex"), (BuiltIn::InstanceIndex, "instance")]
            .map(|(built_in, name)| self.built_in_of(StorageClass::Input, int, built_in, name));
        let place = [(BuiltIn::Position, position, "position"), (BuiltIn::PointSize, size, "size")]
            .map(|(built_in, kind, name)| {
                self.built_in_of(StorageClass::Output, kind, built_in, name)
            });
        (numbers, place)
    }

    /// A built-in input or output.
    pub(crate) fn built_in_of(
        &mut self,
        class: StorageClass,
        kind: Word,
        built_in: BuiltIn,
        name: &str,
    ) -> Word {
        let pointer = self.builder.type_pointer(None, class, kind);
        let variable = self.builder.variable(pointer, None, class, None);
        self.builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
        self.builder.name(variable, name);
        variable
    }

    /// An input or output at a location.
    pub(crate) fn interface(&mut self, class: StorageClass, kind: Word, location: u32) -> Word {
        let pointer = self.builder.type_pointer(None, class, kind);
        let variable = self.builder.variable(pointer, None, class, None);
        self.builder.decorate(variable, Decoration::Location, [Operand::LiteralBit32(location)]);
        variable
    }

    /// Declares and opens `main`.
    pub(crate) fn begin_entry(
        &mut self,
        model: ExecutionModel,
        interface: &[Word],
    ) -> Result<Word, BuildError> {
        let void = self.builder.type_void();
        let signature = self.builder.type_function(void, []);
        let main = self.builder.begin_function(void, None, FunctionControl::NONE, signature)?;
        self.builder.name(main, "main");
        self.builder.entry_point(model, main, "main", interface);
        self.builder.begin_block(None)?;
        Ok(main)
    }

    /// Closes `main`, and the module.
    pub(crate) fn end_entry(mut self) -> Result<Module, BuildError> {
        self.builder.ret()?;
        self.builder.end_function()?;
        let mut module = self.builder.module();
        if let Some(header) = &mut module.header {
            // 0: no registered generator. rspirv would sign with its own number.
            header.generator = 0;
        }
        Ok(module)
    }

    /// A number that is never negative.
    pub(super) fn number_of(&mut self, variable: Word) -> Result<Word, BuildError> {
        let (int, uint) = (self.scalar(Format::I32), self.scalar(Format::U32));
        let number = self.value(Op::Load, int, ids([variable]))?;
        self.value(Op::Bitcast, uint, ids([number]))
    }

    /// The slot of a vertex. Those of the groups that do nothing wrap around to slots that no
    /// kernel has; attributes are fetched by the vertex's own number, so there are none.
    fn slot(&mut self, vertex: Word, plan: &Plan) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let number = self.number_of(vertex)?;
        let first = self.word(plan.idle());
        let slot = self.value(Op::ISub, uint, ids([number, first]))?;
        self.builder.name(slot, "slot");
        Ok(slot)
    }

    /// The middle of a slot's texel, in the coordinates of a viewport as large as the image: an odd
    /// number of half texels from its edge.
    fn middle(&mut self, slot: Word, [_, height]: [u32; 2]) -> Result<[Word; 2], BuildError> {
        let (uint, int, float) =
            (self.scalar(Format::U32), self.scalar(Format::I32), self.scalar(Format::F32));
        let width = self.word(IMAGE_WIDTH);
        let column = self.value(Op::UMod, uint, ids([slot, width]))?;
        let line = self.value(Op::UDiv, uint, ids([slot, width]))?;
        let mut middle = [column, line];
        for (at, extent) in middle.iter_mut().zip([IMAGE_WIDTH, height]) {
            let (two, back) = (self.word(2), self.word(extent - 1));
            let doubled = self.value(Op::IMul, uint, ids([*at, two]))?;
            let moved = self.value(Op::ISub, uint, ids([doubled, back]))?;
            let signed = self.value(Op::Bitcast, int, ids([moved]))?;
            let number = self.value(Op::ConvertSToF, float, ids([signed]))?;
            let whole = self.constant(SINGLE, u64::from((extent as f32).to_bits()));
            *at = self.value(Op::FDiv, float, ids([number, whole]))?;
        }
        Ok(middle)
    }
}
