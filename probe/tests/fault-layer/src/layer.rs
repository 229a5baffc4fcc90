//! The layer itself: what the loader calls, and what is called in turn.
//!
//! Every intercepted function has the same shape: what is to happen happens ([`state::before`]),
//! the next layer or the driver is asked, and what it says is changed where a statement wants that.
//! Everything else goes past the layer.
//!
//! Pointers and handles come from the loader and from fpprobe, which is held to Vulkan's valid
//! usage by the validation layer in other tests; here they are taken for valid, and every SAFETY
//! comment rests on that.
#![deny(clippy::undocumented_unsafe_blocks)]

mod aftermath;
mod answers;
mod chain;
mod commands;
mod device;
mod device_fault;
mod instance;
mod lists;
mod memory;
mod objects;
mod plain;
mod process;
mod queues;
mod rewriting;
mod shader;
mod state;

use std::ffi::{CStr, c_char, c_void};

use ash::vk;

/// `VkNegotiateLayerInterface` ("Loader and Layer Interface", section "Layer Interface
/// Negotiation"; `vk_layer.h`).
#[repr(C)]
#[derive(Debug)]
pub struct NegotiateLayerInterface {
    s_type: i32,
    next: *mut c_void,
    version: u32,
    get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    get_physical_device_proc_addr: vk::PFN_vkVoidFunction,
}

/// `LAYER_NEGOTIATE_INTERFACE_STRUCT`.
const NEGOTIATE: i32 = 1;
/// The interface version in which negotiation and the chains of `VK_LAYER_LINK_INFO` are as they
/// are here.
const VERSION: u32 = 2;

/// The loader's first call.
///
/// # Safety
/// `interface` is null or points to the loader's structure.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    let _ = state::before("load", &[]);
    // SAFETY: the caller's promise.
    let Some(interface) = (unsafe { interface.as_mut() }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    if interface.s_type != NEGOTIATE || interface.version < VERSION {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.version = VERSION;
    interface.get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.get_device_proc_addr = Some(get_device_proc_addr);
    interface.get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}

/// A function's name; null and what is not UTF-8 are no function's.
///
/// # Safety
/// `name` is null or ends in NUL.
unsafe fn name<'a>(name: *const c_char) -> &'a str {
    if name.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
}

/// `vkGetInstanceProcAddr`.
unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    function: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader passes a name.
    let expected = unsafe { name(function) };
    if let Some(own) = instance::find(expected).or_else(|| device::find(expected)) {
        return Some(own);
    }
    if instance == vk::Instance::null() {
        return None;
    }
    // SAFETY: the instance is the loader's and alive.
    let table = unsafe { state::instance(instance) };
    // SAFETY: the next in the chain gave this function for this instance.
    unsafe { (table.get)(table.handle, function) }
}

/// `vkGetDeviceProcAddr`. What the driver lacks, the layer does not have either.
unsafe extern "system" fn get_device_proc_addr(
    device: vk::Device,
    function: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader passes a name.
    let expected = unsafe { name(function) };
    if let Some(own) = device_fault::find(expected) {
        return Some(own);
    }
    // SAFETY: the device is the loader's and alive.
    let table = unsafe { state::device(device) };
    // SAFETY: the next in the chain gave this function for this device.
    let next = unsafe { (table.get)(table.handle, function) }?;
    Some(device::find(expected).unwrap_or(next))
}
