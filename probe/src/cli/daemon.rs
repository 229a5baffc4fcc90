//! Options of the daemon, and of the commands that speak to one.

use clap::{Args, Subcommand};

/// Arguments of `daemon`.
#[derive(Args, Debug)]
pub struct DaemonArgs {
    /// What to ask of a daemon that runs [default: be one]
    #[command(subcommand)]
    pub command: Option<DaemonCommand>,
}

/// What to ask of a daemon.
#[derive(Subcommand, Debug)]
pub enum DaemonCommand {
    /// Shows what it is doing, and what it found
    Status {
        /// Prints one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Has it measure now
    RunNow {
        /// Asks everything that a default run asks, and waits for no idle host
        #[arg(long)]
        full: bool,
        /// Key, slot or part of the name [default: every device]
        #[arg(value_name = "DEVICE")]
        device: Option<String>,
    },
    /// Has it measure nothing until resume
    Pause,
    /// Has it go on
    Resume,
    /// Has it read its configuration again; what is wrong with it leaves the old one in effect
    Reload,
    /// Devices that hung, and are left alone
    Quarantine {
        /// What to do with them
        #[command(subcommand)]
        command: QuarantineCommand,
    },
}

/// What to do with a quarantine.
#[derive(Subcommand, Debug)]
pub enum QuarantineCommand {
    /// Lifts it
    Clear {
        /// The slot [default: all]
        slot: Option<String>,
    },
}
