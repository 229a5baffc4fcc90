//! Where Vulkan's loader looks for manifests, as it documents it for Linux.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Looks a variable of the environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Below every folder of the search path: drivers, and layers that load unasked.
const SUFFIX: &str = "vulkan/icd.d";
const LAYERS: &str = "vulkan/implicit_layer.d";

/// Manifest files by the loader's search, in its order.
pub fn candidates(variable: Lookup<'_>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(list) = set("VK_DRIVER_FILES").or_else(|| set("VK_ICD_FILENAMES")) {
        return expand(&split(&list));
    }
    let mut files =
        set("VK_ADD_DRIVER_FILES").map(|list| expand(&split(&list))).unwrap_or_default();
    for folder in folders(variable) {
        files.extend(manifests_in(&folder.join(SUFFIX)).unwrap_or_default());
    }
    files
}

/// Manifests of implicit layers, by the loader's search.
pub fn implicit_layers(variable: Lookup<'_>) -> Vec<PathBuf> {
    folders(variable)
        .iter()
        .flat_map(|folder| manifests_in(&folder.join(LAYERS)).unwrap_or_default())
        .collect()
}

/// Folders and files in which a change may mean another driver.
pub fn places(variable: Lookup<'_>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(list) = set("VK_DRIVER_FILES").or_else(|| set("VK_ICD_FILENAMES")) {
        return split(&list);
    }
    let added = set("VK_ADD_DRIVER_FILES").map(|list| split(&list)).unwrap_or_default();
    added
        .into_iter()
        .chain(folders(variable).into_iter().map(|folder| folder.join(SUFFIX)))
        .collect()
}

/// The folders of the search path, without their suffix.
fn folders(variable: Lookup<'_>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let home = set("HOME").map(PathBuf::from);
    let below_home = |path: &str| home.as_ref().map(|home| home.join(path)).into_iter().collect();
    let or_list =
        |name: &str, default: &str| split(&set(name).unwrap_or_else(|| OsString::from(default)));
    let or_home =
        |name: &str, path: &str| set(name).map_or_else(|| below_home(path), |value| split(&value));
    let mut folders: Vec<PathBuf> = or_home("XDG_CONFIG_HOME", ".config");
    folders.extend(or_list("XDG_CONFIG_DIRS", "/etc/xdg"));
    // SYSCONFDIR of a loader built from source, then that of the distributions.
    folders.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
    folders.extend(or_home("XDG_DATA_HOME", ".local/share"));
    folders.extend(or_list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    folders
}

/// Replaces folders by the manifests in them; anything else, existing or not, stays for the reader
/// to complain about.
pub fn expand(list: &[PathBuf]) -> Vec<PathBuf> {
    list.iter().flat_map(|path| manifests_in(path).unwrap_or_else(|| vec![path.clone()])).collect()
}

/// The manifests of a folder, by name; `None` where it is no folder that can be read.
fn manifests_in(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    Some(files)
}

fn split(list: &OsString) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
}
