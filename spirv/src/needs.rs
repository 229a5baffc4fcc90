//! What a device must offer before a kernel may be put to it.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use rspirv::spirv::Op;

use crate::atomic::AtomicFeature;
use crate::controls::Control;
use crate::error::ParseError;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::layout::FloatLayout;
use crate::op::{Code, FixedFunctionState, Inst};
use crate::route::{Route, Stage};
use crate::subgroup::SubgroupForm;

/// One thing a device may or may not offer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Need {
    /// Feature `shaderFloat16`.
    Float16,
    /// Feature `shaderFloat64`.
    Float64,
    /// Feature `storageBuffer16BitAccess`; used where it is there, and needed by atomic operations
    /// alone.
    Storage16,
    /// Feature `shaderStorageImageExtendedFormats`.
    ExtendedFormats,
    /// A use of a packed format: of images with optimal tiling, but for texel buffers.
    Use(Format, Use),
    /// A queue that can draw and blit.
    Graphics,
    /// Feature `fragmentStoresAndAtomics`.
    FragmentStores,
    /// Feature `vertexPipelineStoresAndAtomics`.
    VertexStores,
    /// Feature `geometryShader`.
    GeometryShader,
    /// Feature `depthClamp`.
    DepthClamp,
    /// Feature `customBorderColors`.
    CustomBorderColors,
    /// Feature `textureCompressionBC`.
    CompressionBc,
    /// Feature `cooperativeMatrix`.
    CooperativeMatrix,
    /// Feature `shaderInt8`.
    Int8,
    /// Feature `shaderInt16`.
    Int16,
    /// Feature `shaderBFloat16Type`.
    Bfloat16,
    /// Feature `shaderBFloat16DotProduct`.
    Bfloat16Dot,
    /// Feature `shaderBFloat16CooperativeMatrix`.
    Bfloat16Matrix,
    /// Feature `shaderFloat8`.
    Float8,
    /// Feature `shaderFloat8CooperativeMatrix`.
    Float8Matrix,
    /// Feature `shaderFmaFloat16`, `shaderFmaFloat32` or `shaderFmaFloat64`, by the width.
    Fma(u32),
    /// Operations over subgroups in compute shaders (`VK_SUBGROUP_FEATURE_ARITHMETIC_BIT`) of at
    /// least four invocations.
    SubgroupArithmetic,
    /// The same over clusters (`VK_SUBGROUP_FEATURE_CLUSTERED_BIT`).
    SubgroupClustered,
    /// Feature `shaderSubgroupExtendedTypes`.
    SubgroupExtendedTypes,
    /// Atomic operations on floats in a kind of memory.
    Atomic(AtomicFeature),
    /// A control, by the property or feature that claims it.
    Control(Control),
}

/// What a format can be used for (`VkFormatFeatureFlagBits`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are Vulkan's")]
pub enum Use {
    StorageImage,
    StorageImageAtomic,
    UniformTexelBuffer,
    SampledImage,
    TransferSrc,
    TransferDst,
    BlitSrc,
    BlitDst,
    ColorAttachment,
    ColorAttachmentBlend,
    DepthStencilAttachment,
    VertexBuffer,
}

impl Use {
    /// Every use.
    pub const ALL: [Use; 12] = [
        Use::StorageImage,
        Use::StorageImageAtomic,
        Use::UniformTexelBuffer,
        Use::SampledImage,
        Use::TransferSrc,
        Use::TransferDst,
        Use::BlitSrc,
        Use::BlitDst,
        Use::ColorAttachment,
        Use::ColorAttachmentBlend,
        Use::DepthStencilAttachment,
        Use::VertexBuffer,
    ];

    /// Vulkan's name of the bit.
    pub const fn bit(self) -> &'static str {
        match self {
            Use::StorageImage => "VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT",
            Use::StorageImageAtomic => "VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT",
            Use::UniformTexelBuffer => "VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT",
            Use::SampledImage => "VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT",
            Use::TransferSrc => "VK_FORMAT_FEATURE_TRANSFER_SRC_BIT",
            Use::TransferDst => "VK_FORMAT_FEATURE_TRANSFER_DST_BIT",
            Use::BlitSrc => "VK_FORMAT_FEATURE_BLIT_SRC_BIT",
            Use::BlitDst => "VK_FORMAT_FEATURE_BLIT_DST_BIT",
            Use::ColorAttachment => "VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT",
            Use::ColorAttachmentBlend => "VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT",
            Use::DepthStencilAttachment => "VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT",
            Use::VertexBuffer => "VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT",
        }
    }

    /// Name in claims.
    pub const fn name(self) -> &'static str {
        match self {
            Use::StorageImage => "storageImage",
            Use::StorageImageAtomic => "storageImageAtomic",
            Use::UniformTexelBuffer => "uniformTexelBuffer",
            Use::SampledImage => "sampledImage",
            Use::TransferSrc => "transferSrc",
            Use::TransferDst => "transferDst",
            Use::BlitSrc => "blitSrc",
            Use::BlitDst => "blitDst",
            Use::ColorAttachment => "colorAttachment",
            Use::ColorAttachmentBlend => "colorAttachmentBlend",
            Use::DepthStencilAttachment => "depthStencilAttachment",
            Use::VertexBuffer => "vertexBuffer",
        }
    }
}

/// What some kernels need, by Vulkan's names.
const NAMED: [(&str, Need); 8] = [
    ("shaderBFloat16DotProduct", Need::Bfloat16Dot),
    ("VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", Need::SubgroupArithmetic),
    ("VK_SUBGROUP_FEATURE_CLUSTERED_BIT", Need::SubgroupClustered),
    ("shaderSubgroupExtendedTypes", Need::SubgroupExtendedTypes),
    ("shaderFmaFloat16", Need::Fma(16)),
    ("shaderFmaFloat32", Need::Fma(32)),
    ("shaderFmaFloat64", Need::Fma(64)),
    ("depthClamp", Need::DepthClamp),
];

/// Reads what kernels across subgroups, dot products of bfloat16, `OpFmaKHR` and clamps of depths
/// need; formats and controls have their own names.
impl FromStr for Need {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        let found = NAMED.into_iter().find(|(own, _)| *own == name);
        found
            .map(|(_, need)| need)
            .ok_or_else(|| ParseError::unknown("need", name, NAMED.map(|(own, _)| own)))
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Float16 => f.write_str("shaderFloat16"),
            Need::Float64 => f.write_str("shaderFloat64"),
            Need::Storage16 => f.write_str("storageBuffer16BitAccess"),
            Need::ExtendedFormats => f.write_str("shaderStorageImageExtendedFormats"),
            Need::Use(format, used) => write!(f, "{} for {format}", used.bit()),
            Need::Graphics => f.write_str("VK_QUEUE_GRAPHICS_BIT"),
            Need::FragmentStores => f.write_str("fragmentStoresAndAtomics"),
            Need::CustomBorderColors => f.write_str("customBorderColors"),
            Need::CompressionBc => f.write_str("textureCompressionBC"),
            Need::VertexStores => f.write_str("vertexPipelineStoresAndAtomics"),
            Need::GeometryShader => f.write_str("geometryShader"),
            Need::CooperativeMatrix => f.write_str("cooperativeMatrix"),
            Need::Int8 => f.write_str("shaderInt8"),
            Need::Int16 => f.write_str("shaderInt16"),
            Need::Bfloat16 => f.write_str("shaderBFloat16Type"),
            Need::Bfloat16Dot => f.write_str("shaderBFloat16DotProduct"),
            Need::Bfloat16Matrix => f.write_str("shaderBFloat16CooperativeMatrix"),
            Need::Float8 => f.write_str("shaderFloat8"),
            Need::Float8Matrix => f.write_str("shaderFloat8CooperativeMatrix"),
            Need::SubgroupArithmetic
            | Need::SubgroupClustered
            | Need::SubgroupExtendedTypes
            | Need::DepthClamp
            | Need::Fma(_) => {
                let own = NAMED.iter().find(|(_, need)| need == self);
                f.write_str(own.map_or("a feature", |(name, _)| name))
            }
            Need::Atomic(feature) => feature.fmt(f),
            Need::Control(control) => f.write_str(control.claim().unwrap_or("core")),
        }
    }
}

/// Everything a kernel needs; of arithmetic [`Need::Storage16`] is not among it.
pub fn needs(kernel: &Kernel) -> BTreeSet<Need> {
    let mut needs: BTreeSet<Need> = kernel
        .controls
        .iter()
        .filter(|control| control.claim().is_some())
        .map(Need::Control)
        .collect();
    for format in kernel.formats() {
        match format {
            Format::F16 => needs.extend([Need::Float16]),
            Format::F64 => needs.extend([Need::Float64]),
            Format::Bf16 => needs.extend([Need::Bfloat16, Need::Int16]),
            Format::E4m3 | Format::E5m2 => needs.extend([Need::Float8, Need::Int8]),
            _ => {}
        }
    }
    if let Some(unit) = kernel.matrix {
        needs.insert(Need::CooperativeMatrix);
        needs.extend(unit.has_bytes().then_some(Need::Int8));
        let has = |format| kernel.formats().contains(&format);
        needs.extend(has(Format::Bf16).then_some(Need::Bfloat16Matrix));
        needs.extend((has(Format::E4m3) || has(Format::E5m2)).then_some(Need::Float8Matrix));
    }
    if kernel.op.code == Code::Inst(Inst::Core(Op::FmaKHR)) {
        needs.insert(Need::Fma(kernel.format.bits()));
    }
    needs.extend(kernel.is_bfloat16_dot().then_some(Need::Bfloat16Dot));
    if let Code::Subgroup(_, form) = kernel.op.code {
        needs.insert(Need::SubgroupArithmetic);
        needs.extend((form == SubgroupForm::Clustered).then_some(Need::SubgroupClustered));
        needs.extend((kernel.format == Format::F16).then_some(Need::SubgroupExtendedTypes));
    }
    if let Code::Atomic(op, _) = kernel.op.code {
        let features = AtomicFeature::of(op, kernel.format, kernel.route);
        needs.extend(features.map(Need::Atomic));
        // The memory is an element of a buffer, and no word of it.
        let half = kernel.format == Format::F16 && kernel.route == Route::Buffer;
        needs.extend(half.then_some(Need::Storage16));
        if kernel.has_image() {
            // An image that nobody reads is filled with what shows a store that is missing.
            let uses = [Use::StorageImage, Use::StorageImageAtomic];
            needs.extend(
                uses.into_iter()
                    .chain([Use::TransferSrc, Use::TransferDst])
                    .map(|used| Need::Use(Format::R32f, used)),
            );
        }
    }
    if kernel.op.code.is_of_texels() {
        let written = matches!(kernel.op.code, Code::ImageWrite | Code::TexelConvert);
        // Texels come and go by copies.
        let own: &[Use] = match kernel.route {
            Route::StorageImage => &[Use::StorageImage, Use::TransferSrc, Use::TransferDst],
            Route::TexelBuffer => &[Use::UniformTexelBuffer],
            Route::Sampled | Route::View => &[Use::SampledImage, Use::TransferDst],
            Route::Blit if written => &[Use::BlitDst, Use::TransferSrc, Use::TransferDst],
            Route::Blit => &[Use::BlitSrc, Use::TransferDst],
            Route::Attachment if kernel.format.is_depth() => {
                &[Use::DepthStencilAttachment, Use::TransferSrc, Use::TransferDst]
            }
            Route::Attachment | Route::Resolve => {
                &[Use::ColorAttachment, Use::TransferSrc, Use::TransferDst]
            }
            Route::Vertex => &[Use::VertexBuffer],
            _ => &[Use::TransferSrc, Use::TransferDst],
        };
        needs.extend(own.iter().map(|used| Need::Use(kernel.format, *used)));
        if kernel.route == Route::StorageImage && crate::image::is_extended(kernel.format) {
            needs.insert(Need::ExtendedFormats);
        }
        if matches!(
            kernel.op.code,
            Code::Blend(_) | Code::State(FixedFunctionState::BlendConstants)
        ) {
            needs.insert(Need::Use(kernel.format, Use::ColorAttachmentBlend));
        }
        if kernel.op.code == Code::TexelConvert {
            let sources = kernel.params().into_iter().map(|shape| shape.format);
            needs.extend(sources.flat_map(|source| {
                [Use::BlitSrc, Use::TransferDst].map(|used| Need::Use(source, used))
            }));
        }
        if kernel.format.is_block() {
            needs.insert(Need::CompressionBc);
        }
        if kernel.op.code == Code::State(FixedFunctionState::BorderColor) {
            needs.insert(Need::CustomBorderColors);
        }
        if kernel.op.code == Code::DepthClamp {
            needs.insert(Need::DepthClamp);
        }
        // Depths are moved by queues that draw.
        if kernel.route == Route::Blit || kernel.format.is_depth() {
            needs.insert(Need::Graphics);
        }
    }
    match kernel.shader() {
        Stage::Compute => {}
        // An attachment needs no store.
        Stage::Fragment if kernel.route.is_drawn() => needs.extend([Need::Graphics]),
        Stage::Fragment => needs.extend([Need::Graphics, Need::FragmentStores]),
        Stage::Vertex => needs.extend([Need::Graphics, Need::VertexStores]),
        Stage::Geometry => {
            needs.extend([Need::Graphics, Need::VertexStores, Need::GeometryShader]);
        }
    }
    if kernel.controls.contains(Control::FastMath0) {
        // FPFastMathDefault names every float type of the module; each needs the preserve property
        // of its width, bfloat16 that of 16 bits (VUID 09559 ff.). There is none of 8 bits.
        let layouts = float_formats(kernel).into_iter().filter_map(Format::float);
        let widths = layouts.map(FloatLayout::bits).filter(|width| *width > 8);
        needs.extend(widths.map(|width| Need::Control(Control::Szin(width))));
    }
    needs
}

/// Float formats whose types appear in a kernel's module.
pub fn float_formats(kernel: &Kernel) -> BTreeSet<Format> {
    let mut formats: BTreeSet<Format> =
        kernel.formats().into_iter().filter(|format| format.float().is_some()).collect();
    if kernel.op.code.is_of_texels() {
        formats.insert(Format::F32);
    }
    formats
}
