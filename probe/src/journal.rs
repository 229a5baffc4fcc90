//! The journal of a run in progress: a file beside the report, written step by step, and gone when
//! the report holds all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use fpprobe_reports::host;
use fpprobe_reports::journal::{Custody, Leg, QuarantineRecord, Record, RunStart, line, read};
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::files::{folder, is_at, sync_folder};
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Its name in the folder of a report.
const NAME: &str = "journal.jsonl";
/// What is appended to the name of a report that is a single file.
const EXTENSION: &str = "journal";

/// The journal of a run.
pub enum JournalPlace {
    /// There is none: no file is to be written.
    Nowhere,
    /// One that begins here, when it is known what runs.
    At(PathBuf),
    /// One that goes on.
    On(RunJournal),
}

impl JournalPlace {
    /// The journal, where there is one.
    pub fn open(
        self,
        run: &RunStart,
        retry: bool,
        cancellation: &Cancellation,
    ) -> anyhow::Result<Option<RunJournal>> {
        match self {
            JournalPlace::Nowhere => Ok(None),
            JournalPlace::At(path) => {
                RunJournal::begin(&path, run.clone(), retry, cancellation).map(Some)
            }
            JournalPlace::On(journal) => Ok(Some(journal)),
        }
    }
}

/// A run's journal.
pub struct RunJournal {
    path: PathBuf,
    file: Mutex<File>,
    /// What this run has seen in earlier processes, with numbers of lines.
    past: Vec<(usize, Record)>,
    /// Whether kernels are in quarantine, of whatever device.
    holds: bool,
    stop: Cancellation,
}

/// Where the journal of a report lies.
pub fn place(report: &Path, folder: bool) -> PathBuf {
    if folder {
        return report.join(NAME);
    }
    with_suffix(report, &format!(".{EXTENSION}"))
}

/// The report of a journal: the folder it lies in, or the file it lies beside; `None` for a file
/// that is not named as a journal is.
pub fn report(journal: &Path) -> Option<PathBuf> {
    let name = journal.file_name()?;
    if name == NAME {
        return Some(journal.parent().map(Path::to_owned).unwrap_or_default());
    }
    (journal.extension()? == EXTENSION).then(|| journal.with_extension(""))
}

/// The journal that `--resume` means: that of a folder, that of a report, or the file itself.
pub fn find(named: &Path) -> anyhow::Result<PathBuf> {
    let candidates = [place(named, true), place(named, false), named.to_owned()];
    let found = candidates.into_iter().find(|path| path.is_file() && report(path).is_some());
    found.ok_or_else(|| {
        let shown = named.display();
        let mut message =
            format!("nothing to resume at {shown}: there is no {NAME} (a run that was finished leaves none");
        if place(named, true).with_extension("jsonl.old").exists() {
            message += "; one that another run has replaced is named .old: give it its name back to go on with it";
        }
        usage_error(message + "; `fpprobe run -o DIR` starts one)")
    })
}

impl RunJournal {
    /// Begins the journal of a new run. One that an unfinished run has left there is kept under
    /// another name, and what it knows of kernels that took the machine down is heeded. At no
    /// moment is there neither of them.
    pub fn begin(
        path: &Path,
        run: RunStart,
        retry: bool,
        stop: &Cancellation,
    ) -> anyhow::Result<RunJournal> {
        let old = open(path)?;
        let opened = predecessor(path, &old)?;
        let fresh = with_suffix(path, ".new");
        let made = OpenOptions::new().read(true).append(true).create(true).open(&fresh);
        let file = made
            .and_then(|file| file.set_len(0).map(|()| file))
            .with_context(|| failed(&fresh))
            .or_usage()?;
        lock(path, &file)?;
        let mut journal = RunJournal::new(path, file, Vec::new(), stop);
        journal.write(&Record::Run(run));
        journal.enter(Custody { hold: opened, ..Custody::default() }, retry)?;
        let swapped = fs::rename(&fresh, path).and_then(|()| sync_folder(folder(path)));
        swapped.with_context(|| failed(path)).or_usage()?;
        Ok(journal)
    }

    /// Goes on with the journal of a run.
    pub fn resume(
        path: &Path,
        retry: bool,
        stop: &Cancellation,
    ) -> anyhow::Result<(RunStart, RunJournal)> {
        let file = open(path)?;
        let shown = path.display();
        let unreadable = |error| anyhow!("failed to resume from {shown}: {error}");
        let read = read(BufReader::new(&file)).map_err(unreadable).or_usage()?;
        let (theirs, ours) = (&read.run.program, host::program().version);
        if *theirs != ours {
            let message = format!(
                "failed to resume from {shown}: fpprobe {theirs} wrote it, and this is {ours}, whose questions may \
                 differ; use that version, or start anew with `fpprobe run -o`"
            );
            return Err(usage_error(message));
        }
        if let Some(line) = read.torn {
            say(&format!(
                "{shown}: line {line} was cut off when the run was killed; what it told is measured again"
            ));
        }
        file.set_len(read.length).with_context(|| failed(path)).or_usage()?;
        let mut journal = RunJournal::new(path, file, read.records, stop);
        let custody = Custody::new(journal.past.iter().map(|(_, record)| record), &host::boot());
        journal.enter(custody, retry)?;
        Ok((read.run, journal))
    }

    fn new(path: &Path, file: File, past: Vec<(usize, Record)>, stop: &Cancellation) -> RunJournal {
        RunJournal {
            path: path.to_owned(),
            file: Mutex::new(file),
            past,
            holds: false,
            stop: stop.clone(),
        }
    }

    /// Notes that this process is at it, and which kernels it keeps away from.
    fn enter(&mut self, custody: Custody, retry: bool) -> anyhow::Result<()> {
        let all = custody.all();
        let records = |kernels: BTreeMap<String, BTreeSet<String>>| {
            let opened = |(device, kernels): (_, BTreeSet<String>)| QuarantineRecord {
                device,
                kernels: kernels.into_iter().collect(),
            };
            kernels.into_iter().map(opened)
        };
        let leg = Record::Leg(Leg { boot: host::boot(), started: host::now() });
        let hold = records(custody.hold).map(Record::Quarantined);
        let free = records(if retry { all.clone() } else { BTreeMap::new() }).map(Record::Released);
        for record in [leg].into_iter().chain(hold).chain(free) {
            self.write(&record);
            self.past.push((0, record));
        }
        self.holds = !retry && !all.is_empty();
        self.stop.broken().map_or(Ok(()), |cause| Err(usage_error(cause)))
    }

    /// What earlier processes wrote, with numbers of lines.
    pub fn past(&self) -> impl Iterator<Item = (usize, &Record)> {
        self.past.iter().map(|(line, record)| (*line, record))
    }

    /// The devices that earlier processes have begun to measure.
    pub fn devices(&self) -> impl Iterator<Item = &fpprobe_reports::journal::DeviceRecord> {
        self.past.iter().filter_map(|(_, record)| match record {
            Record::Device(device) => Some(device),
            _ => None,
        })
    }

    /// Puts a step on disk. Where that fails the measurement ends: what cannot be kept is not worth
    /// running.
    pub fn write(&self, record: &Record) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(line(record).as_bytes()).and_then(|()| file.sync_data());
        if let Err(error) = written {
            let hint = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "; make room, then go on with `fpprobe run --resume`"
                }
                _ => "",
            };
            self.stop.breaks(format!("{}: {error}{hint}", failed(&self.path)));
        }
    }

    /// The command that goes on with this run.
    pub fn command(&self) -> String {
        format!("fpprobe run --resume {}", quoted(&report(&self.path).unwrap_or_default()))
    }

    /// This process is done with it. Where the report holds everything, and nothing is in
    /// quarantine, it has served.
    pub fn close(self, whole: bool) -> anyhow::Result<()> {
        self.write(&Record::Ended { whole });
        if !whole || self.holds {
            return Ok(());
        }
        fs::remove_file(&self.path)
            .with_context(|| format!("failed to remove {}", self.path.display()))
    }
}

/// What could not be done with a journal.
pub fn failed(path: &Path) -> String {
    format!("failed to write journal {}", path.display())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the file this process's alone.
fn lock(path: &Path, file: &File) -> anyhow::Result<()> {
    let locked = file.try_lock();
    let message =
        || format!("{} is in use: another fpprobe is measuring into that place", path.display());
    locked.map_err(|_| usage_error(message()))
}

/// Opens the file for reading and writing, made if need be, and this process's alone.
pub fn open(path: &Path) -> anyhow::Result<File> {
    let folder = folder(path);
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to create folder {}", folder.display()))
        .or_usage()?;
    loop {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(|| failed(path))
            .or_usage()?;
        lock(path, &file)?;
        // Who had it may have replaced or removed it between the two steps.
        if is_at(&file, path) {
            // The new name is only sure to be there once the folder itself has reached the disk.
            sync_folder(folder).with_context(|| failed(path)).or_usage()?;
            return Ok(file);
        }
    }
}

/// What the journal of an unfinished run tells the next one: which kernels took the machine down.
/// It is kept under another name, beside those that were kept before.
fn predecessor(path: &Path, file: &File) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    if file.metadata().with_context(|| failed(path)).or_usage()?.len() == 0 {
        return Ok(BTreeMap::new());
    }
    let keep = || -> anyhow::Result<String> {
        let name = |number: u32| {
            with_suffix(path, &if number == 1 { ".old".into() } else { format!(".old{number}") })
        };
        let old = (1..1000).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(1));
        // Where there are no links the file is copied.
        let kept = fs::hard_link(path, &old).or_else(|_| fs::copy(path, &old).map(|_| ()));
        kept.with_context(|| format!("failed to keep {}", old.display())).or_usage()?;
        Ok(old.display().to_string())
    };
    match read(BufReader::new(file)) {
        Ok(read) => {
            // Of a run that had come to its end only the quarantine is left to know.
            if !matches!(read.records.last(), Some((_, Record::Ended { whole: true }))) {
                let resume = "`--resume` would have gone on with it";
                say(&format!(
                    "an unfinished run was here; its journal is now {} ({resume})",
                    keep()?
                ));
            }
            Ok(Custody::new(read.records.iter().map(|(_, record)| record), &host::boot()).all())
        }
        Err(error) => {
            say(&format!(
                "a journal was here that cannot be used ({error}); it is now {}",
                keep()?
            ));
            Ok(BTreeMap::new())
        }
    }
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
