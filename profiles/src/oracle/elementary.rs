//! Elementary functions: exact where they are exact, else core-math's correctly rounded binary64 result and its
//! neighbours, which enclose the true value.

use fpprobe_spirv::op::Function;
use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float, FloatConvert};

use crate::real::{Exact, Real, exponent, power};

/// The exact result, or its enclosure.
pub(super) fn exact(function: Function, x: Quad) -> Exact {
    if x.is_nan() {
        return Exact::Nan;
    }
    match function {
        Function::Exp | Function::Exp2 if x.is_infinite() => {
            if x.is_negative() {
                Exact::Zero(false)
            } else {
                Exact::Infinite(false)
            }
        }
        Function::Exp | Function::Exp2 | Function::Cos if x.is_zero() => Exact::of(power(0)),
        Function::Sin if x.is_zero() => Exact::of(x),
        Function::Sin | Function::Cos if x.is_infinite() => Exact::Nan,
        Function::Log | Function::Log2 if x.is_zero() => Exact::Infinite(true),
        Function::Log | Function::Log2 if x.is_negative() => Exact::Nan,
        Function::Log | Function::Log2 if x.is_infinite() => Exact::Infinite(false),
        Function::Exp2 if is_integer(x) && exponent(x) < 14 => {
            let mut exact = false;
            Exact::of(power(x.to_i128_r(32, rustc_apfloat::Round::TowardZero, &mut exact).value as i32))
        }
        Function::Log2 if x == power(exponent(x)) => Exact::of(Quad::from_i128(i128::from(exponent(x))).value),
        Function::Log if x == power(0) => Exact::Zero(false),
        _ => enclosed(function, x),
    }
}

fn is_integer(x: Quad) -> bool {
    x.round_to_integral(rustc_apfloat::Round::TowardZero).value == x
}

/// core-math's result is within half an ulp of binary64, so the neighbours enclose the true value. Beyond binary64's own
/// range (no format of a result reaches there) the ends are still right: every binary32 result is 0 or infinite there.
fn enclosed(function: Function, x: Quad) -> Exact {
    let mut loses = false;
    let double: Double = x.convert(&mut loses).value;
    let argument = f64::from_bits(double.to_bits() as u64);
    let near = match function {
        Function::Exp => core_math::exp(argument),
        Function::Exp2 => core_math::exp2(argument),
        Function::Log => core_math::log(argument),
        Function::Log2 => core_math::log2(argument),
        Function::Sin => core_math::sin(argument),
        _ => core_math::cos(argument),
    };
    if near == f64::INFINITY {
        return Exact::Number(Real::exact(power(1024)));
    }
    if near == 0.0 {
        return Exact::Number(Real::exact(power(-1080)));
    }
    let quad = |value: f64| crate::real::decode(crate::real::DOUBLE, value.to_bits());
    Exact::Number(Real { lo: quad(near.next_down()), hi: quad(near.next_up()) })
}
