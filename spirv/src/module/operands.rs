//! The operands of a module's kernels and their results, between memory and the code of each
//! kernel.

use rspirv::spirv::{Op, Word};

use super::buffer_io::{LoadedValues, ResultElements};
use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::kernel::{Kernel, Shape};
use crate::op::Code;
use crate::plan::{Plan, access};

/// What every kernel of a module finds loaded.
pub(super) enum OperandSource {
    /// Values of operands in buffers.
    Values(LoadedValues),
    /// Words of a constant block, operand after operand, each from a vector on.
    Words(Vec<Word>),
    /// The operands are constants of each kernel's own; these mask the results of each slot.
    Constants(Vec<Word>),
}

impl Emitter {
    /// Loads whatever the kernels of the module have in common.
    pub(super) fn operands(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        place: InvocationPosition,
    ) -> Result<OperandSource, BuildError> {
        Ok(match (memory.constant_block, place.local) {
            (Some(constant_block), Some(local)) => {
                OperandSource::Words(self.load_constant_block(plan, constant_block, local)?)
            }
            _ if plan.is_folded() => OperandSource::Constants(self.masks(plan, place.slot)?),
            // The vertex shader has loaded them.
            _ if plan.has_triangles() => OperandSource::Values(LoadedValues::new()),
            // State is not the shader's.
            _ if plan.image().is_some_and(|image| image.state().is_some()) => {
                OperandSource::Values(LoadedValues::new())
            }
            _ => OperandSource::Values(self.load_operands(memory, place)?),
        })
    }

    /// The results of the kernel of a row, in the elements that carry them.
    pub(super) fn computed(
        &mut self,
        plan: &Plan,
        memory: &ModuleMemory,
        row: usize,
        operands: &OperandSource,
        place: InvocationPosition,
    ) -> Result<ResultElements, BuildError> {
        let placed = &plan.placed[row];
        let kernel = &placed.kernel;
        let results = match operands {
            OperandSource::Constants(masks) => {
                return self.folded(memory, row, placed, masks, place);
            }
            OperandSource::Values(values) => {
                let own = access::of_row(&memory.operands, row);
                let own = own.map(|(access, shape)| {
                    values.get(&(access.number, access.buffer, shape)).copied()
                });
                let given = values.len();
                // State is set for the shader, which loads nothing of it, and inputs are there.
                let is_given = placed.image.is_some_and(|image| image.state().is_some())
                    || plan.has_triangles();
                let values: Option<Vec<Word>> =
                    if is_given { Some(Vec::new()) } else { own.collect() };
                let values = values
                    .ok_or_else(|| BuildError::Operands { kernel: kernel.to_string(), given })?;
                match (placed.image, memory.images.get(row)) {
                    _ if matches!(kernel.op.code, Code::Atomic(..)) => {
                        vec![self.atomic((plan, memory), row, &values, place)?]
                    }
                    (None, _)
                        if let (Code::Subgroup(op, form), Some(lane)) =
                            (kernel.op.code, place.lane) =>
                    {
                        vec![self.of_subgroup(plan, (kernel, op, form), &values, lane)?]
                    }
                    (None, _) if let Some(input) = memory.inputs.get(row) => {
                        let kind = self.shape(kernel.result());
                        vec![self.value(Op::Load, kind, ids([*input]))?]
                    }
                    (None, _) => self.operation(kernel, &values)?,
                    (Some(_), Some(declared)) => {
                        self.of_texel(placed, *declared, &values, place)?
                    }
                    // No shader gets at the texel.
                    (Some(_), None) => Vec::new(),
                }
            }
            OperandSource::Words(words) => {
                let values = self.from_constant_block(kernel, words)?;
                self.operation(kernel, &values)?
            }
        };
        self.to_elements(memory, row, &results)
    }

    fn from_constant_block(
        &mut self,
        kernel: &Kernel,
        words: &[Word],
    ) -> Result<Vec<Word>, BuildError> {
        let mut rest = words;
        let mut value = |shape: Shape| {
            let (own, after) = rest.split_at((shape.words() as usize).next_multiple_of(4));
            rest = after;
            self.from_words(shape, &own[..shape.words() as usize])
        };
        kernel.params().into_iter().map(&mut value).collect()
    }
}
