//! Rounds on their way: written down before a device is measured, until what was found has been
//! reported. A daemon that is killed in between finds here what it has yet to compare and tell.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fpprobe_reports::limited;
use fpprobe_reports::save::save;
use fpprobe_reports::store::{Store, StoredReport, unlink};
use serde::{Deserialize, Serialize};

use crate::order::Order;
use crate::references::{Reference, link};
use crate::trigger::Trigger;

/// Bytes that a record may have.
const LIMIT: u64 = 16 << 20;

/// A round that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PendingWork {
    /// What was to be measured.
    pub order: Order,
    /// Id of the report to compare with, whose file lies beside the record.
    pub before: Option<String>,
    /// Ids of the device's reports that were there before.
    known: Vec<String>,
    /// Id of the report that came of it, as soon as it is stored.
    stored: Option<String>,
}

impl PendingWork {
    /// Writes down that a round begins; what it is compared with can no longer vanish.
    pub fn begin(
        folder: &Path,
        order: &Order,
        previous: Option<Reference>,
        reports: &[StoredReport],
    ) -> anyhow::Result<PendingWork> {
        let known = reports.iter().filter(|stored| is_of(stored, order));
        let known = known.map(|stored| stored.entry.id().to_owned()).collect();
        let record = place(folder, order);
        fs::create_dir_all(folder.join("unfinished"))?;
        if let Some(previous) = &previous {
            link(&previous.file, &reference(folder, order))?;
        }
        let before = previous.map(|previous| previous.id);
        let pending = PendingWork { order: order.clone(), before, known, stored: None };
        pending.write(&record)?;
        Ok(pending)
    }

    /// The record of this order, if there is one.
    pub fn of(folder: &Path, order: &Order) -> Option<PendingWork> {
        read(&place(folder, order)).ok()
    }

    /// The report that came of it, where it is in the store.
    pub fn report(&self, reports: &[StoredReport]) -> Option<StoredReport> {
        let id = |stored: &StoredReport| stored.entry.id().to_owned();
        let is_it = |stored: &&StoredReport| match &self.stored {
            Some(noted) => id(stored) == *noted,
            None => is_of(stored, &self.order) && !self.known.contains(&id(stored)),
        };
        reports.iter().rev().find(is_it).cloned()
    }

    /// Writes down which report came of it.
    pub fn note(&mut self, folder: &Path, stored: &StoredReport) -> anyhow::Result<()> {
        self.stored = Some(stored.entry.id().to_owned());
        self.write(&place(folder, &self.order))
    }

    /// Forgets an order that is done, or of which nothing came.
    pub fn end(folder: &Path, order: &Order) {
        let _ = fs::remove_file(place(folder, order));
        let _ = unlink(&reference(folder, order));
        for leftover in [".json", ".parquet", ".json.journal.old", "-diff.json"] {
            let _ = fs::remove_file(folder.join("work").join(order.name() + leftover));
        }
    }

    fn write(&self, record: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self)?;
        Ok(save(record, |out| out.write_all(text.as_bytes()))?)
    }
}

/// What a daemon that was killed has yet to finish. Of what had not been measured to the end
/// nothing is left to compare.
pub fn recover(folder: &Path, store: &Store) -> anyhow::Result<(Vec<Order>, Vec<anyhow::Error>)> {
    let reports = store.list()?.reports;
    let (mut orders, mut failures) = (Vec::new(), Vec::new());
    let records = fs::read_dir(folder.join("unfinished"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    for record in records.filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let mut pending = match read(&record) {
            Ok(pending) => pending,
            Err(error) => {
                failures.push(error);
                continue;
            }
        };
        match pending.report(&reports) {
            Some(stored) => {
                // Whoever wants it measured now wants more than this.
                pending.order.trigger = Trigger::Unfinished;
                pending.note(folder, &stored)?;
                orders.push(pending.order);
            }
            None => PendingWork::end(folder, &pending.order),
        }
    }
    Ok((orders, failures))
}

/// The file of the report that an pending order is compared with.
pub fn reference(folder: &Path, order: &Order) -> PathBuf {
    folder.join("unfinished").join(format!("{}.fpreport", order.name()))
}

fn place(folder: &Path, order: &Order) -> PathBuf {
    folder.join("unfinished").join(format!("{}.json", order.name()))
}

fn read(record: &Path) -> anyhow::Result<PendingWork> {
    let text = limited::text(record, LIMIT)
        .with_context(|| format!("failed to read {}", record.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{}: remove it to forget an interrupted round", record.display()))
}

fn is_of(stored: &StoredReport, order: &Order) -> bool {
    stored.entry.devices.iter().any(|held_before| held_before.key == order.device.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::RunExtent;
    use crate::references::tests::{device, put};

    #[test]
    fn what_was_stored_and_not_told_is_found_when_the_daemon_starts_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        let own = folder.path().join("daemon");
        let order = |extent| Order::new(device("one"), extent, Trigger::Start);
        let (quick, full) = (order(RunExtent::Quick), order(RunExtent::Full));
        let (file, id) = put(&store, &device("one"), 1);
        let previous = || Some(Reference { id: id.clone(), file: store.folder().join(&file) });
        let reports = || store.list().unwrap().reports;
        PendingWork::begin(&own, &full, previous(), &reports()).unwrap();
        assert!(recover(&own, &store).unwrap().0.is_empty(), "it was not measured to the end");
        assert!(PendingWork::of(&own, &full).is_none() && !reference(&own, &full).exists());

        PendingWork::begin(&own, &quick, previous(), &reports()).unwrap();
        let (_, measured) = put(&store, &device("one"), 2);
        // The store lets go what it was compared with.
        fs::remove_file(store.folder().join(&file)).unwrap();
        // One that is damaged keeps no other from being found.
        fs::write(own.join("unfinished/damaged.json"), "{").unwrap();
        let (orders, failures) = recover(&own, &store).unwrap();
        assert_eq!(failures.len(), 1);
        assert_eq!(
            (orders.len(), orders[0].extent, &orders[0].trigger),
            (1, RunExtent::Quick, &Trigger::Unfinished)
        );
        // Whatever is stored since.
        put(&store, &device("one"), 3);
        let pending = PendingWork::of(&own, &quick).unwrap();
        assert_eq!(pending.report(&reports()).unwrap().entry.id(), measured);
        assert_eq!(pending.before.as_ref(), Some(&id));
        assert!(reference(&own, &quick).is_file());
        PendingWork::end(&own, &quick);
        assert!(recover(&own, &store).unwrap().0.is_empty());
    }
}
