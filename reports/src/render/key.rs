//! A device as programs recognise it through Vulkan.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Device;

/// What `VkPhysicalDeviceIDProperties` and `VkPhysicalDeviceProperties` say of a device and its
/// driver.
#[derive(Serialize, JsonSchema)]
pub(super) struct DeviceKey<'a> {
    name: &'a str,
    vendor_id: u32,
    device_id: u32,
    device_uuid: &'a str,
    driver_id: u32,
    driver_uuid: &'a str,
    driver_version: &'a str,
    pipeline_cache_uuid: &'a str,
}

impl<'a> DeviceKey<'a> {
    pub(super) fn of(device: &'a Device) -> DeviceKey<'a> {
        let (identity, driver) = (&device.identity, &device.identity.driver);
        DeviceKey {
            name: &identity.name,
            vendor_id: identity.vendor_id,
            device_id: identity.device_id,
            device_uuid: &identity.device_uuid,
            driver_id: driver.id,
            driver_uuid: &driver.uuid,
            driver_version: &driver.version,
            pipeline_cache_uuid: &driver.pipeline_cache_uuid,
        }
    }
}
