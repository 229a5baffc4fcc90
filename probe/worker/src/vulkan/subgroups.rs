//! Sizes of subgroups that a pipeline may require (`VK_EXT_subgroup_size_control`, core in Vulkan
//! 1.3).

use ash::{ext, vk};

use super::instance::Instance;
use super::physical::Physical;

/// Most invocations of a subgroup (Vulkan 1.4, `subgroupSize`): a driver that says more is not
/// followed.
const MOST_INVOCATIONS: u32 = 128;

/// What a device offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subgroups {
    /// Least and most invocations of a subgroup.
    pub(super) sizes: [u32; 2],
    /// Most subgroups of a work group.
    pub(super) most: u32,
}

/// Invocations of a subgroup where no pipeline requires another number; Vulkan 1.1 is needed.
pub(super) fn size(instance: &Instance, physical: &Physical) -> u32 {
    properties(instance, physical).subgroup_size.clamp(1, MOST_INVOCATIONS)
}

/// What the driver says of subgroups; Vulkan 1.1 is needed.
pub(super) fn properties(
    instance: &Instance,
    physical: &Physical,
) -> vk::PhysicalDeviceSubgroupProperties<'static> {
    let mut properties = vk::PhysicalDeviceSubgroupProperties::default();
    let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
    // SAFETY: the handle is the instance's; Vulkan 1.1 has the structure, which outlives the call,
    // and the function.
    unsafe { instance.raw().get_physical_device_properties2(physical.raw, &mut chain) };
    properties
}

/// What a device lets compute pipelines choose among; `None` where there is one size only.
pub(super) fn offered(instance: &Instance, physical: &Physical) -> Option<Subgroups> {
    if !physical.knows(ext::subgroup_size_control::NAME, vk::API_VERSION_1_3) {
        return None;
    }
    let mut features = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
    let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
    // SAFETY: the handle is the instance's; only structures that the device knows are chained, and
    // they outlive the call. Vulkan 1.1 loaders have the function.
    unsafe { instance.raw().get_physical_device_features2(physical.raw, &mut chain) };
    let mut properties = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
    // SAFETY: as above.
    unsafe { instance.raw().get_physical_device_properties2(physical.raw, &mut chain) };
    let sizes = [properties.min_subgroup_size, properties.max_subgroup_size];
    let compute = properties.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
    let chooses = features.subgroup_size_control != 0 && compute && sizes[0] < sizes[1];
    chooses.then_some(Subgroups { sizes, most: properties.max_compute_workgroup_subgroups })
}
