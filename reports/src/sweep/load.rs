//! Reading the report of a sweep.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{SCHEMA, Sweep};
use crate::limited;

/// Most bytes that are read.
const LIMIT: u64 = 256 << 20;
/// Where one comes from.
const MISSING: &str = "`fpprobe sweep -o FILE.json` writes one";

/// Why the report of a sweep could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("failed to read sweep {}: {cause}{}", path.display(), limited::advice(cause, MISSING))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is another document, or of another version.
    #[error("failed to read sweep {}: its schema is {found}, and this program reads {SCHEMA}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        found: String,
    },
    /// It is no such document.
    #[error("failed to read sweep {}: {cause}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        cause: serde_json::Error,
    },
}

#[derive(Deserialize)]
struct Name {
    schema: Option<String>,
}

/// Reads the report of a sweep.
pub fn load(path: &Path) -> Result<Sweep, LoadError> {
    let at = || path.to_owned();
    let bytes = limited::bytes(path, LIMIT).map_err(|cause| LoadError::Read { path: at(), cause })?;
    let content = |cause| LoadError::Content { path: at(), cause };
    let name: Name = serde_json::from_slice(&bytes).map_err(content)?;
    match name.schema {
        Some(schema) if schema == SCHEMA => serde_json::from_slice(&bytes).map_err(content),
        other => {
            Err(LoadError::Schema { path: at(), found: other.map_or("not told".into(), |name| format!("{name:?}")) })
        }
    }
}
