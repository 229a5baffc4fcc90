//! What the driver has said, changed as the statements want it.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use ash::{ext, khr, vk};
use fpprobe_spirv::Control;

use super::chain;
use super::state::state;
use crate::arithmetic::CLAIMED;
use crate::property::{self, Field, float_control, float_control12};
use crate::statement::Kind;

fn kinds() -> impl Iterator<Item = &'static Kind> {
    state().armed.iter().map(|armed| &armed.statement.kind)
}

/// The number that is mixed into a field that changes.
fn changing(process: bool) -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    if process { u64::from(std::process::id()) } else { 1 + CALLS.fetch_add(1, Ordering::Relaxed) }
}

fn text(array: &mut [std::ffi::c_char], expected: Field) {
    for kind in kinds() {
        match kind {
            Kind::Text { field, bytes, endless } if *field == expected => {
                property::write(array, bytes, *endless);
            }
            Kind::Changing { field, process } if *field == expected => {
                property::number_text(array, changing(*process));
            }
            _ => {}
        }
    }
}

fn uuid(array: &mut [u8; vk::UUID_SIZE], expected: Field) {
    for kind in kinds() {
        if let Kind::Changing { field, process } = kind
            && *field == expected
        {
            property::number_uuid(array, changing(*process));
        }
    }
}

/// Core properties.
pub(super) fn properties(properties: &mut vk::PhysicalDeviceProperties) {
    for kind in kinds() {
        match kind {
            Kind::Limit(name, value) => property::limit(&mut properties.limits, name, *value),
            Kind::Property(name, value) => property::property(properties, name, *value),
            _ => {}
        }
    }
    text(&mut properties.device_name, Field::DeviceName);
    uuid(&mut properties.pipeline_cache_uuid, Field::PipelineCacheUuid);
}

/// The claimed modes, each with what is claimed.
fn claims() -> impl Iterator<Item = (Control, vk::Bool32)> {
    kinds().filter_map(|kind| match kind {
        Kind::Claim { control, .. } => Some((*control, vk::TRUE)),
        Kind::Deny(control) => Some((*control, vk::FALSE)),
        _ => None,
    })
}

fn independence() -> Option<vk::ShaderFloatControlsIndependence> {
    kinds().find_map(|kind| match kind {
        Kind::Independence(value) => Some(vk::ShaderFloatControlsIndependence::from_raw(*value)),
        _ => None,
    })
}

fn driver_id() -> Option<vk::DriverId> {
    kinds().find_map(|kind| match kind {
        Kind::Property("driverID", value) => Some(vk::DriverId::from_raw(*value as i32)),
        _ => None,
    })
}

/// Properties chained to others.
///
/// # Safety
/// `chain` is a chain of output structures that nobody else uses.
pub(super) unsafe fn chained(chain: *mut c_void) {
    // SAFETY: the caller's promise, here and below.
    if let Some(found) = unsafe { chain::find::<vk::PhysicalDeviceIDProperties<'_>>(chain) } {
        uuid(&mut found.device_uuid, Field::DeviceUuid);
        uuid(&mut found.driver_uuid, Field::DriverUuid);
    }
    // SAFETY: see above.
    if let Some(found) = unsafe { chain::find::<vk::PhysicalDeviceVulkan11Properties<'_>>(chain) } {
        uuid(&mut found.device_uuid, Field::DeviceUuid);
        uuid(&mut found.driver_uuid, Field::DriverUuid);
    }
    // SAFETY: see above.
    if let Some(found) = unsafe { chain::find::<vk::PhysicalDeviceDriverProperties<'_>>(chain) } {
        text(&mut found.driver_name, Field::DriverName);
        text(&mut found.driver_info, Field::DriverInfo);
        found.driver_id = driver_id().unwrap_or(found.driver_id);
    }
    // SAFETY: see above.
    let found = unsafe { chain::find::<vk::PhysicalDeviceFloatControlsProperties<'_>>(chain) };
    if let Some(found) = found {
        claims().for_each(|(control, value)| float_control(found, control, value));
        found.denorm_behavior_independence =
            independence().unwrap_or(found.denorm_behavior_independence);
        found.rounding_mode_independence =
            independence().unwrap_or(found.rounding_mode_independence);
    }
    // SAFETY: see above.
    if let Some(found) = unsafe { chain::find::<vk::PhysicalDeviceVulkan12Properties<'_>>(chain) } {
        text(&mut found.driver_name, Field::DriverName);
        text(&mut found.driver_info, Field::DriverInfo);
        found.driver_id = driver_id().unwrap_or(found.driver_id);
        claims().for_each(|(control, value)| float_control12(found, control, value));
        found.denorm_behavior_independence =
            independence().unwrap_or(found.denorm_behavior_independence);
        found.rounding_mode_independence =
            independence().unwrap_or(found.rounding_mode_independence);
    }
}

/// Features with the value that a statement gives them.
pub(super) fn switched() -> impl Iterator<Item = (&'static str, vk::Bool32)> {
    let own = kinds().filter_map(|kind| match kind {
        Kind::Feature(name, value) => Some((*name, *value)),
        // This mode's claim is a feature.
        Kind::Claim { control: Control::FastMath0, .. } => Some(("shaderFloatControls2", vk::TRUE)),
        Kind::Deny(Control::FastMath0) => Some(("shaderFloatControls2", vk::FALSE)),
        _ => None,
    });
    let emulated = kinds().filter_map(|kind| match kind {
        Kind::Emulate(emulation) => Some(emulation.claimed.features),
        _ => None,
    });
    own.chain(emulated.flatten().map(|feature| (*feature, vk::TRUE)))
}

/// What a format can be used for.
pub(super) fn format(format: vk::Format, properties: &mut vk::FormatProperties) {
    for kind in kinds() {
        if let Kind::Withhold(of, features) = kind
            && *of == format
        {
            properties.optimal_tiling_features &= !*features;
            properties.buffer_features &= !*features;
        }
    }
}

/// Features, and those chained to them.
///
/// # Safety
/// Both may be written; `chain` as for [`chained`].
pub(super) unsafe fn features(core: *mut vk::PhysicalDeviceFeatures, chain: *mut c_void) {
    for (name, value) in switched() {
        // SAFETY: the caller's promise.
        for place in unsafe { places(name, core, chain) } {
            // SAFETY: each is a field of a structure of the chain.
            unsafe { *place = value };
        }
    }
    if reports() {
        // SAFETY: the caller's promise.
        if let Some(found) = unsafe { chain::find::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>(chain) }
        {
            found.device_fault = vk::TRUE;
            let binary =
                kinds().any(|kind| matches!(kind, Kind::Report(report) if report.binary > 0));
            found.device_fault_vendor_binary = vk::Bool32::from(binary);
        }
    }
}

/// Whether `VK_EXT_device_fault` is the layer's.
pub(super) fn reports() -> bool {
    kinds().any(|kind| matches!(kind, Kind::Report(_)))
}

/// Where a feature stands: in the core structure or in some of a chain.
///
/// # Safety
/// `core` is null or points to features; `chain` as for [`chained`].
pub(super) unsafe fn places(
    name: &str,
    core: *mut vk::PhysicalDeviceFeatures,
    chain: *const c_void,
) -> Vec<*mut vk::Bool32> {
    // SAFETY: the caller's promise.
    let core = unsafe { core.as_mut() };
    macro_rules! chained {
        ($($structure:ty: $field:ident),*) => {
            [$(
                // SAFETY: the caller's promise.
                unsafe { chain::find::<$structure>(chain) }.map(|found| &raw mut found.$field)
            ),*].into_iter().flatten().collect()
        };
    }
    let core =
        |field: fn(&mut vk::PhysicalDeviceFeatures) -> &mut vk::Bool32| -> Vec<*mut vk::Bool32> {
            core.map(|core| &raw mut *field(core)).into_iter().collect()
        };
    match name {
        "shaderFloat16" => chained!(
            vk::PhysicalDeviceShaderFloat16Int8Features<'_>: shader_float16,
            vk::PhysicalDeviceVulkan12Features<'_>: shader_float16
        ),
        "shaderFloat64" => core(|core| &mut core.shader_float64),
        "shaderFloatControls2" => {
            chained!(vk::PhysicalDeviceShaderFloatControls2FeaturesKHR<'_>: shader_float_controls2)
        }
        "shaderInt16" => core(|core| &mut core.shader_int16),
        "shaderInt64" => core(|core| &mut core.shader_int64),
        "shaderStorageImageExtendedFormats" => {
            core(|core| &mut core.shader_storage_image_extended_formats)
        }
        "storageBuffer16BitAccess" => chained!(
            vk::PhysicalDevice16BitStorageFeatures<'_>: storage_buffer16_bit_access,
            vk::PhysicalDeviceVulkan11Features<'_>: storage_buffer16_bit_access
        ),
        _ => {
            let claimed = CLAIMED.iter().find_map(|claimed| {
                let place = claimed.features.iter().position(|feature| *feature == name)?;
                Some((vk::StructureType::from_raw(claimed.structure), place))
            });
            // SAFETY: the caller's promise. The flags follow type and next pointer.
            let flag = claimed.and_then(|(kind, place)| unsafe {
                Some(chain::find_kind(chain, kind)?.add(1).cast::<vk::Bool32>().add(place))
            });
            flag.into_iter().collect()
        }
    }
}

/// Extensions that statements add or take away.
pub(super) fn switched_extensions() -> Vec<(String, bool)> {
    let own = |name: &CStr| name.to_string_lossy().into_owned();
    let expected = kinds().filter_map(|kind| match kind {
        Kind::Extension(name, on) => Some((name.clone(), *on)),
        Kind::Claim { control: Control::FastMath0, .. } => {
            Some((own(khr::shader_float_controls2::NAME), true))
        }
        Kind::Report(_) => Some((own(ext::device_fault::NAME), true)),
        Kind::Emulate(emulation) => Some((emulation.claimed.extension.to_owned(), true)),
        _ => None,
    });
    expected.collect()
}

/// The device's extensions.
pub(super) fn extensions(mut found: Vec<vk::ExtensionProperties>) -> Vec<vk::ExtensionProperties> {
    for (name, on) in switched_extensions() {
        found.retain(|one| {
            one.extension_name_as_c_str().is_ok_and(|other| other.to_bytes() != name.as_bytes())
        });
        if on {
            let mut one =
                vk::ExtensionProperties { spec_version: 1, ..vk::ExtensionProperties::default() };
            property::write(&mut one.extension_name, name.as_bytes(), false);
            found.push(one);
        }
    }
    found
}
