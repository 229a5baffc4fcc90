//! Elementary functions: exact where they are exact, else core-math's correctly rounded binary64
//! result and its neighbours, which enclose the true value.
//!
//! The enclosure is a few units of 2^-52 wide, relative to its value. A unit of binary32 is 2^-24
//! at least: an end of an accepted interval moves outward by less than 2^-27 of the distance
//! between two encodings, and what is accepted changes only where an end of the true interval comes
//! that near to an encoding without reaching it.

use fpprobe_spirv::op::Function;

use crate::interval::Interval;
use crate::number::{Number, Toward};
use crate::real::{Exact, Real};

/// Whether it is one of these functions, of one operand.
pub(super) fn is_elementary(function: Function) -> bool {
    computed(function).is_some()
}

/// core-math's function of one operand, correctly rounded to binary64.
pub(crate) fn computed(function: Function) -> Option<fn(f64) -> f64> {
    Some(match function {
        Function::Exp => core_math::exp,
        Function::Exp2 => core_math::exp2,
        Function::Log => core_math::log,
        Function::Log2 => core_math::log2,
        Function::Sin => core_math::sin,
        Function::Cos => core_math::cos,
        Function::Tan => core_math::tan,
        Function::Asin => core_math::asin,
        Function::Acos => core_math::acos,
        Function::Atan => core_math::atan,
        Function::Sinh => core_math::sinh,
        Function::Cosh => core_math::cosh,
        Function::Tanh => core_math::tanh,
        Function::Asinh => core_math::asinh,
        Function::Acosh => core_math::acosh,
        Function::Atanh => core_math::atanh,
        _ => return None,
    })
}

/// The exact result on a binary64 number, or its enclosure.
pub(super) fn exact<N: Number>(function: Function, operand: N) -> Exact<N> {
    let x = operand.double(Toward::Down);
    let infinite = Exact::Infinite;
    let integral = |value: f64| value.trunc() == value;
    match function {
        _ if x.is_nan() => Exact::Nan,
        Function::Exp | Function::Exp2 if x == f64::NEG_INFINITY => Exact::Zero(false),
        Function::Exp | Function::Exp2 | Function::Cos | Function::Cosh if x == 0.0 => {
            Exact::of(N::power(0))
        }
        Function::Log | Function::Log2 if x == 0.0 => infinite(true),
        Function::Log | Function::Log2 if x < 0.0 => Exact::Nan,
        Function::Sin | Function::Cos | Function::Tan if x.is_infinite() => Exact::Nan,
        Function::Asin | Function::Acos | Function::Atanh if x.abs() > 1.0 => Exact::Nan,
        Function::Acosh if x < 1.0 => Exact::Nan,
        Function::Acos | Function::Acosh | Function::Log if x == 1.0 => Exact::Zero(false),
        Function::Atanh if x.abs() == 1.0 => infinite(x < 0.0),
        Function::Cosh if x.is_infinite() => infinite(false),
        Function::Tanh if x.is_infinite() => Exact::of(N::of(1f64.copysign(x))),
        Function::Sin
        | Function::Tan
        | Function::Asin
        | Function::Atan
        | Function::Sinh
        | Function::Tanh
        | Function::Asinh
        | Function::Atanh
            if x == 0.0 =>
        {
            Exact::Zero(x.is_sign_negative())
        }
        _ if x.is_infinite() && function != Function::Atan => infinite(x < 0.0),
        Function::Exp2 if integral(x) && x.abs() < 16384.0 => Exact::of(N::power(x as i32)),
        Function::Log2 if x == f64::power(Number::exponent(x)) => {
            Exact::of(N::of(f64::from(Number::exponent(x))))
        }
        _ => match computed(function) {
            Some(compute) => around(compute(x), bounds(function, operand)),
            None => Exact::Nan,
        },
    }
}

/// Bounds of a function's results that it comes closer to than binary64 can tell: 1, and for small
/// operands the operand. At 1 and at every power of two the unit in the last place changes, so that
/// the side matters.
fn bounds<N: Number>(function: Function, x: N) -> Interval<N> {
    let one = N::power(0);
    let positive = match function {
        Function::Exp | Function::Exp2 if x < N::NOUGHT => {
            return Interval { lo: N::NOUGHT, hi: one };
        }
        Function::Exp | Function::Exp2 | Function::Cosh => {
            return Interval { lo: one, hi: N::INFINITE };
        }
        Function::Cos => return Interval { lo: -one, hi: one },
        Function::Sin if x.magnitude() > one => return Interval { lo: -one, hi: one },
        Function::Tanh if x.magnitude() > one => Interval { lo: N::NOUGHT, hi: one },
        Function::Sin | Function::Tanh | Function::Atan | Function::Asinh => {
            Interval { lo: N::NOUGHT, hi: x.magnitude() }
        }
        Function::Tan if x.magnitude() > one => return Interval::all(),
        Function::Tan | Function::Asin | Function::Sinh | Function::Atanh => {
            Interval { lo: x.magnitude(), hi: N::INFINITE }
        }
        _ => return Interval::all(),
    };
    if x < N::NOUGHT { positive.negated() } else { positive }
}

/// `x^y` as GLSL defines it; `None` where it does not: for negative x, and for zero x with y not
/// above zero. Nor is anything claimed of infinite operands.
pub(super) fn power_of<N: Number>(x: N, y: N) -> Option<Exact<N>> {
    let (x, y) = (x.double(Toward::Down), y.double(Toward::Down));
    if x.is_nan() || y.is_nan() {
        return Some(Exact::Nan);
    }
    let undefined = x.is_sign_negative() || x == 0.0 && (y.is_sign_negative() || y == 0.0);
    if undefined || x.is_infinite() || y.is_infinite() {
        return None;
    }
    if x == 0.0 {
        return Some(Exact::Zero(false));
    }
    if y == 0.0 || x == 1.0 {
        return Some(Exact::of(N::power(0)));
    }
    Some(around(core_math::pow(x, y), Interval::all()))
}

/// The angle of the point (x, y), as IEEE 754-2019, 9.2.1, has it; `None` at the origin, where
/// GLSL.std.450 has none.
pub(super) fn angle<N: Number>(y: N, x: N) -> Option<Exact<N>> {
    if x.is_invalid() || y.is_invalid() {
        return Some(Exact::Nan);
    }
    if x == N::NOUGHT && y == N::NOUGHT {
        return None;
    }
    let ahead = !x.is_signed();
    if ahead && (y == N::NOUGHT || !x.is_number() && y.is_number()) {
        return Some(Exact::Zero(y.is_signed()));
    }
    // An angle is smaller than its tangent: binary64 may round it to that.
    let bounds = if ahead && x != N::NOUGHT {
        let tangent = Interval { lo: y.over(x, Toward::Down), hi: y.over(x, Toward::Up) };
        tangent.hull(Interval::ZERO)
    } else {
        Interval::all()
    };
    Some(around(core_math::atan2(y.double(Toward::Down), x.double(Toward::Down)), bounds))
}

/// What lies within half an ulp of binary64 around a result, zero and infinity being beyond its
/// range. No format of a result reaches there, so the ends are still right: every binary32 result
/// is 0 or infinite there.
fn around<N: Number>(near: f64, bounds: Interval<N>) -> Exact<N> {
    let sign = |value: N| if near.is_sign_negative() { -value } else { value };
    let between = |near: N, far: N| {
        if sign(near) < sign(far) { (sign(near), sign(far)) } else { (sign(far), sign(near)) }
    };
    let (tiny, huge) = (N::power(-1080), N::power(1024));
    let (lo, hi) = if near.is_infinite() {
        between(if huge.is_number() { huge } else { N::of(f64::MAX) }, huge)
    } else if near == 0.0 {
        between(tiny, if tiny == N::NOUGHT { N::power(-1074) } else { tiny })
    } else {
        // Next to binary64's smallest number lies zero, which the true value is not.
        let number = |value: f64| if value == 0.0 { sign(tiny) } else { N::of(value) };
        (number(near.next_down()), number(near.next_up()))
    };
    let enclosed = Interval { lo, hi };
    let enclosed = enclosed.common(bounds).unwrap_or(enclosed);
    Exact::Number(Real { lo: enclosed.lo, hi: enclosed.hi })
}
