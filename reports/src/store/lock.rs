//! The lock that writers take: who holds it says so in the file, for those who wait.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fpprobe_system::machine;
use fpprobe_system::process::{self, ProcessState};

/// The file within the store.
pub const NAME: &str = "lock";
/// Between two attempts.
const TICK: Duration = Duration::from_millis(10);
/// Bytes that are read of what a holder says.
const LIMIT: u64 = 512;

/// Why there is no lock.
pub enum LockError {
    /// The system's own word.
    Io(io::Error),
    /// Another process has it; what is known of that.
    Held(String),
}

/// Takes the lock, waiting for others up to this long. It is released when it is dropped, or its
/// process ends.
pub fn take(folder: &Path, longest: Duration) -> Result<File, LockError> {
    let path = folder.join(NAME);
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = open.map_err(LockError::Io)?;
    let deadline = Instant::now() + longest;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(TICK),
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(holder(&path, file))),
        }
    }
    // Who waits only knows less where this fails.
    let _ = sign(&mut file);
    Ok(file)
}

/// Writes down who holds the lock: process, host, command.
fn sign(file: &mut File) -> io::Result<()> {
    let command: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let text = format!("{}\n{}\n{}\n", std::process::id(), machine::name(), command.join(" "));
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// The holder, in words.
fn holder(path: &Path, mut file: File) -> String {
    let mut text = Vec::new();
    // An empty file is that of an earlier version.
    let _ = file.rewind().and_then(|()| file.take(LIMIT).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.parse::<u32>().ok());
    let (Some(process), Some(on), Some(command)) = (process, lines.next(), lines.next()) else {
        return "another process".to_owned();
    };
    if on != machine::name() {
        return format!("process {process} (`{command}`) on host {on}");
    }
    match process::state(process).filter(|_| process != std::process::id()) {
        // The signature is that of an earlier holder: this one has inherited the lock, or is
        // another program.
        None => format!(
            "a process that did not sign it (`fuser {}` lists those that may)",
            path.display()
        ),
        Some(ProcessState::Stopped) => {
            format!(
                "process {process} (`{command}`), which is stopped; `kill -CONT {process}` lets it go on"
            )
        }
        Some(ProcessState::Alive) => format!("process {process} (`{command}`)"),
    }
}
