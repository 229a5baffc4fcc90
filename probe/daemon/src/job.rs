//! A command of this program as a process of its own: what it costs is limited, and it ends with
//! the daemon.
//!
//! Measuring, comparing and rendering need memory by the gigabyte and meet whatever drivers do; the
//! daemon itself stays small, and holds nothing that a crash could take along.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fpprobe_system::ending::{EndSignal, Mortal as _};
use fpprobe_system::process::{apart, this_program};
use fpprobe_system::service;

/// Between two looks at a process.
const TICK: Duration = Duration::from_millis(20);
/// What a process may take to end after a signal: a run has a journal to close and workers to end.
const GRACE: Duration = Duration::from_millis(1500);
/// Bytes of standard error that are kept.
const OUTPUT_LIMIT: u64 = 64 << 10;

/// What a process may cost, and when it is to end.
#[derive(Clone, Debug)]
pub struct JobLimits {
    /// How long it may take.
    pub time: Duration,
    /// Whether the daemon wants it to end.
    pub stop: Arc<AtomicBool>,
}

/// How it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobResult {
    /// With this status.
    Status(i32),
    /// Because of what is said here.
    Broken(String),
    /// Because the daemon requested it.
    Stopped,
}

/// What became of a process.
#[derive(Clone, Debug)]
pub struct Done {
    /// How it ended.
    pub ended: JobResult,
    /// The end of its standard error.
    pub output: String,
}

impl Done {
    /// The last line of its standard error.
    pub fn last(&self) -> &str {
        self.output.lines().next_back().unwrap_or_default()
    }
}

/// Runs this program with these arguments to its end.
pub fn run(arguments: &[OsString], limits: &JobLimits) -> std::io::Result<Done> {
    let mut command = this_program();
    command.arg("--tied").arg(std::process::id().to_string()).args(arguments);
    apart(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()));
    // Its settings are all in the file that it is given; the daemon alone notifies the service
    // manager.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("FPPROBE_") || service::VARIABLES.contains(&&*name) {
            command.env_remove(&*name);
        }
    }
    observe(command, limits)
}

/// Runs a command to its end, or until it is given up: neither a process that cannot be ended nor
/// one that holds its standard error open keeps this one.
fn observe(mut command: Command, limits: &JobLimits) -> std::io::Result<Done> {
    let mut child = command.spawn()?;
    let stderr = child.stderr.take();
    let (sender, read) = channel();
    std::thread::spawn(move || {
        let mut message = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.by_ref().take(OUTPUT_LIMIT).read_to_end(&mut message);
            // What is left must not fill the pipe.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        }
        let _ = sender.send(String::from_utf8_lossy(&message).into_owned());
    });
    let ended = watch(&mut child, limits)?;
    let message = read.recv_timeout(GRACE).unwrap_or_default();
    if !matches!(child.try_wait(), Ok(Some(_))) {
        // Whenever the kernel lets go of it, somebody must have waited for it.
        std::thread::spawn(move || child.wait());
    }
    Ok(Done { ended, output: message })
}

fn watch(child: &mut Child, limits: &JobLimits) -> std::io::Result<JobResult> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status
                .code()
                .map_or_else(|| JobResult::Broken(format!("ended: {status}")), JobResult::Status));
        }
        let cause = if limits.stop.load(Ordering::Relaxed) {
            Some(JobResult::Stopped)
        } else if begun.elapsed() > limits.time {
            Some(JobResult::Broken(format!(
                "it took more than {} s, its budget of time",
                limits.time.as_secs_f64()
            )))
        } else {
            None
        };
        if let Some(cause) = cause {
            end(child);
            return Ok(cause);
        }
        std::thread::sleep(TICK);
    }
}

/// Requests that a process ends, and makes it.
fn end(child: &mut Child) {
    child.signal(EndSignal::Request);
    if child.reap(GRACE).is_none() {
        child.signal(EndSignal::Force);
        // One that the kernel's driver holds does not end: it is left behind.
        child.reap(GRACE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_standard_error_open_keeps_nobody() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 20 & exit 3"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let begun = Instant::now();
        let limits = JobLimits { time: Duration::from_mins(1), stop: Arc::default() };
        let done = observe(command, &limits).unwrap();
        assert_eq!(done.ended, JobResult::Status(3));
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    }
}
