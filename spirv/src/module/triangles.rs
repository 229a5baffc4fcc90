//! Inputs of fragment shaders: a triangle for each slot, an instance for each row. Its vertices
//! hold the operands. All triangles lie on one place, for what is interpolated may depend on it,
//! and have one fragment, in whose middle the vertices weigh 1/2, 1/4 and 1/4.

use std::collections::BTreeMap;

use rspirv::binary::Assemble;
use rspirv::spirv::{ExecutionModel, Op, StorageClass, Word};

use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::interpolation::VERTICES;
use crate::kernel::Shape;
use crate::layout::BINARY32;
use crate::op::Code;
use crate::plan::access;
use crate::plan::{Direction, Plan};

const SINGLE: Shape = Shape::scalar(Format::F32);
const POSITION: Shape = Shape::vector(Format::F32, 4);
/// Of a vertex's operand: behind slot and row.
const FIRST_LOCATION: u32 = 2;

/// The vertex shader of the triangles: words of a module, entry point `main`. Slot and row go to
/// the locations 0 and 1, a vertex's operand to one for each row, from 2 on.
///
/// The corners are those of the [viewport](super::triangle::viewport) but one, as of the triangle
/// that covers all.
pub fn triangles(plan: &Plan) -> Result<Vec<u32>, BuildError> {
    let mut emitter = Emitter::before();
    let (uint, bool, single) =
        (emitter.scalar(Format::U32), emitter.scalar(Format::Bool), emitter.shape(SINGLE));
    let buffers = plan.buffers.iter().filter(|buffer| buffer.direction == Direction::In);
    let memory = ModuleMemory {
        operands: access::operands(plan),
        results: Vec::new(),
        element_arrays: BTreeMap::new(),
        buffers: buffers.map(|buffer| emitter.declare_buffer(buffer)).collect(),
        images: Vec::new(),
        inputs: Vec::new(),
        constant_block: None,
        shared: None,
    };
    let (numbers, place) = emitter.numbered();
    let values = [0, 1].map(|location| emitter.interface(StorageClass::Output, uint, location));
    let outputs: Vec<Word> = (FIRST_LOCATION..)
        .take(plan.placed.len())
        .map(|location| emitter.interface(StorageClass::Output, single, location))
        .collect();
    let interface = [&numbers[..], &place[..], &values[..], &outputs[..]].concat();
    emitter.begin_entry(ExecutionModel::Vertex, &interface)?;
    let vertex = emitter.number_of(numbers[0])?;
    let row = emitter.number_of(numbers[1])?;
    let (zero, each) = (emitter.word(0), emitter.word(VERTICES));
    let corner = emitter.value(Op::UMod, uint, ids([vertex, each]))?;
    let triangle = emitter.value(Op::UDiv, uint, ids([vertex, each]))?;
    let first = emitter.word(plan.idle());
    let slot = emitter.value(Op::ISub, uint, ids([triangle, first]))?;
    // What belongs to no slot of the row has no area.
    let slots: Vec<Option<u32>> = plan.placed.iter().map(|placed| Some(placed.slots)).collect();
    let slots = emitter.of_row(row, &slots)?;
    let slots = emitter.number(slots);
    let inside = emitter.value(Op::ULessThan, bool, ids([slot, slots]))?;
    let slot = emitter.value(Op::Select, uint, ids([inside, slot, zero]))?;
    let (nothing, near) = (
        emitter.constant(SINGLE, 0),
        emitter.constant(SINGLE, BINARY32.one() | BINARY32.sign_bit()),
    );
    let unit = emitter.constant(SINGLE, BINARY32.one());
    let far = emitter.value(Op::Select, single, ids([inside, unit, near]))?;

    let position = InvocationPosition { slot, row, local: None, zero: None, lane: None };
    let loaded = emitter.load_operands(&memory, position)?;
    // The rows have their operands in one buffer.
    let held = access::of_row(&memory.operands, 0)
        .filter_map(|(access, shape)| loaded.get(&(access.number, access.buffer, shape)));
    let mut held = held.copied();
    let mut value = held.next().ok_or_else(|| BuildError::Operands {
        kernel: plan.placed.first().map(|placed| placed.kernel.to_string()).unwrap_or_default(),
        given: 0,
    })?;
    let mut corner_at = [near; 2];
    for ((only, operand), at) in (1..).zip(held).zip(&mut corner_at) {
        let only = emitter.word(only);
        let is = emitter.value(Op::IEqual, bool, ids([corner, only]))?;
        value = emitter.value(Op::Select, single, ids([is, operand, value]))?;
        *at = emitter.value(Op::Select, single, ids([is, far, near]))?;
    }
    emitter.builder.store(values[0], slot, None, [])?;
    emitter.builder.store(values[1], row, None, [])?;
    for output in outputs {
        emitter.builder.store(output, value, None, [])?;
    }
    let [x, y] = corner_at;
    let position = emitter.compose(POSITION, &[x, y, nothing, unit])?;
    emitter.builder.store(place[0], position, None, [])?;
    emitter.builder.store(place[1], unit, None, [])?;
    Ok(emitter.end_entry()?.assemble())
}

impl Emitter {
    /// The inputs of a fragment shader that its kernels read, each at its location.
    pub(super) fn declare_inputs(&mut self, plan: &Plan) -> Vec<Word> {
        let single = self.shape(SINGLE);
        let mut inputs = Vec::new();
        for (location, placed) in (FIRST_LOCATION..).zip(&plan.placed) {
            let Code::Interpolated(interpolation) = placed.kernel.op.code else { continue };
            let input = self.interface(StorageClass::Input, single, location);
            if let Some(decoration) = interpolation.decoration() {
                self.builder.decorate(input, decoration, []);
            }
            inputs.push(input);
        }
        inputs
    }
}
