//! Reading a journal: every line checked, a torn last one left out, limits on what a line may hold.

use std::io::{self, BufRead, Read as _};

use serde::de::DeserializeOwned;

use super::{FORMAT, Record, RunStart, digest};

/// Longest line: the answers of a batch take some megabytes.
const LINE_LIMIT: u64 = 64 << 20;
/// Largest journal.
const SIZE_LIMIT: u64 = 4 << 30;

/// A journal as far as it can be trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalContent {
    /// What the run is to do.
    pub run: RunStart,
    /// Every later record, with the number of its line.
    pub records: Vec<(usize, Record)>,
    /// Length in bytes of what was read.
    pub length: u64,
    /// Number of a last line that was cut off and is not counted: the program was killed while it
    /// wrote it.
    pub torn: Option<usize>,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is not even a whole first line.
    #[error("it holds nothing: the run was killed before it had begun")]
    Empty,
    /// The first line is another program's, or of another version.
    #[error(
        "line 1: it does not begin as a journal of this version does ({FORMAT}); it begins with {0}"
    )]
    Format(String),
    /// A line was changed after it had been written.
    #[error("line {line} is damaged: {what}")]
    Damaged {
        /// Number of the line.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// More than a journal can hold.
    #[error("line {line}: {what}")]
    TooLarge {
        /// Number of the line.
        line: usize,
        /// Which limit.
        what: String,
    },
}

/// Reads a journal to its end.
pub fn read(mut reader: impl BufRead) -> Result<JournalContent, JournalError> {
    let mut lines = JournalLines { reader: &mut reader, number: 0, length: 0 };
    let run = match lines.next()? {
        JournalLine::Whole(bytes) => first(&bytes)?,
        JournalLine::Torn | JournalLine::End => return Err(JournalError::Empty),
    };
    let mut read = JournalContent { run, records: Vec::new(), length: lines.length, torn: None };
    loop {
        match lines.next()? {
            JournalLine::Whole(bytes) => {
                let line = lines.number;
                let record = record(&bytes).map_err(|what| JournalError::Damaged { line, what })?;
                if matches!(record, Record::Run(_)) {
                    let what = "a second beginning".to_owned();
                    return Err(JournalError::Damaged { line, what });
                }
                read.records.push((line, record));
                read.length = lines.length;
            }
            JournalLine::Torn => {
                read.torn = Some(lines.number);
                return Ok(read);
            }
            JournalLine::End => return Ok(read),
        }
    }
}

enum JournalLine {
    Whole(Vec<u8>),
    Torn,
    End,
}

struct JournalLines<'a, R> {
    reader: &'a mut R,
    number: usize,
    length: u64,
}

impl<R: BufRead> JournalLines<'_, R> {
    fn next(&mut self) -> Result<JournalLine, JournalError> {
        let mut bytes = Vec::new();
        let count = self.reader.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut bytes)? as u64;
        if count == 0 {
            return Ok(JournalLine::End);
        }
        self.number += 1;
        self.length += count;
        let too_large =
            |what: &str| Err(JournalError::TooLarge { line: self.number, what: what.to_owned() });
        if self.length > SIZE_LIMIT {
            return too_large("no journal is that long");
        }
        if bytes.pop() == Some(b'\n') {
            Ok(JournalLine::Whole(bytes))
        } else if count == LINE_LIMIT {
            too_large("no line of a journal is that long")
        } else {
            Ok(JournalLine::Torn)
        }
    }
}

fn first(bytes: &[u8]) -> Result<RunStart, JournalError> {
    let begins = || {
        let text: String = String::from_utf8_lossy(bytes).chars().take(60).collect();
        JournalError::Format(format!("{text:?}"))
    };
    match record(bytes) {
        Ok(Record::Run(run)) if run.journal == FORMAT => Ok(run),
        // Damaged, or not a journal at all; the name of the format tells.
        Err(what) if String::from_utf8_lossy(bytes).contains(FORMAT) => {
            Err(JournalError::Damaged { line: 1, what })
        }
        _ => Err(begins()),
    }
}

/// A record from its line without the end.
pub(crate) fn record<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    const MEMBER: &str = ",\"sum\":\"";
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let (body, sum) = text.rsplit_once(MEMBER).ok_or("it has no digest")?;
    let sum = sum.strip_suffix("\"}").ok_or("it does not end in its digest")?;
    if digest(body.as_bytes()) != sum {
        return Err("its digest is that of another text".to_owned());
    }
    serde_json::from_str(&format!("{body}}}")).map_err(|error| error.to_string())
}
