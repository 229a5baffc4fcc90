//! How far a sweep is: a bar for each device on a terminal, elsewhere a line now and then.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fpprobe_reports::escape::visible;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use fpprobe_system::usage::say;

/// Between two lines.
const PAUSE: Duration = Duration::from_secs(10);

/// Shows progress.
pub struct SweepProgress {
    bars: Option<MultiProgress>,
}

/// The progress of one device.
pub struct Course {
    name: String,
    /// Inputs to run.
    all: u64,
    bar: Option<ProgressBar>,
    state: Mutex<ProgressState>,
}

struct ProgressState {
    done: u64,
    begun: Instant,
    reported: Instant,
}

impl SweepProgress {
    /// For this process's standard error.
    pub fn new() -> SweepProgress {
        SweepProgress { bars: std::io::stderr().is_terminal().then(MultiProgress::new) }
    }

    /// A device that is to be asked N inputs.
    pub fn course(&self, name: &str, all: u64) -> Course {
        let name = visible(name).into_owned();
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(all));
            let template = "{bar:30} {percent:>3} % {per_sec} {elapsed:>4}, {eta} left {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.with_message(name.clone())
        });
        let now = Instant::now();
        Course {
            name,
            all,
            bar,
            state: Mutex::new(ProgressState { done: 0, begun: now, reported: now }),
        }
    }
}

impl Course {
    /// So many inputs more have been asked.
    pub fn advance(&self, inputs: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(inputs);
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += inputs;
        if state.reported.elapsed() >= PAUSE {
            state.reported = Instant::now();
            let rate = state.done as f64 / state.begun.elapsed().as_secs_f64();
            let left = self.all.saturating_sub(state.done) as f64 / rate;
            let percent = 100.0 * state.done as f64 / self.all.max(1) as f64;
            say(&format!(
                "{}: {percent:.1} %, {:.1} million inputs a second, {left:.0} s left",
                self.name,
                rate / 1e6
            ));
        }
    }

    /// The device is done.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}
