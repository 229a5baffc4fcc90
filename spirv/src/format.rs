//! Number formats: how many bits a value has and what they mean.

use std::fmt;
use std::str::FromStr;

use crate::bc6h;
use crate::channel::{self, Channel};
use crate::error::ParseError;

/// A format of one value (or of one texel). Values travel as raw bits in a `u64`, right-aligned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// 32-bit two's complement integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// A truth value: 0 or 1.
    Bool,
    /// `VK_FORMAT_B10G11R11_UFLOAT_PACK32`: R in bits 0..11, G in 11..22, B in 22..32, unsigned floats.
    B10g11r11,
    /// `VK_FORMAT_R16_SFLOAT`: binary16.
    R16f,
    /// `VK_FORMAT_R16G16B16A16_SFLOAT`: four times binary16, R in bits 0..16.
    Rgba16f,
    /// `VK_FORMAT_R32_SFLOAT`: binary32.
    R32f,
    /// `VK_FORMAT_R8_UNORM`: code / 255.
    R8unorm,
    /// `VK_FORMAT_R8_SNORM`: code / 127, -128 like -127.
    R8snorm,
    /// `VK_FORMAT_R8G8B8A8_UNORM`: R in bits 0..8.
    Rgba8unorm,
    /// `VK_FORMAT_R8G8B8A8_SNORM`: R in bits 0..8.
    Rgba8snorm,
    /// `VK_FORMAT_R8G8B8A8_SRGB`: R in bits 0..8; A is linear.
    Rgba8srgb,
    /// `VK_FORMAT_R16_UNORM`: code / 65535.
    R16unorm,
    /// `VK_FORMAT_R16_SNORM`: code / 32767, -32768 like -32767.
    R16snorm,
    /// `VK_FORMAT_A2B10G10R10_UNORM_PACK32`: R in bits 0..10, A in 30..32.
    A2b10g10r10,
    /// `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`: R in bits 0..9, G in 9..18, B in 18..27, their common exponent in 27..32.
    E5b9g9r9,
    /// `VK_FORMAT_D16_UNORM`: a depth, code / 65535.
    D16unorm,
    /// `VK_FORMAT_D32_SFLOAT`: a depth, binary32.
    D32f,
    /// `VK_FORMAT_BC6H_UFLOAT_BLOCK`: 128 bits for a block of 4x4 texels, each three times binary16 without a sign.
    Bc6hUfloat,
    /// `VK_FORMAT_BC6H_SFLOAT_BLOCK`: the same with signs.
    Bc6hSfloat,
}

/// Bit layout of a binary floating-point encoding: sign (if any) above exponent above fraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatLayout {
    /// Whether there is a sign bit (the most significant one).
    pub signed: bool,
    /// Number of exponent bits; the bias is `2^(exponent-1) - 1`.
    pub exponent: u32,
    /// Number of fraction bits, without the hidden one.
    pub fraction: u32,
}

/// The unsigned 11-bit float of R and G in B10G11R11 (Khronos Data Format Specification, section 10.2).
pub const F11: FloatLayout = FloatLayout { signed: false, exponent: 5, fraction: 6 };
/// The unsigned 10-bit float of B in B10G11R11 (Khronos Data Format Specification, section 10.3).
pub const F10: FloatLayout = FloatLayout { signed: false, exponent: 5, fraction: 5 };

impl FloatLayout {
    /// Width of an encoding in bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.signed as u32 + self.exponent + self.fraction
    }
    /// Mask of all bits but the sign.
    #[inline]
    pub const fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent + self.fraction)) - 1
    }
    /// The sign bit, or 0 for unsigned formats.
    #[inline]
    pub const fn sign_bit(self) -> u64 {
        if self.signed { 1 << (self.exponent + self.fraction) } else { 0 }
    }
    /// Encoding of +infinity; larger magnitudes are NaN.
    #[inline]
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }
    /// Encoding of the largest finite value.
    #[inline]
    pub const fn max_finite(self) -> u64 {
        self.infinity() - 1
    }
    /// Encoding of the least value that an integer format has, too: 0 for those without a sign.
    #[inline]
    pub const fn least_of(self, integer: Format) -> u64 {
        match integer {
            // -2^31 is a power of two, or beyond the range.
            Format::I32 => self.sign_bit() | self.power(31),
            _ => 0,
        }
    }
    /// Encoding of the greatest value that an integer format has, too.
    #[inline]
    pub const fn most_of(self, integer: Format) -> u64 {
        let bits = if matches!(integer, Format::I32) { 31 } else { 32 };
        let power = self.power(bits);
        if power == self.max_finite() {
            power
        } else {
            // The binade below has 2^fraction values; of those, the last that is an integer.
            power - (1 << self.fraction.saturating_sub(bits - 1))
        }
    }
    /// Encoding of 2^exponent, or of the largest finite value where that is beyond the range.
    const fn power(self, exponent: u32) -> u64 {
        if exponent as i32 > self.bias() {
            self.max_finite()
        } else {
            ((exponent as i32 + self.bias()) as u64) << self.fraction
        }
    }
    /// Encoding of the smallest positive normal value.
    #[inline]
    pub const fn min_normal(self) -> u64 {
        1 << self.fraction
    }
    /// The quiet bit of a NaN.
    #[inline]
    pub const fn quiet_bit(self) -> u64 {
        1 << (self.fraction - 1)
    }
    /// Exponent bias.
    #[inline]
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }
    /// Whether the encoding is a normal number.
    #[inline]
    pub const fn is_normal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude >= self.min_normal() && magnitude < self.infinity()
    }
    /// Whether the encoding is a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & self.magnitude_mask() > self.infinity()
    }
    /// Whether the encoding is an infinity.
    #[inline]
    pub const fn is_infinite(self, bits: u64) -> bool {
        bits & self.magnitude_mask() == self.infinity()
    }
    /// Whether the encoding is a zero of either sign.
    #[inline]
    pub const fn is_zero(self, bits: u64) -> bool {
        bits & self.magnitude_mask() == 0
    }
    /// Whether the encoding is subnormal (non-zero, exponent field zero).
    #[inline]
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude != 0 && magnitude < self.min_normal()
    }
    /// Whether the sign bit is set.
    #[inline]
    pub const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_bit() != 0
    }
}

pub(crate) const F16: FloatLayout = FloatLayout { signed: true, exponent: 5, fraction: 10 };
pub(crate) const F32: FloatLayout = FloatLayout { signed: true, exponent: 8, fraction: 23 };
const F64: FloatLayout = FloatLayout { signed: true, exponent: 11, fraction: 52 };

impl Format {
    /// Every format, in the order of the catalogue.
    pub const ALL: [Format; 23] = [
        Format::F16,
        Format::F32,
        Format::F64,
        Format::I32,
        Format::U32,
        Format::Bool,
        Format::B10g11r11,
        Format::R16f,
        Format::Rgba16f,
        Format::R32f,
        Format::R8unorm,
        Format::R8snorm,
        Format::Rgba8unorm,
        Format::Rgba8snorm,
        Format::Rgba8srgb,
        Format::R16unorm,
        Format::R16snorm,
        Format::A2b10g10r10,
        Format::E5b9g9r9,
        Format::D16unorm,
        Format::D32f,
        Format::Bc6hUfloat,
        Format::Bc6hSfloat,
    ];
    /// Formats of texels: all but the scalars, which come first.
    pub const PACKED: [Format; 17] = {
        let [_, _, _, _, _, _, packed @ ..] = Format::ALL;
        packed
    };
    /// Formats whose texels are written one by one: all but those of blocks, which come last.
    pub const SINGLE: &[Format] = {
        let (single, _) = Format::PACKED.split_at(15);
        single
    };
    /// Formats of texels with colours that an attachment can have: a shared exponent is for sampling alone, and depths come last.
    pub const COLORS: &[Format] = {
        let (colors, _) = Format::PACKED.split_at(12);
        colors
    };

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            Format::F16 => "f16",
            Format::F32 => "f32",
            Format::F64 => "f64",
            Format::I32 => "i32",
            Format::U32 => "u32",
            Format::Bool => "bool",
            Format::B10g11r11 => "b10g11r11",
            Format::R16f => "r16f",
            Format::Rgba16f => "rgba16f",
            Format::R32f => "r32f",
            Format::R8unorm => "r8unorm",
            Format::R8snorm => "r8snorm",
            Format::Rgba8unorm => "rgba8unorm",
            Format::Rgba8snorm => "rgba8snorm",
            Format::Rgba8srgb => "rgba8srgb",
            Format::R16unorm => "r16unorm",
            Format::R16snorm => "r16snorm",
            Format::A2b10g10r10 => "a2b10g10r10",
            Format::E5b9g9r9 => "e5b9g9r9",
            Format::D16unorm => "d16unorm",
            Format::D32f => "d32f",
            Format::Bc6hUfloat => "bc6h_ufloat",
            Format::Bc6hSfloat => "bc6h_sfloat",
        }
    }

    /// Width of a value in bits (bool: 1); of formats of blocks that of a block.
    pub const fn bits(self) -> u32 {
        match self {
            Format::R8unorm | Format::R8snorm => 8,
            Format::F16 | Format::R16f | Format::R16unorm | Format::R16snorm | Format::D16unorm => 16,
            Format::F64 | Format::Rgba16f => 64,
            Format::Bc6hUfloat | Format::Bc6hSfloat => 128,
            Format::Bool => 1,
            _ => 32,
        }
    }

    /// All bits of a value set; a block is no value, but several.
    pub const fn mask(self) -> u64 {
        u64::MAX >> 64_u32.saturating_sub(self.bits())
    }

    /// Layout of a scalar float format; `None` for integers, bool and packed formats.
    pub const fn float(self) -> Option<FloatLayout> {
        match self {
            Format::F16 => Some(F16),
            Format::F32 => Some(F32),
            Format::F64 => Some(F64),
            _ => None,
        }
    }

    /// Channels of a packed format, in shader component order; empty for scalars.
    pub const fn channels(self) -> &'static [Channel] {
        channel::of(self)
    }

    /// Vulkan's number and name of the image format (`VkFormat`, without its prefix); `None` for scalars.
    pub const fn vulkan(self) -> Option<(i32, &'static str)> {
        match self {
            Format::B10g11r11 => Some((122, "B10G11R11_UFLOAT_PACK32")),
            Format::R16f => Some((76, "R16_SFLOAT")),
            Format::Rgba16f => Some((97, "R16G16B16A16_SFLOAT")),
            Format::R32f => Some((100, "R32_SFLOAT")),
            Format::R8unorm => Some((9, "R8_UNORM")),
            Format::R8snorm => Some((10, "R8_SNORM")),
            Format::Rgba8unorm => Some((37, "R8G8B8A8_UNORM")),
            Format::Rgba8snorm => Some((38, "R8G8B8A8_SNORM")),
            Format::Rgba8srgb => Some((43, "R8G8B8A8_SRGB")),
            Format::R16unorm => Some((70, "R16_UNORM")),
            Format::R16snorm => Some((71, "R16_SNORM")),
            Format::A2b10g10r10 => Some((64, "A2B10G10R10_UNORM_PACK32")),
            Format::E5b9g9r9 => Some((123, "E5B9G9R9_UFLOAT_PACK32")),
            Format::D16unorm => Some((124, "D16_UNORM")),
            Format::D32f => Some((126, "D32_SFLOAT")),
            Format::Bc6hUfloat => Some((143, "BC6H_UFLOAT_BLOCK")),
            Format::Bc6hSfloat => Some((144, "BC6H_SFLOAT_BLOCK")),
            Format::F16 | Format::F32 | Format::F64 | Format::I32 | Format::U32 | Format::Bool => None,
        }
    }

    /// Whether it is a format of texels.
    pub const fn is_packed(self) -> bool {
        !self.channels().is_empty()
    }

    /// Whether its texels come in compressed blocks.
    pub const fn is_block(self) -> bool {
        matches!(self, Format::Bc6hUfloat | Format::Bc6hSfloat)
    }

    /// Texels of a block in each direction; 1 where each stands for itself.
    pub const fn side(self) -> u32 {
        if self.is_block() { bc6h::SIDE } else { 1 }
    }

    /// Whether its texels are depths, numbers from 0 to 1.
    pub const fn is_depth(self) -> bool {
        matches!(self, Format::D16unorm | Format::D32f)
    }

    /// Bits that a texel may have where its value is of no interest: without `VK_EXT_depth_range_unrestricted` depths lie
    /// between 0 and 1 (VUID-vkCmdCopyBufferToImage-None-00214).
    pub const fn texel_mask(self) -> u64 {
        match self {
            Format::D32f => 0x3f7f_ffff,
            other => other.mask(),
        }
    }

    /// Number of hex digits of a printed value.
    pub const fn digits(self) -> usize {
        self.bits().div_ceil(4) as usize
    }

    /// Prints raw bits as lower-case hex of the format's width, without prefix (bool: `0` or `1`).
    pub fn hex(self, bits: u64) -> String {
        format!("{bits:0width$x}", width = self.digits())
    }

    /// Parses hex with or without `0x`; refuses values wider than the format.
    pub fn parse_bits(self, text: &str) -> Result<u64, ParseError> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = if valid { u64::from_str_radix(digits, 16).ok() } else { None };
        bits.filter(|bits| bits & !self.mask() == 0)
            .ok_or_else(|| ParseError::Bits { text: text.to_owned(), format: self })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| ParseError::unknown("format", text, Format::ALL.map(Format::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_integers_and_floats_have_in_common() {
        let ends = |format: Format, integer| {
            let layout = format.float().unwrap();
            (layout.least_of(integer), layout.most_of(integer))
        };
        assert_eq!(ends(Format::F16, Format::I32), (0xfbff, 0x7bff));
        assert_eq!(ends(Format::F16, Format::U32), (0, 0x7bff));
        assert_eq!(ends(Format::F32, Format::I32), (0xcf00_0000, 0x4eff_ffff));
        assert_eq!(ends(Format::F32, Format::U32), (0, 0x4f7f_ffff));
        let [least, most] = [f64::from(i32::MIN), f64::from(i32::MAX)].map(f64::to_bits);
        assert_eq!(ends(Format::F64, Format::I32), (least, most));
        assert_eq!(ends(Format::F64, Format::U32), (0, f64::from(u32::MAX).to_bits()));
    }
}
