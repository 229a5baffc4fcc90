//! Whether a demand could refuse any result, the same for many inputs: where it accepts everything,
//! inputs are vacuous.
//!
//! The oracle decides for one input. Here is proven for all of a span what it decides: that a set
//! holds everything where nothing is stated or nothing is known of what formulas give
//! ([`super::reach`]), that it does not where what may be given of the whole span at once
//! is a bounded interval. What is neither is halved, and in the end judged one by one.

use std::sync::OnceLock;

use fpprobe_spirv::op::Function;

use super::kind::{INFINITY, InputSpan, LAYOUT, LEAST_NORMAL, Magnitude, SIGN, SpanKind, exponent};
use super::reach::{is_open, stated};
use super::tolerance::{farthest, reduces};
use crate::accuracy::{Accuracy, InheritedAccuracy};
use crate::encoding::Encoding;
use crate::environment::NonFinite;
use crate::interval::Interval;
use crate::oracle::Demand;

/// Whether what formulas may give is bounded, by the binade of the inputs.
pub(crate) type BoundedBinades = [OnceLock<bool>; 255];

/// Whether a demand could refuse a result of each of these inputs; `None` where it may not be the
/// same for all.
pub(crate) fn is_demanding(
    demand: &Demand,
    encoding: Encoding,
    inputs: &InputSpan,
    binades: &BoundedBinades,
) -> Option<bool> {
    let InputSpan { kind, operand, results, .. } = *inputs;
    let excluded = match &demand.accuracy {
        Accuracy::Stated(of) => {
            of.conditions.iter().any(|condition| condition.excludes(operand, LAYOUT))
        }
        Accuracy::Inherited(_) => {
            stated(&demand.accuracy, operand, LAYOUT) == Some(&Accuracy::Undefined)
        }
        _ => false,
    };
    if excluded {
        return Some(false);
    }
    // Of integers and truth values what is accepted is one, but beyond the range.
    if !matches!(encoding, Encoding::Float(_)) {
        return Some(true);
    }
    match stated(&demand.accuracy, operand, LAYOUT)? {
        Accuracy::Undefined if demand.function == Function::Saturate => None,
        Accuracy::Undefined => {
            let zero = matches!(
                kind,
                SpanKind::Normal(Magnitude::Zero) | SpanKind::Subnormal(Magnitude::Zero)
            );
            Some(!zero && reduces(demand))
        }
        Accuracy::Inherited(inherited) if is_open(demand, inherited, operand) => Some(false),
        Accuracy::Inherited(inherited) => {
            is_bounded(demand, inherited, inputs, binades).then_some(true)
        }
        _ if demand.results.non_finite == NonFinite::Ieee => Some(true),
        one => {
            (results.hi + reach(one, operand, results.hi)? <= f64::from(f32::MAX)).then_some(true)
        }
    }
}

/// No less than how far from exact results of these magnitudes an accuracy reaches; `None` where no
/// such bound is known.
fn reach(accuracy: &Accuracy, operand: Interval, largest: f64) -> Option<f64> {
    // The unit of the binade above.
    let unit =
        2f64.powi(exponent(largest).max(1 - LAYOUT.bias()) + 1 - LAYOUT.fraction.cast_signed());
    Some(match accuracy {
        Accuracy::Ulp(ulps) => ulps * unit,
        Accuracy::UlpAndSlope(base, slope) => (base + slope * operand.abs().hi) * unit * 1.5,
        Accuracy::LogRelative(bits) => (largest + 1.0) * 2f64.powi(-bits),
        Accuracy::AbsoluteWithin(..) => 1.0,
        other => farthest(other, operand, largest, LAYOUT)?,
    })
}

/// Whether what formulas may give on inputs of a span is bounded. Mostly it is on all of their
/// binade.
fn is_bounded(
    demand: &Demand,
    inherited: &InheritedAccuracy,
    inputs: &InputSpan,
    binades: &BoundedBinades,
) -> bool {
    let (sign, magnitude) = (inputs.first & SIGN, inputs.first & !SIGN);
    let Some(of_binade) = binades.get((magnitude / LEAST_NORMAL) as usize) else { return false };
    let bounded = |operand| inherited.is_bounded(demand, LAYOUT, operand);
    let binade = || {
        let first = magnitude - magnitude % LEAST_NORMAL;
        let ends = [first.max(1), (first + LEAST_NORMAL - 1).min(INFINITY - 1)];
        let [near, far] = ends.map(|end| f64::from(f32::from_bits(sign | end)));
        bounded(Interval { lo: near.min(far), hi: near.max(far) })
    };
    *of_binade.get_or_init(binade) || bounded(inputs.operand)
}
