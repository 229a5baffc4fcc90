//! Whether everything in the store is as it was stored.

use std::collections::HashSet;
use std::fs;
use std::io;

use super::error::doing;
use super::log::{self, Log, LogEvent};
use super::{
    ContainerError, DAEMON, ENDING, Listing, Store, StoreError, StoredReport, container, index,
    is_leftover, lock,
};
use crate::container::shared;
use crate::limited;
use crate::model::SIZE_LIMIT;

/// The folder within the store that damaged files are moved to.
const ASIDE: &str = "damaged";

/// What to do beside looking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checks {
    /// Write the index anew, from the reports alone, and note in the log what it lacks and what is
    /// lost.
    pub rebuild: bool,
    /// Move damaged files into a folder of their own, from which nothing reads.
    pub set_aside: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Verification {
    /// Reports that are as they were stored.
    pub sound: usize,
    /// Files that are not, by name.
    pub damaged: Vec<(String, ContainerError)>,
    /// What else lies in the folder.
    pub foreign: Vec<String>,
    /// Reports that were stored, that nobody has removed, and that are not there, by name.
    pub lost: Vec<String>,
    /// Reports that the log does not have.
    pub unlogged: usize,
    /// Lines of the log that are damaged or missing; `None` where there is no log at all.
    pub log: Option<usize>,
    /// Lines of the index that are missing, stale or wrong.
    pub unindexed: usize,
    /// The reports.
    pub listing: Listing,
}

impl Verification {
    /// Whether everything is there that was stored, and as it was stored, and whether that can be
    /// known.
    pub fn is_whole(&self) -> bool {
        self.damaged.is_empty() && self.lost.is_empty() && self.log == Some(0)
    }
}

impl Store {
    /// Reads every report and what it shares, and checks digests, and log and index against the
    /// reports.
    pub fn verify(&self, checks: Checks) -> Result<Verification, StoreError> {
        let names = self.names()?;
        let mut log = Log::read(&self.folder);
        if !log.exists && !names.iter().any(|name| name.ends_with(ENDING)) {
            return Err(StoreError::Missing { path: self.folder.clone() });
        }
        let mut found =
            Verification { log: log.exists.then_some(log.damaged), ..Verification::default() };
        let change = checks.rebuild || checks.set_aside;
        let mut lock = if change { Some(self.lock()?) } else { None };
        let (mut indexed, mut known) = (index::read(&self.folder), HashSet::new());
        for name in names {
            if !name.ends_with(ENDING) {
                let own = [lock::NAME, log::NAME, index::NAME, ASIDE, DAEMON].contains(&&name[..])
                    || shared::FOLDERS.iter().any(|folder| folder.name == name)
                    || is_leftover(&name);
                found.foreign.extend((!own).then_some(name));
                continue;
            }
            match self.sound_among(&name, &mut known) {
                Ok(StoredReport { size, entry }) => {
                    found.sound += 1;
                    found.unlogged += usize::from(!log.has(&name));
                    found.unindexed +=
                        usize::from(indexed.remove(&name) != Some((size, entry.clone())));
                    found.listing.reports.push(StoredReport { size, entry });
                }
                Err(ContainerError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(damage) => {
                    indexed.remove(&name);
                    found.damaged.push((name, damage));
                }
            }
        }
        // What others have stored or removed meanwhile is in the log of now.
        log = Log::read(&self.folder);
        let (lost, stale): (Vec<String>, Vec<String>) =
            indexed.into_keys().partition(|file| log.lacks(&self.folder, file));
        found.unindexed += stale.len();
        found.lost = log.lost(&self.folder);
        found.lost.extend(lost);
        found.lost.sort_unstable();
        let note = |log: &mut Log, event, files: &[&str]| {
            doing(
                self.note(log, event, files.iter().copied()),
                "write",
                &self.folder.join(log::NAME),
            )
        };
        // What a newer program stored is as it should be.
        let is_damaged = |(_, damage): &&(String, ContainerError)| !damage.is_newer();
        let files: Vec<&str> =
            found.damaged.iter().filter(is_damaged).map(|(name, _)| &name[..]).collect();
        if let (Some(lock), true) = (&mut lock, checks.set_aside && !files.is_empty()) {
            let aside = self.folder.join(ASIDE);
            doing(fs::create_dir_all(&aside), "create folder", &aside)?;
            note(&mut lock.log, LogEvent::SetAside, &files)?;
            for name in files {
                let path = self.folder.join(name);
                doing(fs::rename(&path, aside.join(name)), "move aside", &path)?;
            }
        }
        if let (Some(lock), true) = (&mut lock, checks.rebuild) {
            let lost: Vec<&str> = found.lost.iter().map(String::as_str).collect();
            note(&mut lock.log, LogEvent::Lost, &lost)?;
            if lock.log.damaged > 0 {
                note(&mut lock.log, LogEvent::Repaired, &[""])?;
            }
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

    /// The report of this file, if it is as it was stored.
    pub(super) fn sound(&self, name: &str) -> Result<StoredReport, ContainerError> {
        self.sound_among(name, &mut HashSet::new())
    }

    /// The same, where some of the shared files are known to be sound.
    fn sound_among(
        &self,
        name: &str,
        known: &mut HashSet<String>,
    ) -> Result<StoredReport, ContainerError> {
        let stored = self.head(name)?;
        for shared in &stored.entry.shared {
            if !known.contains(&shared.file) {
                shared.read(&self.folder)?;
                known.insert(shared.file.clone());
            }
        }
        container::unpack(&limited::bytes(&self.folder.join(name), SIZE_LIMIT)?, &self.folder)?;
        Ok(stored)
    }
}
