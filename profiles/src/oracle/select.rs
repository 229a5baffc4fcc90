//! Operations that hand operands on: moves, choices, minimum and maximum, comparisons.

use std::cmp::Ordering;

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::{Function, Relation};
use rustc_apfloat::Float as _;

use super::{Demand, Operand, Operands, combinations, finish};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Nan, NanBits, Sign, ZeroOrder};
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
    // An integer result holds the bits of the float, so -0 for +0 is a matter of the float's
    // environment.
    let zeros = Set::one(encoding, 0).or(&Set::one(encoding, layout.sign_bit()));
    let either = demand.operands.zero_sign == Sign::Either;
    if either && !set.and(&zeros).is_empty() { set.or(&zeros) } else { set }
}

/// Which of the operands a part of a result shows: of a matrix that is transposed the element at
/// the other side of the diagonal.
pub(super) fn source(operands: &Operands, demand: &Demand) -> usize {
    if demand.function != Function::Transpose {
        return 0;
    }
    let columns = operands.len().isqrt().max(1);
    (operands.part % columns) * columns + operands.part / columns
}

/// Whether an operand is a NaN, or an infinity.
pub(super) fn classified(encoding: Encoding, operand: Operand, demand: &Demand) -> Set {
    if operand.is_nan() && demand.operands.nan_operand == Nan::Any {
        return Set::everything(encoding);
    }
    let infinite = !operand.is_nan() && !operand.is_finite();
    let is = if demand.function == Function::IsNan { operand.is_nan() } else { infinite };
    Set::one(encoding, u64::from(is))
}

/// An operand that is the result: a value of the format, which no accuracy widens.
pub(super) fn handed_on(
    encoding: Encoding,
    operand: Operand,
    operands: &[Operand],
    demand: &Demand,
) -> Set {
    let same =
        |layout: FloatLayout| encoding == Encoding::Float(layout) && layout.is_normal(operand.bits);
    if operand.layout.is_some_and(same) {
        // No environment says anything of normal numbers.
        return Set::one(encoding, operand.bits);
    }
    let exact = Demand { accuracy: Accuracy::NearestEven, ..demand.clone() };
    finish(encoding, Exact::of(operand.value()), operands, &exact)
}

/// The order of two operands that are no NaNs.
fn order(a: Operand, b: Operand) -> Option<Ordering> {
    match (a.layout, b.layout) {
        (Some(_), Some(_)) => a.double().partial_cmp(&b.double()),
        _ => a.value().partial_cmp(&b.value()),
    }
}

/// Minimum or maximum: operands are compared as read, the chosen one is handed on as it came.
pub(super) fn extreme(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    let hand_on = |operand: Operand| handed_on(encoding, operand, operands, demand);
    let (a, b) = (operands[0], operands[1]);
    if a.is_nan() || b.is_nan() {
        return match (demand.operands.nan_operand, a.is_nan() && b.is_nan()) {
            (Nan::Any, _) => Set::everything(encoding),
            (Nan::Nan, _) | (Nan::Other | Nan::Either, true) => Set::nan(encoding),
            (Nan::Other, false) => hand_on(if a.is_nan() { b } else { a }),
            (Nan::Either, false) => hand_on(if a.is_nan() { b } else { a }).or(&Set::nan(encoding)),
        };
    }
    let mut set = Set::nothing(encoding);
    for reading in combinations(operands, &demand.operands) {
        let order = order(reading[0], reading[1]);
        let order = if order == Some(Ordering::Equal) {
            Some(ordered_zeros(&reading, demand))
        } else {
            order
        };
        let order =
            if demand.function == Function::Max { order.map(Ordering::reverse) } else { order };
        if order != Some(Ordering::Greater) {
            set = set.or(&hand_on(a));
        }
        if order != Some(Ordering::Less) {
            set = set.or(&hand_on(b));
        }
    }
    set
}

/// `min(1, max(0, x))`: what is between is handed on as it came.
pub(super) fn saturated(encoding: Encoding, operand: Operand, demand: &Demand) -> Set {
    let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
    let (zero, one) = (0, (layout.bias() as u64) << layout.fraction);
    if operand.is_nan() {
        return match demand.operands.nan_operand {
            Nan::Any => Set::everything(encoding),
            Nan::Nan => Set::nan(encoding),
            Nan::Other => Set::one(encoding, zero),
            // max(0, NaN) may be 0 or the NaN, min(1, NaN) 1 or the NaN.
            Nan::Either => {
                Set::nan(encoding).or(&Set::one(encoding, zero)).or(&Set::one(encoding, one))
            }
        };
    }
    let set =
        operand.readings(&demand.operands).iter().fold(Set::nothing(encoding), |set, reading| {
            let value = reading.value();
            let limit = crate::quad::power(0);
            let handed_on = || handed_on(encoding, *reading, &[operand], demand);
            // What is read as a zero is one of two equal operands of the maximum, and handed on as
            // it came: where the sign of a zero is of no account, a negative number as
            // well (the WebGPU CTS accepts it).
            let as_it_came = || match demand.operands.zero_sign {
                Sign::Either => self::handed_on(encoding, operand, &[operand], demand),
                Sign::Exact => Set::nothing(encoding),
            };
            set.or(&match value {
                // Of -0 and 0 the maximum is either, unless the environment has an order.
                value if value.is_zero() => match demand.operands.zero_order {
                    ZeroOrder::Any => Set::one(encoding, zero).or(&handed_on()).or(&as_it_came()),
                    ZeroOrder::Ieee | ZeroOrder::First => Set::one(encoding, zero),
                    ZeroOrder::Second => handed_on(),
                },
                value if value.is_negative() => Set::one(encoding, zero),
                value if value > limit => Set::one(encoding, one),
                _ => handed_on(),
            })
        });
    let zeros = Set::zeros(encoding);
    if demand.results.zero_sign == Sign::Either && set.meets(&zeros) { set.or(&zeros) } else { set }
}

/// The order of two equal operands: that of their signs or places where the environment has one.
fn ordered_zeros(reading: &[Operand], demand: &Demand) -> Ordering {
    let negative = |operand: &Operand| operand.value().is_negative();
    let first_wins =
        if demand.function == Function::Max { Ordering::Greater } else { Ordering::Less };
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
        let holds = order(reading[0], reading[1]).is_some_and(|order| match relation {
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
