//! Texel kernels in a module: between the values of its buffers and the image of each kernel.

use rspirv::spirv::Word;

use super::InvocationPosition;
use crate::build_error::BuildError;
use crate::emitter::Emitter;
use crate::format::Format;
use crate::image::ImageVariable;
use crate::kernel::Shape;
use crate::layout::BINARY32;
use crate::plan::PlacedKernel;

/// What is put out where all that counts is state.
const ONES: Shape = Shape::vector(Format::F32, 4);

impl Emitter {
    /// What is read from the texel of the kernel's slot; nothing where these values are written to
    /// it.
    pub(super) fn of_texel(
        &mut self,
        placed: &PlacedKernel,
        declared: ImageVariable,
        values: &[Word],
        place: InvocationPosition,
    ) -> Result<Vec<Word>, BuildError> {
        if let [result] = placed.results[..] {
            return Ok(vec![self.read_texel(declared, place.slot, result.shape)?]);
        }
        let (shape, value) = match (&placed.params[..], values) {
            _ if placed.image.is_some_and(|image| image.state().is_some()) => {
                let unit = self.constant(Shape::scalar(Format::F32), BINARY32.one());
                (ONES, self.compose(ONES, &[unit; 4])?)
            }
            ([param], [value]) => (param.shape, *value),
            (params, _) => {
                return Err(BuildError::Operands {
                    kernel: placed.kernel.to_string(),
                    given: params.len(),
                });
            }
        };
        self.write_texel(declared, place.slot, shape, value)?;
        Ok(Vec::new())
    }
}
