//! Encodings in order: every bit pattern of a component as a key whose order is the numeric order.

use fpprobe_spirv::channel::SHARED_EXPONENT;
use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Channel, Coding, FloatLayout, Format, Kernel};

/// How the bits of one result component are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// A binary float.
    Float(FloatLayout),
    /// A two's complement integer of 32 bits.
    Signed,
    /// An unsigned integer of 32 bits.
    Unsigned,
    /// A truth value.
    Truth,
    /// A field of a word: an integer of N bits, in two's complement where it is signed.
    Fixed {
        /// Number of bits, at most 32.
        bits: u32,
        /// Whether its highest bit is a sign.
        signed: bool,
    },
}

impl Encoding {
    /// Encoding of a scalar format.
    pub fn of(format: Format) -> Encoding {
        match (format.float(), format) {
            (Some(layout), _) => Encoding::Float(layout),
            (None, Format::I32) => Encoding::Signed,
            (None, Format::Bool) => Encoding::Truth,
            (None, _) => Encoding::Unsigned,
        }
    }

    /// Encoding of a texel's channel.
    pub fn of_coding(coding: Coding) -> Encoding {
        match coding {
            Coding::Float(layout) => Encoding::Float(layout),
            Coding::Norm { bits, signed } => Encoding::Fixed { bits, signed },
            other => Encoding::Fixed { bits: other.bits(), signed: false },
        }
    }

    /// Encodings of the parts of a kernel's result that are judged one by one: the components, or
    /// the numbers that lie side by side in one word (the channels of a texel, the halves of a
    /// packed pair).
    pub fn of_result(kernel: &Kernel) -> Vec<Encoding> {
        match fields(kernel) {
            Some(fields) => fields.into_iter().map(|(_, encoding)| encoding).collect(),
            None => {
                kernel.output_formats().map(|format| Encoding::of(shown(kernel, format))).collect()
            }
        }
    }

    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Encoding::Float(layout) => layout.bits(),
            Encoding::Signed | Encoding::Unsigned => 32,
            Encoding::Truth => 1,
            Encoding::Fixed { bits, .. } => bits,
        }
    }

    /// Position in numeric order. For floats: -NaN, -inf .. -0, +0 .. +inf, +NaN; -0 and +0 are
    /// neighbours.
    pub fn key(self, bits: u64) -> i64 {
        match self {
            Encoding::Float(layout) if layout.is_negative(bits) => {
                -((bits & layout.magnitude_mask()) as i64) - 1
            }
            Encoding::Float(_) | Encoding::Unsigned | Encoding::Truth => bits as i64,
            Encoding::Signed => i64::from(bits as u32 as i32),
            Encoding::Fixed { bits: width, signed } => {
                let unused = 64 - width;
                if signed { (bits << unused).cast_signed() >> unused } else { bits as i64 }
            }
        }
    }

    /// The bits at a position.
    pub fn at(self, key: i64) -> u64 {
        match self {
            Encoding::Float(layout) if key < 0 => layout.sign_bit() | (-(key + 1)) as u64,
            Encoding::Signed => u64::from(key as i32 as u32),
            Encoding::Fixed { bits, .. } => key.cast_unsigned() & ((1 << bits) - 1),
            _ => key as u64,
        }
    }

    /// First and last position.
    pub fn limits(self) -> (i64, i64) {
        match self {
            Encoding::Float(layout) => {
                let top = layout.magnitude_mask() as i64;
                (if layout.signed { -top - 1 } else { 0 }, top)
            }
            Encoding::Signed => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Encoding::Unsigned => (0, i64::from(u32::MAX)),
            Encoding::Truth => (0, 1),
            Encoding::Fixed { bits, signed: true } => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Encoding::Fixed { bits, signed: false } => (0, (1 << bits) - 1),
        }
    }

    /// Hex of the encoding's width.
    pub fn hex(self, bits: u64) -> String {
        format!("{bits:0width$x}", width = self.bits().div_ceil(4) as usize)
    }
}

/// A component's format: that of a bit cast to an integer is the float whose bits it shows.
fn shown(kernel: &Kernel, format: Format) -> Format {
    let cast = kernel.op.function == Function::Move
        && format.float().is_none()
        && kernel.format.bits() <= format.bits();
    if cast { kernel.format } else { format }
}

/// Numbers that lie side by side in the one word of a kernel's result, with the positions of their
/// lowest bits: the channels of a packed texel, the halves of a packed pair, fixed-point numbers.
fn fields(kernel: &Kernel) -> Option<Vec<(u32, Encoding)>> {
    let half = Encoding::Float(Format::F16.float()?);
    match (kernel.result().format.channels(), kernel.op.function) {
        ([], function) if function.packs_halves() => Some(vec![(0, half), (16, half)]),
        ([], Function::PackNorm { bits, signed }) => Some(
            (0..32 / bits).map(|index| (index * bits, Encoding::Fixed { bits, signed })).collect(),
        ),
        ([], _) => None,
        (channels, _) => Some(texel_fields(channels)),
    }
}

/// The fields of a texel, with the positions of their lowest bits: the channels, and behind them
/// the exponent that they share.
fn texel_fields(channels: &[Channel]) -> Vec<(u32, Encoding)> {
    let shares = channels.iter().any(|channel| channel.coding == Coding::Shared);
    (0..channels.len() + usize::from(shares)).map(|part| texel_field(channels, part)).collect()
}

/// One of the fields of a texel, with the position of its lowest bit; behind the channels the
/// exponent that some formats share.
pub(crate) fn texel_field(channels: &[Channel], part: usize) -> (u32, Encoding) {
    let (place, bits) = SHARED_EXPONENT;
    let exponent = (place, Encoding::Fixed { bits, signed: false });
    channels
        .get(part)
        .map_or(exponent, |channel| (channel.shift, Encoding::of_coding(channel.coding)))
}

/// Reads single parts out of a kernel's answers, laid out one case after the other.
#[derive(Clone, Debug)]
pub struct PartReader {
    fields: Option<Vec<(u32, Encoding)>>,
    width: usize,
}

impl PartReader {
    /// For a kernel's answers.
    pub fn new(kernel: &Kernel) -> PartReader {
        PartReader { fields: fields(kernel), width: kernel.outputs() }
    }

    /// One of the parts of [`Encoding::of_result`] of the answer to a case.
    pub fn part(&self, answers: &[u64], case: usize, part: usize) -> u64 {
        match &self.fields {
            Some(fields) => {
                let (shift, encoding) = fields[part];
                answers[case * self.width] >> shift & (u64::MAX >> (64 - encoding.bits()))
            }
            None => answers[case * self.width + part],
        }
    }
}

/// Splits a kernel's answer into the parts of [`Encoding::of_result`].
pub fn components(kernel: &Kernel, answer: &[u64]) -> Vec<u64> {
    match fields(kernel) {
        Some(fields) => fields
            .iter()
            .map(|(shift, encoding)| answer[0] >> shift & (u64::MAX >> (64 - encoding.bits())))
            .collect(),
        None => answer.to_vec(),
    }
}

/// Puts the parts of [`Encoding::of_result`] together again to an answer.
pub fn assemble(kernel: &Kernel, parts: &[u64]) -> Vec<u64> {
    match fields(kernel) {
        Some(fields) => {
            vec![fields.iter().zip(parts).fold(0, |word, ((shift, _), bits)| word | bits << shift)]
        }
        None => parts.to_vec(),
    }
}
