//! Finding driver manifests as the Vulkan loader documents it for Linux, without calling Vulkan.
//!
//! Source: "Driver Discovery" in the loader's `LoaderDriverInterface.md`. Override
//! (`VK_DRIVER_FILES`, else `VK_ICD_FILENAMES`), or `VK_ADD_DRIVER_FILES` and then `vulkan/icd.d`
//! below the XDG and system folders. Where the loader leaves the order to `readdir`, files come
//! sorted by name, so that lists are the same every time.

mod filter;
pub mod layers;
pub mod manifest;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fpprobe_system::loader::{self, Lookup};

/// A driver manifest that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DriverCandidate {
    /// Path of the manifest.
    pub manifest: PathBuf,
    /// The library that it names (a bare name where the system's library search decides), or what
    /// is wrong with it.
    pub library: Result<PathBuf, String>,
}

/// The manifests of this process's environment, or the given ones (files or folders) instead.
pub fn drivers(instead: &[PathBuf]) -> Vec<DriverCandidate> {
    drivers_in(&|name| std::env::var_os(name), instead)
}

/// Where they are looked for, folders and files.
pub fn places(instead: &[PathBuf]) -> Vec<PathBuf> {
    if instead.is_empty() {
        loader::places(&|name| std::env::var_os(name))
    } else {
        instead.to_vec()
    }
}

/// Variables that keep every implicit layer out, each by its own, in this process's environment.
pub fn layer_switches() -> Vec<(String, String)> {
    layers::switches(&|name| std::env::var_os(name))
}

/// As [`drivers`], in a given environment.
fn drivers_in(variable: Lookup<'_>, instead: &[PathBuf]) -> Vec<DriverCandidate> {
    let candidates =
        if instead.is_empty() { loader::candidates(variable) } else { loader::expand(instead) };
    let filter = filter::DriverFilter::new(variable);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for path in candidates {
        if !filter.admits(&path) || !seen.insert(identity(&path)) {
            continue;
        }
        let library = match manifest::read(&path) {
            Ok(manifest::Manifest { foreign: true, .. }) => continue,
            Ok(manifest) => manifest.library(&path),
            Err(reason) => Err(reason),
        };
        // Two manifests of one library would show each of its devices twice.
        let twice = library.as_ref().is_ok_and(|library| !seen.insert(identity(library)));
        if !twice {
            found.push(DriverCandidate { manifest: path, library });
        }
    }
    found
}

fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    struct Scene(PathBuf);

    impl Scene {
        fn new(name: &str) -> Scene {
            let folder = std::env::temp_dir()
                .join(format!("fpprobe-discover-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            Scene(folder)
        }
        fn file(&self, path: &str, text: &str) -> PathBuf {
            let path = self.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        }
        fn manifest(&self, path: &str, library: &str) -> PathBuf {
            self.file(path, &format!(r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{library}", "api_version": "1.3.0"}}}}"#))
        }
        fn find(&self, variables: &[(&str, String)]) -> Vec<(String, Result<PathBuf, String>)> {
            let lookup = |name: &str| {
                variables.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(&pair.1))
            };
            let found = drivers_in(&lookup, &[]);
            let inside = found.into_iter().filter(|found| found.manifest.starts_with(&self.0));
            inside
                .map(|found| {
                    (
                        found.manifest.strip_prefix(&self.0).unwrap().display().to_string(),
                        found.library,
                    )
                })
                .collect()
        }
        fn path(&self, path: &str) -> String {
            self.0.join(path).display().to_string()
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn folders_come_in_the_documented_order_and_files_by_name() {
        let scene = Scene::new("order");
        for (index, folder) in ["config", "xdg", "home", "data1", "data2"].iter().enumerate() {
            scene.manifest(&format!("{folder}/vulkan/icd.d/b.json"), &format!("libb{index}.so"));
            scene.manifest(&format!("{folder}/vulkan/icd.d/a.json"), &format!("liba{index}.so"));
        }
        scene.manifest("added.json", "libadded.so");
        let found = scene.find(&[
            ("VK_ADD_DRIVER_FILES", scene.path("added.json")),
            ("XDG_CONFIG_HOME", scene.path("config")),
            ("XDG_CONFIG_DIRS", scene.path("xdg")),
            ("XDG_DATA_HOME", scene.path("home")),
            ("XDG_DATA_DIRS", format!("{}:{}", scene.path("data1"), scene.path("data2"))),
        ]);
        let names: Vec<&str> = found.iter().map(|row| row.0.as_str()).collect();
        let mut expected = vec!["added.json".to_owned()];
        for folder in ["config", "xdg", "home", "data1", "data2"] {
            expected.extend([
                format!("{folder}/vulkan/icd.d/a.json"),
                format!("{folder}/vulkan/icd.d/b.json"),
            ]);
        }
        assert_eq!(names, expected);
    }

    #[test]
    fn an_override_replaces_the_search_and_may_name_folders() {
        let scene = Scene::new("override");
        scene.manifest("folder/one.json", "libone.so");
        scene.manifest("two.json", "libtwo.so");
        scene.manifest("data/vulkan/icd.d/three.json", "libthree.so");
        let data = ("XDG_DATA_DIRS", scene.path("data"));
        let list = format!("{}:{}", scene.path("two.json"), scene.path("folder"));
        let old = ("VK_ICD_FILENAMES", scene.path("two.json"));
        let found = scene.find(&[("VK_DRIVER_FILES", list), old.clone(), data.clone()]);
        assert_eq!(
            found.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(),
            ["two.json", "folder/one.json"]
        );
        let found = scene.find(&[old, data]);
        assert_eq!(found.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["two.json"]);
    }

    #[test]
    fn bad_manifests_are_rows_and_hide_nothing() {
        let scene = Scene::new("bad");
        let library = scene.file("libgood.so", "");
        scene.manifest("a.json", "libgood.so");
        scene.file("b.json", "{\"ICD\": ");
        scene.manifest("c.json", "./libgone.so");
        scene.manifest("d.json", "/nowhere/libgone.so");
        scene.manifest("e.json", "./libgood.so");
        scene.file(
            "f.json",
            r#"{"file_format_version": "1.0.1", "ICD": {"library_path": "libother.so", "library_arch": "16"}}"#,
        );
        scene.file("g.json", r#"{"file_format_version": "1.0.1", "ICD": {}}"#);
        let found = scene.find(&[(
            "VK_DRIVER_FILES",
            format!("{}:{}", scene.path(""), scene.path("missing.json")),
        )]);
        let reason =
            |name: &str| found.iter().find(|row| row.0 == name).unwrap().1.clone().unwrap_err();
        assert_eq!(found[0], ("a.json".to_owned(), Ok(PathBuf::from("libgood.so"))));
        assert!(reason("b.json").contains("JSON"), "{}", reason("b.json"));
        assert!(
            reason("c.json").contains("libgone.so") && reason("c.json").contains("does not exist")
        );
        assert!(reason("d.json").contains("/nowhere/libgone.so"));
        assert_eq!(
            found.iter().find(|row| row.0 == "e.json").unwrap().1.as_ref().unwrap(),
            &library
        );
        assert!(!found.iter().any(|row| row.0 == "f.json"));
        assert!(reason("g.json").contains("library_path"));
        assert!(
            reason("missing.json").contains("missing.json")
                || reason("missing.json").contains("No such file")
        );
    }

    #[test]
    fn drivers_can_be_filtered_as_the_loader_does() {
        let scene = Scene::new("filter");
        for name in ["radeon_icd.json", "lvp_icd.json", "intel_icd.json"] {
            scene.manifest(name, &format!("lib{name}.so"));
        }
        let files = ("VK_DRIVER_FILES", scene.path(""));
        let names = |variables: &[(&str, String)]| {
            scene.find(variables).into_iter().map(|row| row.0).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&[files.clone(), ("VK_LOADER_DRIVERS_SELECT", "*LVP*,radeon*".into())]),
            ["lvp_icd.json", "radeon_icd.json"]
        );
        assert_eq!(
            names(&[files, ("VK_LOADER_DRIVERS_DISABLE", "*lvp*".into())]),
            ["intel_icd.json", "radeon_icd.json"]
        );
    }
}
