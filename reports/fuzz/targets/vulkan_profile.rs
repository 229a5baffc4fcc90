//! A Vulkan Profiles file as a requirement: any bytes are demands or a message.
#![no_main]

use fpprobe_reports::vulkan_profile::VulkanDemands;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = VulkanDemands::parse(text, None);
        let _ = VulkanDemands::parse(text, Some("VP_A_one"));
    }
});
