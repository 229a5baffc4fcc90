//! What rounds are compared with: of each slot and driver the last quick and the last full report, as links of the daemon's
//! own, so that neither what others store nor what the store lets go changes the reference.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fpprobe_reports::store::{Store, Stored};

use super::roster::Known;
use super::round::Extent;

/// Links by extent, each a store of its own.
pub struct References {
    quick: Store,
    full: Store,
}

/// A report to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Id of the report.
    pub id: String,
    /// Its file.
    pub file: PathBuf,
}

impl References {
    /// In this folder of the daemon's.
    pub fn new(folder: &Path) -> References {
        let of = |extent: Extent| Store::new(folder.join("references").join(extent.name()));
        References { quick: of(Extent::Quick), full: of(Extent::Full) }
    }

    /// What a report of this device and extent is compared with. A quick run asks less than a default run, which is why only
    /// the last full report shows all that a full one finds. Where none was noted yet, the newest report of the store serves.
    pub fn previous(&self, store: &Store, device: &Known, extent: Extent) -> anyhow::Result<Option<Reference>> {
        let (quick, full) = (held(&self.quick)?, held(&self.full)?);
        let is_quick = |(_, stored): &(PathBuf, Stored)| quick.iter().any(|(_, other)| other.entry == stored.entry);
        let mut own = full.clone();
        let mut others = held(store)?;
        match extent {
            Extent::Quick => own.extend(quick.iter().cloned()),
            Extent::Full => others.retain(|report| !is_quick(report)),
        }
        // Sorted by name, reports are sorted by time.
        own.sort_by(|(_, one), (_, other)| one.entry.file.cmp(&other.entry.file));
        Ok(newest(&own, device).or_else(|| newest(&others, device)))
    }

    /// Notes a report of the store as the last of this device and extent.
    pub fn keep(&self, store: &Store, file: &str, device: &Known, extent: Extent) -> anyhow::Result<()> {
        let own = if extent == Extent::Quick { &self.quick } else { &self.full };
        fs::create_dir_all(own.folder()).with_context(|| format!("failed to create {}", own.folder().display()))?;
        link(&store.folder().join(file), &own.folder().join(file))?;
        for (path, stored) in held(own)? {
            let same = stored.entry.devices.iter().any(|held| held.slot == device.slot && held.driver == device.driver);
            if same && stored.entry.file != file {
                fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// A second name of a file, or a copy where the file system has no such thing.
pub fn link(from: &Path, to: &Path) -> anyhow::Result<()> {
    let _ = fs::remove_file(to);
    let linked = fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop));
    linked.with_context(|| format!("failed to link {} as {}", from.display(), to.display()))
}

fn held(store: &Store) -> anyhow::Result<Vec<(PathBuf, Stored)>> {
    let reports = store.list()?.reports;
    Ok(reports.into_iter().map(|stored| (store.folder().join(&stored.entry.file), stored)).collect())
}

/// The newest of the slot, of the same driver where there is one.
fn newest(reports: &[(PathBuf, Stored)], device: &Known) -> Option<Reference> {
    let find = |same: bool| {
        reports.iter().rev().find(|(_, stored)| {
            let devices = &stored.entry.devices;
            devices.iter().any(|held| held.slot == device.slot && (!same || held.driver == device.driver))
        })
    };
    let (file, stored) = find(true).or_else(|| find(false))?;
    Some(Reference { id: stored.entry.id().to_owned(), file: file.clone() })
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use fpprobe_reports::store::{Entry, Held, container};

    use super::*;

    /// A device of this driver.
    pub fn device(driver: &str) -> Known {
        Known {
            key: format!("key-{driver}"),
            slot: "pci:0000:01:00.0".to_owned(),
            name: "Card".to_owned(),
            kind: "discrete".to_owned(),
            driver: driver.to_owned(),
            driver_info: String::new(),
            library: PathBuf::new(),
            manifest: PathBuf::new(),
        }
    }

    /// Puts a report of this device and day into a store; its file and id.
    pub fn put(store: &Store, device: &Known, day: u32) -> (String, String) {
        let id = format!("{day:012x}");
        let file = format!("202603{day:02}T000000Z-host-key-{id}.fpreport");
        let time = format!("2026-03-{day:02}T00:00:00Z");
        let held = Held {
            key: device.key.clone(),
            slot: device.slot.clone(),
            name: device.name.clone(),
            ids: String::new(),
            uuid: String::new(),
            driver: device.driver.clone(),
            driver_version: String::new(),
            driver_info: String::new(),
            taint: Vec::new(),
            classes: BTreeMap::new(),
        };
        let entry = Entry {
            file: file.clone(),
            digest: format!("{id}{}", "0".repeat(52)),
            length: 2,
            host: String::new(),
            started: time.clone(),
            finished: time,
            program: String::new(),
            devices: vec![held],
        };
        fs::create_dir_all(store.folder()).unwrap();
        fs::write(store.folder().join(&file), container::pack(&entry, "{}").unwrap()).unwrap();
        (file, id)
    }

    #[test]
    fn a_full_run_is_compared_with_the_last_full_one_and_not_with_what_others_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        let references = References::new(&folder.path().join("daemon"));
        let device = device("one");
        let previous = |extent| references.previous(&store, &device, extent).unwrap().map(|previous| previous.id);
        assert_eq!((previous(Extent::Quick), previous(Extent::Full)), (None, None));
        let (full, full_id) = put(&store, &device, 1);
        assert_eq!(previous(Extent::Full), Some(full_id.clone()), "nothing better is there yet");
        references.keep(&store, &full, &device, Extent::Full).unwrap();
        assert_eq!(previous(Extent::Quick), Some(full_id.clone()));
        let (quick, quick_id) = put(&store, &device, 2);
        references.keep(&store, &quick, &device, Extent::Quick).unwrap();
        // `run --store f32.fadd`
        put(&store, &device, 3);
        assert_eq!((previous(Extent::Quick), previous(Extent::Full)), (Some(quick_id), Some(full_id.clone())));
        // An update: another driver in the same slot. And the daemon was started again.
        let updated = self::device("two");
        let references = References::new(&folder.path().join("daemon"));
        let of_update = references.previous(&store, &updated, Extent::Full).unwrap().unwrap();
        assert_eq!(of_update.id, full_id);
        // The store keeps the newest alone.
        fs::remove_file(store.folder().join(&full)).unwrap();
        assert!(of_update.file.is_file());
        let (fuller, fuller_id) = put(&store, &updated, 4);
        references.keep(&store, &fuller, &updated, Extent::Full).unwrap();
        let of = |device: &Known| references.previous(&store, device, Extent::Full).unwrap().unwrap().id;
        assert_eq!((of(&updated), of(&device)), (fuller_id, full_id));
    }

    #[test]
    fn only_the_last_of_each_driver_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        let references = References::new(&folder.path().join("daemon"));
        for day in 1..5 {
            let (file, _) = put(&store, &device("one"), day);
            references.keep(&store, &file, &device("one"), Extent::Quick).unwrap();
        }
        assert_eq!(held(&references.quick).unwrap().len(), 1);
    }
}
