//! What steps of formulas make of zeros and infinities: of those that underflow and overflow leave
//! among what an operand may be.
//!
//! The oracle takes each part of what operands may be, in every combination, by itself: what
//! follows from one that is known is among the results.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;
use smallvec::SmallVec;

use crate::accuracy::Accuracy;
use crate::interval::{Interval, RealSet};
use crate::oracle::range;

/// What is known of what a value may be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ValueBounds {
    /// Its exact value lies in here.
    pub(crate) exact: Interval,
    /// It may be whatever is no farther than so from its exact value; [`NOWHERE`] where it is not
    /// known to be anything near that.
    pub(crate) radius: f64,
    /// It may be zero, and an infinity of the exact value's sign.
    pub(crate) zero: bool,
    pub(crate) infinite: bool,
}

/// Not even the exact value.
pub(crate) const NOWHERE: f64 = f64::NEG_INFINITY;

impl ValueBounds {
    /// Whatever is near.
    pub(crate) fn around(exact: Interval, radius: f64) -> ValueBounds {
        ValueBounds { exact, radius, zero: false, infinite: false }
    }

    /// Whether the exact value is among what it may be.
    pub(crate) fn is_near(&self) -> bool {
        self.radius >= 0.0
    }
}

/// What is among the results.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Special {
    /// Everything.
    Anything,
    /// Zero, and an infinity of the exact result's sign.
    Among { zero: bool, infinite: bool },
}

/// An operand: as it is, or what else it may be.
type OperandReading = (Interval, bool);

/// What follows where operands are zeros and infinities, the exact result being of this interval.
pub(crate) fn special(
    function: Function,
    accuracy: &Accuracy,
    operands: &[ValueBounds],
    result: Interval,
    layout: FloatLayout,
) -> Special {
    let (mut zero, mut infinite) = (false, false);
    let known = if is_decided(function) { operands } else { &[] };
    for reads in
        combinations(known).iter().filter(|reads| reads.iter().any(|(_, special)| *special))
    {
        let values: SmallVec<[Interval; 2]> = reads.iter().map(|(value, _)| *value).collect();
        let mut accuracy = accuracy;
        if let Accuracy::Stated(stated) = accuracy {
            let fails =
                || stated.conditions.iter().filter(|condition| !condition.holds(&values, layout));
            if fails().any(|condition| {
                !condition.compares() && reads.get(condition.operand()).is_some_and(|read| read.1)
            }) {
                return Special::Anything;
            }
            if fails().next().is_some() {
                continue;
            }
            accuracy = &stated.accuracy;
        }
        let RealSet::Within(parts) = range(function, &values, true) else {
            return Special::Anything;
        };
        // What these allow around a zero holds it, and around an infinity that.
        if matches!(accuracy, Accuracy::Ulp(_) | Accuracy::Relative(_))
            || accuracy.is_rounding()
            || function == Function::Neg
        {
            let end = if result.lo > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
            zero |= parts.contains(&Interval::ZERO);
            infinite |= !result.contains_zero() && parts.contains(&Interval::point(end));
        }
    }
    Special::Among { zero, infinite }
}

/// Whether what a function gives on intervals of finite numbers that hold no zero, and on
/// infinities and zeros, is unknown for none of the numbers or for all.
fn is_decided(function: Function) -> bool {
    use Function::{Add, Div, Exp, Exp2, InverseSqrt, Log, Log2, Mul, Neg, Reciprocal, Sqrt, Sub};
    matches!(
        function,
        Add | Div | Exp | Exp2 | InverseSqrt | Log | Log2 | Mul | Neg | Reciprocal | Sqrt | Sub
    )
}

/// Every combination of what operands may be.
fn combinations(operands: &[ValueBounds]) -> Vec<SmallVec<[OperandReading; 2]>> {
    let mut all = vec![SmallVec::new()];
    for operand in operands {
        let infinity =
            Interval::point(if operand.exact.lo > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY });
        let finite = operand.is_near()
            && !operand.exact.contains_zero()
            && operand.exact.abs().hi.is_finite();
        let reads = [
            finite.then_some((operand.exact, false)),
            operand.zero.then_some((Interval::ZERO, true)),
            operand.infinite.then_some((infinity, true)),
        ];
        let with = |head: &SmallVec<[OperandReading; 2]>| {
            let head = head.clone();
            reads
                .into_iter()
                .flatten()
                .map(move |read| head.iter().copied().chain([read]).collect())
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}
