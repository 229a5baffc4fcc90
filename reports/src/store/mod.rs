//! Reports that are kept: a folder of files, each a compressed report under a head that tells of
//! it, and beside them the files that reports share: results and what is said of devices, once for
//! all reports in which they are equal.
//!
//! Writers take turns under a lock that the system releases when one of them dies; each file
//! appears whole or not at all. Readers take no lock: what they see was whole when they looked. The
//! index is a copy and may be lost; the log is not: it has the order of arrival, and shows what was
//! lost. What both folder and log have lost, the index shows.

mod error;
mod id;
mod index;
mod link;
mod lock;
mod log;
mod migrate;
mod retention;
mod verify;

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use self::error::StoreError;
pub use self::id::place_before;
pub use self::link::{link, unlink};
pub use self::retention::{RetentionLimits, freed};
pub use self::verify::{Checks, Verification};

use self::error::doing;
use self::log::{Log, LogEvent};
pub use crate::container::{ContainerError, ENDING, Entry, SharedFile, StoredDevice};
use crate::container::{PackedReport, shared};
use crate::model::{Report, SIZE_LIMIT};
use crate::{container, limited, load, save, time};

/// Folder, within the store, of what a daemon that fills it keeps for itself.
pub const DAEMON: &str = "daemon";
/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(30);
/// How far clocks may differ: what ended later than this from now is from the future.
const TOLERANCE: u64 = 300;

/// A folder of reports.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    patience: Duration,
    /// Files that this process has stored, which it does not remove.
    own: Arc<Mutex<BTreeSet<String>>>,
}

/// The lock, while a writer holds it.
struct Lock {
    _file: File,
    log: Log,
}

/// A report in the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredReport {
    /// Bytes of its own file.
    pub size: u64,
    /// What its head says.
    pub entry: Entry,
}

/// What the store holds.
#[derive(Debug, Default)]
pub struct Listing {
    /// The reports, in the order in which they were stored.
    pub reports: Vec<StoredReport>,
    /// Files that are named as reports are and cannot be read, by name.
    pub damaged: Vec<(String, ContainerError)>,
    /// Reports that only the index knows: neither the folder nor the log has them.
    pub lost: Vec<StoredReport>,
    /// Whether the index had all of them and nothing else.
    pub indexed: bool,
}

/// What became of a report that was to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Put {
    /// It is in the store now.
    Stored(StoredReport),
    /// It was there before, to the last bit.
    Known(StoredReport),
}

impl Listing {
    /// Reports that ended after `now`, in seconds since 1970: a clock was ahead when they were
    /// made, or is behind.
    pub fn future(&self, now: u64) -> impl Iterator<Item = &StoredReport> {
        let is_future = move |stored: &&StoredReport| {
            time::seconds(&stored.entry.finished)
                .is_some_and(|end| end > now.saturating_add(TOLERANCE))
        };
        self.reports.iter().filter(is_future)
    }
}

impl Store {
    /// The store in this folder, which need not be there yet.
    pub fn new(folder: PathBuf) -> Store {
        Store { folder, patience: PATIENCE, own: Arc::default() }
    }

    /// The same, whose writers wait this long for others.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Store {
        Store { patience, ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes sure that a report can be stored: makes the folder and takes the lock once. Leftovers
    /// of writers that were killed go.
    pub fn prepare(&self) -> Result<(), StoreError> {
        self.lock().map(drop)
    }

    /// Stores a report; a tainted one only where that is allowed.
    pub fn put(&self, report: &Report, allow_tainted: bool) -> Result<Put, StoreError> {
        if report.devices.is_empty() {
            return Err(StoreError::NoDevice);
        }
        let tainted = report.devices.iter().find(|device| !device.taint.is_empty());
        if let (Some(device), false) = (tainted, allow_tainted) {
            return Err(StoreError::Tainted {
                device: device.identity.name.clone(),
                taint: device.taint.join("; "),
            });
        }
        let packed = doing(container::pack(report), "compress the report for", &self.folder)?;
        let mut lock = self.lock()?;
        self.own().insert(packed.entry.file.clone());
        if let Ok(stored) = self.sound(&packed.entry.file) {
            return Ok(Put::Known(stored));
        }
        let StoredReport { size, entry } = self.write(packed)?;
        // The report is safe. A line that is missing from the log is added by the next writer, one
        // of the index is read from it.
        let _ = self.note(&mut lock.log, LogEvent::Stored, [&entry.file[..]]);
        let _ = self.append(size, &entry);
        Ok(Put::Stored(StoredReport { size, entry }))
    }

    /// Writes the files of a report, its own last: what is there is whole.
    fn write(&self, packed: PackedReport) -> Result<StoredReport, StoreError> {
        let path = self.folder.join(&packed.entry.file);
        for (shared, bytes) in packed.entry.shared.iter().zip(&packed.shared) {
            doing(shared.write(&self.folder, bytes), "store", &self.folder.join(&shared.file))?;
        }
        let saved =
            save::save(&path, |out| out.write_all(&packed.bytes)).map_err(|error| error.cause);
        doing(saved, "store the report as", &path)?;
        Ok(StoredReport { size: packed.bytes.len() as u64, entry: packed.entry })
    }

    fn own(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes into the log what happened to these reports.
    fn note<'a>(
        &self,
        log: &mut Log,
        event: LogEvent,
        files: impl IntoIterator<Item = &'a str>,
    ) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        log.append(&self.folder, now, event, files)
    }

    /// When reports arrived, those that are removed included: by file, a number that grows.
    pub fn arrivals(&self) -> HashMap<String, u64> {
        Log::read(&self.folder).into_arrivals()
    }

    fn append(&self, size: u64, entry: &Entry) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(self.folder.join(index::NAME))?;
        let mut line = String::new();
        if file.seek(io::SeekFrom::End(-1)).is_ok() {
            let mut last = [0];
            file.read_exact(&mut last)?;
            // A writer was killed within its line, which is lost; this one is not.
            line.push_str(if last == [b'\n'] { "" } else { "\n" });
        }
        line.push_str(&index::line(size, entry)?);
        file.write_all(line.as_bytes())?;
        file.sync_data()
    }

    /// What the store holds; nothing where the folder is not there. The index is written anew where
    /// it lacks something and nobody else is writing.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let listing = self.look()?;
        if !listing.indexed {
            // Who may not write reads all the same.
            let _ = self.try_lock().and_then(|_lock| self.write_index(&listing));
        }
        Ok(listing)
    }

    fn look(&self) -> Result<Listing, StoreError> {
        let mut known = index::read(&self.folder);
        let (mut listing, mut indexed) = (Listing::default(), true);
        for name in self.names()?.into_iter().filter(|name| name.ends_with(ENDING)) {
            if let Some((size, entry)) = known.remove(&name) {
                listing.reports.push(StoredReport { size, entry });
                continue;
            }
            match self.head(&name) {
                Ok(stored) => {
                    indexed = false;
                    listing.reports.push(stored);
                }
                // Gone since: another process removes old reports.
                Err(ContainerError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(damage) => listing.damaged.push((name, damage)),
            }
        }
        let log = Log::read(&self.folder);
        let others = known.into_values().map(|(size, entry)| StoredReport { size, entry });
        let (lost, stale): (_, Vec<StoredReport>) =
            others.partition(|stored| log.lacks(&self.folder, &stored.entry.file));
        (listing.lost, listing.indexed) = (lost, indexed && stale.is_empty());
        // What the log does not know is newer than what it knows.
        let arrival = |stored: &StoredReport| log.arrival(&stored.entry.file).unwrap_or(u64::MAX);
        listing.reports.sort_by(|one, other| {
            arrival(one)
                .cmp(&arrival(other))
                .then_with(|| one.entry.place().cmp(&other.entry.place()))
        });
        Ok(listing)
    }

    /// Names of everything in the folder, sorted.
    fn names(&self) -> Result<Vec<String>, StoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => doing(entries, "list store", &self.folder)?,
        };
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let names: io::Result<Vec<String>> = entries.map(|entry| entry.map(name)).collect();
        let mut names = doing(names, "list store", &self.folder)?;
        names.sort_unstable();
        Ok(names)
    }

    fn head(&self, name: &str) -> Result<StoredReport, ContainerError> {
        let path = self.folder.join(name);
        // A pipe would be waited for.
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(ContainerError::Foreign);
        }
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let entry = container::head(&file)?;
        if entry.file != name {
            return Err(ContainerError::Head(format!(
                "it says that its name is {:.300}",
                entry.file
            )));
        }
        Ok(StoredReport { size, entry })
    }

    /// The document of a stored report, as text; of one that version 1 stored with the results in
    /// it.
    pub fn text(&self, stored: &StoredReport) -> Result<String, StoreError> {
        let path = self.folder.join(&stored.entry.file);
        let bytes = doing(limited::bytes(&path, SIZE_LIMIT), "read stored report", &path)?;
        let unpacked = container::unpack(&bytes, &self.folder)
            .map_err(|cause| StoreError::Damaged { path, cause })?;
        Ok(unpacked.1)
    }

    /// A stored report.
    pub fn report(&self, stored: &StoredReport) -> Result<Report, StoreError> {
        let text = self.text(stored)?;
        Ok(load::parse(text.as_bytes(), &self.folder.join(&stored.entry.file))?)
    }

    /// Makes the folder, takes the lock, and puts in order what writers that were killed have left.
    fn lock(&self) -> Result<Lock, StoreError> {
        doing(fs::create_dir_all(&self.folder), "create store", &self.folder)?;
        let file = lock::take(&self.folder, self.patience).map_err(|failure| match failure {
            lock::LockError::Io(cause) => {
                StoreError::Io { doing: "lock", path: self.folder.join(lock::NAME), cause }
            }
            lock::LockError::Held(holder) => {
                StoreError::Locked { path: self.folder.clone(), holder, waited: self.patience }
            }
        })?;
        let mut log = Log::read(&self.folder);
        let names = self.names()?;
        for name in names.iter().filter(|name| is_leftover(name)) {
            // Whoever holds the lock is the only writer.
            let _ = fs::remove_file(self.folder.join(name));
        }
        shared::remove_leftovers(&self.folder);
        if !log.exists {
            doing(
                self.note(&mut log, LogEvent::Created, [""]),
                "write",
                &self.folder.join(log::NAME),
            )?;
        }
        if names.iter().any(|name| name.ends_with(ENDING) && !log.has(name)) {
            let reports = self.look()?.reports;
            let files =
                reports.iter().map(|stored| &stored.entry.file[..]).filter(|file| !log.has(file));
            let files: Vec<&str> = files.collect();
            // Those are tried again by the next writer.
            let _ = self.note(&mut log, LogEvent::Found, files);
        }
        Ok(Lock { _file: file, log })
    }

    fn try_lock(&self) -> io::Result<File> {
        lock::take(&self.folder, Duration::ZERO).map_err(|failure| match failure {
            lock::LockError::Io(error) => error,
            lock::LockError::Held(holder) => io::Error::new(io::ErrorKind::WouldBlock, holder),
        })
    }

    /// Writes the index of what was found; the lock must be held.
    fn write_index(&self, listing: &Listing) -> io::Result<()> {
        let lines: io::Result<String> = listing
            .reports
            .iter()
            .chain(&listing.lost)
            .map(|stored| index::line(stored.size, &stored.entry))
            .collect();
        let lines = lines?;
        let path = self.folder.join(index::NAME);
        save::save(&path, |out| out.write_all(lines.as_bytes())).map_err(|error| error.cause)
    }
}

/// Whether a name is that of a file on its way into the store.
fn is_leftover(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    inner.is_some_and(|inner| inner.contains(ENDING) || inner.contains(index::NAME))
}
