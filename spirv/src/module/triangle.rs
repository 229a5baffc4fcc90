//! Texels that a fragment shader puts out, and quads: one triangle covers all that there is to draw
//! on, and a fragment's coordinates say which slot it is of.

use rspirv::binary::Assemble;
use rspirv::spirv::{BuiltIn, ExecutionModel, Op, StorageClass, Word};

use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::{IMAGE_WIDTH, Plan};

const SINGLE: Shape = Shape::scalar(Format::F32);
const POSITION: Shape = Shape::vector(Format::F32, 4);
/// 1 in binary32, and its sign.
const ONE: u64 = 0x3f80_0000;
const SIGN: u64 = 0x8000_0000;

/// The vertex shader of the triangle: words of a module, entry point `main`. Its corners are those
/// of [`viewport`] but one, (-1, -1), (1, -1) and (-1, 1); a reversed variant has the other half.
/// No corner lies outside, so that nothing clips it, and no edge of a part of it divides a quad.
pub fn triangle(plan: &Plan) -> Result<Vec<u32>, BuildError> {
    let mut emitter = Emitter::before();
    let (int, bool) = (emitter.scalar(Format::I32), emitter.scalar(Format::Bool));
    let (single, position) = (emitter.scalar(Format::F32), emitter.shape(POSITION));
    let vertex = emitter.built_in_of(StorageClass::Input, int, BuiltIn::VertexIndex, "vertex");
    let place = emitter.built_in_of(StorageClass::Output, position, BuiltIn::Position, "position");
    emitter.begin_entry(ExecutionModel::Vertex, &[vertex, place])?;
    let number = emitter.number_of(vertex)?;
    let sign = if plan.variant.reversed { SIGN } else { 0 };
    let (near, far) =
        (emitter.constant(SINGLE, ONE | SIGN ^ sign), emitter.constant(SINGLE, ONE | sign));
    let mut corner = Vec::new();
    // The second vertex lies far to the right, the third one far below.
    for only in [1, 2] {
        let only = emitter.constant(Shape::scalar(Format::U32), only);
        let is = emitter.value(Op::IEqual, bool, ids([number, only]))?;
        corner.push(emitter.value(Op::Select, single, ids([is, far, near]))?);
    }
    let (zero, unit) = (emitter.constant(SINGLE, 0), emitter.constant(SINGLE, ONE));
    let position = emitter.compose(POSITION, &[corner[0], corner[1], zero, unit])?;
    emitter.builder.store(place, position, None, [])?;
    Ok(emitter.end_entry()?.assemble())
}

/// Offset and size in x and y of the viewport of what a plan draws. Where a triangle covers all
/// that there is to draw on, it is twice as large in each direction, to the right and below, or
/// reversed to the left and above.
pub fn viewport(plan: &Plan) -> [[f32; 2]; 2] {
    if plan.has_triangles() {
        return [[0.0; 2], [2.0; 2]];
    }
    let extent = plan.extent().map(|texels| texels as f32);
    if !plan.covers() {
        return [[0.0; 2], extent];
    }
    let offset = if plan.variant.reversed { extent.map(|texels| -texels) } else { [0.0; 2] };
    [offset, extent.map(|texels| 2.0 * texels)]
}

impl Emitter {
    /// Where a fragment lies: half a texel from its edges.
    pub(super) fn coordinates(&mut self) -> Word {
        let kind = self.shape(POSITION);
        self.built_in_of(StorageClass::Input, kind, BuiltIn::FragCoord, "coordinates")
    }

    /// The slot of the fragment there; of a quad four in a row.
    pub(super) fn covered(&mut self, plan: &Plan, coordinates: Word) -> Result<Word, BuildError> {
        let (uint, kind) = (self.scalar(Format::U32), self.shape(POSITION));
        let coordinates = self.value(Op::Load, kind, ids([coordinates]))?;
        let mut place = [0; 2];
        for (index, at) in (0..).zip(&mut place) {
            let middle = self.component(POSITION, coordinates, index)?;
            *at = self.value(Op::ConvertFToU, uint, ids([middle]))?;
        }
        let (mut within, one) = ([0; 2], self.word(1));
        if plan.has_quads() {
            for (at, within) in place.iter_mut().zip(&mut within) {
                *within = self.value(Op::BitwiseAnd, uint, ids([*at, one]))?;
                *at = self.value(Op::ShiftRightLogical, uint, ids([*at, one]))?;
            }
        }
        let width = self.word(IMAGE_WIDTH);
        let above = self.value(Op::IMul, uint, ids([place[1], width]))?;
        let mut slot = self.value(Op::IAdd, uint, ids([above, place[0]]))?;
        if plan.has_quads() {
            // Which of the four it is: above or below, then left or right.
            for bit in [within[1], within[0]] {
                let doubled = self.value(Op::ShiftLeftLogical, uint, ids([slot, one]))?;
                slot = self.value(Op::BitwiseOr, uint, ids([doubled, bit]))?;
            }
        }
        self.builder.name(slot, "slot");
        Ok(slot)
    }
}
