//! The devices, as the last look by fresh workers found them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fpprobe_system::files::FileStamp;
use serde::{Deserialize, Serialize};

/// Links that one path may lead over.
const LINKS: usize = 40;

/// What is known of a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KnownDevice {
    /// Digest of slot and driver.
    pub key: String,
    /// Its place.
    pub slot: String,
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The driver's name.
    pub driver: String,
    /// The driver's version, as it says it itself.
    pub driver_info: String,
    /// Library of the driver.
    #[serde(skip)]
    pub library: PathBuf,
    /// Manifest of the driver.
    #[serde(default)]
    pub manifest: PathBuf,
    /// Every library that the driver has loaded to tell who its devices are, itself among them.
    #[serde(skip)]
    pub libraries: Vec<LibraryStamp>,
}

/// A library, as it lay on disk when a worker had loaded it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryStamp {
    /// Where.
    pub path: PathBuf,
    /// None where it is gone.
    stamp: Option<FileStamp>,
}

impl LibraryStamp {
    /// As it lies there now.
    pub fn new(path: PathBuf) -> LibraryStamp {
        LibraryStamp { stamp: FileStamp::new(&path), path }
    }
}

impl KnownDevice {
    /// What stays the same when its driver is updated: slot, name and manifest of the driver. A
    /// slot may have several.
    pub fn place(&self) -> String {
        format!("{} {} {}", self.slot, self.driver, self.manifest.display())
    }

    /// The same as labels of metrics.
    pub fn labels(&self) -> Vec<(&str, &str)> {
        vec![
            ("slot", &self.slot),
            ("driver", &self.driver),
            ("manifest", self.manifest.to_str().unwrap_or_default()),
        ]
    }

    /// Whether its driver's library, or one that this has loaded, is this file, by this name or by
    /// where links lead.
    pub fn is_of(&self, file: &Path) -> bool {
        let is_it = |library: &Path| library == file || links(library).contains(file);
        is_it(&self.library) || self.libraries.iter().any(|library| is_it(&library.path))
    }

    /// A library that is another now than it was then, loaded by the same driver.
    pub fn other_library(&self, before: &KnownDevice) -> Option<&Path> {
        let other = self.libraries.iter().find(|library| !before.libraries.contains(library))?;
        (self.key == before.key && !before.libraries.is_empty()).then_some(&other.path)
    }
}

/// Links on the way to a file or folder, and where they lead in the end: whoever turns one of them
/// exchanges what is there.
pub fn links(path: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut whole = path.to_owned();
    for _ in 0..LINKS {
        let mut above: Vec<&Path> = whole.ancestors().collect();
        above.reverse();
        let Some((link, target)) =
            above.into_iter().find_map(|one| Some((one.to_owned(), fs::read_link(one).ok()?)))
        else {
            break;
        };
        let rest = whole.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
        // What follows a link may lead up again; the system knows where to.
        let target = link.parent().unwrap_or(Path::new("/")).join(target).join(rest);
        found.insert(link);
        whole = target;
    }
    found.extend(path.canonicalize());
    found
}

/// What a look found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceTable {
    /// Devices that can be measured.
    pub devices: Vec<KnownDevice>,
    /// What could not be looked at, and why.
    pub failures: Vec<String>,
}

impl DeviceTable {
    /// What else is in the slot of this device.
    pub fn beside(&self, device: &KnownDevice) -> Vec<KnownDevice> {
        let is_it = |other: &&KnownDevice| other.slot == device.slot && other.key != device.key;
        self.devices.iter().filter(is_it).cloned().collect()
    }

    /// Devices that were not there before, or not with this driver.
    pub fn news(&self, before: &DeviceTable) -> Vec<KnownDevice> {
        let known =
            |device: &&KnownDevice| !before.devices.iter().any(|other| other.key == device.key);
        self.devices.iter().filter(known).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::references::tests::device;

    #[test]
    fn links_of_files_and_of_folders_above_them_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("v1")).unwrap();
        fs::write(root.join("v1/lib.so.1"), "").unwrap();
        symlink("lib.so.1", root.join("v1/lib.so")).unwrap();
        symlink("v1", root.join("current")).unwrap();
        let found = links(&root.join("current/lib.so"));
        assert_eq!(
            found,
            [root.join("current"), root.join("v1/lib.so"), root.join("v1/lib.so.1")].into()
        );
        symlink("loop", root.join("loop")).unwrap();
        assert!(links(&root.join("loop")).contains(&root.join("loop")));
    }

    #[test]
    fn a_library_that_was_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libLLVM.so");
        fs::write(&path, "15").unwrap();
        let loaded =
            || KnownDevice { libraries: vec![LibraryStamp::new(path.clone())], ..device("one") };
        let before = loaded();
        assert_eq!(loaded().other_library(&before), None);
        fs::write(folder.path().join("new"), "15.1").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(loaded().other_library(&before), Some(&*path));
        assert_eq!(loaded().other_library(&device("one")), None, "nothing was known of it");
        assert!(before.is_of(&path) && !before.is_of(folder.path()));
    }
}
