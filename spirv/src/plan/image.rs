//! The images of texel kernels.

use super::{IMAGE_BINDING, IMAGE_WIDTH};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::op::{Code, FixedFunctionState};
use crate::route::Route;

/// The image of a texel kernel, or of an atomic operation on a texel: descriptor set 0, binding
/// [`Image::binding`], 2D, one layer, optimal tiling. On the route [`Route::TexelBuffer`] it is a
/// buffer of as many texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// Packed format.
    pub format: Format,
    /// Width and height in texels, or in blocks of them: in slots.
    pub extent: [u32; 2],
    /// The kernel's route.
    pub route: Route,
    /// What becomes of the texels.
    pub code: Code,
    /// Its place among the images of a plan.
    pub number: u32,
}

impl Image {
    /// The image of a kernel of N slots.
    pub(super) fn new(kernel: &Kernel, slots: u32, number: u32) -> Image {
        let extent = [IMAGE_WIDTH, slots.div_ceil(IMAGE_WIDTH).max(1)];
        // Atomic operations on floats are of images of this format alone (Vulkan,
        // `shaderImageFloat32Atomics`).
        let is_atomic = matches!(kernel.op.code, Code::Atomic(..));
        let format = if is_atomic { Format::R32f } else { kernel.format };
        Image { format, extent, route: kernel.route, code: kernel.op.code, number }
    }

    /// Whether its texels are the result; else they are the operand.
    pub const fn is_written(&self) -> bool {
        writes(self.code)
    }

    /// Whether it is memory that only the shader writes and reads.
    pub const fn is_scratch(&self) -> bool {
        matches!(self.code, Code::Atomic(..))
    }

    /// The state that its operands are.
    pub const fn state(&self) -> Option<FixedFunctionState> {
        match self.code {
            Code::State(state) => Some(state),
            _ => None,
        }
    }

    /// Whether its texels are an operand, the last, beside being the result or not.
    pub const fn is_read(&self) -> bool {
        reads(self.code)
    }

    /// Its binding in descriptor set 0.
    pub const fn binding(&self) -> u32 {
        IMAGE_BINDING + self.number
    }

    /// Bytes of a texel, or of a block.
    pub fn texel(&self) -> usize {
        self.format.bits() as usize / 8
    }

    /// Number of texels, or of blocks.
    pub const fn texels(&self) -> usize {
        (self.extent[0] * self.extent[1]) as usize
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.texels() * self.texel()
    }
}

/// Whether texels are the result of an operation.
pub(super) const fn writes(code: Code) -> bool {
    matches!(
        code,
        Code::ImageWrite
            | Code::DepthClamp
            | Code::TexelCopy
            | Code::TexelConvert
            | Code::Blend(_)
            | Code::State(
                FixedFunctionState::MinDepth
                    | FixedFunctionState::MaxDepth
                    | FixedFunctionState::BlendConstants
            )
    )
}

/// Whether texels are an operand of an operation.
pub(super) const fn reads(code: Code) -> bool {
    matches!(code, Code::ImageRead | Code::ImageSample) || code.is_blended()
}

/// How many kernels like this one a module may have. Texel kernels have an image each, and as many
/// as every device has room for (Vulkan, required limits); commands and state serve one at a time.
pub fn most_kernels(kernel: &Kernel) -> usize {
    match (kernel.op.code, kernel.route) {
        // All invocations of a subgroup take part.
        (code, _) if code.is_of_matrices() => 1,
        _ if !kernel.has_image() => usize::MAX,
        (Code::State(_), _) => 1,
        // `maxPerStageDescriptorStorageImages`.
        (_, Route::StorageImage) => 4,
        // `maxPerStageDescriptorSampledImages` and `maxPerStageDescriptorSamplers`.
        (_, Route::Sampled | Route::View | Route::TexelBuffer) => 16,
        // `maxFragmentCombinedOutputResources`, of which the buffer of the operands is one; there
        // is one depth attachment.
        (_, route) if route.is_drawn() && !kernel.format.is_depth() => 3,
        // `maxVertexInputAttributes` and `maxVertexInputBindings`.
        (_, Route::Vertex) => 16,
        _ => 1,
    }
}
