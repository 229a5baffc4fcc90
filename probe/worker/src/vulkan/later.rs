//! Structures of extensions later than those that ash has (Vulkan headers 1.3.281).

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;

use ash::vk;

/// The extension of bfloat16 (`VK_KHR_shader_bfloat16`).
pub(super) const SHADER_BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
#[repr(C)]
pub(super) struct ShaderBfloat16Features<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// Modules may have values of the type.
    pub(super) shader_bfloat16_type: vk::Bool32,
    /// Modules may have dot products of vectors of it.
    pub(super) shader_bfloat16_dot_product: vk::Bool32,
    /// Modules may have cooperative matrices of it.
    pub(super) shader_bfloat16_cooperative_matrix: vk::Bool32,
    marker: PhantomData<&'a ()>,
}

impl ShaderBfloat16Features<'_> {
    /// With no feature.
    pub(super) fn none() -> Self {
        ShaderBfloat16Features {
            s_type: vk::StructureType::from_raw(1_000_141_000),
            p_next: ptr::null_mut(),
            shader_bfloat16_type: vk::FALSE,
            shader_bfloat16_dot_product: vk::FALSE,
            shader_bfloat16_cooperative_matrix: vk::FALSE,
            marker: PhantomData,
        }
    }
}

// SAFETY: it begins like every structure of a chain, with its type and the next one; the registry
// names both of the structures that it extends.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for ShaderBfloat16Features<'_> {}

/// The extension of float8 (`VK_EXT_shader_float8`).
pub(super) const SHADER_FLOAT8: &CStr = c"VK_EXT_shader_float8";

/// `VkPhysicalDeviceShaderFloat8FeaturesEXT`.
#[repr(C)]
pub(super) struct ShaderFloat8Features<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// Modules may have values of both types.
    pub(super) shader_float8: vk::Bool32,
    /// Modules may have cooperative matrices of them.
    pub(super) shader_float8_cooperative_matrix: vk::Bool32,
    marker: PhantomData<&'a ()>,
}

impl ShaderFloat8Features<'_> {
    /// With no feature.
    pub(super) fn none() -> Self {
        ShaderFloat8Features {
            s_type: vk::StructureType::from_raw(1_000_567_000),
            p_next: ptr::null_mut(),
            shader_float8: vk::FALSE,
            shader_float8_cooperative_matrix: vk::FALSE,
            marker: PhantomData,
        }
    }
}

// SAFETY: as above.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for ShaderFloat8Features<'_> {}

/// The extension of `OpFmaKHR` (`VK_KHR_shader_fma`).
pub(super) const SHADER_FMA: &CStr = c"VK_KHR_shader_fma";

/// `VkPhysicalDeviceShaderFmaFeaturesKHR`.
#[repr(C)]
pub(super) struct ShaderFmaFeatures<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// Modules may have `OpFmaKHR` of 16, 32 and 64 bits.
    pub(super) shader_fma: [vk::Bool32; 3],
    marker: PhantomData<&'a ()>,
}

impl ShaderFmaFeatures<'_> {
    /// With no feature.
    pub(super) fn none() -> Self {
        ShaderFmaFeatures {
            s_type: vk::StructureType::from_raw(1_000_579_000),
            p_next: ptr::null_mut(),
            shader_fma: [vk::FALSE; 3],
            marker: PhantomData,
        }
    }
}

// SAFETY: as above.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for ShaderFmaFeatures<'_> {}
