//! The errors that accuracies allow: from exact results to the interval of real numbers around
//! them.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Quad;

use super::Demand;
use crate::accuracy::domain::{LimitNumber, units};
use crate::accuracy::{Accuracy, SplitAccuracy};
use crate::environment::Ulp;
use crate::interval::Interval;
use crate::number::{Number, Toward};

/// What an accuracy allows where the exact results are those of an interval, for operands of
/// intervals. `None` where it states nothing of these operands.
pub(super) fn allowed<N: LimitNumber>(
    accuracy: &Accuracy,
    demand: &Demand,
    layout: FloatLayout,
    result: Interval<N>,
    operands: &[Interval<N>],
) -> Option<Interval<N>> {
    Some(match accuracy {
        Accuracy::Stated(_) if !accuracy.is_stated(operands, layout) => return None,
        Accuracy::Stated(stated) => {
            return allowed(&stated.accuracy, demand, layout, result, operands);
        }
        Accuracy::Split(split) => {
            let SplitAccuracy { low, high, inside, outside } = &**split;
            let x = operands[0];
            let bounds = Interval { lo: low.value::<N>().lo, hi: high.value::<N>().hi };
            if x.is_within(bounds) {
                return allowed(inside, demand, layout, result, operands);
            }
            let beyond = allowed(outside, demand, layout, result, operands)?;
            if x.common(bounds).is_none() {
                beyond
            } else {
                beyond.hull(allowed(inside, demand, layout, result, operands)?)
            }
        }
        // No binade holds zero.
        Accuracy::Ulp(_) if demand.ulp == Ulp::Binade && result == Interval::ZERO => result,
        Accuracy::Ulp(ulps) => {
            let ulps = N::of(*ulps);
            within_ulps(layout, demand.ulp, result, [ulps; 2], &|_| ulps)
        }
        Accuracy::UlpAndSlope(base, slope) => {
            let (ulps, at) = growing(*base, *slope, demand.function, operands[0]);
            // Near zero, where the results are as good as equal, the larger error is that of the
            // lower end.
            let lower =
                within_ulps(layout, demand.ulp, Interval::point(result.lo), [ulps[0]; 2], &at);
            within_ulps(layout, demand.ulp, result, ulps, &at).hull(lower)
        }
        Accuracy::Relative(bits) => relative(result, *bits),
        Accuracy::LogRelative(bits) => {
            let near_one = Interval { lo: N::power(-1), hi: N::power(1) };
            let absolute = result.widened(N::power(-bits));
            if operands[0].is_within(near_one) {
                absolute
            } else if operands[0].common(near_one).is_none() {
                relative(result, *bits)
            } else {
                relative(result, *bits).hull(absolute)
            }
        }
        Accuracy::Absolute(distance) => result.widened(distance.value().hi),
        Accuracy::AbsoluteWithin(distance, limit) => {
            let one = Interval { lo: -N::power(0), hi: N::power(0) };
            let inside = operands[0].abs().hi <= N::of(*limit);
            if inside { result.widened(N::of(*distance)).common(one)? } else { one }
        }
        Accuracy::NearestEven
        | Accuracy::NearestAway
        | Accuracy::TowardZero
        | Accuracy::TowardZeroOrNearestEven
        | Accuracy::EitherNeighbour
        | Accuracy::TwoStep(_) => neighbours(layout, result),
        Accuracy::Inherited(_) | Accuracy::Undefined | Accuracy::Steps(_) => return None,
    })
}

/// A part of each end; an infinity is at no distance from itself.
fn relative<N: Number>(result: Interval<N>, bits: i32) -> Interval<N> {
    let distance = |end: N| {
        if end.is_number() { end.magnitude().times(N::power(-bits), Toward::Up) } else { N::NOUGHT }
    };
    Interval {
        lo: result.lo.minus(distance(result.lo), Toward::Down),
        hi: result.hi.plus(distance(result.hi), Toward::Up),
    }
}

/// The values of a format that lie around an interval; infinite beyond the largest finite one.
pub(super) fn neighbours<N: Number>(layout: FloatLayout, result: Interval<N>) -> Interval<N> {
    let below = |value: N| {
        if value == N::NOUGHT || !value.is_number() {
            return value;
        }
        let cut = value.cut(layout);
        match (value < N::NOUGHT, cut.exact) {
            (false, _) => N::decode(layout, cut.magnitude),
            (true, true) => -N::decode(layout, cut.magnitude),
            (true, false) => -N::decode(layout, cut.magnitude + 1),
        }
    };
    Interval { lo: below(result.lo), hi: -below(-result.hi) }
}

/// Everything within some units in the last place of some number of an interval: `ulps` of them at
/// its ends, `at` a power of two as many as that says.
fn within_ulps<N: Number>(
    layout: FloatLayout,
    kind: Ulp,
    result: Interval<N>,
    ulps: [N; 2],
    at: &dyn Fn(i32) -> N,
) -> Interval<N> {
    let below = |value: N, ulps: N, ulp: i32| {
        value.minus(ulps.times(N::power(ulp), Toward::Up), Toward::Down)
    };
    let least = |lo: N, hi: N, ulps: N| {
        if !lo.is_number() {
            return lo;
        }
        let near = below(lo, ulps, ulp(layout, lo, kind));
        if lo < N::NOUGHT {
            return near;
        }
        // Above a power of two the unit doubles: what lies beyond may reach further down.
        let least = 2 - layout.bias();
        let first = if lo < N::power(least) {
            least
        } else {
            lo.exponent() + i32::from(lo != N::power(lo.exponent()))
        };
        let reached = |power: i32| {
            power <= layout.bias()
                && if kind == Ulp::Vulkan { N::power(power) < hi } else { N::power(power) <= hi }
        };
        if !reached(first) {
            return near;
        }
        let far = |power: i32| {
            let far = below(N::power(power), at(power), ulp(layout, N::power(power), Ulp::Binade));
            // Where the power itself has the smaller unit, this end is not reached.
            if kind == Ulp::Vulkan { far.successor() } else { far }
        };
        // As many units as are the number itself, or more, reach the further down the larger it is.
        let last = (first + 1..=layout.bias()).take_while(|power| reached(*power)).last();
        let all = [Some(first), last].into_iter().flatten().map(far);
        all.fold(near, |least, far| if far < least { far } else { least })
    };
    Interval {
        lo: least(result.lo, result.hi, ulps[0]),
        hi: -least(-result.hi, -result.lo, ulps[1]),
    }
}

/// The unit in the last place of a number, as an exponent of two: of the smallest numbers where it
/// is zero, of the largest where it is beyond them.
fn ulp<N: Number>(layout: FloatLayout, value: N, kind: Ulp) -> i32 {
    let magnitude = value.magnitude();
    let mut leading = if magnitude == N::NOUGHT { i32::MIN } else { magnitude.exponent() };
    if kind == Ulp::Vulkan && magnitude != N::NOUGHT && magnitude == N::power(leading) {
        leading -= 1;
    }
    leading.clamp(1 - layout.bias(), layout.bias()) - layout.fraction.cast_signed()
}

/// The natural logarithm of 2, rounded up to binary128.
const LN_2: u128 = 0x3ffe_62e4_2fef_a39e_f357_93c7_6730_07e6;

/// Units that grow with the operand of a function that grows with it: at the ends of its results,
/// and at a power of two.
fn growing<N: Number>(
    base: f64,
    slope: f64,
    function: Function,
    x: Interval<N>,
) -> ([N; 2], impl Fn(i32) -> N) {
    let (base, slope) = (N::of(base), N::of(slope));
    let at = move |exponent: i32| {
        let exponent = N::of(f64::from(exponent.abs()));
        let magnitude = match function {
            Function::Exp2 => exponent,
            Function::Exp => {
                exponent.times(N::of_quad(Quad::from_bits(LN_2), Toward::Up), Toward::Up)
            }
            _ => x.abs().hi,
        };
        units(base, slope, magnitude)
    };
    ([x.lo, x.hi].map(|end| units(base, slope, end.magnitude())), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_of_two_is_rounded_up() {
        let digits = "0.69314718055994530941723212145817656807550013436025525412068";
        assert_eq!(crate::accuracy::domain::decimal(digits).unwrap().hi.to_bits(), LN_2);
    }
}
