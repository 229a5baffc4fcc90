//! A physical device: what has to be known before anything else may be asked.

use std::collections::BTreeSet;
use std::ffi::CStr;

use ash::vk;

use super::instance::Instance;
use super::text::{list, printable};
use super::version::api_version;

/// A physical device of an [`Instance`].
pub(super) struct Physical {
    /// Its handle.
    pub(super) raw: vk::PhysicalDevice,
    /// Core properties, limits among them.
    pub(super) properties: vk::PhysicalDeviceProperties,
    /// The version that may be used with it: its own, or the instance's where that is older.
    pub(super) version: u32,
    /// Queue family with compute, where there is one.
    pub(super) family: Option<u32>,
    /// Another queue with compute, by family and number, where there is one.
    pub(super) second: Option<(u32, u32)>,
    /// Whether it can draw and blit.
    pub(super) draws: bool,
    /// Why nothing can be measured on it.
    pub(super) obstacle: Option<String>,
    extensions: BTreeSet<String>,
}

impl Physical {
    /// Asks the driver for version, extensions and queues; what fails becomes the obstacle.
    pub(super) fn new(instance: &Instance, raw: vk::PhysicalDevice) -> Physical {
        let functions = instance.raw().fp_v1_0();
        // Called directly, since ash's wrapper hands out uninitialised memory where a driver leaves
        // fields unwritten.
        let mut properties = vk::PhysicalDeviceProperties::default();
        // SAFETY: `raw` was enumerated from this instance, here and below; the result outlives the
        // call.
        unsafe { (functions.get_physical_device_properties)(raw, &raw mut properties) };
        let found = list("vkEnumerateDeviceExtensionProperties", |count, data| {
            // SAFETY: `list` passes a count and either null or room for that many structures; no
            // layer is named.
            unsafe {
                (functions.enumerate_device_extension_properties)(
                    raw,
                    std::ptr::null(),
                    count,
                    data,
                )
            }
        });
        let families = list("vkGetPhysicalDeviceQueueFamilyProperties", |count, data| {
            // SAFETY: `list` passes a count and either null or room for that many structures.
            unsafe { (functions.get_physical_device_queue_family_properties)(raw, count, data) };
            vk::Result::SUCCESS
        })
        .unwrap_or_default();
        let having = |flags: vk::QueueFlags| {
            let has = |family: &vk::QueueFamilyProperties| {
                family.queue_count > 0 && family.queue_flags.contains(flags)
            };
            families.iter().position(has)
        };
        // One that can draw and blit as well, where there is one.
        let drawing = having(vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS);
        let family = drawing.or_else(|| having(vk::QueueFlags::COMPUTE));
        let several = family
            .filter(|family| families[*family].queue_count > 1)
            .map(|family| (family as u32, 1));
        let elsewhere = || {
            let computes = |(index, other): &(usize, &vk::QueueFamilyProperties)| {
                Some(*index) != family
                    && other.queue_count > 0
                    && other.queue_flags.contains(vk::QueueFlags::COMPUTE)
            };
            families.iter().enumerate().find(computes).map(|(index, _)| (index as u32, 0))
        };
        let second = several.or_else(elsewhere);

        let api = properties.api_version;
        let obstacle = match (&found, family) {
            _ if vk::api_version_variant(api) != 0 => {
                Some(format!("it implements variant {} of Vulkan", vk::api_version_variant(api)))
            }
            _ if api < vk::API_VERSION_1_1 => {
                Some(format!("it has Vulkan {} only; 1.1 is needed", api_version(api)))
            }
            (Err(error), _) => Some(error.to_string()),
            (_, None) => Some("it has no compute queue".to_owned()),
            _ => None,
        };
        let extensions = found.unwrap_or_default();
        Physical {
            raw,
            properties,
            version: api.min(instance.version),
            family: family.map(|index| index as u32),
            second,
            draws: drawing.is_some(),
            obstacle,
            extensions: extensions
                .iter()
                .map(|one: &vk::ExtensionProperties| printable(&one.extension_name))
                .collect(),
        }
    }

    /// Whether the device lists this extension.
    pub(super) fn has(&self, extension: &CStr) -> bool {
        extension.to_str().is_ok_and(|name| self.extensions.contains(name))
    }

    /// Whether structures of this extension may be chained: it is listed, or has become core with
    /// `promoted`.
    pub(super) fn knows(&self, extension: &CStr, promoted: u32) -> bool {
        self.speaks_1_1() && (self.version >= promoted || self.has(extension))
    }

    /// Whether the device can be asked by the functions of Vulkan 1.1.
    pub(super) fn speaks_1_1(&self) -> bool {
        self.version >= vk::API_VERSION_1_1
            && vk::api_version_variant(self.properties.api_version) == 0
    }
}
