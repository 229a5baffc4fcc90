//! Reading a report: version first, limits on size and depth, and messages that say where and what to do.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::error::Category;

use crate::limited;
use crate::model::{Report, SCHEMA};

/// Reports larger than this are refused: the largest ones that are written hold some tens of megabytes, and one takes
/// up to sixteen times its size in memory.
pub const SIZE_LIMIT: u64 = 256 << 20;

/// Counts the same things of a report, of all devices together.
type Count = fn(&Report) -> usize;

/// What a report may hold at most. Showing it compares each of these with all others.
const LIMITS: [(&str, usize, Count); 5] = [
    ("devices", 1 << 8, |report| report.devices.len()),
    ("claims", 1 << 14, |report| report.devices.iter().map(|device| device.claims.flags.len()).sum()),
    ("profiles", 1 << 12, |report| report.devices.iter().map(|device| device.profiles.len()).sum()),
    ("rules", 1 << 16, |report| {
        report.devices.iter().flat_map(|device| &device.profiles).map(|profile| profile.rules.len()).sum()
    }),
    ("findings", 1 << 16, |report| report.devices.iter().map(|device| device.findings.len()).sum()),
];

/// Name of the document type, before the slash and the version.
const FAMILY: &str = "fpprobe-report";
/// The newest version of it that this program reads and writes.
const VERSION: u64 = 1;

/// Why a report could not be read. The file itself is never touched.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("failed to read report {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Larger than [`SIZE_LIMIT`].
    #[error("failed to read report {}: it is larger than {} MiB, which no report is; was it damaged, or is it another file?", path.display(), SIZE_LIMIT >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The document ends too early.
    #[error("failed to read report {}: it ends in the middle, at line {line}, column {column}; copy it again, or measure again with `fpprobe run -o FILE`", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Line where it ends.
        line: usize,
        /// Column where it ends.
        column: usize,
    },
    /// Not JSON.
    #[error("failed to read report {}: not JSON: {cause}; a report is the file that `fpprobe run -o FILE.json` writes", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
    /// JSON, but of another kind.
    #[error("failed to read report {}: its `schema` is {found}, not `{SCHEMA}`; a report is the file that `fpprobe run -o FILE.json` writes", path.display())]
    NotAReport {
        /// The file.
        path: PathBuf,
        /// What `schema` says, in words.
        found: String,
    },
    /// Written by a newer version.
    #[error("failed to read report {}: it has version {version} of the report format and this program knows version {VERSION} at most; use the fpprobe that wrote it, or a newer one (the file is left as it is)", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// Well formed, but with more of something than any report has.
    #[error("failed to read report {}: it has {count} {what}, and {limit} are the most that a report may have; was it made by hand?", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Of the right version, but with a field missing or of the wrong type.
    #[error("failed to read report {}: {cause}; it says `{SCHEMA}` but does not follow `fpprobe schema`: was it edited by hand?", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
}

/// Reads a report from a file.
pub fn load(path: &Path) -> Result<Report, LoadError> {
    let bytes = limited::bytes(path, SIZE_LIMIT).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => LoadError::TooLarge { path: path.to_owned() },
        _ => LoadError::Read { path: path.to_owned(), cause },
    })?;
    parse(&bytes, path)
}

/// Reads a report from its bytes; `path` is named in messages. The nesting of the document is limited to 128 levels.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Report, LoadError> {
    let path = || path.to_owned();
    // A first look at the version alone: the rest of a newer document may be anything.
    let head: Head = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Eof => LoadError::Truncated { path: path(), line: error.line(), column: error.column() },
        Category::Data => LoadError::NotAReport { path: path(), found: "not a text".into() },
        Category::Syntax | Category::Io => LoadError::Syntax { path: path(), cause: error },
    })?;
    let Some(schema) = head.schema else {
        return Err(LoadError::NotAReport { path: path(), found: "missing".into() });
    };
    let version =
        schema.strip_prefix(FAMILY).and_then(|rest| rest.strip_prefix('/')).and_then(|text| text.parse().ok());
    match version {
        Some(version) if version > VERSION => Err(LoadError::Newer { path: path(), version }),
        Some(VERSION) => {
            let report = serde_json::from_slice(bytes).map_err(|cause| LoadError::Content { path: path(), cause })?;
            let mut counts = LIMITS.iter().map(|(what, limit, count)| (*what, *limit, count(&report)));
            match counts.find(|(_, limit, count)| count > limit) {
                Some((what, limit, count)) => Err(LoadError::TooMany { path: path(), what, count, limit }),
                None => Ok(report),
            }
        }
        _ => Err(LoadError::NotAReport {
            path: path(),
            found: format!("{:?}", schema.chars().take(80).collect::<String>()),
        }),
    }
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema: Option<String>,
}
