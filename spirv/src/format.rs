//! Number formats: how many bits a value has and what they mean.

use std::fmt;
use std::str::FromStr;

use rspirv::spirv::{Capability, FPEncoding, ImageFormat};

use crate::bc6h;
use crate::channel::{Channel, Coding, SHARED_EXPONENT};
use crate::error::ParseError;
use crate::layout::{BINARY32, FloatLayout};

mod table;

pub use table::Format;
use table::{Content, FormatRow, ROWS, Texel, TexelKind};

/// The formats that a predicate holds for, in the order of the table.
macro_rules! such {
    ($holds:expr) => {{
        const COUNT: usize = {
            let (mut count, mut index) = (0, 0);
            while index < Format::ALL.len() {
                count += $holds(Format::ALL[index]) as usize;
                index += 1;
            }
            count
        };
        const LIST: [Format; COUNT] = {
            let (mut list, mut count, mut index) = ([Format::ALL[0]; COUNT], 0, 0);
            while count < COUNT {
                if $holds(Format::ALL[index]) {
                    list[count] = Format::ALL[index];
                    count += 1;
                }
                index += 1;
            }
            list
        };
        &LIST
    }};
}

impl Format {
    /// Floats that shaders compute with: IEEE 754's.
    pub const FLOATS: &[Format] = such!(Format::is_computed);
    /// Floats that shaders have values of.
    pub(crate) const SCALAR_FLOATS: &[Format] = such!(Format::is_scalar_float);
    /// Formats of texels.
    pub const PACKED: &[Format] = such!(Format::is_packed);
    /// Formats whose texels are written one by one: all but those of blocks.
    pub(crate) const WRITTEN: &[Format] = such!(Format::is_written);
    /// Formats of texels with colours that can be blended: a shared exponent is for sampling alone.
    pub(crate) const COLORS: &[Format] = such!(Format::is_blended);
    /// Those whose channels are floats or fixed point, of which sums are of their own kind.
    pub(crate) const SUMS: &[Format] = such!(Format::is_summed);
    /// Those whose channels are floats.
    pub(crate) const FLOAT_COLORS: &[Format] = such!(Format::is_float_color);
    /// Formats of depths.
    pub(crate) const DEPTHS: &[Format] = such!(Format::is_depth);

    const fn row(self) -> &'static FormatRow {
        &ROWS[self as usize]
    }

    const fn texel(self) -> Option<&'static Texel> {
        match &self.row().content {
            Content::Texel(texel) => Some(texel),
            _ => None,
        }
    }

    const fn is_color(self) -> bool {
        matches!(self.texel(), Some(Texel { kind: TexelKind::Color, .. }))
    }

    const fn is_computed(self) -> bool {
        matches!(self.row().content, Content::Float { encoding: None, .. })
    }

    const fn is_scalar_float(self) -> bool {
        matches!(self.row().content, Content::Float { .. })
    }

    const fn is_written(self) -> bool {
        self.is_packed() && !self.is_block()
    }

    const fn is_blended(self) -> bool {
        self.is_color() && !matches!(self.channels()[0].coding, Coding::Shared)
    }

    const fn is_summed(self) -> bool {
        self.is_blended() && !matches!(self.channels()[0].coding, Coding::Srgb)
    }

    const fn is_float_color(self) -> bool {
        self.is_summed() && matches!(self.channels()[0].coding, Coding::Float(_))
    }

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Width of a value in bits (bool: 1); of formats of blocks that of a block. It does not tell
    /// the format.
    pub const fn bits(self) -> u32 {
        match &self.row().content {
            Content::Float { layout, .. } => layout.bits(),
            Content::Integer => 32,
            Content::Truth => 1,
            Content::Texel(Texel { kind: TexelKind::Bc6h { .. }, .. }) => bc6h::BITS,
            Content::Texel(Texel { channels: [.., last], .. }) => match last.coding {
                Coding::Shared => SHARED_EXPONENT.0 + SHARED_EXPONENT.1,
                coding => last.shift + coding.bits(),
            },
            Content::Texel(Texel { channels: [], .. }) => 0,
        }
    }

    /// All bits of a value set; a block is no value, but several.
    pub const fn mask(self) -> u64 {
        u64::MAX >> 64_u32.saturating_sub(self.bits())
    }

    /// Layout of a scalar float format; `None` for integers, bool and packed formats.
    pub const fn float(self) -> Option<FloatLayout> {
        match self.row().content {
            Content::Float { layout, .. } => Some(layout),
            _ => None,
        }
    }

    /// Whether a value is a binary32: of a shader, or alone in a texel.
    pub(crate) fn is_single(self) -> bool {
        let alone = match self.channels() {
            [channel] => channel.coding.float(),
            _ => None,
        };
        self.float().or(alone) == Some(BINARY32)
    }

    /// The float format of a type of SPIR-V (`OpTypeFloat`).
    pub fn of_float_type(width: u32, of: Option<FPEncoding>) -> Option<Format> {
        let is = |format: &Format| match format.row().content {
            Content::Float { layout, encoding, .. } => layout.bits() == width && encoding == of,
            _ => false,
        };
        Format::ALL.into_iter().find(is)
    }

    /// How its type is spelled beside the width (`OpTypeFloat`).
    pub const fn float_encoding(self) -> Option<FPEncoding> {
        match self.row().content {
            Content::Float { encoding, .. } => encoding,
            _ => None,
        }
    }

    /// What a module that has values of it must declare: a capability, and the extension that
    /// brings it, if any.
    pub const fn declared(self) -> Option<(Capability, &'static str)> {
        match self.row().content {
            Content::Float { declared, .. } => declared,
            _ => None,
        }
    }

    /// Channels of a packed format, in shader component order; empty for scalars.
    pub const fn channels(self) -> &'static [Channel] {
        match self.texel() {
            Some(texel) => texel.channels,
            None => &[],
        }
    }

    /// What Vulkan calls a packed format: the number of `VkFormat`, and the name without
    /// `VK_FORMAT_`.
    pub const fn vulkan(self) -> Option<(i32, &'static str)> {
        match self.texel() {
            Some(texel) => Some(texel.vulkan),
            None => None,
        }
    }

    /// SPIR-V's name of a packed format; `None` for formats that no storage image has.
    pub(crate) const fn image_format(self) -> Option<ImageFormat> {
        match self.texel() {
            Some(texel) => texel.image,
            None => None,
        }
    }

    /// Whether it is a format of texels.
    pub const fn is_packed(self) -> bool {
        self.texel().is_some()
    }

    /// Whether its texels come in compressed blocks.
    pub const fn is_block(self) -> bool {
        self.block_signed().is_some()
    }

    /// Whether the texels of its blocks have signs; `None` where each stands for itself.
    pub const fn block_signed(self) -> Option<bool> {
        match self.texel() {
            Some(Texel { kind: TexelKind::Bc6h { signed }, .. }) => Some(*signed),
            _ => None,
        }
    }

    /// Texels of a block in each direction; 1 where each stands for itself.
    pub const fn side(self) -> u32 {
        if self.is_block() { bc6h::SIDE } else { 1 }
    }

    /// Whether its texels are depths, numbers from 0 to 1.
    pub const fn is_depth(self) -> bool {
        matches!(self.texel(), Some(Texel { kind: TexelKind::Depth, .. }))
    }

    /// Bits that a texel may have where its value is of no interest: without
    /// `VK_EXT_depth_range_unrestricted` depths lie between 0 and 1
    /// (VUID-vkCmdCopyBufferToImage-None-00214).
    pub const fn texel_mask(self) -> u64 {
        match self.channels() {
            [Channel { coding: Coding::Float(layout), .. }] if self.is_depth() => layout.one() - 1,
            _ => self.mask(),
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
        bits.filter(|bits| bits & !self.mask() == 0).ok_or_else(|| ParseError::Bits {
            text: text.to_owned(),
            format: self.name(),
            digits: self.digits(),
        })
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
mod tests;
