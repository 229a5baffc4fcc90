//! The results of a report of version 2, which are in a table beside it.

use std::io;
use std::path::{Path, PathBuf};

use super::LoadError;
use crate::container::shared::is_observations;
use crate::limited::{self, ReadFile};
use crate::model::{Report, ResultFile, SIZE_LIMIT};
use crate::sum::digest;
use crate::table::{self, TableError};

/// What to do about a file that is not there, or not the right one.
const COPY: &str = "a report is two files, which are copied together";

/// Why the results of a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The report does not say where they are.
    #[error("the report does not name the file: was it edited by hand?")]
    Unnamed,
    /// The file cannot be read.
    #[error("failed to read the file: {0}; {COPY}")]
    Read(io::Error),
    /// It is not what it was.
    #[error("{0}; copy it again, or measure again with `fpprobe run -o FILE`")]
    Table(#[from] TableError),
    /// It is of another report.
    #[error(
        "the file is of another report: it has {found} rows, and the report names {expected}; {COPY}"
    )]
    Foreign {
        /// Rows of the file.
        found: u64,
        /// Rows that the report names.
        expected: u64,
    },
    /// It has as many rows, and other bytes.
    #[error(
        "the file is of another report, or was changed: its SHA-256 is not the one that the report names; {COPY}"
    )]
    Digest,
}

/// Where the results are that a report at this path names. A name and no path: a report leads to
/// nothing but a file beside it, or one of the store's beside a stored report.
pub(crate) fn result_file(path: &Path, named: &ResultFile) -> Option<PathBuf> {
    let file = path.with_file_name(&named.file);
    let is_beside = file.file_name().is_some_and(|name| *name == *named.file);
    (is_beside || is_observations(&named.file)).then_some(file)
}

/// Reads the results that a report at this path names.
pub(super) fn fill(report: &mut Report, path: &Path, read: &ReadFile) -> Result<(), LoadError> {
    let named = report.observations.take();
    let file = path.with_file_name(named.as_ref().map_or("", |named| &named.file));
    let failed = |cause| LoadError::Results { path: path.to_owned(), file: file.clone(), cause };
    let named = named.filter(|named| result_file(path, named).is_some());
    let named = named.ok_or_else(|| failed(ResultsError::Unnamed))?;
    let bytes = limited::refuse_pipe(&file)
        .and_then(|()| read(&file, SIZE_LIMIT))
        .map_err(|cause| failed(ResultsError::Read(cause)))?;
    if digest(&bytes) != named.sha256 {
        let rows = table::rows(&bytes).map_err(|cause| failed(cause.into()))?;
        let is_other = rows != named.rows;
        return Err(failed(if is_other {
            ResultsError::Foreign { found: rows, expected: named.rows }
        } else {
            ResultsError::Digest
        }));
    }
    let (inputs, rows) =
        table::read(&bytes, &mut report.devices).map_err(|cause| failed(cause.into()))?;
    report.inputs = inputs;
    if rows == named.rows {
        Ok(())
    } else {
        Err(failed(ResultsError::Foreign { found: rows, expected: named.rows }))
    }
}
