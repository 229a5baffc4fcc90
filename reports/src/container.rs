//! One report as the store keeps it: a line that names the format, a line that shows what is inside, and the report's
//! columns, compressed one by one.

pub mod columns;
mod entry;

use std::io::{self, BufRead as _};

use twox_hash::XxHash3_128;
use zstd::bulk::Compressor;

use self::columns::{Columns, DIGITS};
pub use self::entry::{Entry, StoredDevice};
use crate::model::SIZE_LIMIT;
use crate::sum::{self, digest};

/// How the name of a stored report ends.
pub const ENDING: &str = ".fpreport";

/// The first line.
pub const MAGIC: &str = "fpprobe-stored/1\n";
/// How it begins, whatever the version.
const FAMILY: &str = "fpprobe-stored/";
/// Longest second line that is read.
const HEAD_LIMIT: u64 = 4 << 20;
/// How hard a report is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// As small as is worth a second.
    #[default]
    Small,
    /// In a tenth of that time: for reports that are kept without a request.
    Fast,
}

impl Compression {
    /// Level of zstd. From 16 on it parses optimally, which numbers side by side gain by as text does not: a full report of 2.05 MB
    /// at 9 takes 1.69 MB at 17, and a second in the place of a fifth. Beyond it, time grows faster than reports shrink.
    const fn level(self) -> i32 {
        match self {
            Compression::Small => 17,
            Compression::Fast => 1,
        }
    }
}
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
    #[error("it was stored by a newer fpprobe (`{0}`); use that version (the file is left as it is)")]
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
}

/// Whether bytes begin as a stored report does, of whatever version.
pub fn is_stored(bytes: &[u8]) -> bool {
    bytes.starts_with(FAMILY.as_bytes())
}

/// Packs a report's text under a head that tells of it.
pub fn pack(entry: &Entry, text: &str, compression: Compression) -> io::Result<Vec<u8>> {
    let Columns { skeleton, planes } = columns::split(text);
    let mut packed = MAGIC.as_bytes().to_vec();
    packed.extend(sum::line(&serde_json::to_string(entry)?).into_bytes());
    let mut compressor = Compressor::new(compression.level())?;
    compressor.long_distance_matching(true)?;
    for part in [&skeleton].into_iter().chain(&planes) {
        let frame = compressor.compress(part)?;
        packed.extend((part.len() as u64).to_le_bytes());
        packed.extend((frame.len() as u64).to_le_bytes());
        packed.extend(frame);
    }
    Ok(packed)
}

/// Reads what a stored report says of itself, and nothing else.
pub fn head(file: impl io::Read) -> Result<Entry, ContainerError> {
    let mut bytes = Vec::new();
    let mut file = io::BufReader::new(file.take(HEAD_LIMIT));
    file.read_until(b'\n', &mut bytes)?;
    file.read_until(b'\n', &mut bytes)?;
    open(&bytes).map(|(entry, _)| entry)
}

/// Head and compressed part.
fn open(bytes: &[u8]) -> Result<(Entry, &[u8]), ContainerError> {
    let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
        let line: String = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).lines().next().unwrap_or("").into();
        return Err(if is_stored(bytes) { ContainerError::Newer(line) } else { ContainerError::Foreign });
    };
    let end = rest.iter().position(|byte| *byte == b'\n').ok_or(ContainerError::Head("it ends too early".into()))?;
    let head = sum::body(&rest[..end]).ok_or(ContainerError::Head("it is not what was written".into()))?;
    let entry = serde_json::from_str(head).map_err(|error| ContainerError::Head(error.to_string()))?;
    Ok((entry, &rest[end + 1..]))
}

/// Unpacks a report: its head and its text, whose digest is checked.
pub fn unpack(bytes: &[u8]) -> Result<(Entry, String), ContainerError> {
    let (entry, columns) = parts(bytes)?;
    let unfit = || ContainerError::Content("its parts do not fit".into());
    let text = columns::join(&columns, entry.length as usize).ok_or_else(unfit)?;
    let is_same = match &entry.xxh3 {
        Some(xxh3) => format!("{:032x}", XxHash3_128::oneshot(text.as_bytes())) == *xxh3,
        None => digest(text.as_bytes()) == entry.digest,
    };
    if is_same { Ok((entry, text)) } else { Err(ContainerError::Digest) }
}

/// Head and columns.
fn parts(bytes: &[u8]) -> Result<(Entry, Columns), ContainerError> {
    let (entry, mut rest) = open(bytes)?;
    if entry.length > SIZE_LIMIT {
        return Err(ContainerError::Head(format!("it promises {} bytes, more than any report has", entry.length)));
    }
    // Taken apart, no text is longer than it was.
    let mut room = entry.length;
    let skeleton = part(&mut rest, &mut room)?;
    let mut planes: [Vec<u8>; DIGITS.len()] = Default::default();
    for planes in &mut planes {
        *planes = part(&mut rest, &mut room)?;
    }
    if rest.is_empty() {
        Ok((entry, Columns { skeleton, planes }))
    } else {
        Err(ContainerError::Content(format!("{} bytes follow its end", rest.len())))
    }
}

/// The next part, for which there must be room.
fn part(rest: &mut &[u8], room: &mut u64) -> Result<Vec<u8>, ContainerError> {
    let short = || ContainerError::Content("it ends too early".into());
    let mut number = || -> Result<u64, ContainerError> {
        let (head, after) = rest.split_first_chunk().ok_or_else(short)?;
        *rest = after;
        Ok(u64::from_le_bytes(*head))
    };
    let (length, packed) = (number()?, number()?);
    if packed > rest.len() as u64 {
        return Err(short());
    }
    *room = room.checked_sub(length).ok_or(ContainerError::Content("it holds more than it promises".into()))?;
    let (frame, after) = rest.split_at(packed as usize);
    *rest = after;
    let bytes =
        zstd::bulk::decompress(frame, length as usize).map_err(|error| ContainerError::Content(error.to_string()))?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(short()) }
}
