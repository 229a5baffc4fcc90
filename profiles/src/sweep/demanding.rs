//! Whether a demand could refuse any result, the same for many inputs: where it accepts everything, inputs are vacuous.
//!
//! The oracle decides for one input. Here is proven for all of a span what it decides: that a set holds everything where nothing is
//! stated or nothing is known of what formulas give ([`super::reach`]), that it does not where what may be given of the whole span at once
//! is a bounded interval. What is neither is halved, and in the end judged one by one.

use fpprobe_spirv::op::Function;

use super::Verifier;
use super::compare::exponent;
use super::fast::{is_open, reduces};
use super::kind::{INFINITY, KindDemand, LAYOUT, LEAST_NORMAL, Magnitude, RuleVerdicts, SIGN, SpanKind};
use super::tolerance::{alone, farthest};
use crate::accuracy::{Accuracy, InheritedAccuracy};
use crate::encoding::Encoding;
use crate::environment::NonFinite;
use crate::interval::Interval;
use crate::oracle::Demand;

/// Consecutive inputs of one kind, with what they and their results are.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputSpan {
    pub(super) kind: SpanKind,
    /// The first of them.
    pub(super) first: u32,
    /// Their values.
    pub(super) operand: Interval,
    /// The magnitudes of their exact results.
    pub(super) results: Interval,
}

impl Verifier {
    /// What the rules say of a result of these inputs that all accept; `None` where it may not be the same for all.
    pub(super) fn accepted_on(&self, known: &super::kind::KindRules, inputs: &InputSpan) -> Option<RuleVerdicts> {
        self.accepted(known, |looking| self.is_demanding(looking, inputs))
    }

    /// Whether a demand could refuse a result of each of these inputs; `None` where it may not be the same for all.
    fn is_demanding(&self, looking: &KindDemand, inputs: &InputSpan) -> Option<bool> {
        let demand = self.demand(looking);
        let InputSpan { kind, operand, results, .. } = *inputs;
        let excluded = |demand: &Demand| match &demand.accuracy {
            Accuracy::Stated(stated) => stated.conditions.iter().any(|condition| condition.excludes(operand, LAYOUT)),
            Accuracy::Inherited(_) => alone(&demand.accuracy, operand, LAYOUT) == Some(&Accuracy::Undefined),
            _ => false,
        };
        if excluded(demand) {
            return Some(false);
        }
        // Of integers and truth values what is accepted is one, but beyond the range.
        if !matches!(self.encoding(), Encoding::Float(_)) {
            return Some(true);
        }
        match alone(&demand.accuracy, operand, LAYOUT)? {
            Accuracy::Undefined if demand.function == Function::Saturate => None,
            Accuracy::Undefined => {
                let zero = matches!(kind, SpanKind::Normal(Magnitude::Zero) | SpanKind::Subnormal(Magnitude::Zero));
                Some(!zero && reduces(demand))
            }
            Accuracy::Inherited(inherited) if is_open(demand, inherited, operand) => Some(false),
            Accuracy::Inherited(inherited) => is_bounded(looking, demand, inherited, inputs).then_some(true),
            _ if demand.results.non_finite == NonFinite::Ieee => Some(true),
            one => (results.hi + reach(one, operand, results.hi)? <= f64::from(f32::MAX)).then_some(true),
        }
    }
}

/// No less than how far from exact results of these magnitudes an accuracy reaches; `None` where no such bound is known.
fn reach(accuracy: &Accuracy, operand: Interval, largest: f64) -> Option<f64> {
    // The unit of the binade above.
    let unit = 2f64.powi(exponent(largest).max(1 - LAYOUT.bias()) + 1 - LAYOUT.fraction.cast_signed());
    Some(match accuracy {
        Accuracy::Ulp(ulps) => ulps * unit,
        Accuracy::UlpAndSlope(base, slope) => (base + slope * operand.abs().hi) * unit * 1.5,
        Accuracy::LogRelative(bits) => (largest + 1.0) * 2f64.powi(-bits),
        Accuracy::AbsoluteWithin(..) => 1.0,
        other => farthest(other, operand, largest, LAYOUT)?,
    })
}

/// Whether what formulas may give on inputs of a span is bounded. Mostly it is on all of their binade.
fn is_bounded(looking: &KindDemand, demand: &Demand, inherited: &InheritedAccuracy, inputs: &InputSpan) -> bool {
    let (sign, magnitude) = (inputs.first & SIGN, inputs.first & !SIGN);
    let Some(of_binade) = looking.binades.get((magnitude / LEAST_NORMAL) as usize) else { return false };
    let bounded = |operand| inherited.is_bounded(demand, LAYOUT, operand);
    let binade = || {
        let first = magnitude - magnitude % LEAST_NORMAL;
        let ends = [first.max(1), (first + LEAST_NORMAL - 1).min(INFINITY - 1)];
        let [near, far] = ends.map(|end| f64::from(f32::from_bits(sign | end)));
        bounded(Interval { lo: near.min(far), hi: near.max(far) })
    };
    *of_binade.get_or_init(binade) || bounded(inputs.operand)
}
