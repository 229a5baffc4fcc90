//! `VK_EXT_device_fault`: what a lost device is said to have suffered.
#![expect(non_snake_case, reason = "Vulkan's names")]

use std::mem::transmute;
use std::ptr;

use ash::vk;

use super::answers;
use super::state::{device, state};
use crate::property::write;
use crate::statement::{Kind, Report};

/// The layer's function of this name, where a statement has something to report.
pub(super) fn find(name: &str) -> Option<unsafe extern "system" fn()> {
    let ours = name == "vkGetDeviceFaultInfoEXT" && answers::reports();
    // SAFETY: function pointers all have one size, and whoever asks by name knows the type.
    ours.then(|| unsafe {
        transmute::<vk::PFN_vkGetDeviceFaultInfoEXT, unsafe extern "system" fn()>(
            vkGetDeviceFaultInfoEXT,
        )
    })
}

unsafe extern "system" fn vkGetDeviceFaultInfoEXT(
    handle: vk::Device,
    counts: *mut vk::DeviceFaultCountsEXT<'_>,
    info: *mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: handle and counts are the caller's.
    let (device, counts) = unsafe { (device(handle), &mut *counts) };
    if let Some(code) = device.before("vkGetDeviceFaultInfoEXT", &[]) {
        return code;
    }
    let report = state().armed.iter().find_map(|armed| match &armed.statement.kind {
        Kind::Report(report) if device.is_lost() => Some(report.clone()),
        _ => None,
    });
    let report = report.unwrap_or_default();
    // SAFETY: the caller's, or null.
    let Some(info) = (unsafe { info.as_mut() }) else {
        counts.address_info_count = report.addresses.len() as u32;
        counts.vendor_info_count = report.vendor.len() as u32;
        counts.vendor_binary_size = report.binary;
        return vk::Result::SUCCESS;
    };
    // SAFETY: the caller has room for as many as it counts.
    unsafe { notify(&report, counts, info) }
}

/// Writes the report, as far as there is room.
///
/// # Safety
/// `info` points to as much room as `counts` says.
unsafe fn notify(
    report: &Report,
    counts: &mut vk::DeviceFaultCountsEXT<'_>,
    info: &mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    write(&mut info.description, &report.description, false);
    let addresses = report.addresses.len().min(counts.address_info_count as usize);
    for (index, address) in report.addresses.iter().take(addresses).enumerate() {
        let output = vk::DeviceFaultAddressInfoEXT {
            address_type: vk::DeviceFaultAddressTypeEXT::READ_INVALID,
            reported_address: *address,
            address_precision: 1,
        };
        // SAFETY: the caller's promise, here and below.
        unsafe { info.p_address_infos.add(index).write(output) };
    }
    let vendor = report.vendor.len().min(counts.vendor_info_count as usize);
    for (index, (description, code, data)) in report.vendor.iter().take(vendor).enumerate() {
        let mut output = vk::DeviceFaultVendorInfoEXT {
            vendor_fault_code: *code,
            vendor_fault_data: *data,
            ..vk::DeviceFaultVendorInfoEXT::default()
        };
        write(&mut output.description, description, false);
        // SAFETY: see above.
        unsafe { info.p_vendor_infos.add(index).write(output) };
    }
    let binary = report.binary.min(counts.vendor_binary_size);
    if binary > 0 && !info.p_vendor_binary_data.is_null() {
        // SAFETY: see above.
        unsafe { ptr::write_bytes(info.p_vendor_binary_data.cast::<u8>(), 0xfa, binary as usize) };
    }
    let whole = addresses == report.addresses.len()
        && vendor == report.vendor.len()
        && binary == report.binary;
    counts.address_info_count = addresses as u32;
    counts.vendor_info_count = vendor as u32;
    counts.vendor_binary_size = binary;
    if whole { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE }
}
