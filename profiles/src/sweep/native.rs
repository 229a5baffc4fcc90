//! Operations whose correctly rounded result the host's own instructions give: it is compared bit by bit.

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Format, Kernel};
use pulp::Arch;

use super::compare::exponent;
use super::kind::{INFINITY, Kind, LEAST_NORMAL, SIGN, Size};

/// An operation, from the bits of its operand to those of its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Native {
    /// The result.
    pub(super) compute: fn(u32) -> u32,
    /// How many results of consecutive inputs from the first on are others.
    pub(super) others: fn(Arch, u32, &[u32]) -> u64,
    /// Whether results are exact, so that every accuracy accepts them.
    pub(super) exact: bool,
    /// Of a conversion to integers, which numbers the format holds.
    pub(super) integers: Option<fn(f32) -> bool>,
    /// What is rounded, where results are not exact.
    pub(super) value: fn(u32) -> f64,
}

impl Native {
    /// What operands from one to another are, of one sign and no powers of two, and their results; `None` where they are not of one kind.
    pub(super) fn kind(&self, ends: [u32; 2], float: bool) -> Option<Kind> {
        let both = |of: &dyn Fn(u32) -> Option<Size>| of(ends[0]).filter(|size| of(ends[1]) == Some(*size));
        let normal = !float || ends[0] & !SIGN >= LEAST_NORMAL;
        let size = both(&|x| {
            let result = (self.compute)(x);
            match (self.integers, result & !SIGN) {
                (Some(within), _) => Some(if within(f32::from_bits(x)) { Size::Normal } else { Size::Beyond }),
                (None, 0) => Some(Size::Zero),
                (None, 1..LEAST_NORMAL) => Some(Size::Tiny),
                (None, LEAST_NORMAL..INFINITY) => Some(Size::Normal),
                (None, _) => None,
            }
        })?;
        let [a, b] = ends.map(|x| exponent((self.value)(x).abs()));
        let one = float || a == b;
        one.then_some(if normal { Kind::Normal(size) } else { Kind::Subnormal(size) })
    }
}

/// A row of the table: an operation by its function.
macro_rules! native {
    ($function:expr) => {
        Native {
            compute: $function,
            others: |arch, first, results| others(arch, first, results, $function),
            exact: true,
            integers: None,
            value: |x| f64::from(float(x)),
        }
    };
}

impl Native {
    /// The operation of a kernel.
    pub(super) fn new(kernel: &Kernel) -> Option<Native> {
        let [operand] = kernel.params()[..] else { return None };
        let from_signed = |x: u32| f64::from(x.cast_signed());
        Some(match (operand.format, kernel.op.function, kernel.result().format) {
            (Format::F32, Function::Floor, Format::F32) => native!(|x| float(x).floor().to_bits()),
            (Format::F32, Function::Ceil, Format::F32) => native!(|x| float(x).ceil().to_bits()),
            (Format::F32, Function::Trunc, Format::F32) => native!(|x| float(x).trunc().to_bits()),
            (Format::F32, Function::RoundEven, Format::F32) => native!(|x| float(x).round_ties_even().to_bits()),
            (Format::F32, Function::Abs, Format::F32) => native!(|x| x & !SIGN),
            (Format::F32, Function::Neg, Format::F32) => native!(|x| x ^ SIGN),
            (Format::F32, Function::Sign, Format::F32) => native!(|x| if x & !SIGN == 0 { x } else { x & SIGN | ONE }),
            (Format::F32, Function::ToInteger, Format::I32) => Native {
                integers: Some(|x| (-TWO_31..TWO_31).contains(&x)),
                ..native!(|x| (float(x) as i32).cast_unsigned())
            },
            (Format::F32, Function::ToInteger, Format::U32) => {
                Native { integers: Some(|x| x > -1.0 && x < 2.0 * TWO_31), ..native!(|x| float(x) as u32) }
            }
            (Format::I32, Function::FromSigned, Format::F32) => {
                Native { exact: false, value: from_signed, ..native!(|x| (x.cast_signed() as f32).to_bits()) }
            }
            (Format::U32, Function::FromUnsigned, Format::F32) => {
                Native { exact: false, value: |x| f64::from(x), ..native!(|x| (x as f32).to_bits()) }
            }
            _ => return None,
        })
    }
}

/// Encoding of 1.
const ONE: u32 = 0x3f80_0000;
/// 2^31.
const TWO_31: f32 = 2_147_483_648.0;

#[expect(clippy::inline_always, reason = "the loop around it is compiled for the processor's instructions")]
#[inline(always)]
fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn others(arch: Arch, first: u32, results: &[u32], compute: impl Fn(u32) -> u32) -> u64 {
    arch.dispatch(
        #[inline(always)]
        || {
            let other = |(place, result): (u32, &u32)| u32::from(compute(first.wrapping_add(place)) != *result);
            u64::from((0..).zip(results).map(other).sum::<u32>())
        },
    )
}
