//! What can be asked of a device: **Format, Op, Controls, Route -> [`Kernel`] -> SPIR-V words**.
//!
//! A [`Kernel`] is one question. A [`Plan`] lays several kernels of one module out over buffers (or
//! an image); [`module::build`] turns it into SPIR-V. Nothing here touches Vulkan, and nothing
//! knows what a right answer is.
#![forbid(unsafe_code)]

mod assembly;
pub mod atomic;
pub mod build_error;
mod capacity;
mod code;
mod emitter;
mod glsl;
mod image;
mod load;
mod memory;
mod modes;
mod words;

pub mod bc6h;
pub mod cases;
pub mod catalogue;
pub mod channel;
pub mod controls;
pub mod derivative;
pub mod emit;
pub mod error;
pub mod format;
pub mod interpolation;
pub mod kernel;
pub mod layout;
pub mod matrix;
pub mod module;
pub mod needs;
pub mod op;
pub mod plan;
pub mod products;
pub mod route;
mod shape;
pub mod subgroup;
pub mod sweep;

pub use atomic::{AtomicFeature, AtomicForm, AtomicGroup, MemoryScope};
pub use build_error::BuildError;
pub use cases::Cases;
pub use channel::{Channel, Coding};
pub use controls::{Control, Controls};
pub use error::ParseError;
pub use format::Format;
pub use kernel::{Kernel, Shape};
pub use layout::FloatLayout;
pub use load::load;
pub use matrix::{MatrixComponent, MatrixUnit, MatrixUse};
pub use needs::{Need, Use};
pub use op::{Function, OPS, Op};
pub use plan::Plan;
pub use route::{Route, Stage, Via};
pub use subgroup::SubgroupForm;
