//! From an exact result to the set of encodings that an accuracy and an environment allow.

use std::cmp::Ordering;

use fpprobe_spirv::FloatLayout;
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Round};
use smallvec::SmallVec;

use super::error::allowed;
use super::{Demand, Operand, points};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{
    Environment, Integer, Invalid, NonFinite, Overflow, Sign, Subnormals, Ulp,
};
use crate::interval::Interval;
use crate::number::Number;
use crate::quad::{cut, decode, exponent, integer, integral, power, whole};
use crate::real::{Exact, Real};

/// The encodings allowed for an exact result.
/// The operands tell a pole from an infinite operand.
pub(super) fn finish(
    encoding: Encoding,
    exact: Exact,
    operands: &[Operand],
    demand: &Demand,
) -> Set {
    let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
    let environment = &demand.results;
    let set = match exact {
        Exact::Nan => match environment.invalid {
            Invalid::Any => return Set::everything(encoding),
            Invalid::Nan => Set::nan(encoding),
            Invalid::NanOrInfinite => {
                let infinity = |negative| infinite(encoding, layout, negative);
                Set::nan(encoding).or(&infinity(false)).or(&infinity(true))
            }
        },
        Exact::Infinite(negative) if !layout.signed && negative => Set::one(encoding, 0),
        Exact::Infinite(negative) if environment.overflow == Overflow::Clamp => {
            signed(encoding, layout, negative, layout.max_finite())
        }
        Exact::Infinite(negative) => {
            let set = infinite(encoding, layout, negative);
            let pole = operands.iter().all(|operand| operand.is_finite());
            if pole && environment.pole_nan { set.or(&Set::nan(encoding)) } else { set }
        }
        Exact::Zero(_) if demand.accuracy == Accuracy::Undefined => {
            return Set::everything(encoding);
        }
        Exact::Zero(negative) => {
            let band = if holds_at_zero(demand, operands) {
                rounded(encoding, layout, Real::exact(Quad::ZERO), operands, demand)
            } else {
                Set::nothing(encoding)
            };
            let flushed = environment.subnormal_results == Subnormals::Flush;
            let band = if flushed { band.minus(&Set::subnormals(encoding)) } else { band };
            band.or(&signed(encoding, layout, negative, 0))
        }
        Exact::Number(real) if !layout.signed && real.is_negative() => Set::one(encoding, 0),
        Exact::Number(real) => {
            let rounded = rounded(encoding, layout, real, operands, demand);
            let rounded = overflowed(encoding, layout, real, rounded, environment);
            flushed(encoding, layout, real, rounded, environment)
        }
    };
    if environment.non_finite == NonFinite::Any && !set.is_finite() {
        return Set::everything(encoding);
    }
    if environment.zero_sign == Sign::Exact {
        return set;
    }
    let zeros = Set::zeros(encoding);
    if set.meets(&zeros) { set.or(&zeros) } else { set }
}

/// Whether an error is allowed where the result is zero. What zero's unit in the last place is
/// follows from one definition of a unit and not from the other; the profiles of the latter mean
/// exactly zero.
fn holds_at_zero(demand: &Demand, operands: &[Operand]) -> bool {
    if demand.accuracy.is_rounding() {
        return false;
    }
    match demand.accuracy.at(&points(operands)) {
        Accuracy::LogRelative(_) => near_one(operands[0]),
        Accuracy::TwoStep(_) => false,
        rounding if rounding.is_rounding() => false,
        _ => demand.ulp == Ulp::Vulkan,
    }
}

/// Whether a result is non-zero and below the smallest normal value.
fn tiny(layout: FloatLayout, real: Real) -> bool {
    exponent(real.magnitudes().0) < 1 - layout.bias()
}

fn signed(encoding: Encoding, layout: FloatLayout, negative: bool, magnitude: u64) -> Set {
    Set::one(encoding, if negative { magnitude | layout.sign_bit() } else { magnitude })
}

/// The infinity of a sign; NaN where there is none.
fn infinite(encoding: Encoding, layout: FloatLayout, negative: bool) -> Set {
    if layout.infinite {
        signed(encoding, layout, negative, layout.infinity())
    } else {
        Set::nan(encoding)
    }
}

/// The largest key not above, and the smallest not below, by cutting the magnitude; infinite where
/// beyond the largest.
fn neighbours<N: Number>(encoding: Encoding, layout: FloatLayout, value: N) -> (i64, i64) {
    if value == N::NOUGHT {
        return (encoding.key(layout.sign_bit()), encoding.key(0));
    }
    let cut = value.cut(layout);
    let inner = cut.magnitude;
    let outer = if cut.exact { inner } else { inner + 1 };
    if value < N::NOUGHT {
        (encoding.key(outer | layout.sign_bit()), encoding.key(inner | layout.sign_bit()))
    } else {
        (encoding.key(inner), encoding.key(outer))
    }
}

/// Round to nearest, ties to even or away from zero: the magnitudes of what either end gives. An
/// enclosure is open: a tie at its lower end is passed, one at its upper end not reached.
pub(super) fn nearest_magnitudes(layout: FloatLayout, real: Real, away: bool) -> (u64, u64) {
    let (near, far) = real.magnitudes();
    let open = near != far;
    let round = |value: Quad, beyond: bool| {
        let cut = cut(layout, value);
        let tie = if open { beyond } else { away || cut.magnitude & 1 == 1 };
        let up = cut.half == Ordering::Greater || (cut.half == Ordering::Equal && tie);
        if !cut.exact && up { cut.magnitude + 1 } else { cut.magnitude }
    };
    let first = round(near, true);
    (first, if open { round(far, false) } else { first })
}

/// Round to nearest. Two results are left where a midpoint lies between the ends of an enclosure.
fn nearest(encoding: Encoding, layout: FloatLayout, real: Real, away: bool) -> Set {
    let (near, far) = nearest_magnitudes(layout, real, away);
    let one = |magnitude| signed(encoding, layout, real.is_negative(), magnitude);
    if near == far { one(near) } else { one(near).or(&one(far)) }
}

fn toward_zero(encoding: Encoding, layout: FloatLayout, real: Real) -> Set {
    signed(encoding, layout, real.is_negative(), cut(layout, real.magnitudes().0).magnitude)
}

/// The encodings within an interval: its ends are rounded inward, and infinite where they are
/// beyond the largest finite one.
pub(super) fn inside<N: Number>(
    encoding: Encoding,
    layout: FloatLayout,
    interval: Interval<N>,
) -> Set {
    let Interval { lo, hi } = interval;
    Set::range(encoding, neighbours(encoding, layout, lo).1, neighbours(encoding, layout, hi).0)
        .or(&beyond(encoding, layout, lo, hi))
}

fn rounded(
    encoding: Encoding,
    layout: FloatLayout,
    real: Real,
    operands: &[Operand],
    demand: &Demand,
) -> Set {
    let within = |interval: Interval<Quad>| inside(encoding, layout, interval);
    // An error bound finer than the format's own spacing, as a relative one is among subnormals,
    // leaves the neighbours.
    let around = |set: Set| {
        if !set.is_empty() {
            return set;
        }
        Set::range(
            encoding,
            neighbours(encoding, layout, real.lo).0,
            neighbours(encoding, layout, real.hi).1,
        )
    };
    // Roundings ask nothing of the operands.
    let values: SmallVec<[Interval<Quad>; 3]> =
        if demand.accuracy.is_rounding() { SmallVec::new() } else { points(operands) };
    match demand.accuracy.at(&values) {
        Accuracy::Undefined | Accuracy::Steps(_) => Set::everything(encoding),
        Accuracy::NearestEven => nearest(encoding, layout, real, false),
        Accuracy::NearestAway => nearest(encoding, layout, real, true),
        Accuracy::TowardZero => toward_zero(encoding, layout, real),
        Accuracy::TowardZeroOrNearestEven => {
            nearest(encoding, layout, real, false).or(&toward_zero(encoding, layout, real))
        }
        Accuracy::EitherNeighbour | Accuracy::TwoStep(_) => around(Set::nothing(encoding)),
        accuracy => {
            let result = Interval { lo: real.lo, hi: real.hi };
            match allowed(accuracy, demand, layout, result, &values) {
                None => Set::everything(encoding),
                Some(allowed) if matches!(accuracy, Accuracy::Ulp(_)) => within(allowed),
                Some(allowed) => around(within(allowed)),
            }
        }
    }
}

/// Whether an operand lies in [0.5, 2].
fn near_one(operand: Operand) -> bool {
    let x = operand.value();
    x >= power(-1) && x <= power(1)
}

/// Infinities, where an interval reaches past the largest finite value.
fn beyond<N: Number>(encoding: Encoding, layout: FloatLayout, low: N, high: N) -> Set {
    let largest = N::decode(layout, layout.max_finite());
    let mut set = Set::nothing(encoding);
    if high > largest {
        set = set.or(&infinite(encoding, layout, false));
    }
    if low < -largest {
        set = set.or(&infinite(encoding, layout, true));
    }
    set
}

/// Applies the environment's word on finite results beyond the largest finite value.
fn overflowed(
    encoding: Encoding,
    layout: FloatLayout,
    real: Real,
    set: Set,
    environment: &Environment,
) -> Set {
    let negative = real.is_negative();
    if environment.overflow == Overflow::Round && layout.infinite {
        return set;
    }
    let infinity = infinite(encoding, layout, negative);
    let largest = signed(encoding, layout, negative, layout.max_finite());
    let [last, before] = [0, 1].map(|less| decode(layout, layout.max_finite() - less));
    let over = real.magnitudes().1 > last;
    // A NaN that stands for an infinity may be any.
    let set = if set.meets(&infinity) { set.or(&infinity) } else { set };
    match environment.overflow {
        Overflow::Saturate | Overflow::Clamp if set.meets(&infinity) => {
            set.minus(&infinity).or(&largest)
        }
        Overflow::Leave if real.magnitudes().0 >= (last + (last - before).value).value => infinity,
        Overflow::Either if over => set.or(&infinity).or(&largest),
        Overflow::RoundOrSaturate if set.meets(&infinity) => set.or(&largest),
        _ => set,
    }
}

/// Applies the environment's word on subnormal results. Tininess may be judged before or after
/// rounding (Vulkan, "Precision and Operation of SPIR-V Instructions"; D3D11.3 functional
/// specification, 3.1.3.2 leaves it open).
fn flushed(
    encoding: Encoding,
    layout: FloatLayout,
    real: Real,
    set: Set,
    environment: &Environment,
) -> Set {
    if environment.subnormal_results == Subnormals::Keep {
        return set;
    }
    let subnormals = Set::subnormals(encoding);
    if !tiny(layout, real) && !set.meets(&subnormals) {
        return set;
    }
    let zero = match environment.flushed_sign {
        Sign::Exact => signed(encoding, layout, real.is_negative(), 0),
        Sign::Either => Set::zeros(encoding),
    };
    match environment.subnormal_results {
        Subnormals::Flush => set.minus(&subnormals).or(&zero),
        _ => set.or(&zero),
    }
}

/// Conversion to an integer towards zero.
pub(super) fn to_integer(encoding: Encoding, operand: Operand, environment: &Environment) -> Set {
    let value = operand.value();
    let (least, greatest) = encoding.limits();
    let left = integral(value, Round::TowardZero);
    if !value.is_nan() && left >= integer(least) && left <= integer(greatest) {
        return Set::one(encoding, encoding.at(whole(left)));
    }
    match environment.integer {
        Integer::Any => Set::everything(encoding),
        Integer::Saturate if value.is_nan() => Set::one(encoding, 0),
        Integer::Saturate => {
            Set::one(encoding, encoding.at(if value.is_negative() { least } else { greatest }))
        }
        Integer::Representable => match operand.layout {
            Some(layout) if !value.is_nan() => {
                let end = integer(if value.is_negative() { least } else { greatest });
                // Cut towards zero, the limit is a value of the float's format.
                let nearest = decode(layout, cut(layout, end).magnitude);
                Set::one(encoding, encoding.at(whole(nearest.copy_sign(end))))
            }
            _ => Set::everything(encoding),
        },
    }
}
