//! The products of cooperative matrices that a device offers
//! (`vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR`).

use ash::{khr, vk};
use fpprobe_reports::support::COOPERATIVE_MATRIX;

use super::claims::claims;
use super::error::VulkanError;
use super::instance::Instance;
use super::physical::Physical;
use super::text::list;

const CALL: &str = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";

/// What a device enumerates, each as `MxNxK-A-B-C-RESULT`, with `-saturating` and the scope where
/// that is no subgroup.
pub(super) fn properties(
    instance: &Instance,
    physical: &Physical,
) -> Result<Vec<String>, VulkanError> {
    let claimed =
        || claims(instance, physical).flags.get(COOPERATIVE_MATRIX).copied().unwrap_or(false);
    if !physical.has(khr::cooperative_matrix::NAME) || !claimed() {
        return Ok(Vec::new());
    }
    let functions = instance
        .cooperative_matrix()
        .ok_or_else(|| VulkanError::missing("vkGetInstanceProcAddr", CALL))?;
    let function = functions.fp().get_physical_device_cooperative_matrix_properties_khr;
    let found = list(CALL, |count, data: *mut vk::CooperativeMatrixPropertiesKHR<'static>| {
        // SAFETY: `list` passes a count and either null or room for that many structures, whose
        // type they name.
        unsafe { function(physical.raw, count, data) }
    })?;
    Ok(found.iter().map(text).collect())
}

fn text(found: &vk::CooperativeMatrixPropertiesKHR<'_>) -> String {
    let [a, b, c, result] =
        [found.a_type, found.b_type, found.c_type, found.result_type].map(component);
    let saturating = if found.saturating_accumulation == vk::FALSE { "" } else { "-saturating" };
    let scope = match found.scope {
        vk::ScopeKHR::SUBGROUP => String::new(),
        vk::ScopeKHR::WORKGROUP => "-workgroup".to_owned(),
        other => format!("-scope{}", other.as_raw()),
    };
    format!(
        "{}x{}x{}-{a}-{b}-{c}-{result}{scope}{saturating}",
        found.m_size, found.n_size, found.k_size
    )
}

/// A type of elements; those of later extensions have numbers that ash does not name.
fn component(kind: vk::ComponentTypeKHR) -> String {
    let name = match kind {
        vk::ComponentTypeKHR::FLOAT16 => "f16",
        vk::ComponentTypeKHR::FLOAT32 => "f32",
        vk::ComponentTypeKHR::FLOAT64 => "f64",
        vk::ComponentTypeKHR::SINT8 => "i8",
        vk::ComponentTypeKHR::SINT16 => "i16",
        vk::ComponentTypeKHR::SINT32 => "i32",
        vk::ComponentTypeKHR::SINT64 => "i64",
        vk::ComponentTypeKHR::UINT8 => "u8",
        vk::ComponentTypeKHR::UINT16 => "u16",
        vk::ComponentTypeKHR::UINT32 => "u32",
        vk::ComponentTypeKHR::UINT64 => "u64",
        other => match other.as_raw() {
            1_000_141_000 => "bf16",
            1_000_491_002 => "e4m3",
            1_000_491_003 => "e5m2",
            number => return format!("type{number}"),
        },
    };
    name.to_owned()
}
