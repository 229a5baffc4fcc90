//! What every command starts from: configuration, drivers, and somewhere to say what happens.

use std::time::Duration;

use anyhow::Context as _;

use crate::cli::{Global, MeasureArgs, StoreArgs};
use crate::config::Config;
use crate::event::Listener;
use crate::exit::{ExitError, Status};
use crate::supervisor::{ManifestRow, MeasureSettings, enumerate};
use crate::{absent, colour, discover, keep, output};
use fpprobe_reports::host;
use fpprobe_reports::model::Host;
use fpprobe_reports::render::{Detail, Style};
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::usage::say;

/// One invocation of the program.
pub struct Session {
    /// The configuration in effect.
    pub config: Config,
    /// How much to show of what a report holds.
    pub detail: Detail,
    /// Whether to show what workers print.
    pub verbose: bool,
    /// Whether to end early.
    pub stop: Cancellation,
}

impl Session {
    /// Of this configuration and these options.
    pub fn new(config: Config, global: &Global) -> Session {
        Session {
            config,
            detail: Detail::of(global.verbose),
            verbose: global.verbose > 0,
            stop: Cancellation::default(),
        }
    }

    /// How a report is shown on standard output: on one screen, with `--verbose` more.
    pub fn style(&self) -> Style {
        Style {
            colour: colour::on_stdout(self.config.colour),
            width: output::width(),
            detail: self.detail,
        }
    }

    /// How to measure: options over configuration. From here on Ctrl-C and SIGTERM are wishes,
    /// heeded between two steps.
    pub fn settings(&self, measuring: &MeasureArgs) -> anyhow::Result<MeasureSettings> {
        self.stop.listen().context("failed to listen for signals")?;
        let mut settings = MeasureSettings::new(&self.config, self.stop.clone());
        if let Some(jobs) = measuring.jobs {
            settings.jobs = Some(jobs as usize);
        }
        if let Some(timeout) = measuring.timeout {
            settings.timeout = Duration::from_secs_f64(timeout);
        }
        if let Some(timeout) = measuring.device_timeout {
            settings.device_timeout = Duration::from_secs_f64(timeout);
        }
        settings.dump_raw.clone_from(&measuring.dump_raw);
        Ok(settings)
    }

    /// This machine as reports name it.
    pub fn host(&self, measuring: &MeasureArgs) -> Host {
        let settings = &self.config.host;
        let label = measuring.label.as_ref().unwrap_or(&settings.label).clone();
        Host { label, tags: settings.tags(), ..host::host() }
    }

    /// The driver manifests of this machine.
    pub fn drivers(&self) -> Vec<discover::DriverCandidate> {
        discover::drivers(&self.config.drivers.manifests)
    }

    /// Every driver's devices. Ends the program's work where there is no driver at all.
    pub fn survey(
        &self,
        settings: &MeasureSettings,
        listener: Listener<'_>,
    ) -> anyhow::Result<Vec<ManifestRow>> {
        let drivers = self.drivers();
        if drivers.is_empty() {
            let message = "no Vulkan driver is installed: no manifest was found where the Vulkan loader looks \
                (`fpprobe doctor` shows where, and what to install)";
            return Err(ExitError(Status::Nothing, message.to_owned()).into());
        }
        let rows = enumerate(&drivers, settings, listener);
        if let Some(cause) = self.stop.cause() {
            return Err(ExitError(
                Status::Nothing,
                format!("{cause} before anything was measured"),
            )
            .into());
        }
        if rows.iter().all(|row| row.devices.as_ref().is_ok_and(Vec::is_empty)) {
            say("no driver found a device in this machine (`fpprobe doctor` says what to look at)");
        }
        Ok(rows)
    }

    /// Prints drivers that should have a device and show none: by the machine's device nodes, or by
    /// the store.
    pub fn warn_of_absent(&self, rows: &[ManifestRow]) {
        let store = keep::store(&self.config, &StoreArgs::default()).ok();
        let absent = absent::incidents(rows, store.as_ref());
        absent
            .iter()
            .filter(|incident| incident.outcome.is_some())
            .for_each(|one| say(&absent::remedy(one)));
    }

    /// The devices that options or configuration select; empty for all.
    pub fn selections<'a>(&'a self, given: &'a [String]) -> &'a [String] {
        if given.is_empty() { &self.config.devices } else { given }
    }
}
