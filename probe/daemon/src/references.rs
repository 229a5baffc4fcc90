//! What rounds are compared with: of each driver of a slot the last quick and the last full report,
//! as links of the daemon's own, so that neither what others store nor what the store lets go
//! changes the reference. An update goes on with the reference of what it replaces; what else
//! drives the same slot has its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fpprobe_reports::limited;
use fpprobe_reports::save::save;
use fpprobe_reports::store::{self, Store, StoredDevice, StoredReport};
use serde::{Deserialize, Serialize};

use crate::device_table::KnownDevice;
use crate::order::RunExtent;

/// Bytes that the file of owners may have.
const LIMIT: u64 = 16 << 20;

/// Links by extent, each a store of its own.
pub struct References {
    quick: Store,
    full: Store,
    owners: PathBuf,
}

/// By extent, file by [`KnownDevice::place`].
#[derive(Clone, Default, Serialize, Deserialize)]
struct Owners {
    quick: BTreeMap<String, String>,
    full: BTreeMap<String, String>,
}

/// A device, and what else is in its slot.
type Among<'a> = (&'a KnownDevice, &'a [KnownDevice]);

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
        let of = |extent: RunExtent| Store::new(folder.join("references").join(extent.name()));
        let owners = folder.join("references").join("owners.json");
        References { quick: of(RunExtent::Quick), full: of(RunExtent::Full), owners }
    }

    /// What a report of this device and extent is compared with. A quick run asks less than a
    /// default run, which is why only the last full report shows all that a full one finds.
    /// Where none was noted yet, the newest report of the store serves.
    pub fn previous(
        &self,
        store: &Store,
        (device, beside): Among<'_>,
        extent: RunExtent,
    ) -> anyhow::Result<Option<Reference>> {
        let owners = self.owners();
        let (quick, full) = (stored_reports(&self.quick)?, stored_reports(&self.full)?);
        let is_quick = |(_, stored): &(PathBuf, StoredReport)| {
            quick.iter().any(|(_, other)| other.entry == stored.entry)
        };
        let mut own = full.clone();
        let mut others = stored_reports(store)?;
        match extent {
            RunExtent::Quick => own.extend(quick.iter().cloned()),
            RunExtent::Full => others.retain(|report| !is_quick(report)),
        }
        // In the order of their arrival, whatever clocks said; by name, and so by time, where the
        // store does not know it.
        let arrivals = store.arrivals();
        own.sort_by_key(|(_, stored)| {
            (arrivals.get(&stored.entry.file).copied(), stored.entry.file.clone())
        });
        let mine = |(_, stored): &&(PathBuf, StoredReport)| {
            owners.of(&device.place()).any(|file| *file == stored.entry.file)
        };
        if let Some((file, stored)) = own.iter().rev().find(mine) {
            return Ok(Some(Reference { id: stored.entry.id().to_owned(), file: file.clone() }));
        }
        own.retain(|(_, stored)| {
            !beside
                .iter()
                .any(|other| owners.of(&other.place()).any(|file| *file == stored.entry.file))
        });
        Ok(newest(&own, device, beside).or_else(|| newest(&others, device, beside)))
    }

    /// Which report is whose. Where that cannot be read, names and slots tell.
    fn owners(&self) -> Owners {
        limited::text(&self.owners, LIMIT)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Notes a report of the store as the last of this device and extent.
    pub fn keep(
        &self,
        store: &Store,
        file: &str,
        (device, beside): Among<'_>,
        extent: RunExtent,
    ) -> anyhow::Result<()> {
        let own = if extent == RunExtent::Quick { &self.quick } else { &self.full };
        fs::create_dir_all(own.folder())
            .with_context(|| format!("failed to create {}", own.folder().display()))?;
        link(&store.folder().join(file), &own.folder().join(file))?;
        let mut owners = self.owners();
        let owned = if extent == RunExtent::Quick { &mut owners.quick } else { &mut owners.full };
        // What was there under another name, and is not there beside it, is what it has replaced.
        let kin = format!("{} {} ", device.slot, device.driver);
        owned.retain(|place, _| {
            !place.starts_with(&kin) || beside.iter().any(|other| other.place() == *place)
        });
        owned.insert(device.place(), file.to_owned());
        let kept: Vec<String> = owned.values().cloned().collect();
        let text = serde_json::to_string(&owners)?;
        save(&self.owners, |out| out.write_all(text.as_bytes()))?;
        for (path, stored) in stored_reports(own)? {
            let same = stored.entry.devices.iter().any(|held_before| {
                held_before.slot == device.slot && held_before.driver == device.driver
            });
            if same && !kept.contains(&stored.entry.file) {
                store::unlink(&path)
                    .with_context(|| format!("failed to remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// A second name of a stored report.
pub fn link(from: &Path, to: &Path) -> anyhow::Result<()> {
    store::link(from, to)
        .with_context(|| format!("failed to link {} as {}", from.display(), to.display()))
}

fn stored_reports(store: &Store) -> anyhow::Result<Vec<(PathBuf, StoredReport)>> {
    let reports = store.list()?.reports;
    Ok(reports
        .into_iter()
        .map(|stored| (store.folder().join(&stored.entry.file), stored))
        .collect())
}

impl Owners {
    /// The files of this driver of a slot.
    fn of(&self, place: &str) -> impl Iterator<Item = &String> {
        self.quick.get(place).into_iter().chain(self.full.get(place))
    }
}

/// The newest of the slot, of the same driver where there is one, and of none that is there beside
/// it.
fn newest(
    reports: &[(PathBuf, StoredReport)],
    device: &KnownDevice,
    beside: &[KnownDevice],
) -> Option<Reference> {
    let may_be = |held_before: &StoredDevice| {
        let other = |other: &KnownDevice| {
            other.key == held_before.key
                || other.driver == held_before.driver && held_before.driver != device.driver
        };
        held_before.slot == device.slot && !beside.iter().any(other)
    };
    let find = |same: bool| {
        reports.iter().rev().find(|(_, stored)| {
            let devices = &stored.entry.devices;
            devices.iter().any(|held_before| {
                may_be(held_before) && (!same || held_before.driver == device.driver)
            })
        })
    };
    let (file, stored) = find(true).or_else(|| find(false))?;
    Some(Reference { id: stored.entry.id().to_owned(), file: file.clone() })
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use fpprobe_reports::container::{self, Entry};

    use super::*;

    /// A device of this driver.
    pub fn device(driver: &str) -> KnownDevice {
        KnownDevice {
            key: format!("key-{driver}"),
            slot: "pci:0000:01:00.0".to_owned(),
            name: "Card".to_owned(),
            kind: "discrete".to_owned(),
            driver: driver.to_owned(),
            driver_info: String::new(),
            library: PathBuf::new(),
            manifest: PathBuf::new(),
            libraries: Vec::new(),
        }
    }

    /// Puts a report of this device and day into a store; its file and id.
    pub fn put(store: &Store, device: &KnownDevice, day: u32) -> (String, String) {
        let id = format!("{day:012x}");
        let file = format!("202603{day:02}T000000Z-host-key-{id}.fpreport");
        let time = format!("2026-03-{day:02}T00:00:00Z");
        let held_before = StoredDevice {
            key: device.key.clone(),
            slot: device.slot.clone(),
            name: device.name.clone(),
            ids: String::new(),
            uuid: String::new(),
            driver: device.driver.clone(),
            driver_version: String::new(),
            driver_info: String::new(),
            manifest: String::new(),
            taint: Vec::new(),
            classes: BTreeMap::new(),
            kernels: 0,
        };
        let entry = Entry {
            file: file.clone(),
            digest: format!("{id}{}", "0".repeat(52)),
            xxh3: None,
            length: 2,
            shared: Vec::new(),
            label: String::new(),
            host: String::new(),
            started: time.clone(),
            finished: time,
            program: String::new(),
            devices: vec![held_before],
        };
        fs::create_dir_all(store.folder()).unwrap();
        fs::write(store.folder().join(&file), container::head_of(&entry).unwrap()).unwrap();
        (file, id)
    }

    #[test]
    fn a_full_run_is_compared_with_the_last_full_one_and_not_with_what_others_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        let references = References::new(&folder.path().join("daemon"));
        let device = device("one");
        let previous = |extent| {
            references.previous(&store, (&device, &[]), extent).unwrap().map(|previous| previous.id)
        };
        assert_eq!((previous(RunExtent::Quick), previous(RunExtent::Full)), (None, None));
        let (full, full_id) = put(&store, &device, 1);
        assert_eq!(previous(RunExtent::Full), Some(full_id.clone()), "nothing better is there yet");
        references.keep(&store, &full, (&device, &[]), RunExtent::Full).unwrap();
        assert_eq!(previous(RunExtent::Quick), Some(full_id.clone()));
        let (quick, quick_id) = put(&store, &device, 2);
        references.keep(&store, &quick, (&device, &[]), RunExtent::Quick).unwrap();
        // `run --store f32.fadd`
        put(&store, &device, 3);
        assert_eq!(
            (previous(RunExtent::Quick), previous(RunExtent::Full)),
            (Some(quick_id), Some(full_id.clone()))
        );
        // An update: another driver in the same slot. And the daemon was started again.
        let updated = self::device("two");
        let references = References::new(&folder.path().join("daemon"));
        let of_update =
            references.previous(&store, (&updated, &[]), RunExtent::Full).unwrap().unwrap();
        assert_eq!(of_update.id, full_id);
        // The store keeps the newest alone.
        fs::remove_file(store.folder().join(&full)).unwrap();
        assert!(of_update.file.is_file());
        let (fuller, fuller_id) = put(&store, &updated, 4);
        references.keep(&store, &fuller, (&updated, &[]), RunExtent::Full).unwrap();
        let of = |device: &KnownDevice| {
            references.previous(&store, (device, &[]), RunExtent::Full).unwrap().unwrap().id
        };
        assert_eq!((of(&updated), of(&device)), (fuller_id, full_id));
    }

    #[test]
    fn only_the_last_of_each_driver_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        let references = References::new(&folder.path().join("daemon"));
        for day in 1..5 {
            let (file, _) = put(&store, &device("one"), day);
            references.keep(&store, &file, (&device("one"), &[]), RunExtent::Quick).unwrap();
        }
        assert_eq!(stored_reports(&references.quick).unwrap().len(), 1);
    }

    #[test]
    fn drivers_beside_one_another_in_a_slot_have_a_reference_each_and_updates_go_on_with_it() {
        let of = |driver: &str, key: &str, manifest: &str| KnownDevice {
            key: key.to_owned(),
            manifest: PathBuf::from(manifest),
            ..device(driver)
        };
        // Two of one name, and two of two.
        for (one, other) in [
            (of("mesa", "a1", "a"), of("mesa", "b1", "b")),
            (of("x", "x1", "x"), of("y", "y1", "y")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::new(folder.path().to_owned());
            let references = References::new(&folder.path().join("daemon"));
            let previous = |device: &KnownDevice, beside: &[KnownDevice]| {
                references
                    .previous(&store, (device, beside), RunExtent::Quick)
                    .unwrap()
                    .map(|previous| previous.id)
            };
            let mut day = 0;
            let mut keep = |device: &KnownDevice, beside: &[KnownDevice]| {
                day += 1;
                let (file, id) = put(&store, device, day);
                references.keep(&store, &file, (device, beside), RunExtent::Quick).unwrap();
                id
            };
            let first = keep(&one, std::slice::from_ref(&other));
            assert_eq!(previous(&other, std::slice::from_ref(&one)), None, "it was never measured");
            let second = keep(&other, std::slice::from_ref(&one));
            assert_eq!(previous(&one, std::slice::from_ref(&other)), Some(first.clone()));
            // Both are updated at once, one from another manifest.
            let newer = |device: &KnownDevice| KnownDevice {
                key: format!("{}-new", device.key),
                ..device.clone()
            };
            let moved = KnownDevice { manifest: PathBuf::from("elsewhere"), ..newer(&other) };
            assert_eq!(previous(&newer(&one), std::slice::from_ref(&moved)), Some(first));
            assert_eq!(previous(&moved, &[newer(&one)]), Some(second));
        }
    }
}
