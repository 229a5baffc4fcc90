//! The devices, as the last look by fresh workers found them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::supervisor::{Row, Target};

/// What is known of a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Known {
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
    #[serde(skip)]
    pub manifest: PathBuf,
}

impl Known {
    /// Whether its driver's library is this file, by this name or by where a link of its name leads.
    pub fn is_of(&self, file: &Path) -> bool {
        self.library == file || self.library.canonicalize().is_ok_and(|library| library == file)
    }
}

/// What a look found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roster {
    /// Devices that can be measured.
    pub devices: Vec<Known>,
    /// What could not be looked at, and why.
    pub troubles: Vec<String>,
}

impl Roster {
    /// Of what every driver answered, and of the devices that are chosen of it.
    pub fn new(rows: &[Row], chosen: &[Target]) -> Roster {
        let mut roster = Roster::default();
        for incident in rows.iter().filter_map(|row| row.devices.as_ref().err()) {
            roster.troubles.push(format!("{}: {}", incident.subject, incident.detail));
        }
        for Target { manifest, found, .. } in chosen {
            let (identity, driver) = (&found.identity, &found.identity.driver);
            if let Some(obstacle) = &found.obstacle {
                roster.troubles.push(format!("{}: {obstacle}", identity.name));
                continue;
            }
            roster.devices.push(Known {
                key: identity.key.clone(),
                slot: identity.slot.clone(),
                name: identity.name.clone(),
                kind: identity.kind.clone(),
                driver: driver.name.clone(),
                driver_info: if driver.info.is_empty() { driver.version.clone() } else { driver.info.clone() },
                library: PathBuf::from(&driver.library),
                manifest: manifest.clone(),
            });
        }
        roster
    }

    /// Devices that were not there before, or not with this driver.
    pub fn news(&self, before: &Roster) -> Vec<Known> {
        let known = |device: &&Known| !before.devices.iter().any(|other| other.key == device.key);
        self.devices.iter().filter(known).cloned().collect()
    }
}
