//! Whom to kill.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// One of a supervisor's workers; `which` chooses among them.
pub fn worker(supervisor: u32, which: u64) -> Option<u32> {
    let processes = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut workers: Vec<u32> =
        processes.filter(|process| parent(*process) == Some(supervisor)).collect();
    workers.sort_unstable();
    let count = workers.len() as u64;
    (count > 0).then(|| workers[(which % count) as usize])
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Kills a process, as nothing can resist.
pub fn kill(process: u32) {
    if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // It may have ended by itself in the meantime.
        let _ = kill_process(pid, Signal::KILL);
    }
}
