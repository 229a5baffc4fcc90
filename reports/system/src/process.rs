//! Processes: this program started again, and what a process does for itself.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit,
};

pub use crate::calls::{is_stdout_closed, return_freed_memory, return_large_blocks};

/// What is added to a worker's badness (proc(5)): where memory runs out, the kernel ends a worker
/// before anybody else.
const BADNESS: &str = "500";

/// A command that starts this very program, even where its file has been replaced since.
pub fn this_program() -> Command {
    Command::new("/proc/self/exe")
}

/// Has a command run apart from this process's terminal: signals of its keys do not reach it.
pub fn apart(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Ends this process with the one that has started it, however that ends.
pub fn tie_to_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Whether this process was started by that one, and that still runs.
pub fn is_parent(process: i32) -> bool {
    getppid().map(Pid::as_raw_pid) == Some(process)
}

/// Makes this process a worker: it leaves no core files, is ended before others where memory runs
/// out, and has at most this many bytes of its own. Where the system refuses, it is one all the
/// same.
pub fn become_worker(memory: Option<u64>) {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = fs::write("/proc/self/oom_score_adj", BADNESS);
    if let Some(bytes) = memory {
        // Not the address space, of which drivers of GPUs reserve terabytes: private memory that
        // can be written.
        let _ = setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    }
}

/// Libraries in this process.
pub fn libraries() -> Vec<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let path = |line: &str| {
        let path = &line[line.find('/')?..];
        // A package manager may have replaced it since it was loaded.
        let path = Path::new(path.strip_suffix(" (deleted)").unwrap_or(path));
        path.file_name()?.to_string_lossy().contains(".so").then(|| path.to_owned())
    };
    maps.lines().filter_map(path).collect::<BTreeSet<_>>().into_iter().collect()
}

/// What a process of this machine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessState {
    /// It runs, or waits for something.
    Alive,
    /// Somebody has stopped it, until it is continued.
    Stopped,
}

/// What a process does, as proc(5) has it; `None` where it has ended.
pub fn state(process: u32) -> Option<ProcessState> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    match stat.rsplit_once(") ")?.1.chars().next()? {
        'Z' | 'X' => None,
        'T' | 't' => Some(ProcessState::Stopped),
        _ => Some(ProcessState::Alive),
    }
}

/// The process, as signals are sent to it.
pub(crate) fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// The path of a descriptor that this process was started with.
pub(crate) fn inherited(descriptor: i32) -> PathBuf {
    format!("/proc/self/fd/{descriptor}").into()
}
