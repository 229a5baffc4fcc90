//! What exact results of consecutive operands are, by the function's results at the ends.

use fpprobe_spirv::op::Function;

use super::analytic::{computed, is_monotonic, largest, limits};
use super::kind::{Magnitude, exponent};
use crate::interval::Interval;

/// Sine, cosine and tangent of binary32 numbers beyond 1 are normal numbers: no such number is
/// nearer than 2^-31 to a multiple of pi/2 (Muller, Elementary Functions, 11.3.2).
pub(crate) fn is_wave(function: Function) -> bool {
    matches!(function, Function::Sin | Function::Cos | Function::Tan)
}

/// Between what a function's results lie that grows or falls.
pub(crate) fn ends(function: Function, first: f64, last: f64) -> Option<(f64, f64)> {
    let compute = computed(function).filter(|_| is_monotonic(function))?;
    let defined = largest(function, first, 0.0).is_finite()
        || matches!(function, Function::Exp | Function::Exp2 | Function::Sinh | Function::Cosh);
    let (a, b) = (compute(first), compute(last));
    let (least, greatest) = limits(function, first < 0.0);
    let between = || (a.min(b).next_down().max(least), a.max(b).next_up().min(greatest));
    (defined && !a.is_nan() && !b.is_nan()).then(between)
}

/// What results between two numbers are, with the interval of their magnitudes; `None` where they
/// are of several kinds, of two signs, or normal numbers of several exponents.
pub(crate) fn size(low: f64, high: f64) -> Option<(Magnitude, Interval)> {
    let (least, most) = if low >= 0.0 {
        (low, high)
    } else if high <= 0.0 {
        (-high, -low)
    } else {
        return None;
    };
    let magnitudes = Interval { lo: least, hi: most };
    let (smallest, largest) = (2f64.powi(-126), f64::from(f32::MAX));
    if most < smallest {
        Some((Magnitude::Tiny, magnitudes))
    } else if least > 2f64.powi(130) {
        Some((Magnitude::Beyond, magnitudes))
    } else {
        // Results lie below the upper end.
        let one =
            least >= smallest && most <= largest && exponent(least) == exponent(most.next_down());
        one.then_some((Magnitude::Normal, magnitudes))
    }
}
