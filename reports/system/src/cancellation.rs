//! Cancellation: a signal, or a disk that takes no more. What was measured is kept.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Signals that come together are one: `timeout`, for example, sends its own to the process and to
/// its group.
const TOGETHER: Duration = Duration::from_millis(500);

/// Shared by everything that measures; read between two steps.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    signal: Arc<AtomicUsize>,
    cause: Arc<OnceLock<String>>,
}

impl Cancellation {
    /// From now on Ctrl-C (SIGINT), SIGTERM and a terminal that closes (SIGHUP, unless `nohup` has
    /// it ignored) are a reason; a second of them, half a second later or more, ends the program at
    /// once, as if nobody listened.
    pub fn listen(&self) -> io::Result<()> {
        let all = [SIGINT, SIGTERM, SIGHUP];
        let mut signals =
            Signals::new(all.iter().filter(|signal| **signal != SIGHUP || !ignored(SIGHUP)))?;
        let received = Arc::clone(&self.signal);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                received.store(signal as usize, Ordering::Relaxed);
                if first.get_or_insert_with(Instant::now).elapsed() >= TOGETHER {
                    // It does not return, but where the default cannot be had.
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
        Ok(())
    }

    /// Ends because something that the measurement needs is broken; the first reason counts.
    pub fn breaks(&self, cause: impl Into<String>) {
        let _ = self.cause.set(cause.into());
    }

    /// What is broken; `None` where nothing is.
    pub fn broken(&self) -> Option<String> {
        self.cause.get().cloned()
    }

    /// Why to end; `None` while there is no reason to.
    pub fn cause(&self) -> Option<String> {
        let signal = match self.signal.load(Ordering::Relaxed) as i32 {
            0 => None,
            SIGINT => Some("interrupted (SIGINT)"),
            SIGHUP => Some("left by its terminal (SIGHUP)"),
            _ => Some("told to end (SIGTERM)"),
        };
        self.broken().or_else(|| signal.map(str::to_owned))
    }

    /// Whether to end.
    pub fn is_requested(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0 || self.cause.get().is_some()
    }
}

/// Whether this process was started with the signal ignored (proc(5), `SigIgn` of
/// `/proc/PID/status`).
fn ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
