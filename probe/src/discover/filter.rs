//! The loader's own filters on manifest names: `VK_LOADER_DRIVERS_SELECT` and
//! `VK_LOADER_DRIVERS_DISABLE`.

use std::path::Path;

use fpprobe_system::loader::Lookup;

/// Comma-separated patterns, compared without regard to case, `*` at either end.
pub struct DriverFilter {
    select: Vec<String>,
    disable: Vec<String>,
}

impl DriverFilter {
    /// The filters of an environment.
    pub fn new(variable: Lookup<'_>) -> DriverFilter {
        let list = |name: &str| -> Vec<String> {
            let text = variable(name).unwrap_or_default().to_string_lossy().to_lowercase();
            text.split(',')
                .map(str::trim)
                .filter(|pattern| !pattern.is_empty())
                .map(str::to_owned)
                .collect()
        };
        DriverFilter {
            select: list("VK_LOADER_DRIVERS_SELECT"),
            disable: list("VK_LOADER_DRIVERS_DISABLE"),
        }
    }

    /// Whether the loader would use a manifest of this name.
    pub fn admits(&self, manifest: &Path) -> bool {
        let name = manifest.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, &name));
        (self.select.is_empty() || any(&self.select)) && !any(&self.disable)
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let (front, middle) = pattern.strip_prefix('*').map_or((false, pattern), |rest| (true, rest));
    let (back, middle) = middle.strip_suffix('*').map_or((false, middle), |rest| (true, rest));
    match (front, back) {
        (true, true) => name.contains(middle),
        (true, false) => name.ends_with(middle),
        (false, true) => name.starts_with(middle),
        (false, false) => name == middle,
    }
}
