//! Routes: how data gets into and out of an operation, because drivers treat each way differently.

use std::fmt;
use std::str::FromStr;

use crate::error::ParseError;

/// How the operands arrive and the result leaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Route {
    /// Storage buffers: values known at run time only.
    #[default]
    Buffer,
    /// A uniform buffer, read at an index that is the same for the whole work group.
    Uniform,
    /// Push constants, read at constant offsets.
    Push,
    /// Specialisation constants: the driver knows the values when it compiles, and may fold.
    Spec,
    /// Constants of the module: the front end knows the values, too.
    Literal,
    /// Storage buffers, with the memory of an atomic operation in the work group (GLSL: `shared`).
    Shared,
    /// A storage image: the conversion of `OpImageWrite` or `OpImageRead`; of an atomic operation
    /// the memory.
    StorageImage,
    /// A uniform texel buffer: the conversion of `OpImageFetch`.
    TexelBuffer,
    /// A sampled image: the conversion of `OpImageFetch` or of a sampler.
    Sampled,
    /// `vkCmdClearColorImage`: the conversion of a clear value.
    Clear,
    /// `vkCmdBlitImage` without scaling, to or from `VK_FORMAT_R32G32B32A32_SFLOAT`.
    Blit,
    /// `vkCmdCopyImage`, from one image to another of the same format.
    Copy,
    /// A colour attachment: the conversion of what a fragment shader puts out.
    Attachment,
    /// A vertex buffer: the conversion of an attribute that a vertex shader fetches.
    Vertex,
    /// A colour attachment of [`SAMPLES`] samples, all alike, that is resolved at the end of the
    /// render pass.
    Resolve,
    /// A sampled image of integers, looked at through a view of the packed format: the conversion
    /// of `OpImageFetch`.
    View,
}

/// Samples of a texel on the route [`Route::Resolve`]; every device offers as many for colour
/// attachments (Vulkan, required limits: `framebufferColorSampleCounts`).
pub const SAMPLES: u32 = 4;

/// Which shader does the arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Stage {
    /// A compute shader.
    #[default]
    Compute,
    /// A fragment shader, one point for each slot; of texels that it puts out, one triangle for
    /// all.
    Fragment,
    /// A vertex shader, one vertex for each slot.
    Vertex,
    /// A geometry shader, one point for each slot, of which it emits none.
    Geometry,
}

/// Which front end spells the question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Via {
    /// SPIR-V built directly.
    #[default]
    Spirv,
    /// GLSL compiled by shaderc, then given the same execution modes.
    Glsl,
}

impl Route {
    /// Every route, in the order of the catalogue.
    pub const ALL: [Route; 16] = [
        Route::Buffer,
        Route::Uniform,
        Route::Push,
        Route::Spec,
        Route::Literal,
        Route::Shared,
        Route::StorageImage,
        Route::TexelBuffer,
        Route::Sampled,
        Route::Clear,
        Route::Blit,
        Route::Copy,
        Route::Attachment,
        Route::Vertex,
        Route::Resolve,
        Route::View,
    ];
    /// The routes of arithmetic beside the storage buffer.
    pub const OTHERS: [Route; 4] = [Route::Uniform, Route::Push, Route::Spec, Route::Literal];

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            Route::Buffer => "buffer",
            Route::Uniform => "uniform",
            Route::Push => "push",
            Route::Spec => "spec",
            Route::Literal => "literal",
            Route::Shared => "shared",
            Route::StorageImage => "storage_image",
            Route::TexelBuffer => "texel_buffer",
            Route::Sampled => "sampled",
            Route::Clear => "clear",
            Route::Blit => "blit",
            Route::Copy => "copy",
            Route::Attachment => "attachment",
            Route::Vertex => "vertex",
            Route::Resolve => "resolve",
            Route::View => "view",
        }
    }

    /// The command of Vulkan that does it all, where no shader runs.
    pub const fn command(self) -> Option<&'static str> {
        match self {
            Route::Clear => Some("vkCmdClearColorImage"),
            Route::Blit => Some("vkCmdBlitImage"),
            Route::Copy => Some("vkCmdCopyImage"),
            _ => None,
        }
    }

    /// Whether the result is what a fragment shader puts out.
    pub const fn is_drawn(self) -> bool {
        matches!(self, Route::Attachment | Route::Resolve)
    }

    /// Whether the texel is an input or output of a shader.
    pub const fn is_interface(self) -> bool {
        self.is_drawn() || matches!(self, Route::Vertex)
    }

    /// Whether no shader runs.
    pub const fn is_command(self) -> bool {
        self.command().is_some()
    }

    /// Whether the operands are constants of the module, so that the driver can fold the operation.
    pub const fn is_folded(self) -> bool {
        matches!(self, Route::Spec | Route::Literal)
    }
}

impl Stage {
    /// Every stage.
    pub const ALL: [Stage; 4] = [Stage::Compute, Stage::Fragment, Stage::Vertex, Stage::Geometry];

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Compute => "compute",
            Stage::Fragment => "fragment",
            Stage::Vertex => "vertex",
            Stage::Geometry => "geometry",
        }
    }
}

impl Via {
    const ALL: [Via; 2] = [Via::Spirv, Via::Glsl];

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            Via::Spirv => "spirv",
            Via::Glsl => "glsl",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Route {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Route::ALL
            .into_iter()
            .find(|route| route.name() == text)
            .ok_or_else(|| ParseError::unknown("route", text, Route::ALL.map(Route::name)))
    }
}

impl FromStr for Stage {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Stage::ALL
            .into_iter()
            .find(|stage| stage.name() == text)
            .ok_or_else(|| ParseError::unknown("stage", text, Stage::ALL.map(Stage::name)))
    }
}

impl FromStr for Via {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Via::ALL
            .into_iter()
            .find(|via| via.name() == text)
            .ok_or_else(|| ParseError::unknown("front end", text, Via::ALL.map(Via::name)))
    }
}
