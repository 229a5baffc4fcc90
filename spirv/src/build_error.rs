//! Why no module can be built, and no text emitted.

use crate::format::Format;
use crate::route::Route;

/// Why a plan has no module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Kernels of one module that differ in controls, route, stage or front end.
    #[error(
        "kernels `{first}` and `{other}` differ in controls, route, stage or front end and cannot share a module"
    )]
    Mixed {
        /// The first kernel of the plan.
        first: String,
        /// The first that does not go with it.
        other: String,
    },
    /// A placed kernel whose regions do not fit its operation.
    #[error(
        "kernel `{kernel}` is laid out with {given} operands in buffers, which its operation does not take"
    )]
    Operands {
        /// The kernel.
        kernel: String,
        /// Number of operands.
        given: usize,
    },
    /// An image of a format that SPIR-V has no image format for.
    #[error("format {format} is not the format of a storage image")]
    NoImageFormat {
        /// The format.
        format: Format,
    },
    /// A kernel that a command of Vulkan carries out.
    #[error(
        "on the route `{route}` no shader runs: a command of Vulkan does it all, and `fpprobe eval` has it done"
    )]
    NoShader {
        /// The route.
        route: Route,
    },
    /// A kernel that GLSL cannot spell.
    #[error("GLSL cannot spell kernel `{kernel}`")]
    Unspoken {
        /// The kernel.
        kernel: String,
    },
    /// shaderc gave no module.
    #[error("failed to compile GLSL: {message}")]
    Compiler {
        /// What shaderc said.
        message: String,
    },
    /// Words that are no SPIR-V module.
    #[error("failed to read the SPIR-V module: {message}")]
    Unreadable {
        /// What is wrong with them.
        message: String,
    },
    /// Cases or results that do not fit the kernel.
    #[error(
        "kernel `{kernel}` takes {operands} values a case and gives {results}; these cases have other numbers"
    )]
    Cases {
        /// The kernel.
        kernel: String,
        /// Values of one case.
        operands: usize,
        /// Values of one result.
        results: usize,
    },
    /// A kernel that an `AmberScript` cannot carry.
    #[error("kernel `{kernel}` cannot be an AmberScript, {why}; use spvasm or spv")]
    NoScript {
        /// The kernel.
        kernel: String,
        /// What Amber does not do.
        why: &'static str,
    },
    /// An instruction that the GLSL compiler replaced or dropped, so that its module would ask
    /// another question.
    #[error("the GLSL compiler left no {instruction} in kernel `{kernel}`")]
    Lost {
        /// The kernel.
        kernel: String,
        /// The instruction it is about.
        instruction: String,
    },
    /// A kernel whose inputs cannot all be asked.
    #[error("kernel `{kernel}` cannot be swept: {reason}")]
    NoDomain {
        /// The kernel.
        kernel: String,
        /// Why, and what can be.
        reason: String,
    },
    /// A module without an entry point.
    #[error("the module has no entry point")]
    NoEntryPoint,
    /// rspirv refused an instruction where it was to stand.
    #[error("failed to assemble the module: {0}")]
    Assemble(#[from] rspirv::dr::Error),
}
