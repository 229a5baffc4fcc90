//! A kernel as the oracle sees it: which operands each part of its result depends on.

use std::ops::Deref;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Format, Kernel, Shape};
use smallvec::{SmallVec, smallvec};

use super::{Demand, Operand, accepted_on, inherited};
use crate::accepted::{Accepted, Set};
use crate::encoding::Encoding;

/// The operands of one part of a result: all that it depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operands {
    list: SmallVec<[Operand; 4]>,
    /// Which part it is, of a result whose parts depend on the same operands; else 0.
    pub(super) part: usize,
    /// Operands of the other parts, where a result that is partly indeterminate is so as a whole.
    pub(super) beside: SmallVec<[Operand; 4]>,
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
