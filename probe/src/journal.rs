//! The journal of a run in progress: a file beside the report, written step by step, and gone when the report holds all.

mod track;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use fpprobe_reports::journal::{Custody, Leg, Pass, Record, Run, custody, line, read};
use rustix::fs::{FlockOperation, flock};

use crate::exit::{OrUsage as _, say, usage_error};
use crate::host;
use crate::stop::Stop;

pub use track::Track;

/// Its name in the folder of a report.
const NAME: &str = "journal.jsonl";
/// What is appended to the name of a report that is a single file.
const SUFFIX: &str = ".journal";

/// A run's journal.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// What this run has seen in earlier processes, with numbers of lines.
    past: Vec<(usize, Record)>,
    /// Whether it tells more than that a run was begun.
    telling: AtomicBool,
    stop: Stop,
}

/// Where the journal of a report lies.
pub fn place(report: &Path, folder: bool) -> PathBuf {
    if folder {
        return report.join(NAME);
    }
    let mut name = report.as_os_str().to_owned();
    name.push(SUFFIX);
    PathBuf::from(name)
}

/// The report of a journal: the folder it lies in, or the file it lies beside.
pub fn report(journal: &Path) -> PathBuf {
    match journal.to_string_lossy().strip_suffix(SUFFIX) {
        Some(report) => PathBuf::from(report),
        None => journal.parent().map(Path::to_owned).unwrap_or_default(),
    }
}

/// The journal that `--resume` means: that of a folder, that of a report, or the file itself.
pub fn find(named: &Path) -> anyhow::Result<PathBuf> {
    let beside = place(named, false);
    let candidates = [place(named, true), beside, named.to_owned()];
    candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        usage_error(format!(
            "nothing to resume at {}: there is no {NAME} (a run that was finished leaves none; `fpprobe run -o DIR` starts one)",
            named.display()
        ))
    })
}

impl Journal {
    /// Begins the journal of a new run. One that an unfinished run has left there is kept under another name, and what it
    /// knows of kernels that took the machine down is heeded.
    pub fn begin(path: &Path, run: Run, retry: bool, stop: &Stop) -> anyhow::Result<Journal> {
        let file = open(path)?;
        let past = predecessor(path, &file)?;
        let mut journal = Journal::new(path, file, Vec::new(), stop);
        journal.write(&Record::Run(run));
        // The old records are not in this file: what they hold must be.
        let Custody { hold, held } = custody(past.iter().map(|(_, record)| record), &host::boot());
        journal.enter(Custody { hold: [held, hold].concat(), held: Vec::new() }, retry)?;
        Ok(journal)
    }

    /// Goes on with the journal of a run.
    pub fn resume(path: &Path, retry: bool, stop: &Stop) -> anyhow::Result<(Run, Journal)> {
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
            say(&format!("{shown}: line {line} was cut off when the run was killed; what it told is measured again"));
        }
        file.set_len(read.length).with_context(|| failed(path)).or_usage()?;
        let mut journal = Journal::new(path, file, read.records, stop);
        let custody = custody(journal.past.iter().map(|(_, record)| record), &host::boot());
        journal.enter(custody, retry)?;
        Ok((read.run, journal))
    }

    fn new(path: &Path, file: File, past: Vec<(usize, Record)>, stop: &Stop) -> Journal {
        let telling = AtomicBool::new(!past.is_empty());
        Journal { path: path.to_owned(), file: Mutex::new(file), past, telling, stop: stop.clone() }
    }

    /// Notes that this process is at it, and which kernels it keeps away from.
    fn enter(&mut self, Custody { hold, held }: Custody, retry: bool) -> anyhow::Result<()> {
        self.write(&Record::Leg(Leg { boot: host::boot(), started: host::now() }));
        let all = if retry { [held, hold.clone()].concat() } else { Vec::new() };
        for record in hold.into_iter().map(Record::Quarantined).chain(all.into_iter().map(Record::Released)) {
            self.write(&record);
            self.past.push((0, record));
        }
        self.stop.broken().map_or(Ok(()), |cause| Err(usage_error(cause)))
    }

    /// The steps of one pass over one device.
    pub fn track<'a>(&'a self, device: &'a str, pass: Pass) -> Track<'a> {
        Track::new(self, device, pass)
    }

    /// The devices that earlier processes have begun to measure.
    pub fn devices(&self) -> impl Iterator<Item = &fpprobe_reports::journal::Device> {
        self.past.iter().filter_map(|(_, record)| match record {
            Record::Device(device) => Some(device),
            _ => None,
        })
    }

    /// Puts a step on disk. Where that fails the measurement ends: what cannot be kept is not worth asking.
    pub fn write(&self, record: &Record) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(record, Record::Run(_) | Record::Leg(_)) {
            self.telling.store(true, Ordering::Relaxed);
        }
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
        format!("fpprobe run --resume {}", report(&self.path).display())
    }

    /// The report holds everything: the journal has served.
    pub fn finish(self) -> anyhow::Result<()> {
        self.telling.store(true, Ordering::Relaxed);
        fs::remove_file(&self.path).with_context(|| format!("failed to remove {}", self.path.display()))
    }
}

impl Drop for Journal {
    /// A run that came to an end before it had asked anything leaves nothing behind.
    fn drop(&mut self) {
        if !*self.telling.get_mut() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn failed(path: &Path) -> String {
    format!("failed to write journal {}", path.display())
}

/// Opens the file for reading and writing, made if need be, and this process's alone.
fn open(path: &Path) -> anyhow::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("failed to create folder {}", folder.display())).or_usage()?;
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path).with_context(|| failed(path)).or_usage()?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let message = format!("{} is in use: another fpprobe is measuring into that place", path.display());
            return Err(usage_error(message));
        }
        // Who had it may have finished, and removed it, between the two steps.
        let (held, there) = (file.metadata(), fs::metadata(path));
        if let (Ok(held), Ok(there)) = (held, there)
            && (held.dev(), held.ino()) == (there.dev(), there.ino())
        {
            // The new name is only sure to be there once the folder itself has reached the disk.
            File::open(folder).and_then(|folder| folder.sync_all()).with_context(|| failed(path)).or_usage()?;
            return Ok(file);
        }
    }
}

/// What the journal of an unfinished run tells the next one: which kernels took the machine down. It is kept under
/// another name.
fn predecessor(path: &Path, file: &File) -> anyhow::Result<Vec<(usize, Record)>> {
    if file.metadata().with_context(|| failed(path)).or_usage()?.len() == 0 {
        return Ok(Vec::new());
    }
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    fs::copy(path, &old).with_context(|| format!("failed to keep {}", Path::new(&old).display())).or_usage()?;
    let old = Path::new(&old).display();
    let found = read(BufReader::new(file));
    file.set_len(0).with_context(|| failed(path)).or_usage()?;
    match found {
        Ok(read) => {
            say(&format!(
                "an unfinished run was here; its journal is now {old} (`--resume` would have gone on with it)"
            ));
            Ok(read.records)
        }
        Err(error) => {
            say(&format!("a journal was here that cannot be used ({error}); it is now {old}"));
            Ok(Vec::new())
        }
    }
}
