//! Layers and caches that could alter what is measured.

use super::Finding;
use crate::supervisor::Settings;

/// Looks at the environment that workers get.
pub fn look(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match set("VK_INSTANCE_LAYERS").or_else(|| set("VK_LOADER_LAYERS_ENABLE")) {
        Some(layers) => findings.push(Finding::note(
            format!("explicit layers are switched on by the environment: {layers}"),
            "unset VK_INSTANCE_LAYERS and VK_LOADER_LAYERS_ENABLE for reports that are to be a reference",
        )),
        None => findings.push(Finding::good("no explicit layer is switched on by the environment")),
    }
    if settings.environment.implicit_layers() {
        findings.push(Finding::note("implicit layers may load", "set `layers.implicit = false` in config.toml"));
    } else {
        findings.push(Finding::good("implicit layers are kept out of workers"));
    }
    let off = settings.environment.caches_off();
    if off.is_empty() {
        findings
            .push(Finding::note("drivers may use their caches on disk", "set `drivers.caches = false` in config.toml"));
    } else {
        findings.push(Finding::good(format!("caches of drivers are off in workers: {}", off.join(" "))));
    }
    for name in [
        "VK_DRIVER_FILES",
        "VK_ICD_FILENAMES",
        "VK_ADD_DRIVER_FILES",
        "VK_LOADER_DRIVERS_SELECT",
        "VK_LOADER_DRIVERS_DISABLE",
    ] {
        if let Some(value) = set(name) {
            findings.push(Finding::note(format!("{name} chooses drivers: {value}"), ""));
        }
    }
    findings
}
