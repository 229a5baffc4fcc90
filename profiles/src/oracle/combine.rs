//! Operations that may be carried out in several ways, or that give the parts of a number.

use std::cmp::Ordering;

use fpprobe_spirv::op::Function;
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Round};

use super::select::{extreme, handed_on};
use super::{Demand, Operand, combinations, exact, finish};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Contraction, Subnormals};
use crate::interval::Interval;
use crate::quad::{exponent, integral, power};
use crate::real::{Exact, bracket};

/// `x*y + z` fused, or as a multiplication and an addition that each round and flush.
pub(super) fn multiply_add(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    let [x, y, z] = [0, 1, 2].map(|index: usize| operands[index]);
    let fused = bracket(|round| x.value().mul_add_r(y.value(), z.value(), round));
    let mut set = finish(encoding, fused, operands, demand);
    match demand.results.contraction {
        Contraction::Fused => return set,
        Contraction::Separate => set = Set::nothing(encoding),
        Contraction::Either => {}
    }
    let step = |function, operands: [Operand; 2]| {
        let demand = Demand { function, ..demand.clone() };
        super::accepted_on(encoding, &operands.into_iter().collect(), &demand)
    };
    let product = step(Function::Mul, [x, y]);
    if product.is_everything() {
        return product;
    }
    for bits in representatives(&product) {
        set = set.or(&step(Function::Add, [Operand { layout: x.layout, bits }, z]));
    }
    set
}

/// Every member of a small set, one NaN for all of them.
pub(super) fn representatives(set: &Set) -> Vec<u64> {
    let nan = Set::nan(set.encoding());
    let mut members = set.minus(&nan).members(256);
    members.extend(set.and(&nan).members(1));
    members
}

/// `x * (1/y)`: the reciprocal within `ulps`, flushed where subnormal, then a multiplication; or
/// `x/y` directly, to nearest (D3D11.3 functional specification, 3.1.3.2 and 22.10.2).
pub(super) fn two_step_division(
    encoding: Encoding,
    operands: &[Operand],
    ulps: f64,
    demand: &Demand,
) -> Set {
    let nearest = Demand { accuracy: Accuracy::NearestEven, ..demand.clone() };
    let accepted_on = |operands: &[Operand], demand: &Demand| {
        super::accepted_on(encoding, &operands.iter().copied().collect(), demand)
    };
    let mut set = match exact(Function::Div, &[operands[0].value(), operands[1].value()]) {
        Some(quotient) => finish(encoding, quotient, operands, &nearest),
        None => Set::everything(encoding),
    };
    let reciprocal =
        Demand { function: Function::Reciprocal, accuracy: Accuracy::Ulp(ulps), ..demand.clone() };
    let reciprocals = accepted_on(&operands[1..], &reciprocal);
    for bits in representatives(&reciprocals) {
        let factors = [operands[0], Operand { layout: operands[1].layout, bits }];
        set =
            set.or(&accepted_on(&factors, &Demand { function: Function::Mul, ..nearest.clone() }));
    }
    set
}

/// `min(max(x, low), high)`, or the median of the three: they differ where low is above high,
/// unless nothing is stated there. Where x and a limit are subnormal and may be flushed, it is any
/// of the subnormals (WGSL, "Floating Point Accuracy", clamp).
pub(super) fn clamped(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    let [x, low, high] = [0, 1, 2].map(|index: usize| operands[index]);
    let values = [x, low, high].map(|operand| Interval::point(operand.value()));
    if x.layout.is_some_and(|layout| !demand.accuracy.is_stated(&values, layout)) {
        return Set::everything(encoding);
    }
    let chosen = |function, a: Operand, b: Operand| {
        extreme(encoding, &[a, b], &Demand { function, ..demand.clone() })
    };
    let raised = chosen(Function::Max, x, low);
    if raised.is_everything() {
        return raised;
    }
    let operand = |bits| Operand { layout: x.layout, bits };
    let each =
        representatives(&raised).into_iter().map(|bits| chosen(Function::Min, operand(bits), high));
    let mut set = each.fold(Set::nothing(encoding), |set, one| set.or(&one));
    if set.is_everything() || operands.iter().any(|operand| operand.is_nan()) {
        return set;
    }
    let hand_on = |operand: Operand| handed_on(encoding, operand, operands, demand);
    for reading in combinations(operands, &demand.operands) {
        let mut values: [Operand; 3] = [reading[0], reading[1], reading[2]];
        values.sort_by(|a, b| a.value().partial_cmp(&b.value()).unwrap_or(Ordering::Equal));
        set = set.or(&hand_on(values[1]));
    }
    let flushes = demand.operands.subnormal_inputs != Subnormals::Keep;
    let subnormal =
        |operand: &Operand| operand.layout.is_some_and(|layout| layout.is_subnormal(operand.bits));
    if flushes && subnormal(&x) && (subnormal(&low) || subnormal(&high)) {
        let subnormals = operands.iter().filter(|operand| subnormal(operand));
        set = subnormals.fold(set, |set, operand| set.or(&hand_on(*operand)));
    }
    set
}

/// To the nearest integer; half-way between two either of them.
pub(super) fn to_nearest(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    let x = operands[0].value();
    let half = power(-1);
    let twice = x.scalbn(1);
    let tie = twice.is_finite()
        && integral(twice, Round::TowardZero) == twice
        && integral(x, Round::TowardZero) != x;
    if !tie {
        return finish(
            encoding,
            Exact::of(integral(x, Round::NearestTiesToEven)),
            operands,
            demand,
        );
    }
    let sign = |value: Quad| value.copy_sign(x);
    [(x - half).value, (x + half).value].into_iter().fold(Set::nothing(encoding), |set, value| {
        set.or(&finish(encoding, Exact::of(sign(value)), operands, demand))
    })
}

/// What is in front of the point, or behind it, both of the sign of x.
pub(super) fn parted(encoding: Encoding, operand: Operand, whole: bool, demand: &Demand) -> Set {
    let x = operand.value();
    let part = match whole {
        true => integral(x, Round::TowardZero),
        // Nothing is behind the point of an infinity.
        false if x.is_infinite() => Quad::ZERO.copy_sign(x),
        false => x.c_fmod(power(0)).value,
    };
    finish(encoding, Exact::of(part), &[operand], demand)
}

/// The significand, of [0.5, 1), or the exponent to go with it; both zero for zero. An infinity has
/// neither.
pub(super) fn significand_or_exponent(
    encoding: Encoding,
    operand: Operand,
    part: usize,
    demand: &Demand,
) -> Set {
    let x = operand.value();
    if x.is_infinite() {
        return Set::everything(encoding);
    }
    let scale = if x.is_zero() { 0 } else { exponent(x) + 1 };
    if part == 0 {
        return finish(encoding, Exact::of(x.scalbn(-scale)), &[operand], demand);
    }
    Set::one(encoding, encoding.at(i64::from(scale)))
}
