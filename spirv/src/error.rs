//! What can be wrong with a kernel id, a list of controls or a value.

use crate::format::Format;
use crate::route::Route;

/// Why a text is not a kernel id, a control, a route or a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseError {
    /// The text does not have the form `FORMAT.OP[:key=value;...]`.
    #[error(
        "`{0}` is not a kernel id: expected FORMAT.OP or FORMAT.OP:key=value;key=value (for example `f32.fadd:controls=szin32`)"
    )]
    Form(String),
    /// A name that nothing has; the nearest ones stand beside it.
    #[error("unknown {what} `{text}`{}", nearest_text(nearest))]
    Unknown {
        /// What was looked for: format, operation, control, route, key.
        what: &'static str,
        /// What was written.
        text: String,
        /// The nearest known names, best first.
        nearest: Vec<String>,
    },
    /// Two controls that SPIR-V or Vulkan forbid together.
    #[error("controls `{first}` and `{second}` exclude each other ({source_text})")]
    Conflict {
        /// The control named first.
        first: &'static str,
        /// The control that does not go with it.
        second: &'static str,
        /// The text that forbids the pair.
        source_text: &'static str,
    },
    /// An operation that is not defined as asked.
    #[error("kernel `{kernel}`: {reason}")]
    Undefined {
        /// The kernel as written.
        kernel: String,
        /// Why there is no such kernel, and what there is.
        reason: String,
    },
    /// Not a hex value of the format.
    #[error("`{text}` is not a value of {format}: expected up to {} hex digits, with or without 0x", format.digits())]
    Bits {
        /// What was written.
        text: String,
        /// The format it should have.
        format: Format,
    },
}

impl ParseError {
    /// An unknown name, with the known ones ranked by similarity.
    pub fn unknown<'a>(what: &'static str, text: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        ParseError::Unknown { what, text: text.to_owned(), nearest: nearest(text, known) }
    }
}

/// The known names nearest to `text`, best first, at most three, none that is nothing like it.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let limit = 1 + text.len() / 4;
    // The length alone rules most names out, and for a text of a megabyte all of them.
    let close = |name: &&str| name.len().abs_diff(text.len()) <= limit;
    let mut ranked: Vec<(usize, &str)> = known
        .into_iter()
        .filter(close)
        .map(|name| (strsim::damerau_levenshtein(text, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => {
            format!("; did you mean {}?", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Why a plan has no module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Kernels of one module that differ in controls, route, stage or front end.
    #[error("kernels `{first}` and `{other}` differ in controls, route, stage or front end and cannot share a module")]
    Mixed {
        /// The first kernel of the plan.
        first: String,
        /// The first that does not go with it.
        other: String,
    },
    /// A placed kernel whose regions do not fit its operation.
    #[error("kernel `{kernel}` is laid out with {given} operands in buffers, which its operation does not take")]
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
    #[error("on the route `{route}` no shader runs: a command of Vulkan does it all, and `fpprobe eval` has it done")]
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
    #[error("kernel `{kernel}` takes {operands} values a case and gives {results}; these cases have other numbers")]
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
    /// An instruction that the GLSL compiler replaced or dropped, so that its module would ask another question.
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
