//! Lists of instances and physical devices: their lengths, and the device's extensions.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::ffi::{CStr, c_char};
use std::mem::transmute;

use ash::vk;

use super::process::fail;
use super::state::{before, instance, state};
use super::{answers, queues};
use crate::statement::Kind;

/// The length that a statement wants a list to announce.
pub(super) fn announced(name: &str) -> Option<u32> {
    state().armed.iter().rev().find_map(|armed| match armed.statement.kind {
        Kind::Length(list, count) if list == name => Some(count),
        _ => None,
    })
}

/// A list with Vulkan's two-call idiom, of the announced length where there is one.
///
/// # Safety
/// `count` points to a number, and `data` is null or has room for that many elements.
unsafe fn list<T>(
    name: &str,
    count: *mut u32,
    data: *mut T,
    next: impl FnOnce(*mut u32, *mut T) -> vk::Result,
) -> vk::Result {
    let code = next(count, data);
    if let Some(announced) = announced(name) {
        // SAFETY: the caller's promise. Of elements that are announced and not there, none is
        // written.
        unsafe { *count = if data.is_null() { announced } else { announced.min(*count) } };
    }
    code
}

pub(super) unsafe extern "system" fn vkEnumeratePhysicalDevices(
    handle: vk::Instance,
    count: *mut u32,
    data: *mut vk::PhysicalDevice,
) -> vk::Result {
    const NAME: &str = "vkEnumeratePhysicalDevices";
    before(NAME, &[]).unwrap_or_else(|| {
        // SAFETY: the function has the type of its name, and gets what this one got.
        unsafe {
            let next: vk::PFN_vkEnumeratePhysicalDevices = transmute(instance(handle).next(NAME));
            list(NAME, count, data, |count, data| next(handle, count, data))
        }
    })
}

pub(super) unsafe extern "system" fn vkGetPhysicalDeviceQueueFamilyProperties(
    handle: vk::PhysicalDevice,
    count: *mut u32,
    data: *mut vk::QueueFamilyProperties,
) {
    const NAME: &str = "vkGetPhysicalDeviceQueueFamilyProperties";
    let _ = before(NAME, &[]);
    // SAFETY: the function has the type of its name, and gets what this one got.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties =
            transmute(instance(handle).next(NAME));
        let _ = list(NAME, count, data, |count, data| {
            next(handle, count, data);
            if let (false, Some(queues)) = (data.is_null(), queues::announced()) {
                for family in std::slice::from_raw_parts_mut(data, *count as usize) {
                    family.queue_count = queues;
                }
            }
            vk::Result::SUCCESS
        });
    }
}

/// The driver's own device extensions.
///
/// # Safety
/// The physical device is one of a living instance.
pub(super) unsafe fn extensions(handle: vk::PhysicalDevice) -> Vec<vk::ExtensionProperties> {
    // SAFETY: the function has the type of its name; it gets a count and then room for that many.
    unsafe {
        let name = "vkEnumerateDeviceExtensionProperties";
        let next: vk::PFN_vkEnumerateDeviceExtensionProperties =
            transmute(instance(handle).next(name));
        let mut count = 0;
        if next(handle, std::ptr::null(), &raw mut count, std::ptr::null_mut())
            != vk::Result::SUCCESS
        {
            fail("the driver does not list its extensions");
        }
        let mut found = vec![vk::ExtensionProperties::default(); count as usize];
        let _ = next(handle, std::ptr::null(), &raw mut count, found.as_mut_ptr());
        found.truncate(count as usize);
        found
    }
}

pub(super) unsafe extern "system" fn vkEnumerateDeviceExtensionProperties(
    handle: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    data: *mut vk::ExtensionProperties,
) -> vk::Result {
    const NAME: &str = "vkEnumerateDeviceExtensionProperties";
    if let Some(code) = before(NAME, &[]) {
        return code;
    }
    if !layer.is_null() {
        // SAFETY: a layer's name ends in NUL.
        if unsafe { CStr::from_ptr(layer) }.to_bytes() == crate::NAME.as_bytes() {
            // SAFETY: the caller's count. The layer's extensions are among the device's.
            unsafe { *count = 0 };
            return vk::Result::SUCCESS;
        }
        // SAFETY: the function has the type of its name, and gets what this one got.
        return unsafe {
            let next: vk::PFN_vkEnumerateDeviceExtensionProperties =
                transmute(instance(handle).next(NAME));
            next(handle, layer, count, data)
        };
    }
    // SAFETY: the physical device is the caller's.
    let found = answers::extensions(unsafe { extensions(handle) });
    let give = |count: *mut u32, data: *mut vk::ExtensionProperties| {
        // SAFETY: the caller's count, and room for that many.
        unsafe {
            if data.is_null() {
                *count = found.len() as u32;
                return vk::Result::SUCCESS;
            }
            let given = found.len().min(*count as usize);
            std::ptr::copy_nonoverlapping(found.as_ptr(), data, given);
            *count = given as u32;
            if given < found.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
        }
    };
    // SAFETY: the caller's count and room.
    unsafe { list(NAME, count, data, give) }
}
