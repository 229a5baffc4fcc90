//! Drivers that are installed and show no device. Most machines have some, for hardware that they
//! lack; one whose device was there before, or whose hardware is there now, does not start.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fpprobe_profiles::Outcome;
use fpprobe_reports::model::{Incident, NO_DEVICE};
use fpprobe_reports::store::{Store, StoredDevice};

use crate::supervisor::ManifestRow;
use fpprobe_reports::host;
use fpprobe_system::usage::say;

/// Drivers by a part of their library's or manifest's name: PCI vendor, and the kernel drivers that
/// they work with.
const DRIVERS: [(&str, u32, &[&str]); 6] = [
    ("nvidia", 0x10de, &["nvidia"]),
    ("nouveau", 0x10de, &["nouveau"]),
    ("radeon", 0x1002, &["amdgpu"]),
    ("amdvlk", 0x1002, &["amdgpu"]),
    ("amd_icd", 0x1002, &["amdgpu"]),
    ("intel", 0x8086, &["i915", "xe"]),
];

/// An incident for each driver without a device: with an outcome where that is a failure.
pub fn incidents(rows: &[ManifestRow], store: Option<&Store>) -> Vec<Incident> {
    if rows.iter().all(|row| row.absent.is_none()) {
        return Vec::new();
    }
    let (nodes, stored) =
        (kernel_drivers(Path::new("/")), store.map(stored_devices).unwrap_or_default());
    let absent = rows.iter().filter_map(|row| Some((row, row.absent.as_ref()?)));
    absent
        .map(|(row, why)| {
            let reason =
                known_hardware(row, rows, &nodes).or_else(|| known_device(row, rows, &stored));
            let outcome = reason.is_some().then_some(Outcome::Rejected);
            let detail = reason
                .map_or_else(|| format!("{NO_DEVICE}: {why}"), |reason| format!("{reason}: {why}"));
            Incident { subject: row.manifest.display().to_string(), outcome, detail }
        })
        .collect()
}

/// What to do about a driver that should have a device.
pub fn remedy(incident: &Incident) -> String {
    let Incident { subject, detail, .. } = incident;
    format!(
        "{subject}: {detail} (where its hardware was removed, keep the driver out with VK_LOADER_DRIVERS_DISABLE)"
    )
}

/// Prints drivers that should have a device to standard error, each with what to do, and counts the
/// others.
pub fn print(incidents: &[Incident]) {
    let (failed, idle): (Vec<&Incident>, Vec<&Incident>) =
        incidents.iter().partition(|one| one.outcome.is_some());
    for incident in failed {
        say(&remedy(incident));
    }
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|incident| incident.subject.as_str()).collect();
        say(&format!("{NO_DEVICE}: {} (`fpprobe list` says why)", names.join(", ")));
    }
}

/// Why the hardware of a driver must be there: its kernel driver has a device node, and no driver
/// shows a device of that vendor.
fn known_hardware(
    row: &ManifestRow,
    rows: &[ManifestRow],
    nodes: &BTreeSet<String>,
) -> Option<String> {
    let (vendor, drivers) = of(row)?;
    let node = drivers.iter().find(|driver| nodes.contains(**driver))?;
    let served = found(rows).any(|found| found.identity.vendor_id == vendor);
    (!served).then(|| format!("shows no device, though {node} has a device node"))
}

/// Why a device of a driver must be there: a stored report of this machine holds one that no driver
/// shows.
fn known_device(
    row: &ManifestRow,
    rows: &[ManifestRow],
    stored: &[(String, StoredDevice)],
) -> Option<String> {
    let vendor = of(row).map(|(vendor, _)| format!("{vendor:04x}:"));
    let manifest = row.manifest.display().to_string();
    let is_of = |one: &StoredDevice| {
        if one.manifest.is_empty() {
            vendor.as_ref().is_some_and(|vendor| one.ids.starts_with(vendor))
        } else {
            one.manifest == manifest
        }
    };
    let shown = |one: &StoredDevice| {
        found(rows).any(|found| {
            (&found.identity.slot, &found.identity.driver.name) == (&one.slot, &one.driver)
        })
    };
    let (finished, one) = stored.iter().find(|(_, one)| is_of(one) && !shown(one))?;
    Some(format!("shows no device, though {} was measured on {finished}", one.name))
}

fn found(
    rows: &[ManifestRow],
) -> impl Iterator<Item = &fpprobe_worker::protocol::EnumeratedDevice> {
    rows.iter().flat_map(|row| row.devices.iter().flatten())
}

/// Vendor and kernel drivers of a driver, where they are known.
fn of(row: &ManifestRow) -> Option<(u32, &'static [&'static str])> {
    let name = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    let names = [name(&row.library), name(&row.manifest)];
    let found = DRIVERS.iter().find(|(part, ..)| names.iter().any(|name| name.contains(part)))?;
    Some((found.1, found.2))
}

/// The devices in the store's reports of this machine, newest first, each with the time of its
/// report.
fn stored_devices(store: &Store) -> Vec<(String, StoredDevice)> {
    let Ok(listing) = store.list() else { return Vec::new() };
    let host = host::host().id;
    let reports = listing.reports.into_iter().rev().filter(|stored| stored.entry.host == host);
    reports
        .flat_map(|stored| {
            let finished = stored.entry.finished;
            stored.entry.devices.into_iter().map(move |device| (finished.clone(), device))
        })
        .collect()
}

/// Kernel drivers that have a device node of a GPU.
fn kernel_drivers(root: &Path) -> BTreeSet<String> {
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let numbered = |name: &str, prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut drivers = BTreeSet::new();
    for node in names("dev/dri").iter().filter(|name| numbered(name, "renderD")) {
        let driver = fs::read_link(root.join("sys/class/drm").join(node).join("device/driver"));
        let name =
            driver.ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        drivers.extend(name);
    }
    if names("dev").iter().any(|name| numbered(name, "nvidia")) {
        drivers.insert("nvidia".to_owned());
    }
    drivers
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    fn row(manifest: &str) -> ManifestRow {
        let absent = Some("vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER".to_owned());
        let devices = Ok(Vec::new());
        ManifestRow {
            manifest: PathBuf::from(manifest),
            library: PathBuf::new(),
            devices,
            absent,
            failures: Vec::new(),
        }
    }

    fn stored(manifest: &str, ids: &str) -> Vec<(String, StoredDevice)> {
        let text = String::new;
        let stored = StoredDevice {
            key: text(),
            slot: "pci:0000:01:00.0".to_owned(),
            name: "Card".to_owned(),
            ids: ids.to_owned(),
            uuid: text(),
            driver: "driver".to_owned(),
            driver_version: text(),
            driver_info: text(),
            manifest: manifest.to_owned(),
            taint: Vec::new(),
            classes: [].into(),
            kernels: 0,
        };
        vec![("2026-11-25T00:00:00Z".to_owned(), stored)]
    }

    #[test]
    fn a_device_node_shows_that_hardware_is_there() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        assert!(kernel_drivers(root.path()).is_empty());
        fs::create_dir_all(path("dev/dri")).unwrap();
        fs::create_dir_all(path("sys/class/drm/renderD128/device")).unwrap();
        symlink(
            "../../../../bus/pci/drivers/amdgpu",
            path("sys/class/drm/renderD128/device/driver"),
        )
        .unwrap();
        for node in ["dev/dri/card0", "dev/dri/renderD128", "dev/dri/renderD129", "dev/nvidiactl"] {
            fs::write(path(node), "").unwrap();
        }
        let nodes = kernel_drivers(root.path());
        assert_eq!(nodes, BTreeSet::from(["amdgpu".to_owned()]));
        let reason = |manifest: &str| known_hardware(&row(manifest), &[row(manifest)], &nodes);
        assert!(reason("/etc/vulkan/icd.d/radeon_icd.x86_64.json").unwrap().contains("amdgpu"));
        for other in ["intel_icd.json", "nvidia_icd.json", "nouveau_icd.json", "lvp_icd.json"] {
            assert_eq!(reason(other), None, "{other}");
        }
        fs::write(path("dev/nvidia0"), "").unwrap();
        assert!(kernel_drivers(root.path()).contains("nvidia"));
    }

    #[test]
    fn a_stored_report_shows_that_a_device_was_there() {
        let reason = |manifest: &str, stored: &[(String, StoredDevice)]| {
            known_device(&row(manifest), &[row(manifest)], stored)
        };
        assert!(
            reason("/a/x.json", &stored("/a/x.json", "0001:0002"))
                .unwrap()
                .contains("Card was measured on 2026-11-25")
        );
        assert_eq!(reason("/a/y.json", &stored("/a/x.json", "0001:0002")), None);
        // Entries of earlier versions do not name the manifest.
        assert!(reason("/a/radeon_icd.json", &stored("", "1002:73bf")).is_some());
        assert_eq!(reason("/a/radeon_icd.json", &stored("", "10de:2330")), None);
    }
}
