//! Any text as a configuration. The settings are compiled by themselves: the binary around them would bring in Vulkan.
#![no_main]

#[path = "../../../probe/src/config/daemon.rs"]
mod daemon;
#[path = "../../../probe/src/config/settings.rs"]
mod settings;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = settings::parse(text);
});
