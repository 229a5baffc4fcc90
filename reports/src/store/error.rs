//! What can go wrong with a store, and what to do then.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::container::ContainerError;
use crate::load::LoadError;

/// Why the store could not do what was asked. What is in it stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or a file in it cannot be reached or written.
    #[error("failed to {doing} {}: {cause}{}", path.display(), hint(cause))]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Another writer has the lock, and does not let go of it.
    #[error("the store {} is in use by {holder}; gave up after {} s", path.display(), waited.as_secs_f64())]
    Locked {
        /// The store.
        path: PathBuf,
        /// Who that is.
        holder: String,
        /// How long this writer has waited.
        waited: Duration,
    },
    /// There is no store.
    #[error("there is no store in {}: nothing was ever stored there; was it removed, or is it elsewhere (--store-path)?", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// A stored report is damaged.
    #[error("failed to read stored report {}: {cause}; `fpprobe history verify` names everything that is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: ContainerError,
    },
    /// What is stored is no report that this program can read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A report of nothing can be compared with nothing.
    #[error(
        "the report was not stored: it holds no device; `fpprobe doctor` says why a machine has none"
    )]
    NoDevice,
    /// Active layers and the like make a report unfit as reference.
    #[error(
        "the report was not stored: {device} is tainted ({taint}), which makes it unfit as reference; measure without, \
         or store it with --allow-tainted"
    )]
    Tainted {
        /// The device's name.
        device: String,
        /// What it says.
        taint: String,
    },
    /// No report of this name.
    #[error("no report of the store {} is called `{id}`: {hint}", path.display())]
    Unknown {
        /// The store.
        path: PathBuf,
        /// What was requested.
        id: String,
        /// What there is.
        hint: String,
    },
    /// More than one.
    #[error("`{id}` may be any of {}: write more of it", found.join(", "))]
    Ambiguous {
        /// What was requested.
        id: String,
        /// The ids that begin so.
        found: Vec<String>,
    },
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (make room, for example with `fpprobe history prune`; what was stored before is untouched)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (choose a place you may write to with --store-path, or `path` of [store] in config.toml)"
        }
        _ => "",
    }
}

/// Names what was being done to a path.
pub(super) fn doing<T>(
    result: io::Result<T>,
    doing: &'static str,
    path: &std::path::Path,
) -> Result<T, StoreError> {
    result.map_err(|cause| StoreError::Io { doing, path: path.to_owned(), cause })
}
