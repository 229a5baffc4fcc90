//! The oracle: which results a profile allows for an operation on given operands.
//!
//! A case is judged component by component. Every operand is read in every way its environment allows (a subnormal as
//! itself or as zero, -0 as +0); each reading gives an exact result; each exact result gives a set of encodings by
//! accuracy, overflow and flushing; the union of the sets is what is accepted.

mod combine;
mod elementary;
mod round;
mod select;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{FloatLayout, Format, Kernel, Shape};
use rustc_apfloat::Float as _;
use smallvec::{SmallVec, smallvec};

use crate::accepted::{Accepted, Set};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, NonFinite, Sign, Subnormals, Ulp};
use crate::real::{Exact, bracket, decode};

use round::finish;

/// What a profile demands of one operation.
#[derive(Clone, Copy, PartialEq, Debug)]
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

/// The operands of one part of a result.
pub type Operands = SmallVec<[Operand; 4]>;

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
        let one = |layout, bits| smallvec![Operand { layout, bits }];
        match self.kernel.op.function {
            Function::Load => {
                let channel = self.kernel.format.channels()[part];
                one(Some(channel.layout), case[0] >> channel.shift & ((1 << channel.layout.bits()) - 1))
            }
            Function::UnpackHalf => one(Format::F16.float(), case[0] >> (16 * part) & 0xffff),
            _ => {
                let mut start = 0;
                let mut operands = Operands::new();
                for shape in &self.params {
                    let at = start + if shape.width > 1 { part } else { 0 };
                    start += shape.width as usize;
                    operands.push(Operand { layout: shape.format.float(), bits: case[at] });
                }
                operands
            }
        }
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
    fn is_nan(self) -> bool {
        self.layout.is_some_and(|layout| layout.is_nan(self.bits))
    }

    fn is_finite(self) -> bool {
        self.layout.is_none_or(|layout| self.bits & layout.magnitude_mask() < layout.infinity())
    }

    fn value(self) -> rustc_apfloat::ieee::Quad {
        self.layout.map_or(rustc_apfloat::ieee::Quad::from_bits(0), |layout| decode(layout, self.bits))
    }

    /// The ways this operand may be read.
    fn readings(self, environment: &Environment) -> Operands {
        let Some(layout) = self.layout else { return smallvec![self] };
        let with = |bits| Operand { bits, ..self };
        if layout.is_subnormal(self.bits) && environment.subnormal_inputs != Subnormals::Keep {
            let zero = self.bits & layout.sign_bit();
            let mut readings: Operands = smallvec![with(zero)];
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
pub fn accepted_on(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    if demand.operands.non_finite == NonFinite::Any && operands.iter().any(|operand| !operand.is_finite()) {
        return Set::everything(encoding);
    }
    match demand.function {
        Function::Move => select::moved(encoding, operands[0], demand),
        Function::Choose => select::moved(encoding, operands[if operands[0].bits == 0 { 2 } else { 1 }], demand),
        Function::Min | Function::Max => select::extreme(encoding, operands, demand),
        Function::Compare { relation, unordered } => select::compared(encoding, operands, relation, unordered, demand),
        _ => union_of_readings(encoding, operands, demand),
    }
}

/// Union over every combination of readings.
fn union_of_readings(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    combinations(operands, &demand.operands)
        .iter()
        .fold(Set::nothing(encoding), |set, reading| set.or(&of_reading(encoding, reading, demand)))
}

/// Every combination of readings of the operands.
fn combinations(operands: &[Operand], environment: &Environment) -> SmallVec<[Operands; 1]> {
    let mut combinations: SmallVec<[Operands; 1]> = smallvec![Operands::new()];
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

fn of_reading(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    use crate::environment::Nan;
    if operands.iter().any(|operand| operand.is_nan()) && !matches!(demand.function, Function::ToInteger) {
        return match demand.operands.nan_operand {
            Nan::Any => Set::everything(encoding),
            _ => Set::nan(encoding),
        };
    }
    match (demand.function, demand.accuracy) {
        (Function::MulAdd, _) => combine::multiply_add(encoding, operands, demand),
        (Function::Div, Accuracy::TwoStep(ulps)) => combine::two_step_division(encoding, operands, ulps, demand),
        (Function::ToInteger, _) => round::to_integer(encoding, operands[0], &demand.results),
        (function, _) => match exact(function, operands) {
            Some(exact) => finish(encoding, exact, operands, demand),
            // No reference for it: nothing is claimed. Profiles that ask for one are refused when they are loaded.
            None => Set::everything(encoding),
        },
    }
}

/// Whether the oracle has a reference for a function.
pub fn has_reference(function: Function) -> bool {
    match function {
        Function::Clamp => false,
        Function::Move
        | Function::Choose
        | Function::Min
        | Function::Max
        | Function::Compare { .. }
        | Function::MulAdd
        | Function::ToInteger => true,
        function => {
            let one = Operand { layout: Format::F32.float(), bits: 0x3f80_0000 };
            exact(function, &[one, one, one]).is_some()
        }
    }
}

/// The exact result on operands read as they are.
fn exact(function: Function, operands: &[Operand]) -> Option<Exact> {
    use rustc_apfloat::Round;
    let x = operands[0].value();
    let y = || operands[1].value();
    Some(match function {
        Function::Add => bracket(|round| x.add_r(y(), round)),
        Function::Sub => bracket(|round| x.sub_r(y(), round)),
        Function::Mul => bracket(|round| x.mul_r(y(), round)),
        Function::Div => bracket(|round| x.div_r(y(), round)),
        Function::Reciprocal => bracket(|round| crate::real::power(0).div_r(x, round)),
        Function::Neg => Exact::of(-x),
        Function::Abs => Exact::of(x.abs()),
        Function::Floor => Exact::of(x.round_to_integral(Round::TowardNegative).value),
        Function::Ceil => Exact::of(x.round_to_integral(Round::TowardPositive).value),
        Function::Trunc => Exact::of(x.round_to_integral(Round::TowardZero).value),
        Function::RoundEven => Exact::of(x.round_to_integral(Round::NearestTiesToEven).value),
        Function::Fract => {
            let floor = x.round_to_integral(Round::TowardNegative).value;
            bracket(|round| x.sub_r(floor, round))
        }
        Function::Sign => match Exact::of(x) {
            Exact::Number(_) | Exact::Infinite(_) => {
                Exact::of(if x.is_negative() { -crate::real::power(0) } else { crate::real::power(0) })
            }
            zero => zero,
        },
        Function::Sqrt => Exact::sqrt(x),
        Function::InverseSqrt => Exact::inverse_sqrt(x),
        Function::Exp | Function::Exp2 | Function::Log | Function::Log2 | Function::Sin | Function::Cos => {
            elementary::exact(function, x)
        }
        Function::ToFloat | Function::PackHalf | Function::UnpackHalf | Function::Load | Function::Store => {
            Exact::of(x)
        }
        _ => return None,
    })
}
