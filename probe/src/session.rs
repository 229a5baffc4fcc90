//! What every command starts from: configuration, drivers, and somewhere to say what happens.

use crate::cli::{Global, Measuring};
use crate::config::Config;
use crate::discover;
use crate::event::Listener;
use crate::exit::{Ended, Status, say};
use crate::supervisor::{Row, Settings, enumerate};

/// One invocation of the program.
pub struct Session {
    /// The configuration in effect.
    pub config: Config,
    /// Whether to show what workers print.
    pub verbose: bool,
}

impl Session {
    /// Of this configuration and these options.
    pub fn new(config: Config, global: &Global) -> Session {
        Session { config, verbose: global.verbose }
    }

    /// How to measure: options over configuration.
    pub fn settings(&self, measuring: &Measuring) -> Settings {
        let mut settings = Settings::new(&self.config);
        if let Some(jobs) = measuring.jobs {
            settings.jobs = Some(jobs as usize);
        }
        if let Some(timeout) = measuring.timeout {
            settings.timeout = std::time::Duration::from_secs_f64(timeout);
        }
        settings
    }

    /// The driver manifests of this machine.
    pub fn drivers(&self) -> Vec<discover::Found> {
        discover::drivers(&self.config.drivers.manifests)
    }

    /// Every driver's devices. Ends the program's work where there is no driver at all.
    pub fn survey(&self, settings: &Settings, listener: Listener<'_>) -> anyhow::Result<Vec<Row>> {
        let drivers = self.drivers();
        if drivers.is_empty() {
            let message = "no Vulkan driver is installed: no manifest was found where the Vulkan loader looks \
                (`fpprobe doctor` shows where, and what to install)";
            return Err(Ended(Status::Nothing, message.to_owned()).into());
        }
        let rows = enumerate(&drivers, settings, listener);
        if rows.iter().all(|row| row.devices.as_ref().is_ok_and(Vec::is_empty)) {
            say("no driver found a device in this machine (`fpprobe doctor` says what to look at)");
        }
        Ok(rows)
    }

    /// The devices that options or configuration select; empty for all.
    pub fn selections<'a>(&'a self, given: &'a [String]) -> &'a [String] {
        if given.is_empty() { &self.config.devices } else { given }
    }
}
