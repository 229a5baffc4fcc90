//! The files that may be reports, wherever they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use crate::limited::{self, ReadFile};
use crate::load::{self, LoadError};
use crate::model::{Report, ResultFile, SIZE_LIMIT};
use crate::sum;

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
    pub path: Arc<Path>,
    read: Arc<ReadFile>,
}

impl ReportFile {
    /// A file that is read by this function, as are those that it names beside it.
    pub fn new(path: PathBuf, read: Arc<ReadFile>) -> ReportFile {
        ReportFile { path: path.into(), read }
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
        let read: Arc<ReadFile> = Arc::new(limited::bytes_of_file);
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
