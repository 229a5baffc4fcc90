//! Options of `gate` and `screen`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fpprobe_reports::screen::SCREENS;

use super::sweep::duration;
use super::{Devices, named};

/// Arguments of `gate`.
#[derive(Args, Debug)]
pub struct GateArgs {
    /// File with the expected results
    #[arg(long, value_name = "FILE")]
    pub expect: PathBuf,
    /// Measure the devices of this host, which must be trusted, and write what they compute to the
    /// file; other models in it stay
    #[arg(long, conflicts_with_all = ["budget", "style", "output"])]
    pub record: bool,
    /// Time until the answer, such as 2s or 1m: a device that takes longer is unknown
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2s")]
    pub budget: Duration,
    /// Convention of the exit status and the line
    #[arg(long, value_enum, default_value_t = GateStyle::Own)]
    pub style: GateStyle,
    /// Also write the answer as JSON, to this file or address (file://, s3://, gs://, az://); what
    /// cannot be sent within the budget waits for the next run
    #[arg(short, long, value_name = "FILE|URL")]
    pub output: Option<PathBuf>,
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

/// Arguments of `screen`.
#[derive(Args, Debug)]
pub struct ScreenArgs {
    /// Kernels: ids, or patterns with * [default: a few whole domains, and the cases of every
    /// kernel]
    pub filter: Vec<String>,
    /// How long to screen, such as 90s, 10m or 8h
    #[arg(long = "for", value_name = "TIME", value_parser = duration, default_value = "10m")]
    pub duration: Duration,
    /// Keep the devices busy by another sweep at the same time
    #[arg(long)]
    pub load: bool,
    /// File of `gate --record` with the expected results of lists of cases
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Fingerprint of `sweep --fingerprint` from a sound device of this model, with the expected
    /// results of whole domains
    #[arg(long, value_name = "FINGERPRINT")]
    pub reference: Option<PathBuf>,
    /// Name of this host in the document [default: host.label of config.toml]
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// For tests: the folder of the system's sensors
    #[arg(long, value_name = "DIR", hide = true, default_value = "/sys")]
    pub sys: PathBuf,
    /// Format of standard output, or of the file named by -o
    #[arg(long, value_name = "FORMAT", value_parser = named(SCREENS))]
    pub format: Option<String>,
    /// File to write (format from its extension), or address of a folder or object store (file://,
    /// s3://, gs://, az://)
    #[arg(short, long, value_name = "FILE|URL")]
    pub output: Option<PathBuf>,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
}
