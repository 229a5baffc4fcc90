//! What several stored reports share: a file each, called by the SHA-256 of its bytes, so that
//! reports of equal behaviour hold it once.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ContainerError;
use crate::limited::{self, ReadFile};
use crate::model::SIZE_LIMIT;
use crate::save::save;
use crate::sum::digest;

/// A folder of such files beside the reports that share them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SharedFolder {
    pub name: &'static str,
    ending: &'static str,
}

/// Tables of inputs and results.
pub(crate) const OBSERVATIONS: SharedFolder =
    SharedFolder { name: "observations", ending: "parquet" };
/// What documents say of devices: identity, claims, traits, causes, verdicts, findings.
pub(crate) const DEVICES: SharedFolder = SharedFolder { name: "devices", ending: "json.zst" };
/// All of them.
pub(crate) const FOLDERS: [SharedFolder; 2] = [OBSERVATIONS, DEVICES];

/// A file that a stored report shares.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SharedFile {
    /// Folder, slash, SHA-256 of the bytes in lower-case hex, and ending.
    pub file: String,
    /// Its bytes.
    pub size: u64,
}

impl SharedFolder {
    /// Where bytes of this digest lie.
    pub fn place(self, sha256: &str) -> String {
        format!("{}/{sha256}.{}", self.name, self.ending)
    }

    /// The digest of a file that lies here.
    fn digest(self, file: &str) -> Option<&str> {
        let name = file.strip_prefix(self.name)?.strip_prefix('/')?;
        let sha256 = name.strip_suffix(self.ending)?.strip_suffix('.')?;
        let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (sha256.len() == 64 && sha256.bytes().all(is_hex)).then_some(sha256)
    }
}

impl SharedFile {
    /// The file that bytes become in a folder.
    pub(super) fn new(folder: SharedFolder, bytes: &[u8]) -> SharedFile {
        SharedFile { file: folder.place(&digest(bytes)), size: bytes.len() as u64 }
    }

    /// The digest in its name; `None` where it is no name of a shared file, such as one that leads
    /// elsewhere.
    fn digest(&self) -> Option<&str> {
        FOLDERS.iter().find_map(|folder| folder.digest(&self.file))
    }

    /// Its bytes, if their digest is the one in its name; `folder` holds the report.
    pub(crate) fn read(&self, folder: &Path) -> Result<Vec<u8>, ContainerError> {
        self.read_by(folder, &limited::bytes)
    }

    /// The same of a folder that is read otherwise.
    pub(super) fn read_by(
        &self,
        folder: &Path,
        read: &ReadFile,
    ) -> Result<Vec<u8>, ContainerError> {
        let failed = |problem: String| ContainerError::Shared { file: self.file.clone(), problem };
        let sha256 =
            self.digest().ok_or_else(|| failed("that is no name of such a file".into()))?;
        let bytes = read(&folder.join(&self.file), SIZE_LIMIT)
            .map_err(|error| failed(error.to_string()))?;
        if digest(&bytes) == sha256 {
            Ok(bytes)
        } else {
            Err(failed("its SHA-256 is not the one in its name".into()))
        }
    }

    /// Writes it beside the reports of a folder, unless it is there, whole.
    pub(crate) fn write(&self, folder: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.read(folder).is_ok() {
            return Ok(());
        }
        let path = folder.join(&self.file);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        save(&path, |out| out.write_all(bytes)).map_err(|error| error.cause)
    }
}

/// Removes what writers that were killed have left of shared files; nobody else may be writing.
pub(crate) fn remove_leftovers(folder: &Path) {
    for own in FOLDERS {
        for entry in fs::read_dir(folder.join(own.name)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
            if inner.is_some_and(|inner| inner.contains(own.ending)) {
                // What cannot be removed is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether this is a place where the table of a stored report lies.
pub(crate) fn is_observations(file: &str) -> bool {
    OBSERVATIONS.digest(file).is_some()
}

/// Removes the shared files beside the reports of a folder that are not among `kept`. Other files
/// stay.
pub(crate) fn release(folder: &Path, kept: &HashSet<&str>) -> io::Result<()> {
    for own in FOLDERS {
        let entries = match fs::read_dir(folder.join(own.name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let file = format!("{}/{}", own.name, entry.file_name().to_string_lossy());
            if own.digest(&file).is_some() && !kept.contains(&file[..]) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}
