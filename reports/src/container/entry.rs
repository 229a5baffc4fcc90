//! What the store knows of a report without unpacking it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::SharedFile;
use crate::model::{Class, Device, Report};
use crate::selection::ids;
use crate::sum::digest;
use crate::time;

/// Longest text that is taken over from a report: more would only swell the index.
const LONGEST: usize = 256;
/// Hex digits of an id.
const ID: usize = 12;

/// One report of the store, as its own head and the index tell of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Name of its file within the store.
    pub file: String,
    /// SHA-256 of the report's text when it was stored first, lower-case hex.
    pub digest: String,
    /// XXH3 of the text that is inside, 128 bits in lower-case hex; the first program that stored
    /// reports wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xxh3: Option<String>,
    /// Bytes of the report's text.
    pub length: u64,
    /// The files that it shares with other reports; none in version 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedFile>,
    /// [`crate::model::Host::id`].
    pub host: String,
    /// [`crate::model::Host::label`]; empty where no name was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, likewise.
    pub finished: String,
    /// Version of the program that measured.
    pub program: String,
    /// The devices, in the order of the report.
    pub devices: Vec<StoredDevice>,
}

/// One device of a stored report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredDevice {
    /// [`crate::model::Identity::key`].
    pub key: String,
    /// [`crate::model::Identity::slot`].
    pub slot: String,
    /// Its name.
    pub name: String,
    /// Vendor and device id, `10de:2330`.
    pub ids: String,
    /// [`crate::model::Identity::device_uuid`].
    pub uuid: String,
    /// The driver's name.
    pub driver: String,
    /// The driver's version, and what it says of itself.
    pub driver_version: String,
    /// As above.
    pub driver_info: String,
    /// Manifest of the driver; empty in entries of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub manifest: String,
    /// What makes it unfit as reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<String>,
    /// The class under each profile.
    pub classes: BTreeMap<String, Class>,
    /// Kernels that ran; 0 in entries of earlier versions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kernels: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the attribute passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Entry {
    /// Of a report, the text of its document, and the files that it shares.
    pub fn new(report: &Report, text: &str, shared: Vec<SharedFile>) -> Entry {
        let digest = digest(text.as_bytes());
        Entry {
            file: file_name(report, &digest),
            digest,
            xxh3: Some(format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))),
            length: text.len() as u64,
            shared,
            host: short(&report.host.id),
            label: short(&report.host.label),
            started: short(&report.started),
            finished: short(&report.finished),
            program: short(&report.program.version),
            devices: report.devices.iter().map(stored).collect(),
        }
    }

    /// What people call it: the first digits of the digest.
    pub fn id(&self) -> &str {
        self.digest.get(..ID).unwrap_or(&self.digest)
    }

    /// Whether one of its devices is unfit as reference.
    pub fn tainted(&self) -> bool {
        self.devices.iter().any(|device| !device.taint.is_empty())
    }

    /// Whether one of its devices is selected by this text: part of a name, of the driver's,
    /// `vendor:device` in hex, a key, a slot or a UUID.
    pub fn has_device(&self, text: &str) -> bool {
        self.devices.iter().any(|device| device.matches(text))
    }

    /// Where it stands in time; equal times are distinguished by name.
    pub(crate) fn place(&self) -> (u64, &str, &str) {
        (time::seconds(&self.finished).unwrap_or(0), &self.finished, &self.file)
    }
}

impl StoredDevice {
    fn matches(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let exact =
            [&self.key, &self.slot, &self.uuid].into_iter().any(|own| own.to_lowercase() == lower);
        let uuid = !lower.is_empty() && lower.replace('-', "") == self.uuid.to_lowercase();
        let within = |own: &str| !lower.is_empty() && own.to_lowercase().contains(&lower);
        let numbers = ids(text).is_some_and(|numbers| Some(numbers) == ids(&self.ids));
        exact || numbers || uuid || within(&self.name) || within(&self.driver)
    }
}

fn stored(device: &Device) -> StoredDevice {
    let (identity, driver) = (&device.identity, &device.identity.driver);
    StoredDevice {
        key: short(&identity.key),
        slot: short(&identity.slot),
        name: short(&identity.name),
        ids: format!("{:04x}:{:04x}", identity.vendor_id, identity.device_id),
        uuid: short(&identity.device_uuid),
        driver: short(&driver.name),
        driver_version: short(&driver.version),
        driver_info: short(&driver.info),
        manifest: short(&driver.manifest),
        taint: device.taint.iter().map(|text| short(text)).collect(),
        classes: device
            .profiles
            .iter()
            .map(|profile| (short(&profile.id), profile.class))
            .collect(),
        kernels: device.observations.iter().filter(|one| one.outcome.answered()).count(),
    }
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// `TIME-HOST-KEY[+MORE]-ID.fpreport`. Sorted by name, reports are sorted by time.
fn file_name(report: &Report, digest: &str) -> String {
    let plain = |text: &str, most: usize| -> String {
        let plain: String = text.chars().filter(char::is_ascii_alphanumeric).take(most).collect();
        if plain.is_empty() { "0".to_owned() } else { plain }
    };
    let key = report.devices.first().map_or("none", |device| &device.identity.key);
    let more = report.devices.len().saturating_sub(1);
    let more = if more > 0 { format!("+{more}") } else { String::new() };
    let id = digest.get(..ID).unwrap_or(digest);
    let [time, host, key] =
        [(&report.finished[..], 16), (&report.host.id, 16), (key, 16)].map(|(t, n)| plain(t, n));
    format!("{time}-{host}-{key}{more}-{id}{}", super::ENDING)
}
