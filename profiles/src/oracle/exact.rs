//! The exact results of the functions that have one operation to compute them.

use std::sync::LazyLock;

use fpprobe_spirv::op::Function;
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Round};

use super::elementary::{self, angle, is_elementary, power_of};
use crate::accuracy::domain::pi;
use crate::interval::Interval;
use crate::quad::{integer, integral, power, whole};
use crate::real::{Exact, Real, bracket, quotient};

/// Radians to a degree, and degrees to a radian.
static RADIANS: LazyLock<Interval<Quad>> =
    LazyLock::new(|| pi().over(Interval::point(integer(180))));
static DEGREES: LazyLock<Interval<Quad>> =
    LazyLock::new(|| Interval::point(integer(180)).over(pi()));

/// The exact result on operands read as they are; `None` where nothing is claimed.
pub(super) fn exact(function: Function, operands: &[Quad]) -> Option<Exact> {
    let x = operands[0];
    let y = || operands[1];
    let whole_number = |round| Exact::of(integral(x, round));
    Some(match function {
        Function::Add => bracket(|round| x.add_r(y(), round)),
        Function::Sub => bracket(|round| x.sub_r(y(), round)),
        Function::Mul | Function::OuterProduct => bracket(|round| x.mul_r(y(), round)),
        Function::Div => quotient(x, y()),
        Function::Reciprocal => quotient(power(0), x),
        Function::MulAdd => bracket(|round| x.mul_add_r(y(), operands[2], round)),
        // All sums in between are exact, or nothing is said of the order.
        Function::AddMany => bracket(|round| operands[2].mul_add_r(y(), x, round)),
        Function::Rem => Exact::of(x.c_fmod(y()).value),
        Function::Mod => modulo(x, y()),
        Function::Neg => Exact::of(-x),
        Function::Abs => Exact::of(x.abs()),
        Function::Floor => whole_number(Round::TowardNegative),
        Function::Ceil => whole_number(Round::TowardPositive),
        Function::Trunc => whole_number(Round::TowardZero),
        Function::RoundEven => whole_number(Round::NearestTiesToEven),
        Function::Fract => {
            let floor = integral(x, Round::TowardNegative);
            bracket(|round| x.sub_r(floor, round))
        }
        Function::Sign => match Exact::of(x) {
            Exact::Number(_) | Exact::Infinite(_) => Exact::of(power(0).copy_sign(x)),
            zero => zero,
        },
        Function::Step => Exact::of(if y() < x { Quad::ZERO } else { power(0) }),
        // Of a single component.
        Function::Length if operands.len() == 1 => Exact::of(x.abs()),
        Function::Normalize if operands.len() == 1 && x.is_finite_non_zero() => {
            Exact::of(power(0).copy_sign(x))
        }
        Function::Sqrt => Exact::sqrt(x),
        Function::InverseSqrt => Exact::inverse_sqrt(x),
        Function::Pow => return power_of(x, y()),
        Function::Atan2 => return angle(x, y()),
        Function::Radians => scaled(x, *RADIANS),
        Function::Degrees => scaled(x, *DEGREES),
        Function::UnpackNorm { bits, signed } => {
            let most = greatest_code(bits, signed);
            // Two's complement has one number more below zero than above.
            let x = if x < -most { -most } else { x };
            quotient(x, most)
        }
        Function::Ldexp => Exact::of(x.scalbn(exponent_of(y()))),
        Function::FromSigned
        | Function::FromUnsigned
        | Function::ToFloat
        | Function::PackHalf
        | Function::UnpackHalf
        | Function::Load
        | Function::Store => Exact::of(x),
        _ if is_elementary(function) => elementary::exact(function, x),
        _ => return None,
    })
}

/// `x - y * floor(x / y)`: of the sign of y, a zero too.
fn modulo(x: Quad, y: Quad) -> Exact {
    let rest = x.c_fmod(y).value;
    if rest.is_nan() {
        return Exact::Nan;
    }
    if rest.is_zero() {
        return Exact::Zero(y.is_negative());
    }
    if rest.is_negative() == y.is_negative() {
        Exact::of(rest)
    } else {
        bracket(|round| rest.add_r(y, round))
    }
}

/// A product with a positive factor that is known to lie in an interval.
fn scaled(x: Quad, factor: Interval<Quad>) -> Exact {
    if x.is_zero() || !x.is_finite() {
        return Exact::of(x);
    }
    let product = Interval::point(x).times(factor);
    Exact::Number(Real { lo: product.lo, hi: product.hi })
}

/// The greatest code of fixed point of N bits.
pub(super) fn greatest_code(bits: u32, signed: bool) -> Quad {
    integer((1 << (bits - u32::from(signed))) - 1)
}

/// An integer as a power of two to scale by: beyond 2^5000 nothing changes.
fn exponent_of(n: Quad) -> i32 {
    whole(n).clamp(-5000, 5000) as i32
}
