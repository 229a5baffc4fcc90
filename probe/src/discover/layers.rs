//! Implicit layers, and the variables that switch them off.
//!
//! Loaders before 1.3.234 do not know `VK_LOADER_LAYERS_DISABLE`. Whatever the loader, "an implicit
//! layer must have a `disable_environment`", a variable that "when defined to any value" keeps it
//! out (the loader's `LoaderLayerInterface.md`, "Layer Manifest File Format").

use std::collections::BTreeMap;
use std::path::Path;

use fpprobe_system::loader::{self, Lookup};
use serde::Deserialize;

use super::manifest;

/// A manifest: one layer, or several.
#[derive(Deserialize)]
struct LayerManifest {
    layer: Option<Layer>,
    #[serde(default)]
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
struct Layer {
    #[serde(default)]
    disable_environment: BTreeMap<String, String>,
}

/// What to put into the environment, so that no implicit layer loads. What is there already is left
/// as it is: any value will do.
pub fn switches(variable: Lookup<'_>) -> Vec<(String, String)> {
    let manifests = loader::implicit_layers(variable);
    let found = manifests.iter().flat_map(|path| read(path).unwrap_or_default());
    let mut switches: Vec<(String, String)> =
        found.filter(|(name, _)| variable(name).is_none()).collect();
    switches.sort();
    switches.dedup_by(|one, other| one.0 == other.0);
    switches
}

/// The variables of a manifest; `None` where it cannot be read, in which case no loader reads it
/// either.
fn read(path: &Path) -> Option<Vec<(String, String)>> {
    parse(&manifest::bytes(path).ok()?)
}

/// As [`read`], of a manifest's bytes.
pub fn parse(text: &[u8]) -> Option<Vec<(String, String)>> {
    let file: LayerManifest = serde_json::from_slice(text).ok()?;
    let variables =
        file.layers.into_iter().chain(file.layer).flat_map(|layer| layer.disable_environment);
    // Anything else makes no environment.
    let is_variable = |(name, value): &(String, String)| {
        !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
    };
    Some(variables.filter(is_variable).collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::*;

    #[test]
    fn every_layer_is_switched_off_by_its_own_variable() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".local/share/vulkan/implicit_layer.d");
        fs::create_dir_all(&folder).unwrap();
        let layer = |name: &str, value: &str| {
            format!(r#"{{"name": "L", "disable_environment": {{"{name}": "{value}"}}}}"#)
        };
        for (file, text) in [
            (
                "one.json",
                format!(
                    r#"{{"file_format_version": "1.0.0", "layer": {}}}"#,
                    layer("DISABLE_ONE", "1")
                ),
            ),
            (
                "two.json",
                format!(
                    r#"{{"layers": [{}, {}]}}"#,
                    layer("DISABLE_TWO", "yes"),
                    layer("DISABLE_SET", "1")
                ),
            ),
            ("bad.json", format!(r#"{{"layer": {}}}"#, layer("A=B", "1"))),
            ("path.json", format!(r#"{{"layer": {}}}"#, layer("PATH", ""))),
            ("none.json", "{".to_owned()),
            ("text.txt", format!(r#"{{"layer": {}}}"#, layer("DISABLE_TEXT", "1"))),
        ] {
            fs::write(folder.join(file), text).unwrap();
        }
        let variable = |name: &str| match name {
            "HOME" => Some(home.path().as_os_str().to_owned()),
            "XDG_CONFIG_DIRS" | "XDG_DATA_DIRS" => Some(OsString::from("/nonexistent")),
            "DISABLE_SET" | "PATH" => Some(OsString::from("whatever")),
            _ => None,
        };
        let own: Vec<_> =
            switches(&variable).into_iter().filter(|(name, _)| !name.contains("VK_")).collect();
        let expected = [("DISABLE_ONE", "1"), ("DISABLE_TWO", "yes")];
        assert_eq!(own, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
