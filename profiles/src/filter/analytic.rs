//! Functions of one operand that are analytic, and how large they are in discs of the complex
//! plane.
//!
//! Of a function f that is analytic in a disc of radius r around x and no larger there than M,
//! Cauchy's estimate bounds the n-th derivative at x: `|f⁽ⁿ⁾(x)| <= n! M / rⁿ`. [`largest`] gives
//! such an M.

use fpprobe_spirv::op::Function;

/// A function that computes it in binary64 within one unit in the last place: core-math's,
/// correctly rounded, or IEEE 754's.
pub(crate) fn computed(function: Function) -> Option<fn(f64) -> f64> {
    match function {
        Function::Sqrt => Some(f64::sqrt),
        Function::InverseSqrt => Some(core_math::rsqrt),
        Function::Reciprocal => Some(f64::recip),
        // Of a single component.
        Function::Length => Some(f64::abs),
        Function::Normalize => Some(f64::signum),
        // The factors as sums of two numbers.
        Function::Radians => Some(|x| x.mul_add(0.017453292519943295, x * 2.9486522708701687e-19)),
        Function::Degrees => Some(|x| x.mul_add(57.29577951308232, x * -1.9878495670576283e-15)),
        _ => crate::oracle::computed(function),
    }
}

/// A number that the function does not exceed, in magnitude, in the disc of this radius around a
/// real number; infinite where it is not analytic there. All are slightly larger than they need be,
/// so that the host's rounding is of no account.
pub(crate) fn largest(function: Function, center: f64, radius: f64) -> f64 {
    let (x, r) = (center.abs(), radius);
    // Distances to the singularities 0, 1 and -1.
    let (zero, near, far) = (x - r, (1.0 - x).abs() - r, 1.0 + x - r);
    // |f(z)| <= |f(x)| + r |f'| on the way.
    let around = |value: f64, slope: f64| value.abs() + r * slope;
    let within = |distance: f64, bound: f64| if distance > 0.0 { bound } else { f64::INFINITY };
    let bound = match function {
        // |e^z| = e^Re z
        Function::Exp => (center + r).exp(),
        Function::Exp2 => (center + r).exp2(),
        // |log z| <= |log |z|| + pi/2 to the right of 0
        Function::Log if center > 0.0 => within(zero, logarithm(zero, x + r)),
        Function::Log2 if center > 0.0 => {
            within(zero, logarithm(zero, x + r) * std::f64::consts::LOG2_E)
        }
        Function::Sqrt if center > 0.0 => within(zero, (x + r).sqrt()),
        Function::InverseSqrt if center > 0.0 => within(zero, zero.sqrt().recip()),
        Function::Reciprocal => within(zero, zero.recip()),
        // The number itself or its opposite, on either side of zero; 1 or -1.
        Function::Length => within(zero, x + r),
        Function::Normalize => within(zero, 1.0),
        Function::Radians => (x + r) / 57.0,
        Function::Degrees => (x + r) * 58.0,
        // |sin z| <= cosh Im z, and no more than sinh |z|; |cos z| <= cosh Im z
        Function::Sin => r.cosh().min((x + r).sinh()),
        Function::Cos => r.cosh(),
        // |sin z| / |cos z|; cos falls by r at most along the real axis, and |cos z| grows off it
        Function::Tan => {
            let least = core_math::cos(center).abs() - r;
            within(least, r.cosh().min((x + r).sinh()) / least)
        }
        // |sinh z| <= sinh |Re z| cosh Im z + cosh Re z |sin Im z| <= sinh |z|
        Function::Sinh => (x + r).sinh(),
        Function::Cosh => (x + r).cosh(),
        // Where |Im z| <= pi/4 it is no larger than 1; and no larger than tan |z|, whose Taylor
        // series is its own without signs
        Function::Tanh if r <= 0.785 => {
            if x + r < 1.5 {
                (x + r).tan().min(1.0)
            } else {
                1.0
            }
        }
        // 1 / sqrt(1 - z^2), 1 / (1 - z^2), 1 / sqrt(1 + z^2), 1 / (1 + z^2), 1 / sqrt(z^2 - 1)
        Function::Asin if x < 1.0 => {
            within(near, around(core_math::asin(x), (near * far).sqrt().recip()))
        }
        Function::Acos if x < 1.0 => {
            within(near, around(core_math::acos(center), (near * far).sqrt().recip()))
        }
        Function::Atanh if x < 1.0 => {
            within(near, around(core_math::atanh(x), (near * far).recip()))
        }
        Function::Acosh if center > 1.0 => {
            within(near, around(core_math::acosh(x), (near * far).sqrt().recip()))
        }
        Function::Asinh | Function::Atan => {
            let imaginary = (1.0 + x * x).sqrt() - r;
            let asinh = function == Function::Asinh;
            let (value, slope) = if asinh {
                (core_math::asinh(x), imaginary.recip())
            } else {
                (core_math::atan(x), (imaginary * imaginary).recip())
            };
            within(imaginary, around(value, slope))
        }
        _ => f64::INFINITY,
    };
    if bound.is_nan() { f64::INFINITY } else { bound * 1.0625 }
}

/// The larger of the logarithms of two numbers, in magnitude, and a quarter turn.
fn logarithm(low: f64, high: f64) -> f64 {
    low.ln().abs().max(high.ln().abs()) + std::f64::consts::FRAC_PI_2
}

/// Whether the function has no result on any number from `low` to `high`, which are of one sign and
/// not zero.
pub(crate) fn is_undefined(function: Function, low: f64, high: f64) -> bool {
    match function {
        Function::Log | Function::Log2 | Function::Sqrt | Function::InverseSqrt => high < 0.0,
        Function::Asin | Function::Acos | Function::Atanh => low > 1.0 || high < -1.0,
        Function::Acosh => high < 1.0,
        _ => false,
    }
}

/// Whether it grows or falls everywhere on either side of zero, so that it lies between its results
/// at two ends of one sign.
pub(crate) fn is_monotonic(function: Function) -> bool {
    !matches!(function, Function::Sin | Function::Cos | Function::Tan)
}

/// Numbers that it lies between where operands are of one sign and not zero: strictly, but for what
/// is the same everywhere.
pub(crate) fn limits(function: Function, negative: bool) -> (f64, f64) {
    match (function, negative) {
        (Function::Exp | Function::Exp2, true) | (Function::Tanh, false) => (0.0, 1.0),
        (Function::Exp | Function::Exp2, false) | (Function::Cosh, _) => (1.0, f64::INFINITY),
        (Function::Tanh, true) => (-1.0, 0.0),
        (Function::Normalize, false) => (1.0, 2.0),
        (Function::Normalize, true) => (-2.0, -1.0),
        (Function::Sin | Function::Cos, _) => (-1.0, 1.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}
