//! Channels of packed formats: where they lie in a texel, and what their bits mean.

use crate::format::{F10, F11, F16, F32, FloatLayout, Format};

/// One channel of a packed format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel {
    /// Channel letter: `r`, `g`, `b` or `a`.
    pub name: char,
    /// Position of its least significant bit in the texel.
    pub shift: u32,
    /// What its bits mean.
    pub coding: Coding,
}

/// What the bits of a channel mean (Vulkan, "Fixed-Point Data Conversions", "Floating-Point Format Conversions", "RGB to
/// Shared Exponent Conversion").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coding {
    /// A binary float.
    Float(FloatLayout),
    /// Fixed point: an integer of so many bits divided by the greatest one, from 0 to 1; where it is signed in two's
    /// complement, from -1 to 1, the least integer meaning the same as the next.
    Norm {
        /// Number of bits, at most 16.
        bits: u32,
        /// Whether there are negative numbers.
        signed: bool,
    },
    /// 8 bits that the transfer function of sRGB makes from a number between 0 and 1.
    Srgb,
    /// 9 bits of significand without a hidden one, whose exponent all channels share: `significand * 2^(exponent - 24)`.
    Shared,
}

/// The exponent that channels share: bits 27 to 31, biased by 15.
pub const SHARED_EXPONENT: (u32, u32) = (27, 5);

impl Coding {
    /// Number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Coding::Float(layout) => layout.bits(),
            Coding::Norm { bits, .. } => bits,
            Coding::Srgb => 8,
            Coding::Shared => 9,
        }
    }

    /// The layout of a float that is a channel of its own.
    pub const fn float(self) -> Option<FloatLayout> {
        match self {
            Coding::Float(layout) => Some(layout),
            _ => None,
        }
    }

    /// Number of codes, from 0 on, that mean finite numbers without a sign, each its own.
    pub const fn positive(self) -> u64 {
        match self {
            Coding::Float(layout) => layout.infinity(),
            Coding::Norm { bits, signed: true } => 1 << (bits - 1),
            other => 1 << other.bits(),
        }
    }
}

const fn channel(name: char, shift: u32, coding: Coding) -> Channel {
    Channel { name, shift, coding }
}

/// Four channels of one coding, side by side.
const fn four(coding: Coding) -> [Channel; 4] {
    let bits = coding.bits();
    [
        channel('r', 0, coding),
        channel('g', bits, coding),
        channel('b', 2 * bits, coding),
        channel('a', 3 * bits, coding),
    ]
}

const fn unorm(bits: u32) -> Coding {
    Coding::Norm { bits, signed: false }
}

const fn snorm(bits: u32) -> Coding {
    Coding::Norm { bits, signed: true }
}

const B10G11R11: [Channel; 3] =
    [channel('r', 0, Coding::Float(F11)), channel('g', 11, Coding::Float(F11)), channel('b', 22, Coding::Float(F10))];
const R16F: [Channel; 1] = [channel('r', 0, Coding::Float(F16))];
const RGBA16F: [Channel; 4] = four(Coding::Float(F16));
const R32F: [Channel; 1] = [channel('r', 0, Coding::Float(F32))];
const R8UNORM: [Channel; 1] = [channel('r', 0, unorm(8))];
const R8SNORM: [Channel; 1] = [channel('r', 0, snorm(8))];
const RGBA8UNORM: [Channel; 4] = four(unorm(8));
const RGBA8SNORM: [Channel; 4] = four(snorm(8));
const RGBA8SRGB: [Channel; 4] = [
    channel('r', 0, Coding::Srgb),
    channel('g', 8, Coding::Srgb),
    channel('b', 16, Coding::Srgb),
    channel('a', 24, unorm(8)),
];
const R16UNORM: [Channel; 1] = [channel('r', 0, unorm(16))];
const R16SNORM: [Channel; 1] = [channel('r', 0, snorm(16))];
const A2B10G10R10: [Channel; 4] =
    [channel('r', 0, unorm(10)), channel('g', 10, unorm(10)), channel('b', 20, unorm(10)), channel('a', 30, unorm(2))];
const E5B9G9R9: [Channel; 3] =
    [channel('r', 0, Coding::Shared), channel('g', 9, Coding::Shared), channel('b', 18, Coding::Shared)];

const D16UNORM: [Channel; 1] = R16UNORM;
const D32F: [Channel; 1] = R32F;
/// What texels of a block are decoded to; none has a place of its own in it.
const BC6H: [Channel; 3] =
    [channel('r', 0, Coding::Float(F16)), channel('g', 0, Coding::Float(F16)), channel('b', 0, Coding::Float(F16))];

/// Channels of a packed format, in shader component order; empty for scalars.
pub(crate) const fn of(format: Format) -> &'static [Channel] {
    match format {
        Format::B10g11r11 => &B10G11R11,
        Format::R16f => &R16F,
        Format::Rgba16f => &RGBA16F,
        Format::R32f => &R32F,
        Format::R8unorm => &R8UNORM,
        Format::R8snorm => &R8SNORM,
        Format::Rgba8unorm => &RGBA8UNORM,
        Format::Rgba8snorm => &RGBA8SNORM,
        Format::Rgba8srgb => &RGBA8SRGB,
        Format::R16unorm => &R16UNORM,
        Format::R16snorm => &R16SNORM,
        Format::A2b10g10r10 => &A2B10G10R10,
        Format::E5b9g9r9 => &E5B9G9R9,
        Format::D16unorm => &D16UNORM,
        Format::D32f => &D32F,
        Format::Bc6hUfloat | Format::Bc6hSfloat => &BC6H,
        Format::F16 | Format::F32 | Format::F64 | Format::I32 | Format::U32 | Format::Bool => &[],
    }
}
