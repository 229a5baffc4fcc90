//! Options of the daemon, and of the commands that speak to one.

use clap::{Args, Subcommand};

/// Arguments of `daemon`.
#[derive(Args, Debug)]
pub struct DaemonArgs {
    /// What to request of the running daemon [default: be the daemon]
    #[command(subcommand)]
    pub command: Option<DaemonCommand>,
}

/// Requests to a running daemon.
#[derive(Subcommand, Debug)]
pub enum DaemonCommand {
    /// Show what the daemon is doing, and its last results
    Status {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Measure now
    RunNow {
        /// Measure everything that a default run measures, without waiting for an idle host
        #[arg(long)]
        full: bool,
        /// Key, slot or part of the name [default: every device]
        #[arg(value_name = "DEVICE")]
        device: Option<String>,
    },
    /// Stop measuring until resume
    Pause,
    /// Resume measuring
    Resume,
    /// Reload the configuration; an invalid one leaves the old one in effect
    Reload,
    /// Release devices that hung and are no longer measured
    Quarantine {
        /// What to do
        #[command(subcommand)]
        command: QuarantineCommand,
    },
}

/// What to do with a quarantine.
#[derive(Subcommand, Debug)]
pub enum QuarantineCommand {
    /// Release a device, or all
    Clear {
        /// The slot [default: all]
        slot: Option<String>,
    },
}
