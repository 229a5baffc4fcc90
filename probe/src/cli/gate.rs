//! Options of `gate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::Devices;
use super::sweep::duration;

/// Arguments of `gate`.
#[derive(Args, Debug)]
pub struct GateArgs {
    /// File with the expected results
    #[arg(long, value_name = "FILE")]
    pub expect: PathBuf,
    /// Measure the devices of this host, which must be trusted, and write what they compute to the file; other models in it stay
    #[arg(long, conflicts_with_all = ["budget", "style"])]
    pub record: bool,
    /// Time until the answer, such as 2s or 1m: a device that takes longer is unknown
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2s")]
    pub budget: Duration,
    /// Convention of the exit status and the line
    #[arg(long, value_enum, default_value_t = GateStyle::Own)]
    pub style: GateStyle,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
}

/// Who reads the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GateStyle {
    /// Exit status 0 same, 3 different, 4 unknown
    Own,
    /// Node Problem Detector: 0 same, 1 different, 2 unknown; at most 80 characters
    Npd,
    /// Plugin of Nagios and its like: 0 OK, 2 CRITICAL, 3 UNKNOWN
    Nagios,
}
