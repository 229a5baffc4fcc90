//! A kernel as the oracle sees it: which operands each part of its result depends on.

use std::ops::Deref;

use fpprobe_spirv::channel::SHARED_EXPONENT;
use fpprobe_spirv::derivative::{across, difference};
use fpprobe_spirv::layout::BINARY32;
use fpprobe_spirv::op::{Code, Function};
use fpprobe_spirv::{Channel, Coding, Format, Kernel, Shape};
use smallvec::{SmallVec, smallvec};

use super::{Demand, Operand, accepted_on, bc6h, is_whole, pairs_on};
use crate::accepted::{Accepted, Set};
use crate::encoding::{Encoding, texel_field};

/// Which component of a texel alpha is.
const ALPHA: usize = 3;

/// The operands of one part of a result: all that it depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operands {
    list: SmallVec<[Operand; 4]>,
    /// Which part it is, of a result whose parts depend on the same operands; else 0.
    pub(super) part: usize,
    /// What the bits of the texel's channel mean that is read or written.
    pub(crate) coding: Option<Coding>,
    /// What the bits of the texel's channel mean that is converted, where they are no float's.
    pub(super) given: Option<Coding>,
    /// Operands of the other parts, one part after the other, where a result that is partly
    /// indeterminate is so as a whole.
    pub(super) beside: SmallVec<[Operand; 4]>,
    /// Operands of a result that may stand in the place of this one.
    pub(super) instead: SmallVec<[Operand; 2]>,
}

impl Operands {
    /// Their bits, where a part of a kernel's result depends on no more than two.
    pub(crate) fn bits(&self) -> Option<[u64; 2]> {
        match &self.list[..] {
            _ if !self.beside.is_empty() || !self.instead.is_empty() => None,
            [one] => Some([one.bits, 0]),
            [one, two] => Some([one.bits, two.bits]),
            _ => None,
        }
    }

    /// Whether it is open which of them the result is of, or by a demand how one of them is read.
    pub(crate) fn is_open(&self, demand: &Demand) -> bool {
        !self.instead.is_empty() || self.iter().any(|operand| operand.is_open(&demand.operands))
    }

    /// Whether each is a normal number or an integer, and none belongs to a texel.
    pub(crate) fn are_normal(&self) -> bool {
        let is_normal =
            |operand: &Operand| operand.layout.is_none_or(|layout| layout.is_normal(operand.bits));
        let all = self.iter().chain(&self.beside).chain(&self.instead);
        (self.coding, self.given) == (None, None) && all.into_iter().all(is_normal)
    }

    /// These operands of another part in the place of all.
    pub(super) fn replaced_by(&self, operands: &[Operand]) -> Operands {
        Operands { list: operands.into(), coding: self.coding, ..Operands::default() }
    }
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
pub struct Signature {
    /// The kernel.
    pub kernel: Kernel,
    /// Encodings of the parts of the result, see [`Encoding::of_result`].
    pub encodings: Vec<Encoding>,
    params: Vec<Shape>,
}

impl Signature {
    /// The question that a kernel asks.
    pub fn new(kernel: &Kernel) -> Signature {
        Signature {
            kernel: *kernel,
            encodings: Encoding::of_result(kernel),
            params: kernel.params(),
        }
    }

    /// Whether each part of the result depends on a channel of one texel: of those there are fewer
    /// values than texels.
    pub(crate) fn is_of_channels(&self) -> bool {
        matches!(&self.params[..], [texel] if texel.format.is_packed()) && self.encodings.len() > 1
    }

    /// The first part of the result that is what this one is: channels of one kind are converted
    /// alike.
    pub(crate) fn alike(&self, part: usize) -> usize {
        let coding =
            |format: Format, part: usize| format.channels().get(part).map(|channel| channel.coding);
        let own = |part| {
            (
                self.encodings[part],
                coding(self.kernel.format, part),
                coding(self.params[0].format, part),
            )
        };
        (0..part).find(|other| own(*other) == own(part)).unwrap_or(part)
    }

    /// The operands that one part of the result depends on.
    pub fn operands(&self, case: &[u64], part: usize) -> Operands {
        let op = self.kernel.op;
        match op.function {
            _ if let Code::Derivative(along) = op.code => {
                let operands = |[minuend, subtrahend]: [usize; 2]| {
                    [minuend, subtrahend].map(|holder| Operand {
                        layout: self.kernel.format.float(),
                        bits: case[holder],
                    })
                };
                let other = across(along, part).map(|other| operands(difference(along, other)));
                Operands {
                    list: operands(difference(along, part)).into_iter().collect(),
                    instead: other.into_iter().flatten().collect(),
                    ..Operands::default()
                }
            }
            // The value of the first vertex alone.
            Function::Move if matches!(op.code, Code::Interpolated(_)) => {
                [Operand::of(self.kernel.format, case[0])].into_iter().collect()
            }
            Function::Load if self.kernel.format.is_block() => self.of_block(case, part),
            Function::Move | Function::Load if self.params[0].format.is_packed() => {
                self.of_texel(case[0], part)
            }
            Function::Store => self.of_channels(case, part),
            Function::Add if self.kernel.format.is_packed() => self.blended(case, part),
            Function::PackDouble => {
                [Operand { layout: Format::F64.float(), bits: case[0] | case[1] << 32 }]
                    .into_iter()
                    .collect()
            }
            Function::UnpackHalf => self.one_of(part, |index| Operand {
                layout: Format::F16.float(),
                bits: case[0] >> (16 * index) & 0xffff,
            }),
            Function::UnpackNorm { bits, signed } => self.one_of(part, |index| {
                let encoding = Encoding::Fixed { bits, signed };
                Operand::integer(
                    encoding.key(case[0] >> (bits as usize * index) & ((1 << bits) - 1)),
                )
            }),
            // A component of either operand.
            Function::Chain(chain) if chain.is_packed() => {
                let width = self.params[0].width as usize;
                let of = |index: usize| {
                    let layout = self.params[0].format.float();
                    [index, width + index].map(|at| Operand { layout, bits: case[at] })
                };
                let others = (0..width).filter(|other| *other != part).flat_map(of);
                let list = of(part).into_iter().collect();
                Operands { list, beside: others.collect(), ..Operands::default() }
            }
            Function::PackHalf | Function::PackNorm { .. } => self.one_of(part, |index| Operand {
                layout: self.params[0].format.float(),
                bits: case[index],
            }),
            Function::MatrixTimesVector
            | Function::VectorTimesMatrix
            | Function::MatrixTimesMatrix
            | Function::OuterProduct => {
                let width = self.kernel.width as usize;
                let (row, column) = (part % width, part / width);
                let (x, y) = case.split_at(self.params[0].width as usize);
                let operand =
                    |bits: &u64| Operand { layout: self.kernel.format.float(), bits: *bits };
                let across = |matrix: &[u64]| {
                    matrix.iter().skip(row).step_by(width).map(operand).collect::<Vec<_>>()
                };
                let down = |matrix: &[u64], at: usize| {
                    matrix[at * width..][..width].iter().map(operand).collect()
                };
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
                let list = values.flat_map(|(shape, own)| {
                    own.iter().map(move |bits| Operand::of(shape.format, *bits))
                });
                Operands { list: list.collect(), part, ..Operands::default() }
            }
            _ => {
                // Of two results, each has its own components.
                let width = (self.kernel.result().width as usize).max(1);
                let values = Shape::split(&self.params, case);
                let list = values.map(|(shape, own)| {
                    Operand::of(
                        shape.format,
                        own.get(part % width).or(own.first()).copied().unwrap_or_default(),
                    )
                });
                let part = if op.second.is_some() { part / width } else { 0 };
                Operands { list: list.collect(), part, ..Operands::default() }
            }
        }
    }

    /// What a part of a read or copied texel depends on: a field, and with a significand the
    /// exponent it shares.
    fn of_texel(&self, texel: u64, part: usize) -> Operands {
        let channels = self.kernel.format.channels();
        let (shift, encoding) = texel_field(channels, part);
        let field = |(shift, bits): (u32, u32)| texel >> shift & ((1 << bits) - 1);
        let bits = field((shift, encoding.bits()));
        let own = match encoding {
            Encoding::Float(layout) => Operand { layout: Some(layout), bits },
            _ => Operand::integer(encoding.key(bits)),
        };
        let coding = channels.get(part).map(|channel| channel.coding);
        let exponent = Operand::integer(field(SHARED_EXPONENT).cast_signed());
        let list =
            if coding == Some(Coding::Shared) { smallvec![own, exponent] } else { smallvec![own] };
        Operands { list, coding, ..Operands::default() }
    }

    /// What a channel of a texel of a block depends on: what it is decoded to. Blocks hold
    /// binary16, which a load widens.
    fn of_block(&self, block: &[u64], part: usize) -> Operands {
        let channels = self.kernel.format.channels();
        let (texel, channel) = (part / channels.len(), part % channels.len());
        let signed = self.kernel.format.block_signed() == Some(true);
        let bits = bc6h::decoded(block, signed, texel as u32, channel);
        let coding = channels.get(channel).map(|channel| channel.coding);
        let layout = coding.and_then(Coding::float);
        Operands { list: smallvec![Operand { layout, bits }], coding, ..Operands::default() }
    }

    /// What a part of a written texel depends on: its component, or every one where they share an
    /// exponent.
    fn of_channels(&self, case: &[u64], part: usize) -> Operands {
        let channels = self.kernel.format.channels();
        let given = self.params[0].format;
        let component = |index: usize| match given.channels() {
            [] if self.kernel.op.code == Code::DepthClamp => {
                Operand { layout: given.float(), bits: depth(case[index]) }
            }
            [] => Operand { layout: given.float(), bits: case[index] },
            channels => converted(channels, case[0], index),
        };
        if channels[0].coding == Coding::Shared {
            let list = (0..channels.len()).map(component).collect();
            return Operands { list, part, coding: Some(Coding::Shared), ..Operands::default() };
        }
        let coding = Some(channels[part].coding);
        let given = given
            .channels()
            .get(part)
            .map(|channel| channel.coding)
            .filter(|coding| coding.float().is_none());
        Operands { coding, given, ..self.one_of(part, component) }
    }

    /// What a part of a blended texel depends on: its component, and the channel that was there,
    /// which comes last.
    fn blended(&self, case: &[u64], part: usize) -> Operands {
        let mut operands = Operands { beside: SmallVec::new(), ..self.of_channels(case, part) };
        // Blending computes in binary32, where the subnormals of a texel are numbers like others.
        let single = self.params[0].format.float();
        let there = case.last().and_then(|texel| self.of_texel(*texel, part).into_iter().next());
        let widened = |code: Operand| Operand {
            layout: single,
            bits: (code.double() as f32).to_bits().into(),
        };
        let there = there.map(|code| match code.layout {
            None => code,
            layout if layout == single => code,
            Some(_) => widened(code),
        });
        operands.list.extend(there);
        operands
    }

    /// Whether every part of the result depends on every operand.
    pub(crate) fn is_whole(&self) -> bool {
        is_whole(self.kernel.op.function)
    }

    /// One operand for each part.
    fn one_of(&self, part: usize, operand: impl Fn(usize) -> Operand) -> Operands {
        let others = (0..self.encodings.len()).filter(|other| *other != part);
        Operands {
            list: smallvec![operand(part)],
            beside: others.map(&operand).collect(),
            ..Operands::default()
        }
    }

    /// What is accepted as one part of the result.
    pub fn accepted_part(&self, case: &[u64], part: usize, demand: &Demand) -> Set {
        accepted_on(self.encodings[part], &self.operands(case, part), demand)
    }

    /// Of two results, the part of the other one that depends on the same operands; of derivatives
    /// that may be one, the other.
    pub fn partner(&self, part: usize) -> Option<usize> {
        if let Code::Derivative(op) = self.kernel.op.code {
            return across(op, part);
        }
        let width = self.encodings.len() / 2;
        self.kernel.op.second.map(|_| if part < width { part + width } else { part - width })
    }

    /// What is accepted as a part and as its partner, together: any of these pairs.
    pub fn accepted_pairs(&self, case: &[u64], part: usize, demand: &Demand) -> Vec<[Set; 2]> {
        let both = [part, self.partner(part).unwrap_or(part)];
        pairs_on(both.map(|part| (self.encodings[part], self.operands(case, part))), demand)
    }

    /// What is accepted as the result.
    pub fn accepted(&self, case: &[u64], demand: &Demand) -> Accepted {
        self.accepted_where(case, demand, |_| true)
    }

    /// What is accepted as the result where only some parts are looked at.
    pub fn accepted_where(
        &self,
        case: &[u64],
        demand: &Demand,
        looked: impl Fn(usize) -> bool,
    ) -> Accepted {
        let mut alternatives: Vec<Vec<Set>> =
            vec![self.encodings.iter().map(|one| Set::everything(*one)).collect()];
        for part in (0..self.encodings.len()).filter(|part| looked(*part)) {
            match self.partner(part).filter(|other| looked(*other)) {
                // It came with its partner.
                Some(other) if other < part => {}
                Some(other) => {
                    let pairs = self.accepted_pairs(case, part, demand);
                    let with = |sets: &Vec<Set>, [own, partner]: &[Set; 2]| {
                        let mut sets = sets.clone();
                        (sets[part], sets[other]) = (own.clone(), partner.clone());
                        sets
                    };
                    alternatives = alternatives
                        .iter()
                        .flat_map(|sets| pairs.iter().map(move |pair| with(sets, pair)))
                        .collect();
                }
                None => {
                    let set = self.accepted_part(case, part, demand);
                    for sets in &mut alternatives {
                        sets[part] = set.clone();
                    }
                }
            }
        }
        Accepted::any(alternatives)
    }
}

/// A component of a texel that becomes one of another format: a float, or a code. What the texel
/// lacks is 0, alpha 1 (Vulkan, Image Operations, "Conversion to RGBA").
fn converted(channels: &[Channel], texel: u64, index: usize) -> Operand {
    let Some(channel) = channels.get(index) else {
        return Operand::integer(i64::from(index == ALPHA));
    };
    let bits = texel >> channel.shift & ((1 << channel.coding.bits()) - 1);
    match channel.coding.float() {
        Some(layout) => Operand { layout: Some(layout), bits },
        None => Operand::integer(Encoding::of_coding(channel.coding).key(bits)),
    }
}

/// A finite binary32 clamped to a depth: from 0 to 1.
fn depth(bits: u64) -> u64 {
    let (one, magnitude) = (BINARY32.one(), bits & BINARY32.magnitude_mask());
    match magnitude {
        0 => bits,
        _ if magnitude >= BINARY32.infinity() => bits,
        _ if BINARY32.is_negative(bits) => 0,
        _ => magnitude.min(one),
    }
}
