//! Channels of texels that are no floats: fixed point, sRGB, significands under a shared exponent.

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Coding, FloatLayout, Format};
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float as _, Round};

use super::combine::representatives;
use super::elementary::power_of;
use super::exact::greatest_code;
use super::round::{finish, inside};
use super::{Demand, Operand, Operands, accepted_on};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Integer;
use crate::interval::Interval;
use crate::number::{Number as _, Toward};
use crate::quad::{integral, power, whole};
use crate::real::{Exact, quotient};

/// Bits of a significand under a shared exponent.
const SIGNIFICAND: i32 = 9;
/// Bias of a shared exponent.
const BIAS: i32 = 15;
/// The greatest code of sRGB.
const LAST: f64 = 255.0;
/// The exponent of sRGB's transfer function, and where its straight part ends on either side.
const GAMMA: f64 = 2.4;
const LINEAR_END: f64 = 0.003_130_8;
const CODED_END: f64 = 0.040_45;

/// The number that a code means, in the format of the result.
pub(super) fn read(
    encoding: Encoding,
    coding: Coding,
    operands: &Operands,
    demand: &Demand,
) -> Set {
    let code = operands[0].value();
    let exact = match coding {
        Coding::Norm { .. } => {
            let most = greatest(coding);
            // Two's complement has one number more below zero than above.
            let code = if code < -most { -most } else { code };
            quotient(code, most)
        }
        Coding::Srgb => return linear(encoding, operands[0].double(), &demand.accuracy),
        Coding::Shared | Coding::Float(_) => {
            let scale = operands.get(1).map_or(0, |shared| whole(shared.value()));
            Exact::of(code.scalbn(scale as i32 - BIAS - SIGNIFICAND))
        }
    };
    finish(encoding, exact, operands, demand)
}

/// The codes that are allowed for a number, of fixed point also where it is added to what a code
/// means. What a NaN becomes is a matter of the conversion to integers.
pub(super) fn written(
    encoding: Encoding,
    coding: Coding,
    operands: &Operands,
    demand: &Demand,
) -> Set {
    if operands.iter().any(|operand| operand.is_nan())
        && demand.results.integer != Integer::Saturate
    {
        return Set::everything(encoding);
    }
    match coding {
        Coding::Shared => Set::one(encoding, shared(operands)[operands.part]),
        Coding::Norm { signed, .. } => {
            let least = if signed { -power(0) } else { Quad::ZERO };
            let most = greatest(coding);
            let there = operands.get(1).map_or(Quad::ZERO, |code| clamped(*code, -most, most));
            let sum = ((clamped(operands[0], least, power(0)) * most).value + there).value;
            let ideal = if sum > most {
                most
            } else if sum < -most {
                -most
            } else {
                sum
            };
            around(encoding, Interval::point(ideal), &demand.accuracy)
        }
        Coding::Srgb | Coding::Float(_) => {
            let x = clamped(operands[0], Quad::ZERO, power(0)).double(Toward::Down);
            let code = transferred(x).times(Interval::point(LAST));
            let code = Interval { lo: code.lo.quad(), hi: code.hi.quad() };
            around(encoding, code, &demand.accuracy)
        }
    }
}

/// The codes that are allowed for a code of another format: for either binary32 number next to what
/// that means, for no text has an error of the quotient.
pub(super) fn converted(
    encoding: Encoding,
    given: Coding,
    operands: &Operands,
    demand: &Demand,
) -> Set {
    let Some(single) = Format::F32.float() else { return Set::everything(encoding) };
    let either =
        Demand { function: Function::Load, accuracy: Accuracy::EitherNeighbour, ..demand.clone() };
    let numbers = read(Encoding::Float(single), given, operands, &either);
    representatives(&numbers).into_iter().fold(Set::nothing(encoding), |set, bits| {
        let number = operands.replaced_by(&[Operand { layout: Some(single), bits }]);
        set.or(&accepted_on(encoding, &number, demand))
    })
}

/// The integers near enough to the ideal one: units are those of the code.
fn around(encoding: Encoding, ideal: Interval<Quad>, accuracy: &Accuracy) -> Set {
    let range = |ends: Interval<Quad>, lo, hi| {
        Set::range(encoding, towards(ends.lo, lo), towards(ends.hi, hi))
    };
    let set = match accuracy {
        Accuracy::NearestEven => range(ideal, Round::NearestTiesToEven, Round::NearestTiesToEven),
        Accuracy::NearestAway => range(ideal, Round::NearestTiesToAway, Round::NearestTiesToAway),
        Accuracy::TowardZero => range(ideal, Round::TowardZero, Round::TowardZero),
        Accuracy::EitherNeighbour => range(ideal, Round::TowardNegative, Round::TowardPositive),
        Accuracy::Ulp(units) => {
            range(ideal.widened(Quad::of(*units)), Round::TowardPositive, Round::TowardNegative)
        }
        _ => return Set::everything(encoding),
    };
    set.and(&Set::everything(encoding))
}

/// The linear number of a code of sRGB: whatever transfers back to within N units of the code; 0
/// and 1 exactly.
fn linear(encoding: Encoding, code: f64, accuracy: &Accuracy) -> Set {
    let (Encoding::Float(layout), Accuracy::Ulp(units)) = (encoding, accuracy) else {
        return Set::everything(encoding);
    };
    if code <= 0.0 || code >= LAST {
        return Set::one(encoding, one_or_zero(layout, code > 0.0));
    }
    let [lo, hi] = [code - units, code + units].map(|code| {
        let share = code / LAST;
        if share <= CODED_END {
            slack(share / 12.92)
        } else {
            raised((share + 0.055) / 1.055, GAMMA)
        }
    });
    inside(encoding, layout, Interval { lo: lo.lo.quad(), hi: hi.hi.quad() })
}

fn one_or_zero(layout: FloatLayout, one: bool) -> u64 {
    if one { layout.one() } else { 0 }
}

/// What a number between 0 and 1 is on the side of sRGB, between 0 and 1, too.
fn transferred(x: f64) -> Interval<f64> {
    if x < LINEAR_END {
        return slack(12.92 * x);
    }
    let root = raised(x, 1.0 / GAMMA);
    Interval { lo: 1.055 * root.lo - 0.055, hi: 1.055 * root.hi - 0.055 }
}

fn raised(x: f64, exponent: f64) -> Interval<f64> {
    match power_of(x, exponent) {
        Some(Exact::Number(real)) => Interval { lo: slack(real.lo).lo, hi: slack(real.hi).hi },
        _ => Interval::point(x),
    }
}

/// Some units of binary64 to either side, for what is computed in binary64 with constants that it
/// does not hold.
fn slack(x: f64) -> Interval<f64> {
    let slack = x * 32.0 * f64::EPSILON;
    Interval { lo: x - slack, hi: x + slack }
}

/// Significands of red, green and blue, and their exponent (Vulkan, "RGB to Shared Exponent
/// Conversion").
fn shared(operands: &[Operand]) -> [u64; 4] {
    let all = power(0).scalbn(SIGNIFICAND);
    let most = (all - power(0)).value.scalbn(31 - BIAS - SIGNIFICAND);
    let colors: Vec<Quad> =
        operands.iter().map(|operand| clamped(*operand, Quad::ZERO, most)).collect();
    let greatest = colors.iter().copied().fold(Quad::ZERO, |a, b| if a < b { b } else { a });
    let rounded =
        |x: Quad, exponent: i32| whole((x.scalbn(BIAS + SIGNIFICAND - exponent) + power(-1)).value);
    let leading = if greatest > power(-(BIAS + 1)) { greatest.exponent() } else { -(BIAS + 1) };
    let first = leading + BIAS + 1;
    let exponent = first + i32::from(rounded(greatest, first) >= 1 << SIGNIFICAND);
    let significand = |index: usize| rounded(colors[index], exponent).cast_unsigned();
    [significand(0), significand(1), significand(2), exponent.unsigned_abs().into()]
}

fn greatest(coding: Coding) -> Quad {
    greatest_code(coding.bits(), matches!(coding, Coding::Norm { signed: true, .. }))
}

/// A number within bounds; NaN as 0.
fn clamped(operand: Operand, least: Quad, most: Quad) -> Quad {
    let x = operand.value();
    if x.is_nan() {
        Quad::ZERO
    } else if x < least {
        least
    } else if x > most {
        most
    } else {
        x
    }
}

fn towards(x: Quad, round: Round) -> i64 {
    whole(integral(x, round))
}
