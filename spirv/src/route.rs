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
    /// A storage image: the conversion of `OpImageWrite` or `OpImageRead`.
    StorageImage,
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
    const ALL: [Route; 2] = [Route::Buffer, Route::StorageImage];

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            Route::Buffer => "buffer",
            Route::StorageImage => "storage_image",
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

impl FromStr for Via {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Via::ALL
            .into_iter()
            .find(|via| via.name() == text)
            .ok_or_else(|| ParseError::unknown("front end", text, Via::ALL.map(Via::name)))
    }
}
