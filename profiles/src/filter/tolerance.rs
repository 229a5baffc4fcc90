//! How far from the exact result a result may lie and be accepted for certain, whatever the operand
//! among those of a block.
//!
//! What [`crate::oracle`] allows is stated for one operand; here it is bounded from below for many,
//! whose exact results lie in an interval of normal numbers of one sign, within one binade. A
//! result that is a normal number of that sign is then accepted whatever the environment says of
//! subnormals, zeros, overflow or infinities: what it says adds results to the set, or takes away
//! subnormals and infinities.

use fpprobe_spirv::FloatLayout;

use super::kind::LAYOUT;
use crate::accuracy::{Accuracy, InheritedAccuracy};
use crate::environment::{Overflow, Subnormals};
use crate::formula::Inheritance;
use crate::interval::Interval;
use crate::oracle::Demand;

/// What is accepted for certain: results no farther than this from the exact one, and no larger
/// than that.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Tolerance {
    /// Distance; infinite where nothing is demanded.
    pub(crate) distance: f64,
    /// Largest magnitude.
    pub(crate) limit: f64,
    /// Zeros, wherever the exact result is.
    pub(crate) zero: bool,
    /// An infinity of the exact result's sign.
    pub(crate) infinite: bool,
    /// But no -0.
    pub(crate) unsigned: bool,
}

impl Tolerance {
    /// Anything.
    pub(crate) const ANYTHING: Tolerance =
        Tolerance { zero: true, infinite: true, ..Tolerance::within(f64::INFINITY) };

    /// Whatever is no farther than that.
    pub(crate) const fn within(distance: f64) -> Tolerance {
        Tolerance { distance, limit: f64::INFINITY, zero: false, infinite: false, unsigned: false }
    }

    /// What one of two accepts, neither of which has a limit.
    pub(crate) fn or(self, other: Tolerance) -> Tolerance {
        Tolerance {
            distance: self.distance.max(other.distance),
            limit: f64::INFINITY,
            zero: self.zero || other.zero,
            infinite: self.infinite || other.infinite,
            unsigned: self.unsigned || other.unsigned,
        }
    }

    /// What both accept.
    pub(crate) fn and(self, other: Tolerance) -> Tolerance {
        Tolerance {
            distance: self.distance.min(other.distance),
            limit: self.limit.min(other.limit),
            zero: self.zero && other.zero,
            infinite: self.infinite && other.infinite,
            unsigned: self.unsigned || other.unsigned,
        }
    }
}

/// Which single accuracy counts on all of these operands, or `None` where they do not agree. Where
/// nothing is stated on any of them it is [`Accuracy::Undefined`].
pub(crate) fn alone(
    accuracy: &Accuracy,
    operand: Interval,
    layout: FloatLayout,
) -> Option<&Accuracy> {
    match accuracy {
        Accuracy::Stated(stated) => {
            if accuracy.is_stated(&[operand], layout) {
                alone(&stated.accuracy, operand, layout)
            } else {
                let excluded =
                    stated.conditions.iter().any(|condition| condition.excludes(operand, layout));
                excluded.then_some(&Accuracy::Undefined)
            }
        }
        Accuracy::Split(split) => {
            let limits =
                Interval { lo: split.low.value::<f64>().lo, hi: split.high.value::<f64>().hi };
            if operand.is_within(limits) {
                alone(&split.inside, operand, layout)
            } else {
                operand
                    .common(limits)
                    .is_none()
                    .then(|| alone(&split.outside, operand, layout))
                    .flatten()
            }
        }
        Accuracy::AbsoluteWithin(_, limit)
            if operand.abs().lo <= *limit && operand.abs().hi > *limit =>
        {
            None
        }
        Accuracy::LogRelative(_) => {
            let near = Interval { lo: 0.5, hi: 2.0 };
            (operand.is_within(near) || operand.common(near).is_none()).then_some(accuracy)
        }
        other => Some(other),
    }
}

/// Whether an accuracy, one of [`alone`]'s, bounds errors on an operand, and not only results.
pub(crate) fn bounds_error(accuracy: &Accuracy, operand: f64) -> bool {
    match accuracy {
        Accuracy::Undefined => false,
        Accuracy::AbsoluteWithin(_, limit) => operand.abs() <= *limit,
        _ => true,
    }
}

/// What an accuracy, one of [`alone`]'s, accepts for certain where exact results have magnitudes of
/// this interval.
pub(crate) fn tolerance(
    accuracy: &Accuracy,
    operand: Interval,
    results: Interval,
    layout: FloatLayout,
) -> Option<Tolerance> {
    let x = operand.abs().lo;
    let least = results.lo;
    // The unit below a power of two is half of that above.
    let ulp = ulp_below(least, layout);
    let power = |bits: i32| 2f64.powi(-bits);
    Some(match accuracy {
        Accuracy::Undefined => Tolerance::ANYTHING,
        Accuracy::Ulp(ulps) => Tolerance::within(ulps * ulp),
        Accuracy::UlpAndSlope(base, slope) => {
            Tolerance::within((base + slope * x) * ulp * (1.0 - f64::EPSILON))
        }
        Accuracy::LogRelative(bits) if (0.5..=2.0).contains(&operand.lo) => {
            Tolerance::within(power(*bits))
        }
        Accuracy::Relative(bits) | Accuracy::LogRelative(bits) => {
            Tolerance::within(least * power(*bits))
        }
        Accuracy::Absolute(distance) => Tolerance::within(distance.value::<f64>().lo),
        Accuracy::AbsoluteWithin(distance, limit) => {
            let distance = if operand.abs().hi <= *limit { *distance } else { f64::INFINITY };
            Tolerance { limit: 1.0, ..Tolerance::within(distance) }
        }
        // Nearer than half of the distance of any two numbers there, it is the nearest number, and
        // one of the two neighbours.
        Accuracy::NearestEven | Accuracy::NearestAway | Accuracy::TowardZeroOrNearestEven => {
            Tolerance::within(ulp / 2.0)
        }
        Accuracy::EitherNeighbour => Tolerance::within(ulp),
        _ => return None,
    })
}

/// How near to exact results that are normal numbers of these magnitudes what is inherited accepts
/// results for certain: what the formulas give is widened to lie symmetrically about the exact
/// result, so if any number is in it, then the nearest is; if none is, both neighbours are
/// accepted. An `or` accepts no less.
pub(crate) fn nearest(inherited: &InheritedAccuracy, results: Interval) -> Option<f64> {
    (inherited.inheritance == Inheritance::Symmetric).then(|| ulp_below(results.lo, LAYOUT) / 2.0)
}

/// No less than how far from the exact result an accepted one may lie where exact results are
/// beyond the largest number; `None` where no such bound is known.
pub(crate) fn farthest(
    accuracy: &Accuracy,
    operand: Interval,
    result: f64,
    layout: FloatLayout,
) -> Option<f64> {
    let ulp = 2f64.powi(layout.bias() - layout.fraction.cast_signed());
    Some(match accuracy {
        // Whatever is accepted, it is the same for all.
        Accuracy::Undefined => 0.0,
        Accuracy::Ulp(ulps) => ulps * ulp,
        Accuracy::UlpAndSlope(base, slope) => (base + slope * operand.abs().hi) * ulp * 1.5,
        Accuracy::Relative(bits) => result * 2f64.powi(-bits),
        Accuracy::Absolute(distance) => distance.value::<f64>().hi,
        accuracy if accuracy.is_rounding() => 2.0 * ulp,
        _ => return None,
    })
}

/// The distance of the two numbers of a format around a magnitude, or of the two below where it is
/// near a power of two.
pub(crate) fn ulp_below(magnitude: f64, layout: FloatLayout) -> f64 {
    let nearly = magnitude * (1.0 - 2f64.powi(2 - layout.fraction.cast_signed()));
    let exponent = (nearly.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    2f64.powi(exponent.max(1 - layout.bias()) - layout.fraction.cast_signed())
}

/// Whether an accuracy accepts the nearest number to an exact result where both are normal numbers.
pub(crate) fn accepts_nearest(accuracy: &Accuracy) -> bool {
    match accuracy {
        // If what the formulas give holds any number, then the nearest: it is widened to lie
        // symmetrically about the exact result.
        Accuracy::Inherited(inherited) => inherited.inheritance == Inheritance::Symmetric,
        accuracy => accepts_rounded(accuracy, false),
    }
}

/// Whether an accuracy accepts every correctly rounded result that is a normal number, or every
/// exact one.
pub(crate) fn accepts_rounded(accuracy: &Accuracy, exact: bool) -> bool {
    match accuracy {
        Accuracy::NearestEven
        | Accuracy::TowardZeroOrNearestEven
        | Accuracy::EitherNeighbour
        | Accuracy::Undefined => true,
        Accuracy::Ulp(ulps) => exact || *ulps >= 1.0,
        Accuracy::NearestAway | Accuracy::TowardZero => exact,
        _ => false,
    }
}

/// Whether a tolerance is all that there is to what a demand accepts: where it accepts anything,
/// what is flushed or saturates may be left out all the same.
pub(crate) fn is_all(demand: &Demand, tolerance: Tolerance) -> bool {
    tolerance != Tolerance::ANYTHING || !reduces(demand)
}

/// Whether results are left out of what a demand accepts where its accuracy accepts anything.
pub(crate) fn reduces(demand: &Demand) -> bool {
    demand.results.subnormal_results == Subnormals::Flush
        || matches!(demand.results.overflow, Overflow::Saturate | Overflow::Clamp)
}
