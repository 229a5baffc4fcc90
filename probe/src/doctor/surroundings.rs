//! Layers and caches that could alter what is measured.

use super::Diagnosis;
use crate::supervisor::MeasureSettings;

/// Looks at the environment that workers get.
pub fn look(settings: &MeasureSettings) -> Vec<Diagnosis> {
    let mut findings = Vec::new();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match set("VK_INSTANCE_LAYERS").or_else(|| set("VK_LOADER_LAYERS_ENABLE")) {
        Some(layers) => findings.push(Diagnosis::note(
            format!("explicit layers are switched on by the environment: {layers}"),
            "unset VK_INSTANCE_LAYERS and VK_LOADER_LAYERS_ENABLE for reports that are to be a reference",
        )),
        None => findings.push(Diagnosis::good("no explicit layer is switched on by the environment")),
    }
    if settings.environment.implicit_layers() {
        findings.push(Diagnosis::note(
            "implicit layers may load",
            "set `layers.implicit = false` in config.toml",
        ));
    } else {
        findings.push(Diagnosis::good("implicit layers are kept out of workers"));
    }
    let off = settings.environment.caches_off();
    if off.is_empty() {
        findings.push(Diagnosis::note(
            "drivers may use their caches on disk",
            "set `drivers.caches = false` in config.toml",
        ));
    } else {
        findings.push(Diagnosis::good(format!(
            "caches of drivers are off in workers: {}",
            off.join(" ")
        )));
    }
    for name in [
        "VK_DRIVER_FILES",
        "VK_ICD_FILENAMES",
        "VK_ADD_DRIVER_FILES",
        "VK_LOADER_DRIVERS_SELECT",
        "VK_LOADER_DRIVERS_DISABLE",
    ] {
        if let Some(value) = set(name) {
            findings.push(Diagnosis::note(format!("{name} chooses drivers: {value}"), ""));
        }
    }
    findings
}
