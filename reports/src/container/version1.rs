//! Version 1 of a stored report: under the head, the report's whole text in columns that are
//! compressed one by one.

use super::columns::{self, Columns, DIGITS};
use super::{ContainerError, Entry};
use crate::model::SIZE_LIMIT;
use crate::sum::digest;

/// The first line.
pub(super) const MAGIC: &str = "fpprobe-stored/1\n";

/// The text under a head, which earlier writers of this version signed with SHA-256 alone.
pub(super) fn text(entry: &Entry, packed: &[u8]) -> Result<String, ContainerError> {
    let unfit = || ContainerError::Content("its parts do not fit".into());
    let text = columns::join(&parts(entry, packed)?, entry.length as usize).ok_or_else(unfit)?;
    if entry.xxh3.is_some() || digest(text.as_bytes()) == entry.digest {
        Ok(text)
    } else {
        Err(ContainerError::Digest)
    }
}

fn parts(entry: &Entry, mut rest: &[u8]) -> Result<Columns, ContainerError> {
    if entry.length > SIZE_LIMIT {
        return Err(ContainerError::Head(format!(
            "it promises {} bytes, more than any report has",
            entry.length
        )));
    }
    // Taken apart, no text is longer than it was.
    let mut room = entry.length;
    let skeleton = part(&mut rest, &mut room)?;
    let mut planes: [Vec<u8>; DIGITS.len()] = Default::default();
    for planes in &mut planes {
        *planes = part(&mut rest, &mut room)?;
    }
    if rest.is_empty() {
        Ok(Columns { skeleton, planes })
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
    *room = room
        .checked_sub(length)
        .ok_or(ContainerError::Content("it holds more than it promises".into()))?;
    let (frame, after) = rest.split_at(packed as usize);
    *rest = after;
    super::unpacked(frame, length)
        .and_then(|bytes| if bytes.len() as u64 == length { Ok(bytes) } else { Err(short()) })
}
