//! One report as the store keeps it: a line that names the format, a line that shows what is
//! inside, and the report's document, compressed. The results, and what the document says of the
//! devices, are [shared](SharedFile) files beside it.

pub mod columns;
mod entry;
pub(crate) mod shared;
mod version1;

use std::io::{self, BufRead as _};
use std::path::Path;

use serde_json::{Value, json};
use twox_hash::XxHash3_128;

pub use self::entry::{Entry, StoredDevice};
pub use self::shared::SharedFile;
use self::shared::{DEVICES, OBSERVATIONS};
use crate::limited::{self, ReadFile};
use crate::model::{Report, SIZE_LIMIT};
use crate::render::json::document as json_document;
use crate::{files, sum};

/// How the name of a stored report ends.
pub const ENDING: &str = ".fpreport";

/// The first line.
const MAGIC: &str = "fpprobe-stored/2\n";
/// How it begins, whatever the version.
const FAMILY: &str = "fpprobe-stored/";
/// Longest second line that is read.
const HEAD_LIMIT: u64 = 4 << 20;
/// Level of zstd: what a default run says of a device takes 152 kB at 3, 124 kB at 9 and 96 kB at
/// 19, which takes a second.
const LEVEL: i32 = 9;
/// Where the devices go in a document that is kept without them.
const NO_DEVICES: &str = "\"devices\":[]";

/// Why bytes are no report as the store keeps it.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The system's own word.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// Another kind of file.
    #[error("it does not begin as a stored report does")]
    Foreign,
    /// Made by a newer program.
    #[error(
        "it was stored by a newer fpprobe (`{0}`); use that version (the file is left as it is)"
    )]
    Newer(String),
    /// The second line does not say what is inside.
    #[error("its head is damaged: {0}")]
    Head(String),
    /// The compressed part ends too early or does not unpack.
    #[error("its content is damaged: {0}")]
    Content(String),
    /// Everything unpacks, but not to the report that was stored.
    #[error("its content is not what was stored: the digest differs")]
    Digest,
    /// A file that it shares with other reports is missing or damaged.
    #[error("the file {file}, which lies beside it, cannot be read: {problem}")]
    Shared {
        /// Folder and name.
        file: String,
        /// What is wrong.
        problem: String,
    },
}

impl ContainerError {
    /// Whether a newer program has stored it, so that nothing is wrong with it.
    pub fn is_newer(&self) -> bool {
        matches!(self, ContainerError::Newer(_))
    }
}

/// A report as it will lie in a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedReport {
    /// What its head says.
    pub entry: Entry,
    /// Bytes of its own file.
    pub bytes: Vec<u8>,
    /// Bytes of the files that it shares, in the order of [`Entry::shared`].
    pub shared: Vec<Vec<u8>>,
}

/// Whether bytes begin as a stored report does, of whatever version.
pub fn is_stored(bytes: &[u8]) -> bool {
    bytes.starts_with(FAMILY.as_bytes())
}

/// Packs a report.
pub fn pack(report: &Report) -> io::Result<PackedReport> {
    let (table, mut document) = files::parts(report, |sha256| OBSERVATIONS.place(sha256))?;
    let devices = document.get_mut("devices").map_or(Value::Null, Value::take);
    document["devices"] = json!([]);
    let (document, devices) = (document.to_string(), devices.to_string());
    let packed = zstd::bulk::compress(devices.as_bytes(), LEVEL)?;
    let files = vec![SharedFile::new(OBSERVATIONS, &table), SharedFile::new(DEVICES, &packed)];
    let entry = Entry::new(report, &whole(&document, &devices), files);
    let mut own = zstd::bulk::compress(document.as_bytes(), LEVEL)?;
    let mut bytes = head_of(&entry)?;
    bytes.append(&mut own);
    Ok(PackedReport { entry, bytes, shared: vec![table, packed] })
}

/// A report whose table others may share, to be put into one folder: the table's name there,
/// `observations/SHA256.parquet`, its bytes, and the bytes of the document that names it.
pub fn with_shared_table(report: &Report) -> io::Result<(String, Vec<u8>, Vec<u8>)> {
    let mut place = String::new();
    let (bytes, head) = files::parts(report, |sha256| {
        place = OBSERVATIONS.place(sha256);
        place.clone()
    })?;
    let mut text = Vec::new();
    json_document(&head, &mut text)?;
    Ok((place, bytes, text))
}

/// The two lines with which a stored report begins.
pub fn head_of(entry: &Entry) -> io::Result<Vec<u8>> {
    Ok((MAGIC.to_owned() + &sum::line(&serde_json::to_string(entry)?)).into_bytes())
}

impl PackedReport {
    /// The same under the name and the digest that an earlier version gave it.
    pub(crate) fn renamed(self, earlier: &Entry) -> io::Result<PackedReport> {
        let (file, digest) = (earlier.file.clone(), earlier.digest.clone());
        let entry = Entry { file, digest, ..self.entry.clone() };
        let bytes = [head_of(&entry)?, self.bytes[head_of(&self.entry)?.len()..].to_vec()].concat();
        Ok(PackedReport { entry, bytes, ..self })
    }
}

/// A document with its devices in their place.
fn whole(document: &str, devices: &str) -> String {
    document.replacen(NO_DEVICES, &format!("\"devices\":{devices}"), 1)
}

/// Reads what a stored report says of itself, and nothing else.
pub fn head(file: impl io::Read) -> Result<Entry, ContainerError> {
    let mut bytes = Vec::new();
    let mut file = io::BufReader::new(file.take(HEAD_LIMIT));
    file.read_until(b'\n', &mut bytes)?;
    file.read_until(b'\n', &mut bytes)?;
    open(&bytes).map(|(_, entry, _)| entry)
}

/// Version, head and compressed part.
fn open(bytes: &[u8]) -> Result<(&'static str, Entry, &[u8]), ContainerError> {
    let version =
        [MAGIC, version1::MAGIC].into_iter().find(|magic| bytes.starts_with(magic.as_bytes()));
    let Some(version) = version else {
        let line: String = String::from_utf8_lossy(&bytes[..bytes.len().min(40)])
            .lines()
            .next()
            .unwrap_or("")
            .into();
        return Err(if is_stored(bytes) {
            ContainerError::Newer(line)
        } else {
            ContainerError::Foreign
        });
    };
    let rest = &bytes[version.len()..];
    let end = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or(ContainerError::Head("it ends too early".into()))?;
    let head =
        sum::body(&rest[..end]).ok_or(ContainerError::Head("it is not what was written".into()))?;
    let entry =
        serde_json::from_str(head).map_err(|error| ContainerError::Head(error.to_string()))?;
    Ok((version, entry, &rest[end + 1..]))
}

/// Unpacks a report of this folder: its head and its document, whose digest is checked. The results
/// that it names are not looked at.
pub fn unpack(bytes: &[u8], folder: &Path) -> Result<(Entry, String), ContainerError> {
    unpack_by(bytes, folder, &limited::bytes)
}

/// The same of a folder that is read otherwise.
pub(crate) fn unpack_by(
    bytes: &[u8],
    folder: &Path,
    read: &ReadFile,
) -> Result<(Entry, String), ContainerError> {
    let (version, entry, packed) = open(bytes)?;
    let text = if version == MAGIC {
        document(&entry, packed, folder, read)?
    } else {
        version1::text(&entry, packed)?
    };
    let is_same =
        |xxh3: &String| format!("{:032x}", XxHash3_128::oneshot(text.as_bytes())) == *xxh3;
    if entry.xxh3.as_ref().is_none_or(is_same) {
        Ok((entry, text))
    } else {
        Err(ContainerError::Digest)
    }
}

fn document(
    entry: &Entry,
    packed: &[u8],
    folder: &Path,
    read: &ReadFile,
) -> Result<String, ContainerError> {
    let text = |packed: &[u8]| {
        let text = unpacked(packed, entry.length.min(SIZE_LIMIT))?;
        String::from_utf8(text).map_err(|error| ContainerError::Content(error.to_string()))
    };
    let devices = entry.shared.iter().find(|shared| shared.file.starts_with(DEVICES.name));
    let devices =
        devices.ok_or(ContainerError::Head("it does not say where its devices are".into()))?;
    Ok(whole(&text(packed)?, &text(&devices.read_by(folder, read)?)?))
}

/// What a frame of zstd holds, if that is no more than `most` bytes.
fn unpacked(frame: &[u8], most: u64) -> Result<Vec<u8>, ContainerError> {
    zstd::bulk::decompress(frame, most as usize)
        .map_err(|error| ContainerError::Content(error.to_string()))
}
