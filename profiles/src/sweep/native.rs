//! Operations whose correctly rounded result the host's own instructions give: it is compared bit
//! by bit.

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Format, Kernel};
use pulp::Arch;

use crate::filter::kind::{INFINITY, InputSpan, LEAST_NORMAL, Magnitude, SIGN, SpanKind, exponent};
use crate::filter::scan::{Scan, scan};
use crate::interval::Interval;

/// Computes results of consecutive inputs from the first on.
pub(super) type Fill = fn(Arch, u32, &mut [u32]);

/// An operation, from the bits of its operand to those of its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Native {
    /// The result.
    pub(super) compute: fn(u32) -> u32,
    /// The same of many inputs.
    pub(super) own: Fill,
    /// Writes down how far results of consecutive inputs from the first on lie from what is
    /// rounded.
    pub(super) scan: fn(Arch, u32, &[u32], &mut [f64]) -> Scan,
    /// Whether results are exact, so that every accuracy accepts them.
    pub(super) exact: bool,
    /// Of a conversion to integers, which numbers the format holds.
    pub(super) integers: Option<fn(f32) -> bool>,
    /// What is rounded, where results are not exact; near enough to show on which side of any
    /// number of 40 digits it lies.
    pub(super) value: fn(u32) -> f64,
    /// Whether results of operands of one sign and exponent are of one kind if the first and the
    /// last are.
    pub(super) uniform: bool,
    /// Whether exact results have a distance from those of devices: a choice has none.
    pub(super) has_errors: bool,
}

impl Native {
    /// Operands from one to another, of a kind.
    pub(super) fn inputs(&self, kind: SpanKind, ends: [u32; 2], float: bool) -> InputSpan {
        let interval = |[a, b]: [f64; 2]| Interval { lo: a.min(b), hi: a.max(b) };
        let results = interval(ends.map(|end| (self.value)(end).abs()));
        let operand =
            if float { interval(ends.map(|end| f64::from(f32::from_bits(end)))) } else { results };
        InputSpan { kind, first: ends[0], operand, results }
    }

    /// What the result of an operand is.
    pub(super) fn size(&self, x: u32) -> Option<Magnitude> {
        match (self.integers, (self.compute)(x) & !SIGN) {
            (Some(within), _) if within(f32::from_bits(x)) => Some(Magnitude::Normal),
            (Some(_), _) => Some(Magnitude::Beyond),
            (None, 0) => Some(Magnitude::Zero),
            (None, 1..LEAST_NORMAL) => Some(Magnitude::Tiny),
            (None, LEAST_NORMAL..INFINITY) => Some(Magnitude::Normal),
            (None, _) => None,
        }
    }

    /// What operands from one to another are, of one sign and no powers of two, and their results;
    /// `None` where they are not of one kind.
    pub(super) fn kind(&self, ends: [u32; 2], float: bool) -> Option<SpanKind> {
        let normal = !float || ends[0] & !SIGN >= LEAST_NORMAL;
        let size = self.size(ends[0]).filter(|size| self.size(ends[1]) == Some(*size))?;
        let [a, b] = ends.map(|x| exponent((self.value)(x).abs()));
        let one = float || a == b;
        one.then_some(if normal { SpanKind::Normal(size) } else { SpanKind::Subnormal(size) })
    }
}

/// Computes correctly rounded results of a function that IEEE 754 defines, for which devices have
/// no exact ones.
pub(super) fn own(function: Function) -> Option<Fill> {
    match function {
        Function::Sqrt => {
            Some(|arch, first, results| fill(arch, first, results, |x| float(x).sqrt().to_bits()))
        }
        Function::Reciprocal => {
            Some(|arch, first, results| fill(arch, first, results, |x| (1.0 / float(x)).to_bits()))
        }
        _ => None,
    }
}

/// A row of the table: an operation by its function.
macro_rules! native {
    ($function:expr, $value:expr) => {
        Native {
            compute: $function,
            own: |arch, first, results| fill(arch, first, results, $function),
            scan: |arch, first, results, found| distances(arch, first, results, found, $value),
            exact: true,
            integers: None,
            value: $value,
            uniform: true,
            has_errors: true,
        }
    };
    ($function:expr) => {
        native!($function, |x| f64::from(float(x)))
    };
}

impl Native {
    /// The operation of a kernel.
    pub(super) fn new(kernel: &Kernel) -> Option<Native> {
        let [operand] = kernel.params()[..] else { return None };
        Some(match (operand.format, kernel.op.function, kernel.result().format) {
            (Format::F32, Function::Floor, Format::F32) => native!(|x| float(x).floor().to_bits()),
            (Format::F32, Function::Ceil, Format::F32) => native!(|x| float(x).ceil().to_bits()),
            (Format::F32, Function::Trunc, Format::F32) => native!(|x| float(x).trunc().to_bits()),
            (Format::F32, Function::RoundEven, Format::F32) => {
                native!(|x| float(x).round_ties_even().to_bits())
            }
            (Format::F32, Function::Abs, Format::F32) => native!(|x| x & !SIGN),
            (Format::F32, Function::Neg, Format::F32) => native!(|x| x ^ SIGN),
            (Format::F32, Function::Sign, Format::F32) => {
                native!(|x| if x & !SIGN == 0 { x } else { x & SIGN | ONE })
            }
            // Half-way between two integers either will do; most devices take the even one.
            (Format::F32, Function::Round, Format::F32) => {
                Native { has_errors: false, ..native!(|x| float(x).round_ties_even().to_bits()) }
            }
            (Format::F32, Function::Saturate, Format::F32) => {
                Native { has_errors: false, ..native!(|x| float(x).clamp(0.0, 1.0).to_bits()) }
            }
            (Format::F32, Function::Fract, Format::F32) => {
                let native = native!(|x| (float(x) - float(x).floor()).to_bits(), fraction);
                Native { exact: false, uniform: false, ..native }
            }
            (Format::F32, Function::IsNan, Format::Bool) => {
                native!(|x| u32::from(x & !SIGN > INFINITY))
            }
            (Format::F32, Function::IsInf, Format::Bool) => {
                native!(|x| u32::from(x & !SIGN == INFINITY))
            }
            (Format::F32, Function::ToInteger, Format::I32) => {
                Native { integers: Some(|x| (-TWO_31..TWO_31).contains(&x)), ..native!(to_signed) }
            }
            (Format::F32, Function::ToInteger, Format::U32) => {
                Native { integers: Some(|x| x > -1.0 && x < 2.0 * TWO_31), ..native!(to_unsigned) }
            }
            (Format::I32, Function::FromSigned, Format::F32) => {
                let native =
                    native!(|x| (x.cast_signed() as f32).to_bits(), |x| f64::from(x.cast_signed()));
                Native { exact: false, ..native }
            }
            (Format::U32, Function::FromUnsigned, Format::F32) => {
                Native { exact: false, ..native!(|x| (x as f32).to_bits(), f64::from) }
            }
            _ => return None,
        })
    }
}

/// Encoding of 1.
const ONE: u32 = 0x3f80_0000;
/// 2^31.
const TWO_31: f32 = 2_147_483_648.0;

#[expect(
    clippy::inline_always,
    reason = "the loop around it is compiled for the processor's instructions"
)]
#[inline(always)]
fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// What a number is above the next integer below. Of what binary64 does not hold it is the one of
/// the two numbers around that is odd: it lies on the same side of every number of fewer digits as
/// the exact result does.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
fn fraction(bits: u32) -> f64 {
    let (x, floor) = (f64::from(float(bits)), f64::from(float(bits).floor()));
    let difference = x - floor;
    // Exactly what is lost: the integer is the larger of the two, or nothing is.
    let lost = x - (difference + floor);
    f64::from_bits((difference.to_bits() - u64::from(lost < 0.0)) | u64::from(lost != 0.0))
}

/// The magnitude of a number without its fraction, if it is below 2^32. The language's own
/// conversion is not done many at once.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
fn whole(bits: u32) -> u32 {
    let (exponent, fraction) = (bits >> 23 & 0xff, bits & (LEAST_NORMAL - 1) | LEAST_NORMAL);
    let down = fraction >> 150_u32.saturating_sub(exponent).min(31);
    down << exponent.saturating_sub(150).min(31)
}

/// Conversion to 32 bits with sign; what is beyond them becomes the nearest, a NaN 0.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
fn to_signed(bits: u32) -> u32 {
    let (magnitude, negative) = (bits & !SIGN, bits & SIGN != 0);
    let whole = if magnitude >= TWO_31.to_bits() {
        (SIGN - 1).wrapping_add(u32::from(negative))
    } else {
        whole(bits)
    };
    let signed = if negative { whole.wrapping_neg() } else { whole };
    if magnitude > INFINITY { 0 } else { signed }
}

/// Conversion to 32 bits without sign; what is beyond them becomes the nearest, a NaN 0.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
fn to_unsigned(bits: u32) -> u32 {
    let whole = if bits >= (2.0 * TWO_31).to_bits() { u32::MAX } else { whole(bits) };
    if bits > INFINITY { 0 } else { whole }
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn distances(
    arch: Arch,
    first: u32,
    results: &[u32],
    found: &mut [f64],
    value: impl Fn(u32) -> f64,
) -> Scan {
    scan(
        arch,
        #[inline(always)]
        |place| value(first.wrapping_add(place.cast_unsigned())),
        results,
        found,
        f64::INFINITY,
        f64::INFINITY,
    )
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn fill(arch: Arch, first: u32, results: &mut [u32], compute: impl Fn(u32) -> u32) {
    arch.dispatch(
        #[inline(always)]
        || {
            (0..)
                .zip(results)
                .for_each(|(place, result): (u32, _)| *result = compute(first.wrapping_add(place)));
        },
    );
}
