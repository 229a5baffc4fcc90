//! From an exact result to the set of encodings that an accuracy and an environment allow.

use std::cmp::Ordering;

use fpprobe_spirv::FloatLayout;
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Round};

use super::{Demand, Operand};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, Integer, Nan, NonFinite, Overflow, Sign, Subnormals, Ulp};
use crate::real::{Exact, Real, cut, exponent, power};

/// The encodings allowed for an exact result.
/// The operands tell a pole from an infinite operand.
pub(super) fn finish(encoding: Encoding, exact: Exact, operands: &[Operand], demand: &Demand) -> Set {
    let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
    let environment = &demand.results;
    let set = match exact {
        Exact::Nan => match environment.invalid {
            Nan::Any => return Set::everything(encoding),
            _ => Set::nan(encoding),
        },
        Exact::Infinite(negative) if !layout.signed && negative => Set::one(encoding, 0),
        Exact::Infinite(negative) => {
            let set = signed(encoding, layout, negative, layout.infinity());
            let pole = operands.iter().all(|operand| operand.is_finite());
            if pole && environment.pole_nan { set.or(&Set::nan(encoding)) } else { set }
        }
        // 1/inverse_sqrt(0) passes through an infinity.
        Exact::Zero(_) if by_infinity(demand) => return Set::everything(encoding),
        Exact::Zero(negative) => signed(encoding, layout, negative, 0),
        Exact::Number(real) if !layout.signed && real.is_negative() => Set::one(encoding, 0),
        Exact::Number(real) => {
            let rounded = rounded(encoding, layout, real, operands, demand);
            let rounded = overflowed(encoding, layout, real, rounded, environment);
            flushed(encoding, layout, real, &rounded, environment)
        }
    };
    if environment.non_finite == NonFinite::Any && !set.minus(&Set::finite(encoding)).is_empty() {
        return Set::everything(encoding);
    }
    if environment.zero_sign == Sign::Exact {
        return set;
    }
    let zeros = Set::zeros(encoding);
    if set.and(&zeros).is_empty() { set } else { set.or(&zeros) }
}

/// Whether a root of zero is reached through an infinity where infinities are indeterminate.
fn by_infinity(demand: &Demand) -> bool {
    matches!(demand.accuracy, Accuracy::ByInverseRoot(..)) && demand.results.non_finite == NonFinite::Any
}

/// Whether a result is non-zero and below the smallest normal value.
fn tiny(layout: FloatLayout, real: Real) -> bool {
    exponent(real.magnitudes().0) < 1 - layout.bias()
}

fn signed(encoding: Encoding, layout: FloatLayout, negative: bool, magnitude: u64) -> Set {
    Set::one(encoding, if negative { magnitude | layout.sign_bit() } else { magnitude })
}

/// The largest key not above, and the smallest not below, by cutting the magnitude; infinite where beyond the largest.
fn neighbours(encoding: Encoding, layout: FloatLayout, value: Quad) -> (i64, i64) {
    if value.is_zero() {
        return (encoding.key(layout.sign_bit()), encoding.key(0));
    }
    let cut = cut(layout, value);
    let inner = cut.magnitude;
    let outer = if cut.exact { inner } else { inner + 1 };
    if value.is_negative() {
        (encoding.key(outer | layout.sign_bit()), encoding.key(inner | layout.sign_bit()))
    } else {
        (encoding.key(inner), encoding.key(outer))
    }
}

/// Round to nearest even. An enclosure is open: a tie at its lower end is passed, one at its upper end not reached. Two
/// results are left where a midpoint lies between the ends.
fn nearest(encoding: Encoding, layout: FloatLayout, real: Real) -> Set {
    let (near, far) = real.magnitudes();
    let open = near != far;
    let round = |value: Quad, beyond: bool| {
        let cut = cut(layout, value);
        let tie = if open { beyond } else { cut.magnitude & 1 == 1 };
        let up = cut.half == Ordering::Greater || (cut.half == Ordering::Equal && tie);
        if !cut.exact && up { cut.magnitude + 1 } else { cut.magnitude }
    };
    let negative = real.is_negative();
    signed(encoding, layout, negative, round(near, true)).or(&signed(encoding, layout, negative, round(far, false)))
}

fn toward_zero(encoding: Encoding, layout: FloatLayout, real: Real) -> Set {
    signed(encoding, layout, real.is_negative(), cut(layout, real.magnitudes().0).magnitude)
}

fn rounded(encoding: Encoding, layout: FloatLayout, real: Real, operands: &[Operand], demand: &Demand) -> Set {
    let within = |(low, high): (Quad, Quad)| {
        // Rounded inward: an interval's ends are values of the format.
        Set::range(encoding, neighbours(encoding, layout, low).1, neighbours(encoding, layout, high).0)
            .or(&beyond(encoding, layout, low, high))
    };
    // An error bound finer than the format's own spacing, as a relative one is among subnormals, leaves the neighbours.
    let around = |set: Set| {
        if !set.is_empty() {
            return set;
        }
        Set::range(encoding, neighbours(encoding, layout, real.lo).0, neighbours(encoding, layout, real.hi).1)
    };
    match demand.accuracy {
        Accuracy::NearestEven => nearest(encoding, layout, real),
        Accuracy::TowardZero => toward_zero(encoding, layout, real),
        Accuracy::TowardZeroOrNearestEven => nearest(encoding, layout, real).or(&toward_zero(encoding, layout, real)),
        Accuracy::EitherNeighbour | Accuracy::TwoStep(_) => {
            Set::range(encoding, neighbours(encoding, layout, real.lo).0, neighbours(encoding, layout, real.hi).1)
        }
        Accuracy::Ulp(ulps) => within(real.widened(ulp_distance(layout, real, ulps, demand.ulp))),
        Accuracy::Relative(bits) => around(within(relative(real, bits))),
        Accuracy::LogRelative(bits) => {
            let x = operands[0].value();
            let near_one = x >= power(-1) && x <= power(1);
            around(within(if near_one { real.widened(power(-bits)) } else { relative(real, bits) }))
        }
        Accuracy::Absolute(distance) => around(within(real.widened(quad(distance)))),
        Accuracy::ByInverseRoot(division, root) => {
            let one = power(0);
            // The exact root's inverse is the exact reciprocal root; its error comes first, then the division's.
            let inverse = Real {
                lo: one.div_r(real.hi, Round::TowardNegative).value,
                hi: one.div_r(real.lo, Round::TowardPositive).value,
            };
            let (low, high) = inverse.widened(ulp_distance(layout, inverse, root, demand.ulp));
            let smallest = Real::exact(one.div_r(high, Round::TowardNegative).value);
            let largest = Real::exact(one.div_r(low, Round::TowardPositive).value);
            let low = smallest.widened(ulp_distance(layout, smallest, division, demand.ulp)).0;
            let high = largest.widened(ulp_distance(layout, largest, division, demand.ulp)).1;
            within((low, high))
        }
    }
}

fn relative(real: Real, bits: i32) -> (Quad, Quad) {
    real.widened(real.magnitudes().1.mul_r(power(-bits), Round::TowardPositive).value)
}

/// A decimal number of a profile, exactly as binary64 has it.
pub(super) fn quad(value: f64) -> Quad {
    crate::real::decode(crate::real::DOUBLE, value.to_bits())
}

/// Infinities, where an interval reaches past the largest finite value.
fn beyond(encoding: Encoding, layout: FloatLayout, low: Quad, high: Quad) -> Set {
    let largest = crate::real::decode(layout, layout.max_finite());
    let mut set = Set::nothing(encoding);
    if high > largest {
        set = set.or(&signed(encoding, layout, false, layout.infinity()));
    }
    if low < -largest {
        set = set.or(&signed(encoding, layout, true, layout.infinity()));
    }
    set
}

/// `ulps` units in the last place of an exact result.
fn ulp_distance(layout: FloatLayout, real: Real, ulps: f64, kind: Ulp) -> Quad {
    let (near, far) = real.magnitudes();
    let mut leading = exponent(far);
    let power_of_two = near == far && near == power(leading);
    if kind == Ulp::Vulkan && power_of_two {
        leading -= 1;
    }
    let leading = leading.clamp(1 - layout.bias(), layout.bias());
    quad(ulps).scalbn(leading - layout.fraction as i32)
}

/// Applies the environment's word on finite results beyond the largest finite value.
fn overflowed(encoding: Encoding, layout: FloatLayout, real: Real, set: Set, environment: &Environment) -> Set {
    let negative = real.is_negative();
    if environment.overflow == Overflow::Round {
        return set;
    }
    let infinity = signed(encoding, layout, negative, layout.infinity());
    let largest = signed(encoding, layout, negative, layout.max_finite());
    let over = real.magnitudes().1 > crate::real::decode(layout, layout.max_finite());
    match environment.overflow {
        Overflow::Saturate if !set.and(&infinity).is_empty() => set.minus(&infinity).or(&largest),
        Overflow::Either if over => set.or(&infinity).or(&largest),
        _ => set,
    }
}

/// Applies the environment's word on subnormal results. Tininess may be judged before or after rounding (Vulkan,
/// "Precision and Operation of SPIR-V Instructions"; D3D11.3 functional specification, 3.1.3.2 leaves it open).
fn flushed(encoding: Encoding, layout: FloatLayout, real: Real, set: &Set, environment: &Environment) -> Set {
    if environment.subnormal_results == Subnormals::Keep {
        return set.clone();
    }
    let subnormals = Set::subnormals(encoding);
    if !tiny(layout, real) && set.and(&subnormals).is_empty() {
        return set.clone();
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
    let limit = |key: i64| Quad::from_i128(i128::from(key)).value;
    let whole = value.round_to_integral(Round::TowardZero).value;
    if !value.is_nan() && whole >= limit(least) && whole <= limit(greatest) {
        let mut exact = false;
        let integer = whole.to_i128_r(64, Round::TowardZero, &mut exact).value;
        return Set::one(encoding, encoding.at(integer as i64));
    }
    match environment.integer {
        Integer::Any => Set::everything(encoding),
        Integer::Saturate if value.is_nan() => Set::one(encoding, 0),
        Integer::Saturate => Set::one(encoding, encoding.at(if value.is_negative() { least } else { greatest })),
    }
}
