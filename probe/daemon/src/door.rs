//! What the daemon needs of the program around it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fpprobe_system::cancellation::Cancellation;

use crate::device_table::DeviceTable;
use crate::settings::DaemonSettings;

/// The program around the daemon, which measures and compares in processes of their own.
pub trait Door: Send + Sync {
    /// Reads and checks the settings.
    fn settings(&self) -> anyhow::Result<DaemonSettings>;

    /// Discovers devices with fresh workers.
    fn devices(&self, settings: &DaemonSettings, cancellation: Cancellation) -> DeviceTable;

    /// Files and folders whose change may mean another driver.
    fn places(&self, settings: &DaemonSettings) -> Vec<PathBuf>;

    /// The arguments with which this program, started again under these settings, takes a step.
    fn arguments(&self, config: &Path, step: &ProcessStep<'_>) -> Vec<OsString>;
}

/// A step that a process of this program takes.
#[derive(Clone, Debug)]
pub enum ProcessStep<'a> {
    /// Measures a device and stores its report. Exit status 0, 3 or 5 where it measured.
    Run {
        /// Key of the device.
        device: &'a str,
        /// The part of the run that both kinds of runs have.
        run: RunOptions<'a>,
        /// Seed of everything random.
        seed: u64,
        /// Random cases of each kernel.
        random: u32,
        /// Whether a quick run is enough; with what it is compared and where the difference goes.
        quick: Option<Option<(&'a Path, &'a Path)>>,
    },
    /// Continues an interrupted run; exit status 2 where it cannot be continued.
    Resume(RunOptions<'a>),
    /// Writes the difference between two reports.
    Compare {
        /// The older report.
        old: &'a Path,
        /// The newer report.
        new: &'a Path,
        /// The document.
        output: &'a Path,
    },
    /// Checks a report against a baseline. Exit status 0, 3 or 5 where it was checked.
    Check {
        /// The baseline.
        baseline: &'a Path,
        /// The report.
        report: &'a Path,
        /// Key of the device.
        device: &'a str,
        /// The document.
        output: &'a Path,
    },
    /// Renders a stored report.
    Render {
        /// Folder of the store.
        store: &'a Path,
        /// Id of the report.
        report: &'a str,
        /// The file, whose ending names the format where `format` does not.
        output: &'a Path,
        /// The format.
        format: Option<&'a str>,
    },
}

impl ProcessStep<'_> {
    /// What it is called in messages.
    pub fn name(&self) -> &'static str {
        match self {
            ProcessStep::Run { .. } | ProcessStep::Resume(_) => "run",
            ProcessStep::Compare { .. } => "diff",
            ProcessStep::Check { .. } => "check",
            ProcessStep::Render { .. } => "history",
        }
    }
}

/// How a device is measured.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// The report, beside which the run keeps its journal.
    pub report: &'a Path,
    /// Folder of the store.
    pub store: &'a Path,
    /// Worker processes.
    pub jobs: u32,
    /// Deadline of a batch in seconds.
    pub timeout: f64,
}
