//! The index: one line per report, so that a list need not open ten thousand files. It is a copy of
//! the reports' own heads: whatever is missing from it, stale or damaged is read from the reports.
//! A line whose report is neither in the folder nor in the log shows that both were lost, and stays
//! until that is acknowledged.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::container::Entry;
use crate::sum;

/// Name of the file within the store.
pub const NAME: &str = "index.jsonl";
/// Longest index that is read: some kilobytes for each of a hundred thousand reports.
const LIMIT: u64 = 1 << 30;

/// What the index says, by name of the file; nothing where there is none. Lines that are damaged,
/// or were cut off, are not there.
pub fn read(folder: &Path) -> HashMap<String, (u64, Entry)> {
    let mut text = Vec::new();
    let read =
        fs::File::open(folder.join(NAME)).and_then(|file| file.take(LIMIT).read_to_end(&mut text));
    if read.is_err() {
        return HashMap::new();
    }
    text.split(|byte| *byte == b'\n')
        .filter_map(parse)
        .map(|(size, entry)| (entry.file.clone(), (size, entry)))
        .collect()
}

/// One line: the size of the file and what its head says.
pub fn line(size: u64, entry: &Entry) -> io::Result<String> {
    Ok(sum::line(&format!("{size} {}", serde_json::to_string(entry)?)))
}

fn parse(line: &[u8]) -> Option<(u64, Entry)> {
    let (size, entry) = sum::body(line)?.split_once(' ')?;
    Some((size.parse().ok()?, serde_json::from_str(entry).ok()?))
}
