//! Operations in a row, of which those before the last may be left unrounded.

use fpprobe_spirv::Format;
use fpprobe_spirv::op::{Chain, Function, Link};
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Round};

use super::combine::representatives;
use super::exact::exact;
use super::round::finish;
use super::{Demand, Operand};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Contraction, Sign, Subnormals};
use crate::real::{Exact, Real, bracket};

/// What is accepted of a chain. With `Contraction::Separate` each operation is rounded, with
/// `Fused` the last one alone. With `Either` every result between may be rounded or not, but for
/// that of `OpQuantizeToF16`, which is a number of binary16 by its definition and not by a rounding
/// that more precision would do without.
pub(super) fn accepted(
    encoding: Encoding,
    operands: &[Operand],
    chain: Chain,
    demand: &Demand,
) -> Set {
    let everything = Set::everything(encoding);
    let values: Vec<Quad> = operands.iter().map(|operand| operand.value()).collect();
    let first = if chain.multiplies { Function::Mul } else { Function::Add };
    let (Some(first), Some((last, between))) = (exact(first, &values), chain.links.split_last())
    else {
        return everything;
    };
    let mut results = vec![first];
    for link in between {
        let next = match link {
            Link::Add => results.iter().map(|result| plus(*result, values[2])).collect(),
            link => between_of(*link, &results, operands, demand),
        };
        let Some(next) = next else { return everything };
        results = next;
    }
    let final_set = |result: &Exact| match rounded(*last, *result, operands, demand) {
        Some(set) if set.encoding() == encoding => set,
        // A number of binary16 as one of a wider format.
        Some(set) => widened(encoding, &set, demand),
        None => Set::everything(encoding),
    };
    results.iter().fold(Set::nothing(encoding), |set, result| set.or(&final_set(result)))
}

/// What the operations before hand on, rounded or not; `None` where that may be anything.
fn between_of(
    link: Link,
    results: &[Exact],
    operands: &[Operand],
    demand: &Demand,
) -> Option<Vec<Exact>> {
    let contraction = demand.results.contraction;
    let mut next = match contraction {
        Contraction::Separate => Vec::new(),
        Contraction::Either if link == Link::Quantize => Vec::new(),
        Contraction::Either | Contraction::Fused => results.to_vec(),
    };
    if contraction == Contraction::Fused {
        return Some(next);
    }
    let layout = link.format()?.float();
    for result in results {
        let set = rounded(link, *result, operands, demand)?;
        let numbers = representatives(&set).into_iter().map(|bits| Operand { layout, bits });
        next.extend(numbers.map(|number| Exact::of(number.value())));
    }
    Some(next)
}

/// A result rounded by a link; `None` where it may be anything.
fn rounded(link: Link, result: Exact, operands: &[Operand], demand: &Demand) -> Option<Set> {
    let layout = link.format().and_then(Format::float)?;
    let mut demand = demand.clone();
    if link == Link::Quantize {
        demand.results.subnormal_results = Subnormals::Flush;
        demand.results.flushed_sign = Sign::Either;
    }
    let set = finish(Encoding::Float(layout), result, operands, &demand);
    (!set.is_everything()).then_some(set)
}

/// The numbers of a set as those of a format that holds them all.
fn widened(encoding: Encoding, set: &Set, demand: &Demand) -> Set {
    let Encoding::Float(layout) = set.encoding() else { return Set::everything(encoding) };
    let demand = Demand { accuracy: Accuracy::NearestEven, ..demand.clone() };
    representatives(set).into_iter().fold(Set::nothing(encoding), |all, bits| {
        let number = Operand { layout: Some(layout), bits };
        all.or(&finish(encoding, Exact::of(number.value()), &[number], &demand))
    })
}

/// A sum with a number; `None` where its sign is not known.
fn plus(result: Exact, z: Quad) -> Option<Exact> {
    let exactly = |x: Quad| Some(bracket(|round| x.add_r(z, round)));
    let signed = |value: Quad, negative: bool| if negative { -value } else { value };
    match result {
        Exact::Nan => Some(Exact::Nan),
        Exact::Infinite(negative) => exactly(signed(Quad::INFINITY, negative)),
        Exact::Zero(negative) => exactly(signed(Quad::ZERO, negative)),
        Exact::Number(Real { lo, hi }) if lo == hi => exactly(lo),
        Exact::Number(Real { lo, hi }) => {
            let lo = lo.add_r(z, Round::TowardNegative).value;
            let hi = hi.add_r(z, Round::TowardPositive).value;
            let is_known = lo.is_finite_non_zero() && lo.is_negative() == hi.is_negative();
            (is_known && hi.is_finite_non_zero()).then_some(Exact::Number(Real { lo, hi }))
        }
    }
}
