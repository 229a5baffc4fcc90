//! What the driver claims.

use std::collections::BTreeMap;

use ash::{ext, khr, vk};
use fpprobe_reports::model::Claims;
use fpprobe_reports::support::{
    BFLOAT16, BFLOAT16_DOT, BFLOAT16_MATRIX, COOPERATIVE_MATRIX, CUSTOM_BORDER_COLORS, FLOAT8,
    FLOAT8_MATRIX, FMA, GRAPHICS, SUBGROUP_ARITHMETIC, SUBGROUP_CLUSTERED, SUBGROUP_EXTENDED_TYPES,
    format_claim,
};
use fpprobe_spirv::subgroup::SMALLEST_SUBGROUP;
use fpprobe_spirv::{Format, Use};

use super::atomics::{AtomicExtensions, AtomicFeatures};
use super::image::vulkan_format;
use super::instance::Instance;
use super::later::{
    SHADER_BFLOAT16, SHADER_FLOAT8, SHADER_FMA, ShaderBfloat16Features, ShaderFloat8Features,
    ShaderFmaFeatures,
};
use super::physical::Physical;
use super::subgroups;

/// Extensions in which features and properties were born before they became core.
pub(super) const FLOAT_CONTROLS: (&std::ffi::CStr, u32) =
    (khr::shader_float_controls::NAME, vk::API_VERSION_1_2);
/// As above.
pub(super) const FLOAT16: (&std::ffi::CStr, u32) =
    (khr::shader_float16_int8::NAME, vk::API_VERSION_1_2);
/// As above.
pub(super) const FLOAT_CONTROLS2: (&std::ffi::CStr, u32) =
    (khr::shader_float_controls2::NAME, vk::make_api_version(0, 1, 4, 0));
/// As above.
pub(super) const MEMORY_MODEL: (&std::ffi::CStr, u32) =
    (khr::vulkan_memory_model::NAME, vk::API_VERSION_1_2);

/// As above.
pub(super) const SUBGROUP_TYPES: (&std::ffi::CStr, u32) =
    (khr::shader_subgroup_extended_types::NAME, vk::API_VERSION_1_2);

/// Queries everything that the driver claims. A device older than Vulkan 1.1 is not asked and
/// claims nothing.
pub(super) fn claims(instance: &Instance, physical: &Physical) -> Claims {
    let mut flags = BTreeMap::new();
    let mut claims = Claims {
        denorm_behavior_independence: "none".to_owned(),
        rounding_mode_independence: "none".to_owned(),
        flags: BTreeMap::new(),
        matrices: Vec::new(),
    };
    if physical.speaks_1_1() {
        features(instance, physical, &mut flags);
        float_controls(instance, physical, &mut flags, &mut claims);
        subgroup_operations(instance, physical, &mut flags);
        formats(instance, physical, &mut flags);
        flags.insert(GRAPHICS.to_owned(), physical.draws);
    }
    claims.flags = flags;
    claims
}

type Flags = BTreeMap<String, bool>;

fn features(instance: &Instance, physical: &Physical, flags: &mut Flags) {
    let mut storage16 = vk::PhysicalDevice16BitStorageFeatures::default();
    let mut float16 = vk::PhysicalDeviceShaderFloat16Int8Features::default();
    let mut controls2 = vk::PhysicalDeviceShaderFloatControls2FeaturesKHR::default();
    let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut storage16);
    if physical.knows(FLOAT16.0, FLOAT16.1) {
        chain = chain.push_next(&mut float16);
    }
    if physical.knows(FLOAT_CONTROLS2.0, FLOAT_CONTROLS2.1) {
        chain = chain.push_next(&mut controls2);
    }
    let mut borders = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default();
    if physical.has(ext::custom_border_color::NAME) {
        chain = chain.push_next(&mut borders);
    }
    let mut matrices = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default();
    let mut memory_model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
    if physical.has(khr::cooperative_matrix::NAME) && physical.knows(MEMORY_MODEL.0, MEMORY_MODEL.1)
    {
        chain = chain.push_next(&mut matrices).push_next(&mut memory_model);
    }
    let mut bfloat16 = ShaderBfloat16Features::none();
    if physical.has(SHADER_BFLOAT16) {
        chain = chain.push_next(&mut bfloat16);
    }
    let mut float8 = ShaderFloat8Features::none();
    if physical.has(SHADER_FLOAT8) {
        chain = chain.push_next(&mut float8);
    }
    let mut fma = ShaderFmaFeatures::none();
    if physical.has(SHADER_FMA) {
        chain = chain.push_next(&mut fma);
    }
    let mut subgroup_types = vk::PhysicalDeviceShaderSubgroupExtendedTypesFeatures::default();
    if physical.knows(SUBGROUP_TYPES.0, SUBGROUP_TYPES.1) {
        chain = chain.push_next(&mut subgroup_types);
    }
    let mut atomics = AtomicFeatures::default();
    chain = atomics.chain(AtomicExtensions::of(physical), chain);
    // SAFETY: the handle is the instance's; only structures that the device knows are chained, and
    // they outlive the call. Vulkan 1.1 loaders have the function.
    unsafe { instance.raw().get_physical_device_features2(physical.raw, &mut chain) };
    let core = chain.features;
    // Any value but 0 counts as true: a VkBool32 of 2 is a driver bug that must not become
    // undefined behaviour here.
    let named = |(name, claimed): (&str, bool)| (name.to_owned(), claimed);
    let found = [
        ("fragmentStoresAndAtomics", core.fragment_stores_and_atomics != 0),
        ("depthClamp", core.depth_clamp != 0),
        ("geometryShader", core.geometry_shader != 0),
        ("vertexPipelineStoresAndAtomics", core.vertex_pipeline_stores_and_atomics != 0),
        ("shaderFloat64", core.shader_float64 != 0),
        ("shaderInt16", core.shader_int16 != 0),
        ("shaderInt64", core.shader_int64 != 0),
        ("textureCompressionBC", core.texture_compression_bc != 0),
        ("shaderStorageImageExtendedFormats", core.shader_storage_image_extended_formats != 0),
        ("storageBuffer16BitAccess", storage16.storage_buffer16_bit_access != 0),
        ("shaderFloat16", float16.shader_float16 != 0),
        ("shaderInt8", float16.shader_int8 != 0),
        (BFLOAT16, bfloat16.shader_bfloat16_type != 0),
        (BFLOAT16_DOT, bfloat16.shader_bfloat16_dot_product != 0),
        (BFLOAT16_MATRIX, bfloat16.shader_bfloat16_cooperative_matrix != 0),
        (FLOAT8, float8.shader_float8 != 0),
        (FLOAT8_MATRIX, float8.shader_float8_cooperative_matrix != 0),
        // Modules with matrices declare Vulkan's memory model (SPIR-V, CooperativeMatrixKHR in
        // shaders).
        (
            COOPERATIVE_MATRIX,
            matrices.cooperative_matrix != 0 && memory_model.vulkan_memory_model != 0,
        ),
        ("shaderFloatControls2", controls2.shader_float_controls2 != 0),
        (CUSTOM_BORDER_COLORS, borders.custom_border_colors != 0),
        (SUBGROUP_EXTENDED_TYPES, subgroup_types.shader_subgroup_extended_types != 0),
    ];
    flags.extend(found.map(named));
    flags.extend(FMA.into_iter().zip(fma.shader_fma.map(|claimed| claimed != 0)).map(named));
    flags.extend(atomics.claims());
}

/// Operations over subgroups in compute shaders, where a subgroup has as many invocations as
/// kernels need.
fn subgroup_operations(instance: &Instance, physical: &Physical, flags: &mut Flags) {
    let found = subgroups::properties(instance, physical);
    let able = found.supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
        && found.subgroup_size.is_power_of_two()
        && found.subgroup_size >= SMALLEST_SUBGROUP;
    let offered = |operations| able && found.supported_operations.contains(operations);
    flags.insert(SUBGROUP_ARITHMETIC.to_owned(), offered(vk::SubgroupFeatureFlags::ARITHMETIC));
    flags.insert(SUBGROUP_CLUSTERED.to_owned(), offered(vk::SubgroupFeatureFlags::CLUSTERED));
}

fn float_controls(
    instance: &Instance,
    physical: &Physical,
    flags: &mut Flags,
    claims: &mut Claims,
) {
    let mut found = vk::PhysicalDeviceFloatControlsProperties::default();
    let known = physical.knows(FLOAT_CONTROLS.0, FLOAT_CONTROLS.1);
    if known {
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
        // SAFETY: as for the features.
        unsafe { instance.raw().get_physical_device_properties2(physical.raw, &mut chain) };
        claims.denorm_behavior_independence = independence(found.denorm_behavior_independence);
        claims.rounding_mode_independence = independence(found.rounding_mode_independence);
    }
    let named = |(name, claimed): (&str, bool)| (name.to_owned(), claimed);
    let found = [
        (
            "shaderSignedZeroInfNanPreserveFloat16",
            found.shader_signed_zero_inf_nan_preserve_float16 != 0,
        ),
        (
            "shaderSignedZeroInfNanPreserveFloat32",
            found.shader_signed_zero_inf_nan_preserve_float32 != 0,
        ),
        (
            "shaderSignedZeroInfNanPreserveFloat64",
            found.shader_signed_zero_inf_nan_preserve_float64 != 0,
        ),
        ("shaderDenormPreserveFloat16", found.shader_denorm_preserve_float16 != 0),
        ("shaderDenormPreserveFloat32", found.shader_denorm_preserve_float32 != 0),
        ("shaderDenormPreserveFloat64", found.shader_denorm_preserve_float64 != 0),
        ("shaderDenormFlushToZeroFloat16", found.shader_denorm_flush_to_zero_float16 != 0),
        ("shaderDenormFlushToZeroFloat32", found.shader_denorm_flush_to_zero_float32 != 0),
        ("shaderDenormFlushToZeroFloat64", found.shader_denorm_flush_to_zero_float64 != 0),
        ("shaderRoundingModeRTEFloat16", found.shader_rounding_mode_rte_float16 != 0),
        ("shaderRoundingModeRTEFloat32", found.shader_rounding_mode_rte_float32 != 0),
        ("shaderRoundingModeRTEFloat64", found.shader_rounding_mode_rte_float64 != 0),
        ("shaderRoundingModeRTZFloat16", found.shader_rounding_mode_rtz_float16 != 0),
        ("shaderRoundingModeRTZFloat32", found.shader_rounding_mode_rtz_float32 != 0),
        ("shaderRoundingModeRTZFloat64", found.shader_rounding_mode_rtz_float64 != 0),
    ];
    flags.extend(found.map(named));
}

fn independence(found: vk::ShaderFloatControlsIndependence) -> String {
    match found {
        vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => "32-bit-only".to_owned(),
        vk::ShaderFloatControlsIndependence::ALL => "all".to_owned(),
        vk::ShaderFloatControlsIndependence::NONE => "none".to_owned(),
        other => format!("unknown ({})", other.as_raw()),
    }
}

fn formats(instance: &Instance, physical: &Physical, flags: &mut Flags) {
    for format in Format::PACKED.iter().copied() {
        let Some(raw) = vulkan_format(format) else { continue };
        let mut found = vk::FormatProperties::default();
        let function = instance.raw().fp_v1_0().get_physical_device_format_properties;
        // SAFETY: the handle is the instance's; the result outlives the call.
        unsafe { function(physical.raw, raw, &raw mut found) };
        for used in Use::ALL {
            let (features, bit) = match used {
                Use::StorageImage => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::STORAGE_IMAGE)
                }
                Use::StorageImageAtomic => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::STORAGE_IMAGE_ATOMIC)
                }
                Use::UniformTexelBuffer => {
                    (found.buffer_features, vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER)
                }
                Use::SampledImage => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::SAMPLED_IMAGE)
                }
                Use::TransferSrc => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::TRANSFER_SRC)
                }
                Use::TransferDst => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::TRANSFER_DST)
                }
                Use::BlitSrc => (found.optimal_tiling_features, vk::FormatFeatureFlags::BLIT_SRC),
                Use::BlitDst => (found.optimal_tiling_features, vk::FormatFeatureFlags::BLIT_DST),
                Use::ColorAttachment => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::COLOR_ATTACHMENT)
                }
                Use::ColorAttachmentBlend => {
                    (found.optimal_tiling_features, vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND)
                }
                Use::DepthStencilAttachment => (
                    found.optimal_tiling_features,
                    vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT,
                ),
                Use::VertexBuffer => (found.buffer_features, vk::FormatFeatureFlags::VERTEX_BUFFER),
            };
            if let Some(claim) = format_claim(format, used) {
                flags.insert(claim, features.contains(bit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_packed_formats_name_the_format_that_vulkan_has_under_their_number() {
        for format in Format::PACKED {
            let (number, name) = format.vulkan().unwrap();
            assert_eq!(format!("{:?}", vk::Format::from_raw(number)), name, "{format}");
        }
    }
}
