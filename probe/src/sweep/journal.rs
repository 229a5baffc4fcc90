//! The journal of a sweep in progress: beside the report, and gone when that is written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use fpprobe_reports::journal::line;
use fpprobe_reports::sweep::record::{FORMAT, Past, SweepRecord, SweepStart, read};

use crate::journal;
use fpprobe_reports::host;
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// A sweep's journal.
pub struct SweepJournal {
    path: PathBuf,
    file: Mutex<File>,
    /// What earlier processes have found.
    pub past: Past,
    stop: Cancellation,
}

impl SweepJournal {
    /// Begins one, or goes on with that of a sweep with the same options; another's is left alone,
    /// and an error.
    pub fn open(path: &Path, options: String, stop: &Cancellation) -> anyhow::Result<SweepJournal> {
        let mut file = journal::open(path)?;
        let failed = || journal::failed(path);
        let begun =
            SweepStart { journal: FORMAT.to_owned(), program: host::program().version, options };
        let length = file.metadata().with_context(failed).or_usage()?.len();
        let shown = path.display();
        let past = (length > 0).then(|| read(BufReader::new(&file))).transpose();
        let past = past
            .map_err(|what| {
                anyhow!(
                    "failed to go on with the sweep of {shown}: {what}; remove it to begin anew"
                )
            })
            .or_usage()?;
        let known = |past: &Past| {
            let judged = past.verified.values().map(|(blocks, ..)| blocks.count() as usize);
            past.sums.values().map(BTreeMap::len).chain(judged).sum::<usize>()
        };
        let past = match past {
            Some(past) if past.begun == begun => {
                let known = known(&past);
                say(&format!(
                    "going on with a sweep that was not finished: {known} blocks are known ({shown})"
                ));
                file.set_len(past.length).with_context(failed).or_usage()?;
                past
            }
            Some(past) if known(&past) > 0 => {
                let (theirs, own) = (&past.begun, &begun);
                let what = format!(
                    "{shown} is the journal of another sweep that was not finished (`{}`, fpprobe {}; this is `{}`, fpprobe {}): the \
                     same command again goes on with it; remove it, or choose another place with -o, for a new one",
                    theirs.options, theirs.program, own.options, own.program
                );
                return Err(usage_error(what));
            }
            // Nothing is lost with one that knows nothing.
            _ => {
                let text = line(&SweepRecord::Begun(begun.clone()));
                let begins = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
                begins.and_then(|()| file.sync_all()).with_context(failed).or_usage()?;
                Past {
                    begun,
                    length: text.len() as u64,
                    sums: BTreeMap::new(),
                    verified: BTreeMap::new(),
                }
            }
        };
        Ok(SweepJournal { path: path.to_owned(), file: Mutex::new(file), past, stop: stop.clone() })
    }

    /// Puts a step on disk. Intents are synced, and with them whatever came before. Where it fails
    /// the sweep ends: what cannot be kept is not worth running.
    pub fn write(&self, record: &SweepRecord) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let synced = matches!(record, SweepRecord::Intent(_));
        let written = file.write_all(line(record).as_bytes());
        if let Err(error) = written.and_then(|()| if synced { file.sync_data() } else { Ok(()) }) {
            self.stop.breaks(format!("{}: {error}", journal::failed(&self.path)));
        }
    }

    /// The report holds everything.
    pub fn close(self) -> anyhow::Result<()> {
        fs::remove_file(&self.path)
            .with_context(|| format!("failed to remove {}", self.path.display()))
    }
}
