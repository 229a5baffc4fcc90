//! The log: a line for every report that was stored, found, removed or lost. Lines are only ever
//! added.
//!
//! A report that the log has and the folder lacks is lost. The order of the lines is the order of
//! arrival, whatever clocks said. A report is stored before its line is written, and removed after
//! it: a writer that is killed in between leaves a file without a line, which the next writer adds.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use fpprobe_system::files::sync_folder;
use serde::{Deserialize, Serialize};

use crate::sum;

/// Name of the file within the store.
pub const NAME: &str = "log.jsonl";
/// Longest log that is read: some hundred bytes for each of a million reports.
const LIMIT: u64 = 1 << 30;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogEvent {
    /// The log was created.
    Created,
    /// The report was stored.
    Stored,
    /// The report was there without a line: an earlier version stored it, or a writer was killed.
    Found,
    /// The report exceeded a limit.
    Removed,
    /// The report was damaged, and was moved aside.
    SetAside,
    /// The report was missing, and `history verify --rebuild` acknowledged it.
    Lost,
    /// Lines before this one were damaged or missing, and `history verify --rebuild` acknowledged
    /// it.
    Repaired,
}

/// One line.
#[derive(Serialize, Deserialize)]
struct LogLine {
    /// Counts the lines.
    sequence: u64,
    /// Seconds since 1970, by the clock of that moment.
    time: u64,
    event: LogEvent,
    /// The report's file; empty where the event concerns none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    file: String,
}

/// What the log says.
#[derive(Debug, Default)]
pub struct Log {
    /// Whether there is one.
    pub exists: bool,
    /// Damaged or missing lines that nobody has acknowledged.
    pub damaged: usize,
    /// The line by which each report arrived last, removed ones included; of one whose arrival has
    /// no line, the first line.
    arrivals: HashMap<String, u64>,
    /// The reports that must be there.
    present: BTreeSet<String>,
    /// Number of the next line.
    next: u64,
    /// Bytes up to the end of the last whole line.
    length: u64,
}

impl Log {
    /// Reads the log of a store. One that cannot be read counts as damaged.
    pub fn read(folder: &Path) -> Log {
        let mut text = Vec::new();
        let read =
            File::open(folder.join(NAME)).and_then(|file| file.take(LIMIT).read_to_end(&mut text));
        match read {
            Ok(_) => Log::of(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Log::default(),
            Err(_) => Log { exists: true, damaged: 1, ..Log::default() },
        }
    }

    fn of(text: &[u8]) -> Log {
        // A line without its end is on its way, or its writer was killed: it was never there.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut log = Log { exists: true, length: whole as u64, ..Log::default() };
        for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
            let body = line.strip_suffix(b"\n").and_then(sum::body);
            if let Some(line) = body.and_then(|body| serde_json::from_str::<LogLine>(body).ok()) {
                log.add(line);
            } else {
                (log.damaged, log.next) = (log.damaged + 1, log.next.saturating_add(1));
            }
        }
        log
    }

    fn add(&mut self, line: LogLine) {
        if line.sequence != self.next {
            self.damaged += 1;
        }
        self.next = line.sequence.saturating_add(1);
        match line.event {
            LogEvent::Created => {}
            LogEvent::Repaired => self.damaged = 0,
            LogEvent::Stored | LogEvent::Found => {
                self.arrivals.insert(line.file.clone(), line.sequence);
                self.present.insert(line.file);
            }
            LogEvent::Removed | LogEvent::SetAside | LogEvent::Lost => {
                self.present.remove(&line.file);
                self.arrivals.entry(line.file).or_insert(line.sequence);
            }
        }
    }

    /// Adds lines, all of them of one event; the lock must be held. `time` is in seconds since
    /// 1970.
    pub fn append<'a>(
        &mut self,
        folder: &Path,
        time: u64,
        event: LogEvent,
        files: impl IntoIterator<Item = &'a str>,
    ) -> io::Result<()> {
        let line =
            |(file, sequence): (&str, u64)| LogLine { sequence, time, event, file: file.into() };
        let lines: Vec<LogLine> = files.into_iter().zip(self.next..).map(line).collect();
        let mut text = String::new();
        for line in &lines {
            text += &sum::line(&serde_json::to_string(line)?);
        }
        let mut file = OpenOptions::new().append(true).create(true).open(folder.join(NAME))?;
        // What a killed writer has left of its line.
        file.set_len(self.length)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        if !self.exists {
            sync_folder(folder)?;
        }
        self.exists = true;
        self.length += text.len() as u64;
        for line in lines {
            self.add(line);
        }
        Ok(())
    }

    /// When a report arrived last, as the number of a line; `None` where the log does not know it.
    pub fn arrival(&self, file: &str) -> Option<u64> {
        self.arrivals.get(file).copied()
    }

    /// When every report arrived last, by file.
    pub fn into_arrivals(self) -> HashMap<String, u64> {
        self.arrivals
    }

    /// Whether a report must be there.
    pub fn has(&self, file: &str) -> bool {
        self.present.contains(file)
    }

    /// Reports that the log has and the folder lacks.
    pub fn lost(&self, folder: &Path) -> Vec<String> {
        self.present.iter().filter(|file| is_missing(folder, file)).cloned().collect()
    }

    /// Whether a report of the index is neither in the folder nor in the log.
    pub fn lacks(&self, folder: &Path, indexed: &str) -> bool {
        self.arrival(indexed).is_none() && is_missing(folder, indexed)
    }
}

fn is_missing(folder: &Path, file: &str) -> bool {
    fs::symlink_metadata(folder.join(file))
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(events: &[(LogEvent, &str)]) -> (tempfile::TempDir, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::read(folder.path());
        for (event, file) in events {
            log.append(folder.path(), 1_795_000_000, *event, [*file]).unwrap();
        }
        let text = fs::read(folder.path().join(NAME)).unwrap();
        (folder, text)
    }

    #[test]
    fn what_was_stored_and_not_removed_must_be_there() {
        let (folder, text) = log(&[
            (LogEvent::Created, ""),
            (LogEvent::Stored, "a"),
            (LogEvent::Stored, "b"),
            (LogEvent::Removed, "a"),
            (LogEvent::Stored, "c"),
        ]);
        let read = Log::of(&text);
        assert_eq!(
            (read.arrival("a"), read.arrival("c"), read.arrival("d")),
            (Some(1), Some(4), None)
        );
        assert_eq!(
            (read.damaged, read.lost(folder.path())),
            (0, vec!["b".to_owned(), "c".to_owned()])
        );
        fs::write(folder.path().join("b"), "").unwrap();
        assert_eq!(read.lost(folder.path()), ["c"]);
    }

    #[test]
    fn every_line_that_is_missing_or_changed_is_noticed() {
        let (_folder, text) =
            log(&[(LogEvent::Created, ""), (LogEvent::Stored, "a"), (LogEvent::Stored, "b")]);
        for place in 0..text.len() {
            let mut changed = text.clone();
            changed[place] ^= 1;
            assert!(Log::of(&changed).damaged > 0 || place == text.len() - 1, "{place}");
        }
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(Log::of(&[lines[0], lines[2]].concat()).damaged, 1);
        assert_eq!(Log::of(&lines[1..].concat()).damaged, 1);
    }

    #[test]
    fn a_line_that_was_cut_off_makes_room_for_the_next() {
        let (folder, text) = log(&[(LogEvent::Created, ""), (LogEvent::Stored, "a")]);
        let path = folder.path().join(NAME);
        fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut cut = Log::read(folder.path());
        assert_eq!((cut.damaged, cut.has("a")), (0, false));
        cut.append(folder.path(), 1_795_000_000, LogEvent::Found, ["a"]).unwrap();
        let again = Log::read(folder.path());
        assert_eq!((again.damaged, again.has("a"), again.arrival("a")), (0, true, Some(1)));
    }

    #[test]
    fn what_was_acknowledged_is_not_reported_again() {
        let (_folder, text) =
            log(&[(LogEvent::Created, ""), (LogEvent::Stored, "a"), (LogEvent::Repaired, "")]);
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(Log::of(&[lines[0], b"garbage\n", lines[2]].concat()).damaged, 0);
    }
}
