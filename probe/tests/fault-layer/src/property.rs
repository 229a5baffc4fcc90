//! What a driver says of its device, and how it is made to say something else.

use std::ffi::c_char;
use std::str::FromStr;

use ash::vk;
use fpprobe_spirv::Control;

/// Features that can be switched.
pub const FEATURES: &[&str] = &[
    "shaderFloat16",
    "shaderFloat64",
    "shaderFloatControls2",
    "shaderInt16",
    "shaderInt64",
    "shaderStorageImageExtendedFormats",
    "storageBuffer16BitAccess",
];

/// Lists whose length can be something else.
pub const COUNTS: &[&str] = &[
    "memoryHeaps",
    "memoryTypes",
    "vkEnumerateDeviceExtensionProperties",
    "vkEnumeratePhysicalDevices",
    "vkGetPhysicalDeviceQueueFamilyProperties",
];

/// What a format can be used for.
pub const FORMAT_FEATURES: &[&str] = &[
    "blitDst",
    "blitSrc",
    "colorAttachment",
    "sampledImage",
    "storageImage",
    "transferDst",
    "transferSrc",
    "uniformTexelBuffer",
    "vertexBuffer",
];

/// The bit of one of [`FORMAT_FEATURES`].
pub fn format_feature(name: &str) -> vk::FormatFeatureFlags {
    match name {
        "blitDst" => vk::FormatFeatureFlags::BLIT_DST,
        "blitSrc" => vk::FormatFeatureFlags::BLIT_SRC,
        "colorAttachment" => vk::FormatFeatureFlags::COLOR_ATTACHMENT,
        "vertexBuffer" => vk::FormatFeatureFlags::VERTEX_BUFFER,
        "sampledImage" => vk::FormatFeatureFlags::SAMPLED_IMAGE,
        "storageImage" => vk::FormatFeatureFlags::STORAGE_IMAGE,
        "transferDst" => vk::FormatFeatureFlags::TRANSFER_DST,
        "transferSrc" => vk::FormatFeatureFlags::TRANSFER_SRC,
        "uniformTexelBuffer" => vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER,
        _ => vk::FormatFeatureFlags::empty(),
    }
}

macro_rules! limits {
    ($($name:literal => $field:ident as $kind:ty,)*) => {
        /// Limits that can be set; `maxComputeWorkGroupCount` and `maxComputeWorkGroupSize` in all
        /// dimensions.
        pub const LIMITS: &[&str] = &["maxComputeWorkGroupCount", "maxComputeWorkGroupSize", $($name),*];

        /// Sets a limit.
        pub fn limit(limits: &mut vk::PhysicalDeviceLimits, name: &str, value: u64) {
            match name {
                "maxComputeWorkGroupCount" => limits.max_compute_work_group_count = [value as u32; 3],
                "maxComputeWorkGroupSize" => limits.max_compute_work_group_size = [value as u32; 3],
                $($name => limits.$field = value as $kind,)*
                _ => {}
            }
        }
    };
}

limits! {
    "bufferImageGranularity" => buffer_image_granularity as u64,
    "maxBoundDescriptorSets" => max_bound_descriptor_sets as u32,
    "maxComputeSharedMemorySize" => max_compute_shared_memory_size as u32,
    "maxComputeWorkGroupInvocations" => max_compute_work_group_invocations as u32,
    "maxImageDimension2D" => max_image_dimension2_d as u32,
    "maxMemoryAllocationCount" => max_memory_allocation_count as u32,
    "maxPerStageDescriptorStorageBuffers" => max_per_stage_descriptor_storage_buffers as u32,
    "maxPerStageDescriptorStorageImages" => max_per_stage_descriptor_storage_images as u32,
    "maxPerStageResources" => max_per_stage_resources as u32,
    "maxPushConstantsSize" => max_push_constants_size as u32,
    "maxStorageBufferRange" => max_storage_buffer_range as u32,
    "maxUniformBufferRange" => max_uniform_buffer_range as u32,
    "minMemoryMapAlignment" => min_memory_map_alignment as usize,
    "minStorageBufferOffsetAlignment" => min_storage_buffer_offset_alignment as u64,
    "nonCoherentAtomSize" => non_coherent_atom_size as u64,
}

/// Properties that can be set.
pub const PROPERTIES: &[&str] =
    &["apiVersion", "deviceID", "deviceType", "driverID", "driverVersion", "vendorID"];

/// Sets a core property; `driverID` is none.
pub fn property(properties: &mut vk::PhysicalDeviceProperties, name: &str, value: u32) {
    match name {
        "apiVersion" => properties.api_version = value,
        "deviceID" => properties.device_id = value,
        "deviceType" => properties.device_type = vk::PhysicalDeviceType::from_raw(value as i32),
        "driverVersion" => properties.driver_version = value,
        "vendorID" => properties.vendor_id = value,
        _ => {}
    }
}

/// A string or UUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// `VkPhysicalDeviceProperties::deviceName`.
    DeviceName,
    /// `VkPhysicalDeviceDriverProperties::driverName`.
    DriverName,
    /// `VkPhysicalDeviceDriverProperties::driverInfo`.
    DriverInfo,
    /// `VkPhysicalDeviceIDProperties::deviceUUID`.
    DeviceUuid,
    /// `VkPhysicalDeviceIDProperties::driverUUID`.
    DriverUuid,
    /// `VkPhysicalDeviceProperties::pipelineCacheUUID`.
    PipelineCacheUuid,
}

impl Field {
    /// Whether it is a string.
    pub fn is_text(self) -> bool {
        matches!(self, Field::DeviceName | Field::DriverName | Field::DriverInfo)
    }
}

impl FromStr for Field {
    type Err = String;

    fn from_str(name: &str) -> Result<Field, String> {
        Ok(match name {
            "deviceName" => Field::DeviceName,
            "driverName" => Field::DriverName,
            "driverInfo" => Field::DriverInfo,
            "deviceUUID" => Field::DeviceUuid,
            "driverUUID" => Field::DriverUuid,
            "pipelineCacheUUID" => Field::PipelineCacheUuid,
            _ => return Err(format!("`{name}` is no string or UUID of a device")),
        })
    }
}

/// Writes bytes into a string of a driver: once and NUL after them, or endless.
pub fn write(array: &mut [c_char], bytes: &[u8], endless: bool) {
    let end = if endless { array.len() } else { bytes.len().min(array.len().saturating_sub(1)) };
    let source = bytes.iter().cycle().take(end).copied().chain(std::iter::repeat(0));
    for (place, byte) in array.iter_mut().zip(source) {
        *place = byte as c_char;
    }
}

/// Appends a number to a string of a driver.
pub fn number_text(array: &mut [c_char], number: u64) {
    let text: Vec<u8> =
        array.iter().map(|char| *char as u8).take_while(|byte| *byte != 0).collect();
    let suffix = format!(" #{number}");
    let kept = text.len().min(array.len().saturating_sub(suffix.len() + 1));
    write(array, &[&text[..kept], suffix.as_bytes()].concat(), false);
}

/// Mixes a number into a UUID.
pub fn number_uuid(uuid: &mut [u8; vk::UUID_SIZE], number: u64) {
    for (place, byte) in uuid.iter_mut().zip(number.to_le_bytes()) {
        *place ^= byte;
    }
}

macro_rules! float_controls {
    ($($(#[$doc:meta])* $name:ident: $structure:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(properties: &mut $structure, control: Control, value: vk::Bool32) {
            let field = match control {
                Control::Ftz(16) => &mut properties.shader_denorm_flush_to_zero_float16,
                Control::Ftz(32) => &mut properties.shader_denorm_flush_to_zero_float32,
                Control::Ftz(64) => &mut properties.shader_denorm_flush_to_zero_float64,
                Control::Dp(16) => &mut properties.shader_denorm_preserve_float16,
                Control::Dp(32) => &mut properties.shader_denorm_preserve_float32,
                Control::Dp(64) => &mut properties.shader_denorm_preserve_float64,
                Control::Szin(16) => &mut properties.shader_signed_zero_inf_nan_preserve_float16,
                Control::Szin(32) => &mut properties.shader_signed_zero_inf_nan_preserve_float32,
                Control::Szin(64) => &mut properties.shader_signed_zero_inf_nan_preserve_float64,
                Control::Rte(16) => &mut properties.shader_rounding_mode_rte_float16,
                Control::Rte(32) => &mut properties.shader_rounding_mode_rte_float32,
                Control::Rte(64) => &mut properties.shader_rounding_mode_rte_float64,
                Control::Rtz(16) => &mut properties.shader_rounding_mode_rtz_float16,
                Control::Rtz(32) => &mut properties.shader_rounding_mode_rtz_float32,
                Control::Rtz(64) => &mut properties.shader_rounding_mode_rtz_float64,
                _ => return,
            };
            *field = value;
        }
    )*};
}

float_controls! {
    /// Sets the claim of a mode.
    float_control: vk::PhysicalDeviceFloatControlsProperties<'_>;
    /// As above, where it has become core.
    float_control12: vk::PhysicalDeviceVulkan12Properties<'_>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(array: &[c_char]) -> Vec<u8> {
        array.iter().map(|char| *char as u8).collect()
    }

    #[test]
    fn strings_end_or_do_not() {
        let mut array = [1; 6];
        write(&mut array, b"ab", false);
        assert_eq!(text(&array), b"ab\0\0\0\0");
        write(&mut array, b"abcdefgh", false);
        assert_eq!(text(&array), b"abcde\0");
        write(&mut array, b"ab", true);
        assert_eq!(text(&array), b"ababab");
        number_text(&mut array, 7);
        assert_eq!(text(&array), b"ab #7\0");
    }

    #[test]
    fn every_limit_and_claim_has_its_place() {
        for name in LIMITS {
            let mut limits = vk::PhysicalDeviceLimits::default();
            let before = format!("{limits:?}");
            limit(&mut limits, name, 7);
            assert_ne!(format!("{limits:?}"), before, "{name}");
        }
        for control in Control::all().filter(|control| control.width().is_some()) {
            let mut properties = vk::PhysicalDeviceFloatControlsProperties::default();
            let before = format!("{properties:?}");
            float_control(&mut properties, control, 1);
            assert_ne!(format!("{properties:?}"), before, "{control}");
        }
    }
}
