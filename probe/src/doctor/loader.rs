//! Is there a Vulkan loader?

use std::path::Path;

use super::Diagnosis;
use crate::event::Listener;
use crate::supervisor::{MeasureSettings, query_loader};

/// Has a worker without any driver load it.
pub fn look(settings: &MeasureSettings, listener: Listener<'_>) -> Vec<Diagnosis> {
    // A manifest that is none: the loader is loaded, and finds no driver.
    match query_loader(Path::new("/dev/null"), settings, listener) {
        Ok(()) => vec![Diagnosis::good("the Vulkan loader (libvulkan.so.1) is there")],
        Err(failure) => vec![Diagnosis::bad(
            format!("the Vulkan loader cannot be used: {failure}"),
            "install it: package libvulkan1 on Debian and Ubuntu, vulkan-loader on Fedora, vulkan-icd-loader on Arch",
        )],
    }
}
