//! Devices by what people call them.

use crate::model::Identity;

/// The numbers of `vendor:device`, in hex.
pub fn ids(text: &str) -> Option<(u32, u32)> {
    let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let (vendor, device) = text.split_once(':')?;
    Some((hex(vendor)?, hex(device)?))
}

/// Whether a text names a device: `vendor:device` in hex, its UUID, its key, or a part of its name.
pub fn selects(selection: &str, identity: &Identity) -> bool {
    if let Some(ids) = ids(selection) {
        return ids == (identity.vendor_id, identity.device_id);
    }
    let digits = selection.replace('-', "").to_lowercase();
    if digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return digits == identity.device_uuid.replace('-', "").to_lowercase();
    }
    !selection.is_empty() && identity.name.to_lowercase().contains(&selection.to_lowercase())
        || selection == identity.key
}
