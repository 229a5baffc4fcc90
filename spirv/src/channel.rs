//! Channels of packed formats: where they lie in a texel, and what their bits mean.

use crate::layout::FloatLayout;

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

/// What the bits of a channel mean (Vulkan, "Fixed-Point Data Conversions", "Floating-Point Format
/// Conversions", "RGB to Shared Exponent Conversion").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coding {
    /// A binary float.
    Float(FloatLayout),
    /// Fixed point: an integer of N bits divided by the greatest one, from 0 to 1; where it is
    /// signed in two's complement, from -1 to 1, the least integer meaning the same as the
    /// next.
    Norm {
        /// Number of bits, at most 16.
        bits: u32,
        /// Whether there are negative numbers.
        signed: bool,
    },
    /// 8 bits that the transfer function of sRGB makes from a number between 0 and 1.
    Srgb,
    /// 9 bits of significand without a hidden one, whose exponent all channels share:
    /// `significand * 2^(exponent - 24)`.
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

/// Letters of channels, in shader component order.
const NAMES: [char; 4] = ['r', 'g', 'b', 'a'];

/// Channels of these codings side by side, the first in the lowest bits.
pub(crate) const fn side_by_side<const N: usize>(codings: [Coding; N]) -> [Channel; N] {
    let mut channels = overlaid(codings);
    let mut index = 1;
    while index < N {
        channels[index].shift = channels[index - 1].shift + codings[index - 1].bits();
        index += 1;
    }
    channels
}

/// Channels of these codings of which none has a place of its own: what the texels of a block are
/// decoded to.
pub(crate) const fn overlaid<const N: usize>(codings: [Coding; N]) -> [Channel; N] {
    let mut channels = [Channel { name: NAMES[0], shift: 0, coding: codings[0] }; N];
    let mut index = 1;
    while index < N {
        channels[index] = Channel { name: NAMES[index], shift: 0, coding: codings[index] };
        index += 1;
    }
    channels
}

/// Fixed point without a sign.
pub(crate) const fn unorm(bits: u32) -> Coding {
    Coding::Norm { bits, signed: false }
}

/// Fixed point with a sign.
pub(crate) const fn snorm(bits: u32) -> Coding {
    Coding::Norm { bits, signed: true }
}
