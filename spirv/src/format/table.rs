//! The table of formats: a row holds everything that is particular to a format.

use rspirv::spirv::{Capability, FPEncoding, ImageFormat};

use crate::channel::Coding::{Float, Shared, Srgb};
use crate::channel::{Channel, overlaid, side_by_side, snorm, unorm};
use crate::layout::{
    BFLOAT16, BINARY16, BINARY32, BINARY64, F10, F11, FLOAT8_E4M3, FLOAT8_E5M2, FloatLayout,
};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct FormatRow {
    /// Name in kernel ids.
    pub(super) name: &'static str,
    /// What a value is.
    pub(super) content: Content,
}

/// What a value of a format is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// A float of shaders; `encoding`: which, if not IEEE 754's (`OpTypeFloat`); `declared`: what a
    /// module declares for it, a capability and the extension that brings it.
    Float {
        layout: FloatLayout,
        encoding: Option<FPEncoding>,
        declared: Option<(Capability, &'static str)>,
    },
    /// A 32-bit integer of shaders.
    Integer,
    /// A truth value of shaders.
    Truth,
    /// A texel, or a block of them.
    Texel(Texel),
}

/// What a texel, or a block of them, is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texel {
    /// Its channels, in shader component order; their codings are what the oracle goes by.
    pub(super) channels: &'static [Channel],
    /// What Vulkan calls its format: the number of `VkFormat`, and the name without `VK_FORMAT_`.
    pub(super) vulkan: (i32, &'static str),
    /// What SPIR-V calls it, where storage images have it.
    pub(super) image: Option<ImageFormat>,
    /// By which paths it comes and goes.
    pub(super) kind: TexelKind,
}

/// By which paths texels come and go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TexelKind {
    /// As colours.
    Color,
    /// As depths.
    Depth,
    /// As colours that are read only, in blocks that BC6H compresses, with or without signs.
    Bc6h { signed: bool },
}

const fn float(
    name: &'static str,
    layout: FloatLayout,
    capability: Option<Capability>,
) -> FormatRow {
    let declared = match capability {
        Some(capability) => Some((capability, "")),
        None => None,
    };
    FormatRow { name, content: Content::Float { layout, encoding: None, declared } }
}

/// A float whose encoding is not IEEE 754's.
const fn encoded(
    name: &'static str,
    layout: FloatLayout,
    encoding: FPEncoding,
    declared: (Capability, &'static str),
) -> FormatRow {
    let (encoding, declared) = (Some(encoding), Some(declared));
    FormatRow { name, content: Content::Float { layout, encoding, declared } }
}

const fn texel(
    name: &'static str,
    channels: &'static [Channel],
    vulkan: (i32, &'static str),
    image: Option<ImageFormat>,
    kind: TexelKind,
) -> FormatRow {
    FormatRow { name, content: Content::Texel(Texel { channels, vulkan, image, kind }) }
}

const fn color(
    name: &'static str,
    channels: &'static [Channel],
    vulkan: (i32, &'static str),
    image: Option<ImageFormat>,
) -> FormatRow {
    texel(name, channels, vulkan, image, TexelKind::Color)
}

const fn depth(
    name: &'static str,
    channels: &'static [Channel],
    vulkan: (i32, &'static str),
) -> FormatRow {
    texel(name, channels, vulkan, None, TexelKind::Depth)
}

/// What the texels of its blocks are decoded to.
const BC6H: [Channel; 3] = overlaid([Float(BINARY16); 3]);

const fn bc6h(name: &'static str, signed: bool, vulkan: (i32, &'static str)) -> FormatRow {
    texel(name, &BC6H, vulkan, None, TexelKind::Bc6h { signed })
}

/// Declares [`Format`](super::Format) and its rows.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $row:expr;)*) => {
        /// A format of one value (or of one texel). Values travel as raw bits in a `u64`,
        /// right-aligned.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[$doc])* $variant,)*
        }

        impl Format {
            /// Every format, in the order of the table, which is the catalogue's.
            pub const ALL: [Format; ROWS.len()] = [$(Format::$variant),*];
        }

        /// The rows, in the order of the variants.
        pub(super) const ROWS: &[FormatRow] = &[$($row),*];
    };
}

#[rustfmt::skip]
formats! {
    /// IEEE 754 binary16.
    F16 = float("f16", BINARY16, Some(Capability::Float16));
    /// IEEE 754 binary32.
    F32 = float("f32", BINARY32, None);
    /// IEEE 754 binary64.
    F64 = float("f64", BINARY64, Some(Capability::Float64));
    /// bfloat16: the upper half of a binary32.
    Bf16 = encoded("bf16", BFLOAT16, FPEncoding::BFloat16KHR, (Capability::BFloat16TypeKHR, "SPV_KHR_bfloat16"));
    /// float8 E4M3: no infinities, one NaN of each sign.
    E4m3 = encoded("e4m3", FLOAT8_E4M3, FPEncoding::Float8E4M3EXT, (Capability::Float8EXT, "SPV_EXT_float8"));
    /// float8 E5M2: the upper half of a binary16.
    E5m2 = encoded("e5m2", FLOAT8_E5M2, FPEncoding::Float8E5M2EXT, (Capability::Float8EXT, "SPV_EXT_float8"));
    /// 32-bit two's complement integer.
    I32 = FormatRow { name: "i32", content: Content::Integer };
    /// 32-bit unsigned integer.
    U32 = FormatRow { name: "u32", content: Content::Integer };
    /// A truth value: 0 or 1.
    Bool = FormatRow { name: "bool", content: Content::Truth };
    /// R in bits 0..11, G in 11..22, B in 22..32, unsigned floats.
    B10g11r11 = color("b10g11r11", &side_by_side([Float(F11), Float(F11), Float(F10)]), (122, "B10G11R11_UFLOAT_PACK32"), Some(ImageFormat::R11fG11fB10f));
    /// binary16.
    R16f = color("r16f", &side_by_side([Float(BINARY16)]), (76, "R16_SFLOAT"), Some(ImageFormat::R16f));
    /// Twice binary16, R in bits 0..16.
    Rg16f = color("rg16f", &side_by_side([Float(BINARY16); 2]), (83, "R16G16_SFLOAT"), Some(ImageFormat::Rg16f));
    /// Four times binary16, R in bits 0..16.
    Rgba16f = color("rgba16f", &side_by_side([Float(BINARY16); 4]), (97, "R16G16B16A16_SFLOAT"), Some(ImageFormat::Rgba16f));
    /// binary32.
    R32f = color("r32f", &side_by_side([Float(BINARY32)]), (100, "R32_SFLOAT"), Some(ImageFormat::R32f));
    /// code / 255.
    R8unorm = color("r8unorm", &side_by_side([unorm(8)]), (9, "R8_UNORM"), Some(ImageFormat::R8));
    /// code / 127, -128 like -127.
    R8snorm = color("r8snorm", &side_by_side([snorm(8)]), (10, "R8_SNORM"), Some(ImageFormat::R8Snorm));
    /// Four times code / 255, R in bits 0..8.
    Rgba8unorm = color("rgba8unorm", &side_by_side([unorm(8); 4]), (37, "R8G8B8A8_UNORM"), Some(ImageFormat::Rgba8));
    /// Four times code / 127, R in bits 0..8.
    Rgba8snorm = color("rgba8snorm", &side_by_side([snorm(8); 4]), (38, "R8G8B8A8_SNORM"), Some(ImageFormat::Rgba8Snorm));
    /// R in bits 0..8; A is linear.
    Rgba8srgb = color("rgba8srgb", &side_by_side([Srgb, Srgb, Srgb, unorm(8)]), (43, "R8G8B8A8_SRGB"), None);
    /// code / 65535.
    R16unorm = color("r16unorm", &side_by_side([unorm(16)]), (70, "R16_UNORM"), Some(ImageFormat::R16));
    /// code / 32767, -32768 like -32767.
    R16snorm = color("r16snorm", &side_by_side([snorm(16)]), (71, "R16_SNORM"), Some(ImageFormat::R16Snorm));
    /// R in bits 0..10, A in 30..32.
    A2b10g10r10 = color("a2b10g10r10", &side_by_side([unorm(10), unorm(10), unorm(10), unorm(2)]), (64, "A2B10G10R10_UNORM_PACK32"), Some(ImageFormat::Rgb10A2));
    /// R in bits 0..9, G in 9..18, B in 18..27, their common exponent in 27..32.
    E5b9g9r9 = color("e5b9g9r9", &side_by_side([Shared; 3]), (123, "E5B9G9R9_UFLOAT_PACK32"), None);
    /// A depth, code / 65535.
    D16unorm = depth("d16unorm", &side_by_side([unorm(16)]), (124, "D16_UNORM"));
    /// A depth, binary32.
    D32f = depth("d32f", &side_by_side([Float(BINARY32)]), (126, "D32_SFLOAT"));
    /// 128 bits for a block of 4x4 texels, each three times binary16 without a sign.
    Bc6hUfloat = bc6h("bc6h_ufloat", false, (143, "BC6H_UFLOAT_BLOCK"));
    /// The same with signs.
    Bc6hSfloat = bc6h("bc6h_sfloat", true, (144, "BC6H_SFLOAT_BLOCK"));
}
