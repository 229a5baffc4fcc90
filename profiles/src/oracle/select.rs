//! Operations that hand operands on: moves, choices, minimum and maximum, comparisons.

use std::cmp::Ordering;

use fpprobe_spirv::op::{Function, Relation};
use rustc_apfloat::Float as _;

use super::{Demand, Operand, combinations, finish};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Nan, NanBits, ZeroOrder};
use crate::real::Exact;

/// A value that is only moved.
pub(super) fn moved(encoding: Encoding, operand: Operand, demand: &Demand) -> Set {
    let Some(layout) = operand.layout else { return Set::one(encoding, operand.bits) };
    if operand.is_nan() {
        let same = Set::one(encoding, operand.bits);
        return match demand.operands.nan_bits {
            NanBits::Keep => same,
            NanBits::Quieten => same.or(&Set::one(encoding, operand.bits | layout.quiet_bit())),
            NanBits::Free => Set::nan(encoding),
        };
    }
    let mut set = Set::nothing(encoding);
    for reading in operand.readings(&demand.operands) {
        set = set.or(&Set::one(encoding, reading.bits));
    }
    // An integer result holds the bits of the float, so -0 for +0 is a matter of the float's environment.
    let zeros = Set::one(encoding, 0).or(&Set::one(encoding, layout.sign_bit()));
    let either = demand.operands.zero_sign == crate::environment::Sign::Either;
    if either && !set.and(&zeros).is_empty() { set.or(&zeros) } else { set }
}

/// Minimum or maximum: operands are compared as read, the chosen one is handed on as it came.
pub(super) fn extreme(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    // What is handed on is a value of the format: no accuracy widens it.
    let exact = Demand { accuracy: Accuracy::NearestEven, ..*demand };
    let hand_on = |operand: Operand| finish(encoding, Exact::of(operand.value()), operands, &exact);
    let (a, b) = (operands[0], operands[1]);
    if a.is_nan() || b.is_nan() {
        return match (demand.operands.nan_operand, a.is_nan() && b.is_nan()) {
            (Nan::Any, _) => Set::everything(encoding),
            (Nan::Nan, _) | (Nan::Other, true) => Set::nan(encoding),
            (Nan::Other, false) => hand_on(if a.is_nan() { b } else { a }),
        };
    }
    let mut set = Set::nothing(encoding);
    for reading in combinations(operands, &demand.operands) {
        let order = reading[0].value().partial_cmp(&reading[1].value());
        let order = if order == Some(Ordering::Equal) { Some(ordered_zeros(&reading, demand)) } else { order };
        let order = if demand.function == Function::Max { order.map(Ordering::reverse) } else { order };
        if order != Some(Ordering::Greater) {
            set = set.or(&hand_on(a));
        }
        if order != Some(Ordering::Less) {
            set = set.or(&hand_on(b));
        }
    }
    set
}

/// The order of two equal operands: that of their signs or places where the environment has one.
fn ordered_zeros(reading: &[Operand], demand: &Demand) -> Ordering {
    let negative = |operand: &Operand| operand.value().is_negative();
    let first_wins = if demand.function == Function::Max { Ordering::Greater } else { Ordering::Less };
    match demand.operands.zero_order {
        _ if reading[0].bits == reading[1].bits => Ordering::Equal,
        ZeroOrder::Any => Ordering::Equal,
        ZeroOrder::Ieee => negative(&reading[1]).cmp(&negative(&reading[0])),
        ZeroOrder::First => first_wins,
        ZeroOrder::Second => first_wins.reverse(),
    }
}

/// A comparison.
pub(super) fn compared(
    encoding: Encoding,
    operands: &[Operand],
    relation: Relation,
    unordered: bool,
    demand: &Demand,
) -> Set {
    if operands.iter().any(|operand| operand.is_nan()) {
        return match demand.operands.nan_operand {
            Nan::Any => Set::everything(encoding),
            _ => Set::one(encoding, u64::from(unordered)),
        };
    }
    combinations(operands, &demand.operands).iter().fold(Set::nothing(encoding), |set, reading| {
        let holds = reading[0].value().partial_cmp(&reading[1].value()).is_some_and(|order| match relation {
            Relation::Equal => order == Ordering::Equal,
            Relation::NotEqual => order != Ordering::Equal,
            Relation::Less => order == Ordering::Less,
            Relation::Greater => order == Ordering::Greater,
            Relation::LessEqual => order != Ordering::Greater,
            Relation::GreaterEqual => order != Ordering::Less,
        });
        set.or(&Set::one(encoding, u64::from(holds)))
    })
}
