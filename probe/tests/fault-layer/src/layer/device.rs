//! Making and ending devices, and finding their functions.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;

use ash::{ext, vk};

use super::chain::{self, DeviceLink};
use super::state::{Device, before, device, keep_device};
use super::{answers, commands, device_fault, instance, lists, memory, plain, queues, shader};
use crate::arithmetic::CLAIMED;

/// The layer's function of this name.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    let own = match name {
        // SAFETY: function pointers all have one size, and whoever asks by name knows the type.
        "vkCreateDevice" => unsafe {
            transmute::<vk::PFN_vkCreateDevice, unsafe extern "system" fn()>(vkCreateDevice)
        },
        // SAFETY: as above.
        "vkDestroyDevice" => unsafe {
            transmute::<vk::PFN_vkDestroyDevice, unsafe extern "system" fn()>(vkDestroyDevice)
        },
        // SAFETY: as above.
        "vkGetDeviceProcAddr" => unsafe {
            transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(
                super::get_device_proc_addr,
            )
        },
        _ => {
            return plain::find(name)
                .or_else(|| shader::find(name))
                .or_else(|| commands::find(name))
                .or_else(|| memory::find(name))
                .or_else(|| queues::find(name))
                .or_else(|| device_fault::find(name));
        }
    };
    Some(own)
}

unsafe extern "system" fn vkCreateDevice(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    created: *mut vk::Device,
) -> vk::Result {
    if let Some(code) = before("vkCreateDevice", &[]) {
        return code;
    }
    // SAFETY: the loader puts its links into the chain of this call.
    let link = unsafe {
        let next = |link: &DeviceLink| link.next;
        chain::advance::<DeviceLink>(
            (*info).p_next,
            vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            next,
        )
    };
    let Some(link) = link else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    // SAFETY: the link lives until after the call.
    let (get_instance, get) =
        unsafe { ((*link).get_instance_proc_addr, (*link).get_device_proc_addr) };
    // SAFETY: the physical device belongs to an instance that is known.
    let owner = unsafe { super::state::instance(physical) };
    // SAFETY: the next in the chain gave this function for this instance.
    let Some(create) = (unsafe { get_instance(owner.handle, c"vkCreateDevice".as_ptr()) }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: `info` is the caller's and lives until after the call.
    let selected = unsafe { KernelCases::new(physical, info) };
    // SAFETY: the function has the type of its name; `asked` lives until after the call.
    let code = unsafe {
        let create: vk::PFN_vkCreateDevice = transmute(create);
        create(physical, &raw const selected.info, allocator, created)
    };
    drop(selected);
    if code == vk::Result::SUCCESS {
        // SAFETY: it was just made.
        unsafe { keep_device(Device::new(*created, get)) };
    }
    code
}

unsafe extern "system" fn vkDestroyDevice(
    handle: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let _ = before("vkDestroyDevice", &[]);
    if handle == vk::Device::null() {
        return;
    }
    // SAFETY: the device is alive until the next function ends it, which has the type of its name.
    unsafe {
        let next: vk::PFN_vkDestroyDevice = transmute(device(handle).next("vkDestroyDevice"));
        next(handle, allocator);
    }
}

/// What is asked of the driver: what was asked of the layer, less what only the layer has. Changes
/// the caller's features in place, and restores them when dropped.
struct KernelCases<'a> {
    info: vk::DeviceCreateInfo<'a>,
    /// What `info` points to.
    _extensions: Vec<*const c_char>,
    _queues: Vec<vk::DeviceQueueCreateInfo<'a>>,
    changed: Vec<(*mut vk::Bool32, vk::Bool32)>,
    /// Structures that are not passed on, each behind the one that was before it.
    unlinked: Vec<[*mut vk::BaseOutStructure<'static>; 2]>,
}

impl KernelCases<'_> {
    /// # Safety
    /// `info` is valid, and lives and is nobody else's as long as the result.
    unsafe fn new(physical: vk::PhysicalDevice, info: *const vk::DeviceCreateInfo<'_>) -> Self {
        // SAFETY: the caller's promise.
        let mut info = unsafe { *info.cast::<vk::DeviceCreateInfo<'_>>() };
        // SAFETY: the caller's promise.
        let extensions = unsafe { extensions(physical, &info) };
        info.enabled_extension_count = extensions.len() as u32;
        info.pp_enabled_extension_names = extensions.as_ptr();
        // SAFETY: the caller's promise.
        let queues = unsafe { queues::existing(&info) };
        info.p_queue_create_infos = queues.as_ptr();
        // SAFETY: the physical device is the caller's; fpprobe opens devices of Vulkan 1.1 only.
        let own = unsafe { instance::own_features(physical) };
        // SAFETY: the caller's promise.
        let changed = unsafe { without_added_features(&own, &info) };
        let foreign = [
            (answers::reports(), vk::StructureType::PHYSICAL_DEVICE_FAULT_FEATURES_EXT),
            (
                !own.contains(&"shaderFloatControls2"),
                vk::StructureType::PHYSICAL_DEVICE_SHADER_FLOAT_CONTROLS_2_FEATURES_KHR,
            ),
        ];
        // What is emulated is none of the driver's.
        let emulated = CLAIMED.iter().map(|claimed| {
            let is_ours = answers::switched().any(|(name, _)| claimed.features.contains(&name));
            (is_ours, vk::StructureType::from_raw(claimed.structure))
        });
        let first = (&raw mut info).cast();
        let foreign = foreign.into_iter().chain(emulated).filter(|(ours, _)| *ours);
        // SAFETY: the chain is the caller's.
        let mut unlinked: Vec<_> =
            foreign.filter_map(|(_, kind)| unsafe { chain::unlink(first, kind) }).collect();
        // The first structure is a copy, and the caller's own still points to the next.
        unlinked.retain(|[before, _]| *before != first);
        // SAFETY: nothing but the lifetime of what it points to changes, which is the caller's
        // promise.
        let info = unsafe { transmute::<vk::DeviceCreateInfo<'_>, vk::DeviceCreateInfo<'_>>(info) };
        KernelCases { info, _extensions: extensions, _queues: queues, changed, unlinked }
    }
}

impl Drop for KernelCases<'_> {
    fn drop(&mut self) {
        for (place, value) in &self.changed {
            // SAFETY: each is a field that `new` was promised.
            unsafe { **place = *value };
        }
        for [before, itself] in self.unlinked.iter().rev() {
            // SAFETY: both are structures of the caller's chain.
            unsafe { (**before).p_next = *itself };
        }
    }
}

/// The extensions to enable, less those that the driver lacks because the layer has added them.
///
/// # Safety
/// `info` is valid.
unsafe fn extensions(
    physical: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
) -> Vec<*const c_char> {
    let added: Vec<String> = answers::switched_extensions()
        .into_iter()
        .filter(|(_, on)| *on)
        .map(|(name, _)| name)
        .collect();
    // SAFETY: the physical device is the caller's.
    let own = unsafe { lists::extensions(physical) };
    let has = |name: &CStr| own.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
    let names = (0..info.enabled_extension_count as usize).map(|index| {
        // SAFETY: the structure points to that many names.
        unsafe { *info.pp_enabled_extension_names.add(index) }
    });
    let keeps = |name: &*const c_char| {
        // SAFETY: each name ends in NUL.
        let name = unsafe { CStr::from_ptr(*name) };
        // Whether or not the driver has this one: the layer answers for it.
        let ours = answers::reports() && name == ext::device_fault::NAME;
        !ours && (has(name) || !added.iter().any(|added| added.as_bytes() == name.to_bytes()))
    };
    names.filter(keeps).collect()
}

/// Switches off what the driver lacks because the layer has added it. Returns what was there.
///
/// # Safety
/// `info` is valid, and what it points to may be written.
unsafe fn without_added_features(
    own: &[&str],
    info: &vk::DeviceCreateInfo<'_>,
) -> Vec<(*mut vk::Bool32, vk::Bool32)> {
    let added: Vec<&str> =
        answers::switched().filter(|(_, value)| *value != 0).map(|(name, _)| name).collect();
    let chain: *const c_void = info.p_next;
    // SAFETY: the chain is the caller's.
    let features2 = unsafe { chain::find::<vk::PhysicalDeviceFeatures2<'_>>(chain) };
    let core =
        features2.map_or(info.p_enabled_features.cast_mut(), |found| &raw mut found.features);
    let mut changed = Vec::new();
    for name in added.into_iter().filter(|name| !own.contains(name)) {
        // SAFETY: features and chain are the caller's.
        for place in unsafe { answers::places(name, core, chain) } {
            // SAFETY: each is a field of a structure of the chain.
            changed.push((place, unsafe { place.replace(vk::FALSE) }));
        }
    }
    changed
}
