//! How much is kept.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;

use fpprobe_system::files::sync_folder;

use super::error::doing;
use super::log::LogEvent;
use super::{Listing, Store, StoreError, StoredReport};
use crate::container::shared;
use crate::time;

/// Limits of what is kept; 0 is no limit. The report that arrived last stays whatever they are, and
/// what this process stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RetentionLimits {
    /// Number of reports.
    pub count: u64,
    /// Days since the run ended. A report that does not say when that was is not too old.
    pub days: u64,
    /// Bytes of all files together.
    pub bytes: u64,
}

impl RetentionLimits {
    /// Whether there is none.
    pub fn none(&self) -> bool {
        *self == RetentionLimits::default()
    }

    /// The reports that go, in the order of their arrival, none of these files among them; `now` in
    /// seconds since 1970.
    fn exceeded<'a>(
        &self,
        listing: &'a Listing,
        now: u64,
        own: &BTreeSet<String>,
    ) -> Vec<&'a StoredReport> {
        let (mut count, mut bytes) = (0, 0u64);
        // What newer reports share with it takes no room of its own.
        let mut shared: HashSet<&str> = HashSet::new();
        let goes = |stored: &&'a StoredReport| {
            count += 1;
            let more = stored.entry.shared.iter().filter(|one| !shared.contains(&one.file[..]));
            let size = stored.size + more.map(|one| one.size).sum::<u64>();
            let within = |limit: u64, value: u64| limit == 0 || value <= limit;
            let age =
                time::seconds(&stored.entry.finished).map_or(0, |end| now.saturating_sub(end));
            let recent = self.days == 0 || age <= self.days.saturating_mul(86_400);
            let fits = within(self.bytes, bytes.saturating_add(size));
            let stays = count == 1
                || own.contains(&stored.entry.file)
                || within(self.count, count) && recent && fits;
            // What goes takes no room from older ones that are smaller.
            if stays {
                bytes += size;
                shared.extend(stored.entry.shared.iter().map(|one| &one.file[..]));
            }
            !stays
        };
        let mut exceeded: Vec<&StoredReport> = listing.reports.iter().rev().filter(goes).collect();
        exceeded.reverse();
        exceeded
    }
}

/// Bytes of the files that go with these reports: their own, and what no other report shares.
pub fn freed(listing: &Listing, removed: &[StoredReport]) -> u64 {
    let stays = |stored: &&StoredReport| !removed.contains(stored);
    let kept = listing.reports.iter().filter(stays).flat_map(|stored| &stored.entry.shared);
    let mut counted: HashSet<&str> = kept.map(|one| &one.file[..]).collect();
    let shared = removed.iter().flat_map(|stored| &stored.entry.shared);
    let shared = shared.filter(|one| counted.insert(&one.file)).map(|one| one.size).sum::<u64>();
    shared + removed.iter().map(|stored| stored.size).sum::<u64>()
}

impl Store {
    /// Removes what exceeds the limits, and says what that was. `now` in seconds since 1970.
    pub fn prune(
        &self,
        limits: &RetentionLimits,
        now: u64,
    ) -> Result<Vec<StoredReport>, StoreError> {
        let mut lock = self.lock()?;
        let mut listing = self.look()?;
        let removed: Vec<StoredReport> =
            limits.exceeded(&listing, now, &self.own()).into_iter().cloned().collect();
        for stored in &removed {
            let (file, path) = (&stored.entry.file, self.folder.join(&stored.entry.file));
            // First the line: what has none and is not there counts as lost. A full disk has room
            // for it only then.
            let noted = self.note(&mut lock.log, LogEvent::Removed, [&file[..]]);
            let is_full =
                noted.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::StorageFull);
            if !is_full {
                doing(noted, "write down the removal of", &path)?;
            }
            doing(fs::remove_file(&path), "remove stored report", &path)?;
            if is_full {
                doing(
                    self.note(&mut lock.log, LogEvent::Removed, [&file[..]]),
                    "write down the removal of",
                    &path,
                )?;
            }
        }
        if !removed.is_empty() {
            doing(sync_folder(&self.folder), "write store", &self.folder)?;
            listing.reports.retain(|stored| !removed.contains(stored));
            // The index is a copy; what it has beyond folder and log is left out when it is read.
            let _ = self.write_index(&listing);
            doing(
                self.release(&listing),
                "remove what no report shares any more from",
                &self.folder,
            )?;
        }
        Ok(removed)
    }

    /// Removes shared files that no report shares; the lock must be held. Where a report cannot be
    /// read nobody knows what it shares, and all stay.
    fn release(&self, listing: &Listing) -> io::Result<()> {
        let shared = listing.reports.iter().flat_map(|stored| &stored.entry.shared);
        let shared: HashSet<&str> = shared.map(|one| &one.file[..]).collect();
        if listing.damaged.is_empty() { shared::release(&self.folder, &shared) } else { Ok(()) }
    }

    /// What [`Store::prune`] would remove; nothing is touched.
    pub fn would_prune(
        &self,
        limits: &RetentionLimits,
        now: u64,
    ) -> Result<Vec<StoredReport>, StoreError> {
        let listing = self.look()?;
        Ok(limits.exceeded(&listing, now, &self.own()).into_iter().cloned().collect())
    }
}
