//! What a driver tells of a lost device: `VK_EXT_device_fault`.

use std::fmt::Write as _;

use ash::{ext, vk};

use super::instance::Instance;
use super::physical::Physical;
use super::text::printable;

/// Most addresses and vendor's notes that are kept; a driver may announce any number.
const MOST: u32 = 16;

/// Whether the device offers the extension and its feature ("`VK_EXT_device_fault`",
/// `deviceFault`).
pub(super) fn is_offered(instance: &Instance, physical: &Physical) -> bool {
    if !physical.speaks_1_1() || !physical.has(ext::device_fault::NAME) {
        return false;
    }
    let mut feature = vk::PhysicalDeviceFaultFeaturesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut feature);
    // SAFETY: the device is one of the instance's, knows 1.1 and lists the extension that the
    // structure belongs to.
    unsafe { instance.raw().get_physical_device_features2(physical.raw, &mut features) };
    feature.device_fault == vk::TRUE
}

/// Queries what happened to a lost device; empty where it does not say. The device was created with
/// the extension.
pub(super) fn describe(instance: &Instance, device: &ash::Device) -> String {
    // SAFETY: the device is alive and the name ends in NUL.
    let found = unsafe {
        instance.raw().get_device_proc_addr(device.handle(), c"vkGetDeviceFaultInfoEXT".as_ptr())
    };
    let Some(function) = found else { return String::new() };
    // SAFETY: that is the type of the function of this name.
    let query: vk::PFN_vkGetDeviceFaultInfoEXT = unsafe { std::mem::transmute(function) };

    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: the device is lost, as the call demands; a null pointer requests the counts.
    let counted = unsafe { query(device.handle(), &raw mut counts, std::ptr::null_mut()) };
    if counted.as_raw() < 0 {
        return String::new();
    }
    let room = |count: u32| count.min(MOST);
    let mut addresses =
        vec![vk::DeviceFaultAddressInfoEXT::default(); room(counts.address_info_count) as usize];
    let mut notes =
        vec![vk::DeviceFaultVendorInfoEXT::default(); room(counts.vendor_info_count) as usize];
    counts.address_info_count = room(counts.address_info_count);
    counts.vendor_info_count = room(counts.vendor_info_count);
    // Its form is the vendor's own: nothing here could read it.
    counts.vendor_binary_size = 0;
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: notes.as_mut_ptr(),
        ..vk::DeviceFaultInfoEXT::default()
    };
    // SAFETY: both lists have room for as many elements as their counts say, and outlive the call.
    let result = unsafe { query(device.handle(), &raw mut counts, &raw mut info) };
    if result.as_raw() < 0 {
        return String::new();
    }
    addresses.truncate(counts.address_info_count as usize);
    notes.truncate(counts.vendor_info_count as usize);
    words(&info, &addresses, &notes)
}

fn words(
    info: &vk::DeviceFaultInfoEXT<'_>,
    addresses: &[vk::DeviceFaultAddressInfoEXT],
    notes: &[vk::DeviceFaultVendorInfoEXT],
) -> String {
    let mut text = format!("the driver says: {}", printable(&info.description));
    for address in addresses {
        let (kind, place) = (address.address_type, address.reported_address);
        // Writing into a text cannot fail.
        let _ = write!(text, "; {kind:?} at {place:#x} (to {:#x})", address.address_precision);
    }
    for note in notes {
        let (code, data) = (note.vendor_fault_code, note.vendor_fault_data);
        let _ = write!(text, "; {} (code {code:#x}, data {data:#x})", printable(&note.description));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::cast_possible_wrap, reason = "as for printable")]
    fn everything_that_is_told_is_kept() {
        let mut info = vk::DeviceFaultInfoEXT::default();
        info.description[..4].copy_from_slice(&b"page".map(|byte| byte as std::ffi::c_char));
        let address = vk::DeviceFaultAddressInfoEXT {
            address_type: vk::DeviceFaultAddressTypeEXT::READ_INVALID,
            reported_address: 0xdead_0000,
            address_precision: 4096,
        };
        let note = vk::DeviceFaultVendorInfoEXT {
            vendor_fault_code: 7,
            vendor_fault_data: 8,
            ..Default::default()
        };
        let text = words(&info, &[address], &[note]);
        assert_eq!(
            text,
            "the driver says: page; READ_INVALID at 0xdead0000 (to 0x1000);  (code 0x7, data 0x8)"
        );
    }
}
