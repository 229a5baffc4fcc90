//! What people call a stored report.

use super::{Listing, Store, StoreError, StoredReport};

/// Digits of an id that name one report well enough, where they do.
const SHORTEST: usize = 2;

impl Store {
    /// The report that a text means: `last`, `last-1` and so on back in time, the first digits of
    /// an id, or the name of a file.
    pub fn find(&self, listing: &Listing, id: &str) -> Result<StoredReport, StoreError> {
        let unknown = |hint: String| StoreError::Unknown {
            path: self.folder.clone(),
            id: id.to_owned(),
            hint,
        };
        let count = listing.reports.len();
        if count == 0 {
            return Err(unknown(
                "it is empty (`fpprobe run` and `fpprobe history add FILE` fill it)".into(),
            ));
        }
        if let Some(back) = place_before(id) {
            let found = count.checked_sub(1).and_then(|last| last.checked_sub(back));
            return found
                .map(|place| listing.reports[place].clone())
                .ok_or_else(|| unknown(format!("it holds {count}")));
        }
        let lower = id.to_lowercase();
        let called = |stored: &&StoredReport| {
            let digits = lower.len() >= SHORTEST && stored.entry.digest.starts_with(&lower);
            digits || stored.entry.file == id
        };
        let found: Vec<&StoredReport> = listing.reports.iter().filter(called).collect();
        match found[..] {
            [one] => Ok(one.clone()),
            [] => Err(unknown(
                "`fpprobe history list` shows ids; `last` is the newest, `last-1` the one before"
                    .into(),
            )),
            _ => {
                let found =
                    found.iter().take(8).map(|stored| stored.entry.id().to_owned()).collect();
                Err(StoreError::Ambiguous { id: id.to_owned(), found })
            }
        }
    }
}

/// How far back in time `last-3` is: 3, and `last` 0.
pub fn place_before(id: &str) -> Option<usize> {
    match id.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('-')?.parse().ok(),
    }
}
