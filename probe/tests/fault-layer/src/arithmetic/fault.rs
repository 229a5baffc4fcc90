//! What a statement says.

use fpprobe_spirv::{Control, Format, OPS, Op};

/// An operation in a format: a kernel's stem.
pub type Operation = (Format, &'static Op);

/// One statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What is done.
    pub verb: Verb,
    /// To the instructions of these operations.
    pub operations: Vec<Operation>,
    /// Within the code of these kernels; empty for everywhere.
    pub at: Vec<Operation>,
    /// What the labels of the module's kernels must have after their stems: a width (`x3`), a
    /// route (`literal`).
    pub by: Vec<String>,
    /// Controls that the module must have.
    pub under: Vec<Control>,
    /// Controls that it must not have.
    pub unless: Vec<Control>,
    /// Conditions on each component's values.
    pub when: Vec<Condition>,
}

/// What is done to an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verb {
    /// The result is replaced.
    Give(Value),
    /// The operand of this number is replaced.
    Pass(Value, usize),
    /// Subnormals of this format are flushed, or, with `None`, kept: as operands or as results.
    Flush { format: Format, operands: bool, flush: Option<Sign> },
    /// The result is rounded anew.
    Round(Direction),
    /// A sum of a product becomes a fused one.
    Fuse,
    /// A rounding to a narrower format is left out.
    Drop,
    /// A quotient becomes a product with a reciprocal.
    Split,
}

/// Where a result is rounded to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards zero, from a result that is at most one encoding too large.
    TowardZero,
    /// To nearest, from a result that is at most two encodings off. A tie stays as it is.
    Nearest,
}

/// What becomes of the sign of a flushed subnormal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Kept,
    Lost,
}

/// `VALUE is [not] SET`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    pub value: Value,
    pub negated: bool,
    pub set: Set,
}

/// A set of bit patterns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Set {
    /// This one.
    Value(Value),
    /// From the first to the last, as unsigned integers.
    Range(u64, u64),
    /// Those of a class.
    Class(Class),
}

/// A class of floating-point encodings: a range of them, of the magnitude alone or with the sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Nan,
    Quiet,
    Signalling,
    Infinite,
    Zero,
    Subnormal,
    Normal,
    Finite,
    Negative,
    Positive,
}

/// A bit pattern: where it comes from, and what is done to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    pub source: Source,
    pub steps: Vec<Step>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    Bits(u64),
    Operand(usize),
    Result,
}

/// What is done to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The zero of its sign.
    Zero,
    /// Its sign bit cleared.
    Magnitude,
    /// Its sign bit inverted.
    Negated,
    /// Its last four bits combined with the module's number.
    Noisy,
    /// A binary32 of at least 2^23, as an integer modulo 2^32.
    Wrapped,
    /// So many encodings further.
    Plus(i64),
}

impl Verb {
    /// Whether it makes other instructions of some.
    pub fn regroups(&self) -> bool {
        matches!(self, Verb::Fuse | Verb::Drop | Verb::Split)
    }

    /// What is passed as the operand of this number, if that is what is done.
    pub fn passed(&self, place: usize) -> Option<&Value> {
        match self {
            Verb::Pass(value, of) if *of == place => Some(value),
            _ => None,
        }
    }
}

impl Fault {
    /// A fault of every operation, unconditional.
    pub fn new(verb: Verb) -> Fault {
        let (operations, at) = (operations(|_, _| true), Vec::new());
        Fault {
            verb,
            operations,
            at,
            by: Vec::new(),
            under: Vec::new(),
            unless: Vec::new(),
            when: Vec::new(),
        }
    }
}

/// The operations of the table that satisfy this.
pub fn operations(which: impl Fn(&Op, Format) -> bool) -> Vec<Operation> {
    let all = OPS.iter().flat_map(|op| op.formats.iter().map(move |format| (*format, op)));
    all.filter(|(format, op)| which(op, *format)).collect()
}
