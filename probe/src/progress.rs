//! Progress on standard error: a bar per device on a terminal, plain lines elsewhere. Never on
//! standard output.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};

use fpprobe_reports::escape::visible;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::event::RunEvent;
use fpprobe_system::usage::say;

/// Shows events.
pub struct Progress {
    bars: Option<MultiProgress>,
    verbose: bool,
    devices: Mutex<BTreeMap<usize, DeviceProgress>>,
}

struct DeviceProgress {
    name: String,
    kernels: usize,
    settled: usize,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For this process's standard error.
    pub fn new(verbose: bool) -> Progress {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        Progress { bars, verbose, devices: Mutex::new(BTreeMap::new()) }
    }

    /// Shows one event.
    pub fn show(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Begun { device, name, kernels, alone } => {
                self.begun(*device, name, *kernels, *alone);
            }
            RunEvent::Running { device, worker, kernels } => {
                if self.verbose {
                    let name = self.name(*device);
                    let first = kernels.first().map_or("", String::as_str);
                    self.line(&format!(
                        "worker {worker}: {name}: {} kernels from {first}",
                        kernels.len()
                    ));
                }
            }
            RunEvent::Settled { device, kernels } => self.settled(*device, *kernels),
            RunEvent::FirstVerdicts { text } => self.line(text.trim_end()),
            RunEvent::Failure { subject, text } => {
                self.line(&format!("{}: {}", visible(subject), visible(text)));
            }
            RunEvent::Done { device } => self.done(*device),
            RunEvent::Output { worker, stream, text, dropped } => {
                if self.verbose {
                    if *dropped > 0 {
                        self.line(&format!(
                            "worker {worker} {stream}: {dropped} bytes before this are not shown"
                        ));
                    }
                    for line in text.lines() {
                        self.line(&format!("worker {worker} {stream}: {}", visible(line)));
                    }
                }
            }
        }
    }

    /// Shows what went wrong, and with `--verbose` what workers do; for commands that are over in a
    /// moment.
    pub fn show_failures(&self, event: &RunEvent<'_>) {
        if !matches!(
            event,
            RunEvent::Begun { .. } | RunEvent::Settled { .. } | RunEvent::Done { .. }
        ) {
            self.show(event);
        }
    }

    fn line(&self, text: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| say(text)),
            None => say(text),
        }
    }

    fn with<T>(&self, device: usize, change: impl FnOnce(&mut DeviceProgress) -> T) -> Option<T> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&device).map(change)
    }

    fn name(&self, device: usize) -> String {
        self.with(device, |device| device.name.clone()).unwrap_or_default()
    }

    fn begun(&self, device: usize, name: &str, kernels: usize, alone: bool) {
        let name =
            if alone { format!("{}, isolated", visible(name)) } else { visible(name).into_owned() };
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(kernels as u64));
            if let Ok(style) = ProgressStyle::with_template(
                "{bar:30} {pos:>5}/{len} {elapsed:>4}, {eta} left, {wide_msg}",
            ) {
                bar.set_style(style);
            }
            bar.with_message(name.clone())
        });
        if bar.is_none() {
            let noun = if kernels == 1 { "kernel" } else { "kernels" };
            self.line(&format!("{name}: {kernels} {noun}"));
        }
        let entry = DeviceProgress { name, kernels, settled: 0, bar };
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).insert(device, entry);
    }

    fn settled(&self, device: usize, kernels: usize) {
        let line = self.with(device, |device| {
            let quarter = |settled: usize| settled * 4 / device.kernels.max(1);
            let before = quarter(device.settled);
            device.settled += kernels;
            if let Some(bar) = &device.bar {
                bar.inc(kernels as u64);
                return None;
            }
            let crossed = quarter(device.settled) > before && device.settled < device.kernels;
            crossed.then(|| {
                format!("{}: {} of {} kernels", device.name, device.settled, device.kernels)
            })
        });
        if let Some(line) = line.flatten() {
            self.line(&line);
        }
    }

    fn done(&self, device: usize) {
        let line = self.with(device, |device| match &device.bar {
            Some(bar) => {
                bar.finish();
                None
            }
            None => Some(format!("{}: done", device.name)),
        });
        if let Some(line) = line.flatten() {
            self.line(&line);
        }
    }
}
