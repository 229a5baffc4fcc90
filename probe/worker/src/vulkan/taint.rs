//! What makes answers unfit as a reference: layers between program and driver, and debugging
//! variables of drivers.

use std::env;

use super::library::{Library, Role};

/// Variables that change what code a driver generates or what it claims. Those that only switch
/// disk caches off, as this program does itself, are not among them.
const VARIABLES: [&str; 30] = [
    "ACO_DEBUG",
    "AGX_MESA_DEBUG",
    "ANV_DEBUG",
    "BIFROST_MESA_DEBUG",
    "DZN_DEBUG",
    "FD_MESA_DEBUG",
    "GALLIUM_OVERRIDE_CPU_CAPS",
    "GALLIVM_DEBUG",
    "GALLIVM_PERF",
    "HK_DEBUG",
    "HK_PERFTEST",
    "INTEL_DEBUG",
    "IR3_SHADER_DEBUG",
    "LP_DEBUG",
    "LP_NATIVE_VECTOR_WIDTH",
    "LP_PERF",
    "MESA_EXTENSION_OVERRIDE",
    "MESA_VK_VERSION_OVERRIDE",
    "NAK_DEBUG",
    "NIR_DEBUG",
    "NIR_SKIP",
    "NVK_DEBUG",
    "PANVK_DEBUG",
    "PAN_MESA_DEBUG",
    "RADV_DEBUG",
    "RADV_PERFTEST",
    "TU_DEBUG",
    "V3D_DEBUG",
    "VN_DEBUG",
    "VN_PERF",
];

/// Everything of the kind in this process: `layer PATH` and `NAME=VALUE`.
pub(super) fn taint(loaded: &[Library]) -> Vec<String> {
    let layers = loaded.iter().filter(|library| library.role == Role::Layer);
    let layers = layers.map(|library| format!("layer {}", library.path));
    let variables = VARIABLES.iter().filter_map(|name| {
        let value = env::var_os(name).filter(|value| !value.is_empty())?;
        Some(format!("{name}={}", value.to_string_lossy()))
    });
    layers.chain(variables).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_taint_and_drivers_do_not() {
        let library =
            |path: &str, role| Library { path: path.to_owned(), role, build_id: String::new() };
        let found =
            taint(&[library("/l/driver.so", Role::Driver), library("/l/layer.so", Role::Layer)]);
        assert_eq!(found.first().map(String::as_str), Some("layer /l/layer.so"));
        assert!(found.iter().all(|entry| !entry.contains("driver.so")));
    }

    #[test]
    fn variables_are_in_order() {
        assert!(VARIABLES.is_sorted());
    }
}
