//! Reports that version 1 stored, stored anew as this version does.

use std::io;

use super::{Store, StoreError, StoredReport, container, doing};

impl Store {
    /// Stores each report of version 1 anew, in its place and under its name, and passes what
    /// became of it to `notify`. One that cannot be read stays as it is.
    pub fn migrate(
        &self,
        mut notify: impl FnMut(&StoredReport, Result<&StoredReport, StoreError>),
    ) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let mut listing = self.look()?;
        for stored in listing.reports.iter_mut().filter(|stored| stored.entry.shared.is_empty()) {
            let written = self.report(stored).and_then(|report| {
                let packed =
                    container::pack(&report).and_then(|packed| packed.renamed(&stored.entry));
                self.write(doing(packed, "compress", &self.folder.join(&stored.entry.file))?)
            });
            match written {
                Ok(written) => {
                    notify(stored, Ok(&written));
                    *stored = written;
                }
                // There is no room for what follows, either.
                Err(StoreError::Io { doing, path, cause })
                    if cause.kind() == io::ErrorKind::StorageFull =>
                {
                    return Err(StoreError::Io { doing, path, cause });
                }
                Err(error) => notify(stored, Err(error)),
            }
        }
        // A copy, which readers write anew where it is missing.
        let _ = self.write_index(&listing);
        Ok(())
    }
}
