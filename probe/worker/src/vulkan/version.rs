//! Version numbers as people know them.

use ash::vk;

/// A Vulkan version: `1.3.289`.
pub(super) fn api_version(version: u32) -> String {
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    format!("{major}.{minor}.{}", vk::api_version_patch(version))
}

/// The driver's version as its users know it.
pub(super) fn driver_version(driver_id: i32, vendor: u32, raw: u32) -> String {
    const NVIDIA: u32 = 0x10de;
    // Drivers that use Vulkan's own encoding: all of Mesa, AMD's, SwiftShader, Qualcomm's and
    // Arm's.
    const PLAIN: [vk::DriverId; 18] = [
        vk::DriverId::AMD_PROPRIETARY,
        vk::DriverId::AMD_OPEN_SOURCE,
        vk::DriverId::MESA_RADV,
        vk::DriverId::INTEL_OPEN_SOURCE_MESA,
        vk::DriverId::QUALCOMM_PROPRIETARY,
        vk::DriverId::ARM_PROPRIETARY,
        vk::DriverId::GOOGLE_SWIFTSHADER,
        vk::DriverId::BROADCOM_PROPRIETARY,
        vk::DriverId::MESA_LLVMPIPE,
        vk::DriverId::MESA_TURNIP,
        vk::DriverId::MESA_V3DV,
        vk::DriverId::MESA_PANVK,
        vk::DriverId::SAMSUNG_PROPRIETARY,
        vk::DriverId::MESA_VENUS,
        vk::DriverId::MESA_DOZEN,
        vk::DriverId::MESA_NVK,
        vk::DriverId::IMAGINATION_OPEN_SOURCE_MESA,
        // MESA_HONEYKRISP, newer than the headers.
        vk::DriverId::from_raw(26),
    ];
    let id = vk::DriverId::from_raw(driver_id);
    let unnamed = driver_id == 0;
    if id == vk::DriverId::NVIDIA_PROPRIETARY || (unnamed && vendor == NVIDIA) {
        // 10.8.8.6 bits, the last usually 0 and never spoken of.
        let (major, minor, patch, rest) =
            (raw >> 22, raw >> 14 & 0xff, raw >> 6 & 0xff, raw & 0x3f);
        let rest = if rest == 0 { String::new() } else { format!(".{rest}") };
        format!("{major}.{minor}.{patch:02}{rest}")
    } else if PLAIN.contains(&id) {
        // Ten bits of major: drivers do not know of the variant bits.
        format!("{}.{}.{}", raw >> 22, raw >> 12 & 0x3ff, raw & 0xfff)
    } else {
        raw.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_versions_leave_the_variant_out() {
        assert_eq!(api_version(vk::make_api_version(0, 1, 3, 289)), "1.3.289");
        assert_eq!(api_version(u32::MAX), "127.1023.4095");
    }

    #[test]
    fn driver_versions_are_decoded_by_vendor() {
        let nvidia = 550 << 22 | 54 << 14 | 14 << 6;
        assert_eq!(driver_version(4, 0x10de, nvidia), "550.54.14");
        assert_eq!(driver_version(0, 0x10de, 535 << 22 | 5 << 6 | 1), "535.0.05.1");
        let mesa = 25 << 22 | 3;
        assert_eq!(driver_version(vk::DriverId::MESA_LLVMPIPE.as_raw(), 0x10005, mesa), "25.0.3");
        assert_eq!(driver_version(vk::DriverId::MESA_NVK.as_raw(), 0x10de, mesa), "25.0.3");
        assert_eq!(driver_version(vk::DriverId::MOLTENVK.as_raw(), 0x106b, 10204), "10204");
        assert_eq!(driver_version(0, 0x1234, 7), "7");
        assert_eq!(
            driver_version(vk::DriverId::MESA_RADV.as_raw(), 0x1002, u32::MAX),
            "1023.1023.4095"
        );
    }
}
