//! What the operands of a span and their exact results are.

use fpprobe_spirv::{FloatLayout, Format};

use crate::interval::Interval;

pub(crate) const LAYOUT: FloatLayout = match Format::F32.float() {
    Some(layout) => layout,
    None => panic!("binary32 is a float"),
};
pub(crate) const INFINITY: u32 = LAYOUT.infinity() as u32;
pub(crate) const LEAST_NORMAL: u32 = LAYOUT.min_normal() as u32;
pub(crate) const QUIET: u32 = LAYOUT.quiet_bit() as u32;
pub(crate) const SIGN: u32 = LAYOUT.sign_bit() as u32;

/// What operands and exact results of a span are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpanKind {
    /// Quiet NaNs.
    QuietNan,
    /// Signalling NaNs.
    SignallingNan,
    /// Normal numbers that the function is not defined on.
    Undefined,
    /// Subnormals that it is not defined on, read as they are.
    UndefinedSubnormal,
    /// Normal numbers with results of a kind.
    Normal(Magnitude),
    /// Subnormals with results of a kind, read as they are.
    Subnormal(Magnitude),
}

/// What exact results are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Magnitude {
    /// Normal numbers.
    Normal,
    /// Below the smallest normal number, and not zero.
    Tiny,
    /// Beyond the largest number, or what the integer format holds.
    Beyond,
    /// Zero.
    Zero,
}

impl SpanKind {
    /// How many there are.
    pub(crate) const COUNT: usize = 12;

    /// Its place among them.
    pub(crate) fn number(self) -> usize {
        match self {
            SpanKind::QuietNan => 0,
            SpanKind::SignallingNan => 1,
            SpanKind::Undefined => 2,
            SpanKind::UndefinedSubnormal => 3,
            SpanKind::Normal(size) => 4 + size as usize,
            SpanKind::Subnormal(size) => 8 + size as usize,
        }
    }
}

/// Consecutive inputs of one kind, with what they and their results are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputSpan {
    pub(crate) kind: SpanKind,
    /// The first of them.
    pub(crate) first: u32,
    /// Their values.
    pub(crate) operand: Interval,
    /// The magnitudes of their exact results.
    pub(crate) results: Interval,
}

/// Exponent of a positive normal number.
pub(crate) fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1023
}
