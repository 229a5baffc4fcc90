//! The oracle: which results a profile allows for an operation on given operands.
//!
//! A case is judged component by component. Every operand is read in every way its environment allows (a subnormal as
//! itself or as zero, -0 as +0); each reading gives an exact result; each exact result gives a set of encodings by
//! accuracy, overflow and flushing; the union of the sets is what is accepted.

mod combine;
mod definition;
mod dot;
mod elementary;
mod error;
mod exact;
mod inherited;
mod packed;
mod range;
mod resolve;
mod round;
mod select;
mod steps;

use std::ops::Deref;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{FloatLayout, Format, Kernel, Shape};
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Quad;
use smallvec::{SmallVec, smallvec};

use crate::accepted::{Accepted, Set};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, NonFinite, Sign, Subnormals, Ulp};
use crate::interval::Interval;
use crate::number::Number;
use crate::real::{Exact, decode};

use exact::exact;
use round::finish;

pub use inherited::{Inherited, Memo, is_whole};
pub use resolve::{Called, resolve};
pub use steps::{Node, Resolved};

/// What a profile demands of one operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    /// The function computed.
    pub function: Function,
    /// Environment of the operands' format.
    pub operands: Environment,
    /// Environment of the result's format.
    pub results: Environment,
    /// How close the result must be.
    pub accuracy: Accuracy,
    /// Which ulp.
    pub ulp: Ulp,
}

impl Demand {
    /// The same where every subnormal, operand or result, is treated so.
    #[must_use]
    pub fn with_subnormals(mut self, treated: Subnormals) -> Demand {
        for environment in [&mut self.operands, &mut self.results] {
            (environment.subnormal_inputs, environment.subnormal_results) = (treated, treated);
        }
        self
    }
}

/// The operands of one part of a result: all that it depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operands {
    list: SmallVec<[Operand; 4]>,
    /// Which part it is, of a result whose parts depend on the same operands; else 0.
    part: usize,
    /// Operands of the other parts, where a result that is partly indeterminate is so as a whole.
    beside: SmallVec<[Operand; 4]>,
}

impl Deref for Operands {
    type Target = [Operand];
    fn deref(&self) -> &[Operand] {
        &self.list
    }
}

impl IntoIterator for Operands {
    type Item = Operand;
    type IntoIter = smallvec::IntoIter<[Operand; 4]>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl FromIterator<Operand> for Operands {
    fn from_iter<I: IntoIterator<Item = Operand>>(operands: I) -> Operands {
        Operands { list: operands.into_iter().collect(), ..Operands::default() }
    }
}

/// A kernel as the oracle sees it: parts of the result, each with the operands it depends on.
#[derive(Clone, Debug)]
pub struct Question {
    /// The kernel.
    pub kernel: Kernel,
    /// Encodings of the parts of the result, see [`Encoding::of_result`].
    pub encodings: Vec<Encoding>,
    params: Vec<Shape>,
}

impl Question {
    /// The question that a kernel asks.
    pub fn new(kernel: &Kernel) -> Question {
        Question { kernel: *kernel, encodings: Encoding::of_result(kernel), params: kernel.params() }
    }

    /// The operands that one part of the result depends on.
    pub fn operands(&self, case: &[u64], part: usize) -> Operands {
        let op = self.kernel.op;
        match op.function {
            Function::Load => {
                let channel = self.kernel.format.channels()[part];
                let bits = case[0] >> channel.shift & ((1 << channel.layout.bits()) - 1);
                [Operand { layout: Some(channel.layout), bits }].into_iter().collect()
            }
            Function::PackDouble => {
                [Operand { layout: Format::F64.float(), bits: case[0] | case[1] << 32 }].into_iter().collect()
            }
            Function::UnpackHalf => self
                .one_of(part, |index| Operand { layout: Format::F16.float(), bits: case[0] >> (16 * index) & 0xffff }),
            Function::UnpackNorm { bits, signed } => self.one_of(part, |index| {
                let encoding = Encoding::Fixed { bits, signed };
                Operand::integer(encoding.key(case[0] >> (bits as usize * index) & ((1 << bits) - 1)))
            }),
            Function::PackHalf | Function::PackNorm { .. } | Function::Store => {
                self.one_of(part, |index| Operand { layout: self.params[0].format.float(), bits: case[index] })
            }
            Function::MatrixTimesVector
            | Function::VectorTimesMatrix
            | Function::MatrixTimesMatrix
            | Function::OuterProduct => {
                let width = self.kernel.width as usize;
                let (row, column) = (part % width, part / width);
                let (x, y) = case.split_at(self.params[0].width as usize);
                let operand = |bits: &u64| Operand { layout: self.kernel.format.float(), bits: *bits };
                let across = |matrix: &[u64]| matrix.iter().skip(row).step_by(width).map(operand).collect::<Vec<_>>();
                let down = |matrix: &[u64], at: usize| matrix[at * width..][..width].iter().map(operand).collect();
                let (left, right): (Vec<Operand>, Vec<Operand>) = match op.function {
                    Function::MatrixTimesVector => (across(x), down(y, 0)),
                    Function::VectorTimesMatrix => (down(x, 0), down(y, part)),
                    Function::MatrixTimesMatrix => (across(x), down(y, column)),
                    _ => (vec![operand(&x[row])], vec![operand(&y[column])]),
                };
                left.into_iter().chain(right).collect()
            }
            _ if self.is_whole() => {
                let values = Shape::split(&self.params, case);
                let list = values.flat_map(|(shape, own)| own.iter().map(move |bits| Operand::of(shape.format, *bits)));
                Operands { list: list.collect(), part, ..Operands::default() }
            }
            _ => {
                // Of two results, each has its own components.
                let width = (self.kernel.result().width as usize).max(1);
                let values = Shape::split(&self.params, case);
                let list = values.map(|(shape, own)| {
                    Operand::of(shape.format, own.get(part % width).or(own.first()).copied().unwrap_or_default())
                });
                let part = if op.second.is_some() { part / width } else { 0 };
                Operands { list: list.collect(), part, ..Operands::default() }
            }
        }
    }

    /// Whether every part of the result depends on every operand.
    fn is_whole(&self) -> bool {
        inherited::is_whole(self.kernel.op.function)
    }

    /// One operand for each part.
    fn one_of(&self, part: usize, operand: impl Fn(usize) -> Operand) -> Operands {
        let others = (0..self.encodings.len()).filter(|other| *other != part);
        Operands { list: smallvec![operand(part)], part: 0, beside: others.map(&operand).collect() }
    }

    /// What is accepted as one part of the result.
    pub fn accepted_part(&self, case: &[u64], part: usize, demand: &Demand) -> Set {
        accepted_on(self.encodings[part], &self.operands(case, part), demand)
    }

    /// What is accepted as the result.
    pub fn accepted(&self, case: &[u64], demand: &Demand) -> Accepted {
        Accepted::new((0..self.encodings.len()).map(|part| self.accepted_part(case, part, demand)).collect())
    }
}

/// One operand of one part of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Layout of a float; `None` for integers and bool.
    pub layout: Option<FloatLayout>,
    /// Its encoding.
    pub bits: u64,
}

impl Operand {
    /// A value of a format; integers as numbers of 64 bits.
    fn of(format: Format, bits: u64) -> Operand {
        match format {
            Format::I32 => Operand::integer(Encoding::Signed.key(bits)),
            _ => Operand { layout: format.float(), bits },
        }
    }

    /// An integer.
    fn integer(value: i64) -> Operand {
        Operand { layout: None, bits: value.cast_unsigned() }
    }

    fn is_nan(self) -> bool {
        self.layout.is_some_and(|layout| layout.is_nan(self.bits))
    }

    fn is_finite(self) -> bool {
        self.layout.is_none_or(|layout| self.bits & layout.magnitude_mask() < layout.infinity())
    }

    fn value(self) -> Quad {
        let integer = || Quad::from_i128(i128::from(self.bits.cast_signed())).value;
        self.layout.map_or_else(integer, |layout| decode(layout, self.bits))
    }

    /// The value as binary64, which holds that of every format.
    fn double(self) -> f64 {
        self.layout.map_or(self.bits.cast_signed() as f64, |layout| Number::decode(layout, self.bits))
    }

    /// The ways this operand may be read.
    fn readings(self, environment: &Environment) -> SmallVec<[Operand; 3]> {
        let Some(layout) = self.layout else { return smallvec![self] };
        let with = |bits| Operand { bits, ..self };
        if layout.is_subnormal(self.bits) && environment.subnormal_inputs != Subnormals::Keep {
            let zero = self.bits & layout.sign_bit();
            let mut readings: SmallVec<[Operand; 3]> = smallvec![with(zero)];
            if environment.flushed_sign == Sign::Either {
                readings.push(with(zero ^ layout.sign_bit()));
            }
            if environment.subnormal_inputs == Subnormals::Either {
                readings.push(self);
            }
            readings
        } else if layout.signed && self.bits == layout.sign_bit() && environment.zero_sign == Sign::Either {
            smallvec![self, with(0)]
        } else {
            smallvec![self]
        }
    }
}

/// What is accepted as a part of a result on these operands.
pub fn accepted_on(encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
    if demand.operands.non_finite == NonFinite::Any {
        if operands.iter().chain(&operands.beside).any(|operand| !operand.is_finite()) {
            return Set::everything(encoding);
        }
        // A result that is indeterminate in one part is so in all.
        let alone = |operand: &Operand| [*operand].into_iter().collect::<Operands>();
        if operands.beside.iter().any(|other| accepted_on(encoding, &alone(other), demand).is_everything()) {
            return Set::everything(encoding);
        }
    }
    if let Accuracy::Inherited(inherited) = &demand.accuracy {
        return inherited.accepted(encoding, operands, demand);
    }
    if let Accuracy::Steps(_) = &demand.accuracy {
        return union_of_readings(encoding, operands, demand);
    }
    match demand.function {
        Function::Move | Function::PackDouble | Function::Transpose => {
            select::moved(encoding, operands[select::source(operands, demand)], demand)
        }
        Function::Choose => select::moved(encoding, operands[if operands[0].bits == 0 { 2 } else { 1 }], demand),
        Function::Min | Function::Max => select::extreme(encoding, operands, demand),
        Function::Clamp => combine::clamped(encoding, operands, demand),
        Function::Saturate => select::saturated(encoding, operands[0], demand),
        Function::Compare { relation, unordered } => select::compared(encoding, operands, relation, unordered, demand),
        Function::IsNan | Function::IsInf => select::classified(encoding, operands[0], demand),
        function if definition::is_defined(function) => inherited::defined(encoding, operands, demand),
        _ => union_of_readings(encoding, operands, demand),
    }
}

/// Union over every combination of readings.
fn union_of_readings(encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
    combinations(operands, &demand.operands)
        .iter()
        .fold(Set::nothing(encoding), |set, reading| set.or(&of_reading(encoding, reading, operands.part, demand)))
}

/// Operands as they are read.
type Reading = SmallVec<[Operand; 4]>;

/// Every combination of readings of the operands.
fn combinations(operands: &[Operand], environment: &Environment) -> SmallVec<[Reading; 1]> {
    let mut combinations: SmallVec<[Reading; 1]> = smallvec![Reading::new()];
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
    if operands.iter().any(|operand| operand.is_nan()) && !matches!(demand.function, Function::ToInteger) {
        return match demand.operands.nan_operand {
            Nan::Any => Set::everything(encoding),
            _ => Set::nan(encoding),
        };
    }
    if let (Accuracy::Stated(_), Some(layout)) = (&demand.accuracy, operands.iter().find_map(|operand| operand.layout))
    {
        let values: SmallVec<[Interval<Quad>; 4]> =
            operands.iter().map(|operand| Interval::point(operand.value())).collect();
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
        (Function::Div, Accuracy::TwoStep(ulps)) => combine::two_step_division(encoding, operands, *ulps, demand),
        (Function::Round, _) => combine::to_nearest(encoding, operands, demand),
        (Function::ToInteger, _) => round::to_integer(encoding, operands[0], &demand.results),
        (Function::QuantizeToF16, _) => packed::quantized(encoding, operands[0], demand),
        (Function::PackNorm { bits, signed }, _) => packed::normalized(encoding, operands[0], (bits, signed), demand),
        (Function::Frexp, _) => combine::significand_or_exponent(encoding, operands[0], part, demand),
        (Function::Modf, _) => combine::parted(encoding, operands[0], part == 1, demand),
        (function, _) => {
            let values: SmallVec<[Quad; 4]> = operands.iter().map(|operand| operand.value()).collect();
            match exact(function, &values) {
                Some(exact) => finish(encoding, exact, operands, demand),
                // No reference for it, or undefined there: nothing is claimed. Profiles that ask for one are refused when they are loaded.
                None => Set::everything(encoding),
            }
        }
    }
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
        | Function::Round
        | Function::Modf
        | Function::Frexp
        | Function::QuantizeToF16
        | Function::PackNorm { .. }
        | Function::ToInteger => true,
        function => {
            let one = crate::real::power(0);
            definition::is_defined(function) || exact(function, &[one, one, one]).is_some()
        }
    }
}

/// How far a result lies from the exact one, as a binary64 number; `None` where either is not a finite number.
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
        rustc_apfloat::FloatConvert::convert((result.value() - exact).value.abs(), &mut loses).value;
    Some(f64::from_bits(difference.to_bits() as u64))
}
