//! Is there a Vulkan loader?

use std::path::Path;

use super::Finding;
use crate::event::Listener;
use crate::supervisor::{Settings, ask_loader};

/// Asks a worker without any driver to load it.
pub fn look(settings: &Settings, listener: Listener<'_>) -> Vec<Finding> {
    // A manifest that is none: the loader is loaded, and finds no driver.
    match ask_loader(Path::new("/dev/null"), settings, listener) {
        Ok(()) => vec![Finding::good("the Vulkan loader (libvulkan.so.1) is there")],
        Err(failure) => vec![Finding::bad(
            format!("the Vulkan loader cannot be used: {failure}"),
            "install it: package libvulkan1 on Debian and Ubuntu, vulkan-loader on Fedora, vulkan-icd-loader on Arch",
        )],
    }
}
