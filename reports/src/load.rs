//! Reading a report: version first, limits on size and depth, and messages that say where and what
//! to do.

mod bounds;
mod results;

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use fpprobe_profiles::parallel;
use serde::Deserialize as _;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Deserializer;
use serde_json::de;
use serde_json::error::Category;

use self::bounds::Excess;
pub use self::results::ResultsError;
pub(crate) use self::results::result_file;
use crate::container::{self, ContainerError};
use crate::files::DOCUMENT;
use crate::limited::{self, ReadFile};
use crate::model::{Report, SCHEMA, SELF_CONTAINED, SIZE_LIMIT};

/// Counts the same things of a report, of all devices together.
type Counter = fn(&Report) -> usize;

/// What a report may hold at most. Showing it compares each of these with all others.
const LIMITS: [(&str, usize, Counter); 5] = [
    ("devices", 1 << 8, |report| report.devices.len()),
    ("claims", 1 << 14, |report| {
        report.devices.iter().map(|device| device.claims.flags.len()).sum()
    }),
    ("profiles", 1 << 12, |report| report.devices.iter().map(|device| device.profiles.len()).sum()),
    ("rules", 1 << 16, |report| {
        report
            .devices
            .iter()
            .flat_map(|device| &device.profiles)
            .map(|profile| profile.rules.len())
            .sum()
    }),
    ("findings", 1 << 16, |report| report.devices.iter().map(|device| device.findings.len()).sum()),
];

/// Where a report comes from.
const MISSING: &str =
    "`fpprobe run -o FILE.json` writes a report, `fpprobe history list` shows those that are kept";

/// Name of the document type, before the slash and the version.
const FAMILY: &str = "fpprobe-report";
/// The newest version of it that this program reads and writes.
const VERSION: u64 = 2;
/// The version of a report that holds its results itself.
const WHOLE: u64 = 1;

/// Why a report could not be read. The file itself is never touched.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("failed to read report {}: {cause}{}", path.display(), limited::advice(cause, MISSING))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A report as the store keeps it, but damaged or of a newer version.
    #[error("failed to read stored report {}: {cause}", path.display())]
    Stored {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: ContainerError,
    },
    /// A folder without any report.
    #[error("failed to read reports: the folder {} holds no report.json and no other .json file; `fpprobe run -o FOLDER` writes one", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A folder with several reports, where one is requested.
    #[error("failed to read a report: the folder {} holds {count} of them; name one", path.display())]
    Several {
        /// The folder.
        path: PathBuf,
        /// How many.
        count: usize,
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
    #[error("failed to read report {}: its `schema` is {found}, and not `{SCHEMA}`; a report is the file that `fpprobe run -o FILE.json` writes", path.display())]
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
    /// Its results, which are in a file beside it, could not be read.
    #[error("failed to read report {}: its results in {}: {cause}", path.display(), file.display())]
    Results {
        /// The report.
        path: PathBuf,
        /// The file of its results.
        file: PathBuf,
        /// What is wrong.
        cause: ResultsError,
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
    /// With a string or a list that is longer than any report's.
    #[error("failed to read report {}: at byte {at} it has {what} of more than {limit} {unit}, which no report has; was it made by hand?", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// A string, or a list.
        what: &'static str,
        /// How long it may be.
        limit: usize,
        /// Of what.
        unit: &'static str,
        /// Where.
        at: usize,
    },
    /// Of the right version, but with a field missing or of the wrong type.
    #[error("failed to read report {}: {cause}; it says that it is a report but does not follow `fpprobe schema`: was it edited by hand?", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
}

/// Reads a report from a file: JSON, with its results beside it or within, or as the store keeps
/// it.
pub fn load(path: &Path) -> Result<Report, LoadError> {
    load_by(path, &limited::bytes)
}

/// The same of a place that is read otherwise.
pub fn load_by(path: &Path, read: &ReadFile) -> Result<Report, LoadError> {
    parse_by(&text(path, read)?, path, read)
}

/// Reads the one report that a place stands for: a file, or a folder with its `report.json` or with
/// nothing but one report.
pub fn one(path: &Path) -> Result<Report, LoadError> {
    match files(path)?.as_slice() {
        [file] => load(file),
        several => Err(LoadError::Several { path: path.to_owned(), count: several.len() }),
    }
}

/// The text of a report, whatever its form.
pub(crate) fn text(path: &Path, read: &ReadFile) -> Result<Vec<u8>, LoadError> {
    let bytes = file_bytes(path, read)?;
    if !container::is_stored(&bytes) {
        return Ok(bytes);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let stored =
        container::unpack_by(&bytes, folder, read).map_err(|cause| damaged(path, cause))?;
    Ok(stored.1.into())
}

fn file_bytes(path: &Path, read: &ReadFile) -> Result<Vec<u8>, LoadError> {
    read(path, SIZE_LIMIT).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => LoadError::TooLarge { path: path.to_owned() },
        _ => LoadError::Read { path: path.to_owned(), cause },
    })
}

fn damaged(path: &Path, cause: ContainerError) -> LoadError {
    LoadError::Stored { path: path.to_owned(), cause }
}

/// A report with the file it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadedReport {
    /// The file.
    pub file: String,
    /// The report.
    pub report: Report,
}

/// Reads two reports, or two folders of them, to be compared.
pub fn to_compare(places: [&Path; 2]) -> Result<[Vec<LoadedReport>; 2], LoadError> {
    let loaded = parallel::map(&places, |place| set(place));
    let [old, new] =
        <[_; 2]>::try_from(loaded).unwrap_or_else(|_| [Ok(Vec::new()), Ok(Vec::new())]);
    Ok([old?, new?])
}

/// Refuses a text with strings or lists that no report has.
fn bounded(text: &[u8], path: &Path) -> Result<(), LoadError> {
    bounds::excess(text).map_or(Ok(()), |Excess { what, unit, limit, at }| {
        Err(LoadError::TooLong { path: path.to_owned(), what, limit, unit, at })
    })
}

/// Reads a report, or those of a folder: its `report.json`, or where there is none every `.json`
/// file in it, by name, but for this program's other documents.
pub fn set(path: &Path) -> Result<Vec<LoadedReport>, LoadError> {
    all(&files(path)?)
}

fn all(files: &[PathBuf]) -> Result<Vec<LoadedReport>, LoadError> {
    let loaded = parallel::map(files, |file| {
        Ok(LoadedReport { file: file.display().to_string(), report: load(file)? })
    });
    // Comparisons and the like may lie beside the reports.
    let is_other = |error: &LoadError| matches!(error, LoadError::NotAReport { found, .. } if found.starts_with("\"fpprobe-"));
    let is_report = |one: &Result<LoadedReport, LoadError>| !one.as_ref().is_err_and(is_other);
    if loaded.iter().any(is_report) {
        loaded.into_iter().filter(is_report).collect()
    } else {
        loaded.into_iter().collect()
    }
}

/// The files that a place stands for.
fn files(path: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let whole = path.join(DOCUMENT);
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    } else if whole.is_file() {
        return Ok(vec![whole]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|cause| LoadError::Read { path: path.to_owned(), cause })?;
    let is_report = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| ["json", "fpreport"].contains(&ending.as_str()))
    };
    let mut files: Vec<PathBuf> =
        entries.iter().map(fs::DirEntry::path).filter(is_report).collect();
    if files.is_empty() {
        return Err(LoadError::Empty { path: path.to_owned() });
    }
    files.sort();
    Ok(files)
}

/// Reads a report from its bytes; `path` is named in messages, and beside it are the results that
/// it names. The nesting of the document is limited to 128 levels, and the length of its strings
/// and lists before anything is made of them.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Report, LoadError> {
    parse_by(bytes, path, &limited::bytes)
}

/// The same of a place that is read otherwise.
pub(crate) fn parse_by(bytes: &[u8], path: &Path, read: &ReadFile) -> Result<Report, LoadError> {
    bounded(bytes, path)?;
    // Texts are checked once and as one, which takes a fraction of the time.
    match std::str::from_utf8(bytes) {
        Ok(text) => document(|| serde_json::Deserializer::from_str(text), path, read),
        Err(_) => document(|| serde_json::Deserializer::from_slice(bytes), path, read),
    }
}

fn document<'de, R: de::Read<'de>>(
    start: impl Fn() -> Deserializer<R>,
    path: &Path,
    read: &ReadFile,
) -> Result<Report, LoadError> {
    let path = || path.to_owned();
    // A first look at the version alone: the rest of a newer document may be anything. Where the
    // version is known the look ends there, and the rest is read once.
    let (mut schema, mut is_object) = (None, false);
    let look = (&mut start())
        .deserialize_any(SchemaProbe { schema: &mut schema, is_object: &mut is_object });
    if let (Err(error), None) = (look, &schema) {
        return Err(match error.classify() {
            Category::Data => {
                let found =
                    if is_object { "not a text" } else { "missing, as the document is no object" };
                LoadError::NotAReport { path: path(), found: found.into() }
            }
            _ => broken(error, path()),
        });
    }
    let Some(schema) = schema else {
        return Err(LoadError::NotAReport { path: path(), found: "missing".into() });
    };
    let version = schema
        .strip_prefix(FAMILY)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(|text| text.parse().ok());
    match version {
        Some(version) if version > VERSION => Err(LoadError::Newer { path: path(), version }),
        Some(version @ (WHOLE | VERSION)) => {
            let mut whole = start();
            let report =
                Report::deserialize(&mut whole).and_then(|report| whole.end().map(|()| report));
            let mut report = report.map_err(|error| broken(error, path()))?;
            let mut counts =
                LIMITS.iter().map(|(what, limit, count)| (*what, *limit, count(&report)));
            if let Some((what, limit, count)) = counts.find(|(_, limit, count)| count > limit) {
                return Err(LoadError::TooMany { path: path(), what, count, limit });
            }
            if version == VERSION {
                results::fill(&mut report, &path(), read)?;
            }
            // What is in memory is whole, wherever it came from.
            SELF_CONTAINED.clone_into(&mut report.schema);
            Ok(report)
        }
        _ => Err(LoadError::NotAReport {
            path: path(),
            found: format!("{:?}", schema.chars().take(80).collect::<String>()),
        }),
    }
}

/// What is wrong with a document of which a part could be read.
fn broken(cause: serde_json::Error, path: PathBuf) -> LoadError {
    match cause.classify() {
        Category::Eof => LoadError::Truncated { path, line: cause.line(), column: cause.column() },
        Category::Syntax => LoadError::Syntax { path, cause },
        Category::Data | Category::Io => LoadError::Content { path, cause },
    }
}

/// Looks for the member `schema` and fails as soon as it has it.
struct SchemaProbe<'a> {
    schema: &'a mut Option<String>,
    is_object: &'a mut bool,
}

impl<'de> Visitor<'de> for SchemaProbe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.is_object = true;
        while let Some(key) = map.next_key::<String>()? {
            if key == "schema" {
                *self.schema = map.next_value()?;
                return Err(A::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
