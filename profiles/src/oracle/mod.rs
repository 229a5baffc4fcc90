//! The oracle: which results a profile allows for an operation on given operands.
//!
//! A case is judged component by component. Every operand is read in every way its environment
//! allows (a subnormal as itself or as zero, -0 as +0); each reading gives an exact result; each
//! exact result gives a set of encodings by accuracy, overflow and flushing; the union of the sets
//! is what is accepted.

mod bc6h;
mod chain;
mod combine;
mod definition;
mod dot;
mod elementary;
mod error;
mod exact;
mod inherited;
mod operand;
mod packed;
mod range;
mod resolve;
mod round;
mod rounding;
mod select;
mod signature;
mod steps;
mod texel;

use fpprobe_spirv::Coding;
use fpprobe_spirv::layout::{BFLOAT16, BINARY32, BINARY64};
use fpprobe_spirv::op::Function;
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Quad;
use smallvec::{SmallVec, smallvec};

use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, NanBits, NonFinite};
use crate::interval::Interval;
use crate::real::Exact;

use exact::exact;
use round::finish;

pub use crate::accuracy::Demand;
pub use definition::is_whole;
pub(crate) use elementary::computed;
pub use operand::Operand;
pub(crate) use range::range;
pub use resolve::{Callee, resolve};
pub(crate) use rounding::{Rounding, rounding};
pub use signature::{Operands, Signature};

/// What is accepted as a part of a result on these operands.
pub fn accepted_on(encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
    if !operands.instead.is_empty() {
        let of = |list: &[Operand]| accepted_on(encoding, &operands.replaced_by(list), demand);
        return of(operands).or(&of(&operands.instead));
    }
    if let Some(given) = operands.given {
        return texel::converted(encoding, given, operands, demand);
    }
    if demand.operands.non_finite == NonFinite::Any {
        if operands.iter().chain(&operands.beside).any(|operand| !operand.is_finite()) {
            return Set::everything(encoding);
        }
        // A result that is indeterminate in one part is so in all.
        let of_part =
            |other: &[Operand]| accepted_on(encoding, &operands.replaced_by(other), demand);
        let others = operands.beside.chunks(operands.len().max(1));
        if others.into_iter().any(|other| of_part(other).is_everything()) {
            return Set::everything(encoding);
        }
    }
    if let Accuracy::Inherited(inherited) = &demand.accuracy {
        return inherited.accepted(encoding, operands, demand);
    }
    if let Accuracy::Steps(_) = &demand.accuracy {
        return union_of_readings(encoding, operands, demand);
    }
    match (demand.function, operands.coding) {
        (_, None | Some(Coding::Float(_))) => {}
        (Function::Load, Some(coding)) => return texel::read(encoding, coding, operands, demand),
        (Function::Store | Function::Add, Some(coding)) => {
            return texel::written(encoding, coding, operands, demand);
        }
        _ => {}
    }
    match demand.function {
        Function::Load | Function::Store if keeps_nan(encoding, operands[0], demand) => {
            select::moved(encoding, operands[0], demand)
        }
        Function::Move | Function::PackDouble | Function::Transpose => {
            select::moved(encoding, operands[select::source(operands, demand)], demand)
        }
        Function::Choose => {
            select::moved(encoding, operands[if operands[0].bits == 0 { 2 } else { 1 }], demand)
        }
        Function::Min | Function::Max => select::extreme(encoding, operands, demand),
        Function::Clamp => combine::clamped(encoding, operands, demand),
        Function::Saturate => select::saturated(encoding, operands[0], demand),
        Function::Compare { relation, unordered } => {
            select::compared(encoding, operands, relation, unordered, demand)
        }
        Function::IsNan | Function::IsInf => select::classified(encoding, operands[0], demand),
        function if definition::is_defined(function) => {
            inherited::defined(encoding, operands, demand)
        }
        _ => union_of_readings(encoding, operands, demand),
    }
}

/// Whether a demand is on a function whose exact result is rounded once, so that its environments
/// say nothing of normal operands with normal results.
pub(crate) fn is_rounded_once(demand: &Demand) -> bool {
    let in_steps = matches!(
        demand.accuracy,
        Accuracy::Inherited(_) | Accuracy::Steps(_) | Accuracy::TwoStep(_) | Accuracy::Undefined
    );
    let one = crate::quad::power(0);
    !in_steps
        && !matches!(
            demand.function,
            Function::MulAdd
                | Function::AddMany
                | Function::Load
                | Function::Store
                | Function::Modf
                | Function::Frexp
        )
        && !definition::is_defined(demand.function)
        && !is_whole(demand.function)
        && exact(demand.function, &[one, one, one]).is_some()
}

/// Whether the operand is a NaN of the result's own format, whose bits are not to change.
fn keeps_nan(encoding: Encoding, operand: Operand, demand: &Demand) -> bool {
    operand.is_nan()
        && demand.operands.nan_bits == NanBits::Keep
        && operand.layout.is_some_and(|layout| encoding == Encoding::Float(layout))
}

/// What is accepted as the parts of a result.
pub(crate) type Sets = SmallVec<[Set; 1]>;

/// What is accepted as every part of a result, whose parts depend on the same operands: formulas
/// are carried out once.
pub(crate) fn accepted_together(
    encodings: &[Encoding],
    operands: &Operands,
    demand: &Demand,
) -> Sets {
    let indeterminate = demand.operands.non_finite == NonFinite::Any
        && operands.iter().any(|operand| !operand.is_finite());
    match &demand.accuracy {
        _ if indeterminate => {}
        Accuracy::Inherited(inherited) => {
            return inherited.accepted_together(encodings, operands, demand);
        }
        Accuracy::Steps(_) => {}
        _ if definition::is_defined(demand.function) => {
            return inherited::defined_together(encodings, operands, demand);
        }
        _ => {}
    }
    let mut operands = operands.clone();
    let part = |(part, encoding): (usize, &Encoding)| {
        operands.part = part;
        accepted_on(*encoding, &operands, demand)
    };
    encodings.iter().enumerate().map(part).collect()
}

/// Union over every combination of readings.
fn union_of_readings(encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
    if !operands.is_open(demand) {
        return of_reading(encoding, operands, operands.part, demand);
    }
    combinations(operands, &demand.operands).iter().fold(Set::nothing(encoding), |set, reading| {
        set.or(&of_reading(encoding, reading, operands.part, demand))
    })
}

/// What is accepted as two results of the same operands, each given with what it depends on: a pair
/// for every way to read the operands, for one reading explains both. Of two results that may stand
/// in each other's place: each its own, or one for both.
fn pairs_on(results: [(Encoding, Operands); 2], demand: &Demand) -> Vec<[Set; 2]> {
    let operands = &results[0].1;
    if !operands.instead.is_empty() {
        let own = |(encoding, operands): &(Encoding, Operands)| {
            accepted_on(*encoding, &operands.replaced_by(operands), demand)
        };
        let [first, second] = [0, 1].map(|number| own(&results[number]));
        return vec![
            [first.clone(), second.clone()],
            [first.clone(), first],
            [second.clone(), second],
        ];
    }
    if matches!(demand.accuracy, Accuracy::Inherited(_)) || !operands.is_open(demand) {
        return vec![results.map(|(encoding, operands)| accepted_on(encoding, &operands, demand))];
    }
    let of = |reading: &OperandList| {
        let under = |(encoding, operands): &(Encoding, Operands)| {
            of_reading(*encoding, reading, operands.part, demand)
        };
        [under(&results[0]), under(&results[1])]
    };
    combinations(operands, &demand.operands).iter().map(of).collect()
}

/// Operands as they are read.
type OperandList = SmallVec<[Operand; 4]>;

/// Every combination of readings of the operands.
fn combinations(operands: &[Operand], environment: &Environment) -> SmallVec<[OperandList; 1]> {
    let mut combinations: SmallVec<[OperandList; 1]> = smallvec![OperandList::new()];
    for operand in operands {
        let readings = operand.readings(environment);
        let heads = combinations.len();
        for reading in &readings[1..] {
            for head in 0..heads {
                let mut longer = combinations[head].clone();
                longer.push(*reading);
                combinations.push(longer);
            }
        }
        for head in &mut combinations[..heads] {
            head.push(readings[0]);
        }
    }
    combinations
}

fn of_reading(encoding: Encoding, operands: &[Operand], part: usize, demand: &Demand) -> Set {
    use crate::environment::Nan;
    if operands.iter().any(|operand| operand.is_nan())
        && !matches!(demand.function, Function::ToInteger)
    {
        return match demand.operands.nan_operand {
            Nan::Any => Set::everything(encoding),
            _ => Set::nan(encoding),
        };
    }
    if let (Accuracy::Stated(_), Some(layout)) =
        (&demand.accuracy, operands.iter().find_map(|operand| operand.layout))
    {
        let values = points(operands);
        if !demand.accuracy.is_stated(&values, layout) {
            return Set::everything(encoding);
        }
        let zeros = demand.accuracy.allows_zero(&values, layout);
        let set = on_numbers(encoding, operands, part, demand);
        return if zeros { set.or(&Set::zeros(encoding)) } else { set };
    }
    on_numbers(encoding, operands, part, demand)
}

/// What is accepted on operands that are numbers, read as they are.
fn on_numbers(encoding: Encoding, operands: &[Operand], part: usize, demand: &Demand) -> Set {
    match (demand.function, &demand.accuracy) {
        (Function::Dot, Accuracy::Steps(step)) => dot::in_steps(encoding, operands, step, demand),
        (Function::MulAdd, _) => combine::multiply_add(encoding, operands, demand),
        (Function::Chain(chain), _) => chain::accepted(encoding, operands, chain, demand),
        (Function::Div, Accuracy::TwoStep(ulps)) => {
            combine::two_step_division(encoding, operands, *ulps, demand)
        }
        (Function::ToFloat, _)
            if encoding == Encoding::Float(BFLOAT16) && operands[0].layout == Some(BINARY64) =>
        {
            by_way_of_binary32(encoding, operands[0], demand)
        }
        (Function::Round, _) => combine::to_nearest(encoding, operands, demand),
        (Function::ToInteger, _) => round::to_integer(encoding, operands[0], &demand.results),
        (Function::QuantizeToF16, _) => packed::quantized(encoding, operands[0], demand),
        (Function::PackNorm { bits, signed }, _) => {
            packed::normalized(encoding, operands[0], (bits, signed), demand)
        }
        (Function::Frexp, _) => {
            combine::significand_or_exponent(encoding, operands[0], part, demand)
        }
        (Function::Modf, _) => combine::parted(encoding, operands[0], part == 1, demand),
        (function, _) => {
            let values: SmallVec<[Quad; 4]> =
                operands.iter().map(|operand| operand.value()).collect();
            match exact(function, &values) {
                Some(exact) => finish(encoding, exact, operands, demand),
                // No reference for it, or undefined there: nothing is claimed. Profiles that
                // request one are refused when they are loaded.
                None => Set::everything(encoding),
            }
        }
    }
}

/// A binary64 as bfloat16: a binary32 may lie between (`SPV_KHR_bfloat16`, Conversion
/// Instructions).
fn by_way_of_binary32(encoding: Encoding, operand: Operand, demand: &Demand) -> Set {
    let single = Demand { accuracy: Accuracy::EitherNeighbour, ..demand.clone() };
    let between = on_numbers(Encoding::Float(BINARY32), &[operand], 0, &single);
    let ends = between.ranges().iter().flat_map(|(from, to)| [*from, *to]);
    let readings = ends.map(|key| {
        let single = Operand { layout: Some(BINARY32), bits: between.encoding().at(key) };
        accepted_on(encoding, &[single].into_iter().collect(), demand)
    });
    readings.fold(Set::nothing(encoding), |all, one| all.or(&one))
}

/// Whether the oracle has a reference for a function.
pub fn has_reference(function: Function) -> bool {
    match function {
        Function::Move
        | Function::PackDouble
        | Function::Choose
        | Function::Transpose
        | Function::Min
        | Function::Max
        | Function::Clamp
        | Function::Saturate
        | Function::Compare { .. }
        | Function::IsNan
        | Function::IsInf
        | Function::MulAdd
        | Function::Chain(_)
        | Function::Round
        | Function::Modf
        | Function::Frexp
        | Function::QuantizeToF16
        | Function::PackNorm { .. }
        | Function::ToInteger => true,
        function => {
            let one = crate::quad::power(0);
            definition::is_defined(function) || exact(function, &[one, one, one]).is_some()
        }
    }
}

/// How far a result lies from the exact one, as a binary64 number; `None` where either is not a
/// finite number.
pub fn distance(function: Function, operands: &[Operand], result: Operand) -> Option<f64> {
    let values: SmallVec<[Quad; 4]> = operands.iter().map(|operand| operand.value()).collect();
    let exact = match exact(function, &values)? {
        Exact::Number(real) => real.lo,
        Exact::Zero(_) => Quad::ZERO,
        Exact::Nan | Exact::Infinite(_) => return None,
    };
    if !result.is_finite() {
        return None;
    }
    let mut loses = false;
    let difference: rustc_apfloat::ieee::Double =
        rustc_apfloat::FloatConvert::convert((result.value() - exact).value.abs(), &mut loses)
            .value;
    Some(f64::from_bits(difference.to_bits() as u64))
}

/// How far a result lies from the exact one, in units in the last place of the exact result's
/// binade; `None` unless the operands and the exact result are normal numbers (an integer is one,
/// too) and the result is finite.
pub fn error_in_ulps(function: Function, operands: &[Operand], result: Operand) -> Option<f64> {
    let layout = result.layout?;
    let is_normal = |operand: &Operand| {
        operand.layout.is_none_or(|layout| {
            operand.is_finite() && operand.bits & layout.magnitude_mask() >= layout.min_normal()
        })
    };
    if !operands.iter().all(is_normal) || !result.is_finite() {
        return None;
    }
    let values: SmallVec<[Quad; 4]> = operands.iter().map(|operand| operand.value()).collect();
    let Exact::Number(real) = exact(function, &values)? else { return None };
    let exponent = crate::quad::exponent(real.magnitudes().0);
    if exponent < 1 - layout.bias() || exponent > layout.bias() {
        return None;
    }
    let distance = crate::number::Number::double(
        (result.value() - real.lo).value.abs(),
        crate::number::Toward::Down,
    );
    Some(distance * <f64 as crate::number::Number>::power(layout.fraction.cast_signed() - exponent))
}

/// The values of operands, as intervals of one point each.
pub(crate) fn points(operands: &[Operand]) -> SmallVec<[Interval<Quad>; 3]> {
    operands.iter().map(|operand| Interval::point(operand.value())).collect()
}
