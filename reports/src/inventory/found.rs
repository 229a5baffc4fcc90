//! The devices in files, folders and stores. Of a report nothing stays in memory but digests.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use fpprobe_profiles::parallel;

use super::UnreadableFile;
use super::reader::ReportReader;
use super::results::ResultDigest;
use crate::limited::{self, ReadFile};
use crate::load::{self, LoadError};
use crate::model::{Class, Report, ResultFile, SIZE_LIMIT};
use crate::{sum, time};

/// Endings of reports: as `run` writes them, and as the store keeps them.
const ENDINGS: [&str; 2] = ["json", "fpreport"];

/// Why there is nothing to make an inventory of.
#[derive(Debug, thiserror::Error)]
pub enum FoundError {
    /// A place cannot be read.
    #[error("failed to read {}: {cause}; name reports, folders of reports, or stores", path.display())]
    Place {
        /// The place.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// There is no report in any of the places.
    #[error("no report found in {places}; `fpprobe run -o FOLDER` writes one")]
    Nothing {
        /// The places.
        places: String,
    },
}

impl FoundError {
    /// There is no report in any of these.
    pub fn nothing(places: &[PathBuf]) -> FoundError {
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        FoundError::Nothing { places: places.join(", ") }
    }
}

/// A file that may be a report, and how it is read.
#[derive(Clone)]
pub struct ReportFile {
    /// Where it is; of a place that is no folder its address.
    pub path: PathBuf,
    read: Arc<ReadFile>,
}

impl ReportFile {
    /// A file that is read by this function, as are those that it names beside it.
    pub fn new(path: PathBuf, read: Arc<ReadFile>) -> ReportFile {
        ReportFile { path, read }
    }

    /// Whether the name is that of a report, or of another document.
    pub fn is_named(path: &Path) -> bool {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| ENDINGS.contains(&&*ending))
    }

    /// The files of this place: itself, or all reports below it.
    pub fn in_place(place: &Path) -> Result<Vec<ReportFile>, FoundError> {
        let mut files = Vec::new();
        collect(place, &mut files).map_err(|(path, cause)| FoundError::Place { path, cause })?;
        let read: Arc<ReadFile> = Arc::new(limited::bytes);
        Ok(files.into_iter().map(|path| ReportFile::new(path, Arc::clone(&read))).collect())
    }

    /// Reads it.
    pub(super) fn load(&self) -> Result<Report, LoadError> {
        self.parse(&self.text()?)
    }

    /// Its document.
    pub(super) fn text(&self) -> Result<Vec<u8>, LoadError> {
        load::text(&self.path, &*self.read)
    }

    /// The report of its document.
    pub(super) fn parse(&self, text: &[u8]) -> Result<Report, LoadError> {
        load::parse_by(text, &self.path, &*self.read)
    }

    /// Whether the results that it names are there as they were written.
    pub(super) fn has_results(&self, named: &ResultFile) -> bool {
        load::result_file(&self.path, named)
            .and_then(|file| (self.read)(&file, SIZE_LIMIT).ok())
            .is_some_and(|bytes| sum::digest(&bytes) == named.sha256)
    }
}

impl fmt::Debug for ReportFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

/// Every device of every report that was found.
#[derive(Debug, Default)]
pub struct Found {
    pub(super) devices: Vec<FoundDevice>,
    /// Kernel ids by [`ResultDigest::question`].
    pub(super) kernels: HashMap<u64, String>,
    pub(super) reports: usize,
    pub(super) unreadable: Vec<UnreadableFile>,
}

/// One device of one report.
#[derive(Clone, Debug)]
pub(super) struct FoundDevice {
    pub file: ReportFile,
    /// Label or id.
    pub host: String,
    /// The host's id, and label where it has one: hosts made of one image share their id.
    pub host_key: (String, String),
    pub tags: BTreeMap<String, String>,
    pub slot: String,
    pub model: String,
    pub ids: (u32, u32),
    pub driver: String,
    pub measured: String,
    pub classes: BTreeMap<String, Class>,
    /// Values at run time by id.
    pub traits: Vec<(String, String)>,
    /// By question, ascending; devices with one file of results share them.
    pub results: Arc<[ResultDigest]>,
}

impl Found {
    /// Reads what lies in these places. Files that are no report this program can read are listed,
    /// and hide no other.
    pub fn in_places(places: &[PathBuf]) -> Result<Found, FoundError> {
        let files = places.iter().map(|place| ReportFile::in_place(place));
        let found = Found::of(files.collect::<Result<Vec<_>, _>>()?.concat());
        found.ok_or_else(|| FoundError::nothing(places))
    }

    /// Reads these files; `None` where none of them is a report or may be one.
    pub fn of(mut files: Vec<ReportFile>) -> Option<Found> {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        let reader = ReportReader::default();
        let read = parallel::map(&files, |file| reader.devices(file));
        let mut found = Found { kernels: reader.into_kernels(), ..Found::default() };
        for (file, devices) in files.iter().zip(read) {
            match devices {
                Ok(Some(devices)) => {
                    found.reports += 1;
                    found.devices.extend(devices);
                }
                Ok(None) => {}
                Err(error) => found
                    .unreadable
                    .push(UnreadableFile { file: file.path.display().to_string(), error }),
            }
        }
        (found.reports > 0 || !found.unreadable.is_empty()).then_some(found)
    }

    /// The reports of each device of each host, the newest last.
    pub(super) fn places(&self) -> BTreeMap<impl Ord + '_, Vec<&FoundDevice>> {
        let mut places: BTreeMap<_, Vec<&FoundDevice>> = BTreeMap::new();
        for device in &self.devices {
            let place = (&device.host_key, &device.slot, &device.model);
            places.entry(place).or_default().push(device);
        }
        for reports in places.values_mut() {
            reports.sort_by_key(|device| device.time());
        }
        places
    }

    /// Whether some file could not be read.
    pub fn is_whole(&self) -> bool {
        self.unreadable.is_empty()
    }
}

/// The files of a place: itself, or all reports below it. Links to folders are not followed, since
/// they may lead back.
fn collect(place: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let failed = |cause| (place.to_owned(), cause);
    if !fs::metadata(place).map_err(failed)?.is_dir() {
        files.push(place.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(place).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if kind.is_dir() {
            collect(&path, files)?;
        } else if ReportFile::is_named(&path) {
            files.push(path);
        }
    }
    Ok(())
}

impl FoundDevice {
    /// Seconds since 1970.
    pub(super) fn time(&self) -> u64 {
        time::seconds(&self.measured).unwrap_or_default()
    }

    /// What gave the results of a question.
    pub(super) fn result(&self, question: u64) -> Option<&ResultDigest> {
        let place = self.results.binary_search_by_key(&question, |digest| digest.question).ok()?;
        Some(&self.results[place])
    }
}
