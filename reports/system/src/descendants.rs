//! What a program has started, in whatever session: known by a variable that all of it inherits.
//!
//! A process group is left by whoever begins a session of its own, and to own a cgroup takes
//! privileges that a daemon need not have. What clears its environment is not found; where a
//! service manager started the daemon, its cgroup ends that.

use std::fs;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::calls;
use crate::process::{apart, pid};

/// The variable; it is no setting.
const VARIABLE: &str = "FPPROBE_HOOK";
/// Looks for what was started while others were ended.
const ROUNDS: usize = 16;
/// Between two of them.
const TICK: Duration = Duration::from_millis(5);

/// A program and what it has started.
#[derive(Clone, Debug)]
pub struct Descendants {
    group: Option<Pid>,
    /// The variable with a value that no other program has.
    mark: String,
}

impl Descendants {
    /// Starts a program that ends with this process, however that ends.
    pub fn start(mut command: Command) -> io::Result<(Child, Descendants)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        calls::tie(apart(command.env(VARIABLE, &mark)));
        let child = command.spawn()?;
        let descendants = Descendants { group: pid(&child), mark: format!("{VARIABLE}={mark}") };
        Ok((child, descendants))
    }

    /// Ends what is left: the program's group, and its descendants wherever they are.
    pub fn end(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for _ in 0..ROUNDS {
            let found = marked(&self.mark);
            if found.is_empty() {
                return;
            }
            for pid in found {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(TICK);
        }
    }
}

fn marked(mark: &str) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids =
        processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    // What has ended and was not waited for has none any more.
    let is_marked = |pid: &Pid| {
        let environment =
            fs::read(format!("/proc/{}/environ", pid.as_raw_pid())).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    pids.filter(is_marked).collect()
}
