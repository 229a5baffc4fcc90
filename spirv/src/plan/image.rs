//! The image of a texel kernel.

use crate::format::Format;
use crate::op::{Code, State};
use crate::route::Route;

/// The image of a texel kernel: descriptor set 0, binding [`IMAGE_BINDING`](super::IMAGE_BINDING), 2D, one layer, optimal tiling. On the route
/// [`Route::TexelBuffer`] it is a buffer of as many texels.
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
}

impl Image {
    /// Whether its texels are the result; else they are the operand.
    pub const fn is_written(&self) -> bool {
        matches!(
            self.code,
            Code::ImageWrite
                | Code::TexelCopy
                | Code::TexelConvert
                | Code::Blend(_)
                | Code::State(State::MinDepth | State::MaxDepth | State::BlendConstants)
        )
    }

    /// The state that its operands are.
    pub const fn state(&self) -> Option<State> {
        match self.code {
            Code::State(state) => Some(state),
            _ => None,
        }
    }

    /// Whether its texels are an operand, the last, beside being the result or not.
    pub const fn is_read(&self) -> bool {
        matches!(self.code, Code::ImageRead | Code::ImageSample) || self.code.is_blended()
    }
}
