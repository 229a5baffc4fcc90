//! The table of operations: one row declares an operation once, for kernels, oracle, listing and
//! documentation.

use std::ops::RangeInclusive;

use crate::format::Format;
use crate::matrix::MatrixUse;

mod chain;
mod code;
mod function;
mod names;
mod table;

pub use chain::{Chain, Link};
pub use code::{Arg, Blend, Code, FixedFunctionState, Inst, Step, Team};
pub use function::{Function, Relation};
pub use names::Language;
pub use table::OPS;

/// One operation that a kernel can ask for.
#[derive(Debug)]
pub struct Op {
    /// SPIR-V's or GLSL.std.450's name in `snake_case`, without the `Op` prefix; a plain name for
    /// composite questions.
    pub name: &'static str,
    /// Formats it exists for.
    pub formats: &'static [Format],
    /// Operands, in order.
    pub params: &'static [OperandType],
    /// Result.
    pub result: OperandType,
    /// The other result of an operation of two.
    pub second: Option<OperandType>,
    /// At which widths it exists, and how it treats components.
    pub components: Components,
    /// How it is spelled in SPIR-V.
    pub code: Code,
    /// How GLSL spells it, `$0`, `$1` being the operands; `None` where GLSL cannot.
    pub glsl: Option<&'static str>,
    /// The mathematical function it computes.
    pub function: Function,
    /// One line for listings.
    pub about: &'static str,
}

/// Type of an operand or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandType {
    /// Element format; `None` is the kernel's own.
    pub format: Option<Format>,
    /// Number of components.
    pub width: Width,
}

/// At which widths an operation exists, and how it treats components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Components {
    /// Component by component, at every width.
    Each,
    /// On all components together, at widths from the first to the second.
    Together(u32, u32),
}

/// Number of components of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// The kernel's width.
    Kernel,
    /// Always this many.
    Fixed(u32),
    /// One for each channel of the kernel's packed format; of a block, as many for each of its
    /// texels.
    Channels,
    /// One texel, or the 32-bit words of a block, the lowest first.
    Texel,
    /// What an element of a product of cooperative matrices takes of this one: a row of A, a column
    /// of B, an element of C.
    Factor(MatrixUse),
    /// A line of a cooperative matrix as it lies in memory: a row of A or C, a column of B, and the
    /// gap before the next.
    Line(MatrixUse),
    /// A square matrix: as many columns as the kernel is wide, and as many components in each.
    Square,
}

impl Op {
    /// The operation of this name.
    pub fn find(name: &str) -> Option<&'static Op> {
        OPS.iter().find(|op| op.name == name)
    }

    /// Whether it works component by component, and so exists at every width.
    pub fn is_componentwise(&self) -> bool {
        self.components == Components::Each
    }

    /// Whether it takes whole vectors or matrices.
    pub fn is_geometric(&self) -> bool {
        matches!(self.components, Components::Together(_, to) if to > 1)
    }

    /// The widths it exists at.
    pub fn widths(&self) -> RangeInclusive<u32> {
        match self.components {
            Components::Each => 1..=4,
            Components::Together(from, to) => from..=to,
        }
    }

    /// Its results, in order: one, or two.
    pub fn results(&self) -> impl Iterator<Item = &OperandType> {
        [&self.result].into_iter().chain(&self.second)
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.name == other.name
    }
}

impl Eq for Op {}
