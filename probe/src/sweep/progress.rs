//! How far a sweep is: a bar for each device on a terminal, elsewhere a line now and then.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fpprobe_reports::escape::visible;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::estimate::words;
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
    /// How long they may run; less than all do.
    budget: Option<Duration>,
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

    /// A device that runs N inputs, or as many as there is time for.
    pub fn course(&self, name: &str, all: u64, budget: Option<Duration>) -> Course {
        let name = visible(name).into_owned();
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(all));
            let template = match budget {
                Some(budget) => format!("{{per_sec}} {{elapsed:>4}} of {} {{msg}}", words(budget)),
                None => "{bar:30} {percent:>3} % {per_sec} {elapsed:>4}, {eta} left {msg}".into(),
            };
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
            bar.with_message(name.clone())
        });
        let now = Instant::now();
        Course {
            name,
            all,
            budget,
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
            let elapsed = state.begun.elapsed();
            let rate = state.done as f64 / elapsed.as_secs_f64();
            let left =
                Duration::try_from_secs_f64(self.all.saturating_sub(state.done) as f64 / rate);
            let percent = 100.0 * state.done as f64 / self.all.max(1) as f64;
            let millions = format!("{:.1} million inputs a second", rate / 1e6);
            say(&match (self.budget, left) {
                (Some(budget), _) => {
                    format!("{}: {millions}, {} of {}", self.name, words(elapsed), words(budget))
                }
                (None, Ok(left)) => {
                    format!("{}: {percent:.1} %, {millions}, {} left", self.name, words(left))
                }
                (None, Err(_)) => format!("{}: {percent:.1} %, {millions}", self.name),
            });
        }
    }

    /// The device is done.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}
