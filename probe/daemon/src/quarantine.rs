//! Devices that hung: left alone until the machine is started again, or somebody says otherwise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fpprobe_reports::limited;
use fpprobe_reports::save::save;
use serde::{Deserialize, Serialize};

use fpprobe_reports::host;

/// Bytes that the file may have.
const LIMIT: u64 = 1 << 20;

/// Slots that are left alone.
#[derive(Clone, Debug)]
pub struct Quarantine {
    path: PathBuf,
    entries: BTreeMap<String, QuarantineEntry>,
}

/// Why, and since when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuarantineEntry {
    /// The start of the machine in which the device hung.
    pub boot: String,
    /// RFC 3339, UTC.
    pub since: String,
    /// What happened.
    pub reason: String,
}

impl Quarantine {
    /// What the file holds of this start of the machine; nothing where there is none. One that
    /// cannot be read is an error: a device that takes the machine down must not be measured
    /// because of that.
    pub fn open(path: &Path) -> anyhow::Result<Quarantine> {
        let entry: BTreeMap<String, QuarantineEntry> = match limited::text(path, LIMIT) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                anyhow::anyhow!("{}: {error}; remove it to lift every quarantine", path.display())
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => anyhow::bail!("{}: {error}", path.display()),
        };
        let boot = host::boot();
        let entry = entry.into_iter().filter(|(_, entry)| entry.boot == boot).collect();
        Ok(Quarantine { path: path.to_owned(), entries: entry })
    }

    /// What is left alone.
    pub fn entries(&self) -> &BTreeMap<String, QuarantineEntry> {
        &self.entries
    }

    /// Leaves a slot alone from now on.
    pub fn hold(&mut self, slot: &str, reason: &str) -> anyhow::Result<()> {
        let entry =
            QuarantineEntry { boot: host::boot(), since: host::now(), reason: reason.to_owned() };
        self.entries.insert(slot.to_owned(), entry);
        self.write()
    }

    /// Lifts the quarantine of a slot, or of all; how many there were.
    pub fn clear(&mut self, slot: Option<&str>) -> anyhow::Result<usize> {
        let before = self.entries.len();
        self.entries.retain(|entry, _| slot.is_some_and(|slot| slot != entry));
        self.write()?;
        Ok(before - self.entries.len())
    }

    fn write(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.entries)?;
        Ok(save(&self.path, |out| out.write_all(text.as_bytes()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarantine_outlives_the_process_but_not_the_start_of_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quarantine.json");
        let mut quarantine = Quarantine::open(&path).unwrap();
        quarantine.hold("pci:0000:01:00.0", "hung").unwrap();
        quarantine.hold("pci:0000:02:00.0", "hung").unwrap();
        let mut again = Quarantine::open(&path).unwrap();
        assert_eq!(again.entries().len(), 2);
        assert_eq!(again.clear(Some("pci:0000:02:00.0")).unwrap(), 1);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("01:00.0") && !text.contains("02:00.0"));
        std::fs::write(&path, text.replace(&host::boot(), "another start")).unwrap();
        assert!(Quarantine::open(&path).unwrap().entries().is_empty());
        std::fs::write(&path, "{").unwrap();
        assert!(Quarantine::open(&path).unwrap_err().to_string().contains("remove it"));
    }
}
