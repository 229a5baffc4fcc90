//! Whether everything in the store is as it was stored.

use std::fs;
use std::io;

use super::error::doing;
use super::{DAEMON, Damage, ENDING, LOCK, Store, StoreError, container, index, is_leftover};
use crate::limited;
use crate::load::SIZE_LIMIT;

/// The folder within the store that damaged files are moved to.
const ASIDE: &str = "damaged";

/// What to do beside looking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checks {
    /// Write the index anew, from the reports alone.
    pub rebuild: bool,
    /// Move damaged files into a folder of their own, from which nothing reads.
    pub set_aside: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Reports that are as they were stored.
    pub sound: usize,
    /// Files that are not, by name.
    pub damaged: Vec<(String, Damage)>,
    /// What else lies in the folder.
    pub foreign: Vec<String>,
    /// Lines of the index that are missing, stale or wrong.
    pub unindexed: usize,
}

impl Store {
    /// Reads every report and checks its digest, and the index against the reports.
    pub fn verify(&self, checks: Checks) -> Result<Found, StoreError> {
        let change = checks.rebuild || checks.set_aside;
        let _lock = if change { Some(self.lock()?) } else { None };
        let mut found = Found::default();
        let mut indexed = index::read(&self.folder);
        for name in self.names()? {
            if !name.ends_with(ENDING) {
                let own = [LOCK, index::NAME, ASIDE, DAEMON].contains(&&name[..]) || is_leftover(&name);
                found.foreign.extend((!own).then_some(name));
                continue;
            }
            match self.sound(&name) {
                Ok((size, entry)) => {
                    found.sound += 1;
                    found.unindexed += usize::from(indexed.remove(&name) != Some((size, entry)));
                }
                Err(Damage::Read(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(damage) => {
                    indexed.remove(&name);
                    found.damaged.push((name, damage));
                }
            }
        }
        found.unindexed += indexed.len();
        if checks.set_aside && !found.damaged.is_empty() {
            let aside = self.folder.join(ASIDE);
            doing(fs::create_dir_all(&aside), "create folder", &aside)?;
            for (name, _) in &found.damaged {
                let path = self.folder.join(name);
                doing(fs::rename(&path, aside.join(name)), "move aside", &path)?;
            }
        }
        if checks.rebuild {
            let path = self.folder.join(index::NAME);
            match fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => doing(removed, "remove index", &path)?,
            }
            let listing = self.look()?;
            doing(self.write_index(&listing), "write index", &path)?;
        }
        Ok(found)
    }

    fn sound(&self, name: &str) -> Result<(u64, super::Entry), Damage> {
        let stored = self.head(name)?;
        let bytes = limited::bytes(&self.folder.join(name), SIZE_LIMIT)?;
        let (entry, _) = container::unpack(&bytes)?;
        Ok((stored.size, entry))
    }
}
