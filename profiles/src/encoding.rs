//! Encodings in order: every bit pattern of a component as a key whose order is the numeric order.

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Channel, FloatLayout, Format, Kernel};

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

    /// Encodings of the parts of a kernel's result that are judged one by one: the components, or the floats that lie
    /// side by side in one word (the channels of a texel, the halves of a packed pair).
    pub fn of_result(kernel: &Kernel) -> Vec<Encoding> {
        match fields(kernel) {
            Some(fields) => fields.into_iter().map(|field| Encoding::Float(field.layout)).collect(),
            None => vec![Encoding::of(kernel.result().format); kernel.result().width as usize],
        }
    }

    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Encoding::Float(layout) => layout.bits(),
            Encoding::Signed | Encoding::Unsigned => 32,
            Encoding::Truth => 1,
        }
    }

    /// Position in numeric order. For floats: -NaN, -inf .. -0, +0 .. +inf, +NaN; -0 and +0 are neighbours.
    pub fn key(self, bits: u64) -> i64 {
        match self {
            Encoding::Float(layout) if layout.is_negative(bits) => -((bits & layout.magnitude_mask()) as i64) - 1,
            Encoding::Float(_) | Encoding::Unsigned | Encoding::Truth => bits as i64,
            Encoding::Signed => i64::from(bits as u32 as i32),
        }
    }

    /// The bits at a position.
    pub fn at(self, key: i64) -> u64 {
        match self {
            Encoding::Float(layout) if key < 0 => layout.sign_bit() | (-(key + 1)) as u64,
            Encoding::Signed => u64::from(key as i32 as u32),
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
        }
    }

    /// Hex of the encoding's width.
    pub fn hex(self, bits: u64) -> String {
        format!("{bits:0width$x}", width = self.bits().div_ceil(4) as usize)
    }
}

/// Floats that lie side by side in the one word of a kernel's result: the channels of a packed texel, the halves of a
/// packed pair.
fn fields(kernel: &Kernel) -> Option<Vec<Channel>> {
    let half = Format::F16.float()?;
    match (kernel.result().format.channels(), kernel.op.function) {
        // A bit cast to an integer is judged as the float whose bits it shows.
        ([], Function::Move) if kernel.result().width == 1 => {
            Some(vec![Channel { name: 'x', shift: 0, layout: kernel.format.float()? }])
        }
        ([], Function::PackHalf) => {
            Some(vec![Channel { name: 'x', shift: 0, layout: half }, Channel { name: 'y', shift: 16, layout: half }])
        }
        ([], _) => None,
        (channels, _) => Some(channels.to_vec()),
    }
}

/// Splits a kernel's answer into the parts of [`Encoding::of_result`].
pub fn components(kernel: &Kernel, answer: &[u64]) -> Vec<u64> {
    match fields(kernel) {
        Some(fields) => fields
            .iter()
            .map(|field| answer[0] >> field.shift & (field.layout.sign_bit() | field.layout.magnitude_mask()))
            .collect(),
        None => answer.to_vec(),
    }
}
