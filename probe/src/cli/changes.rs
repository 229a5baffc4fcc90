//! Options of the commands that compare reports with one another, or with what is accepted.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fpprobe_reports::baseline::{Date, VersionRange};
use fpprobe_reports::check::CHECKS;
use fpprobe_reports::diff::DIFFS;
use fpprobe_reports::inventory::INVENTORIES;

use super::{Devices, MeasureArgs, StoreArgs, named};

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// Report before, or folder of reports; `last`, `last-1` or an id name a report of the store.
    /// Without NEW, such a report is compared with the one before it
    #[arg(required_unless_present = "last")]
    pub old: Option<PathBuf>,
    /// Report after, or folder of reports
    pub new: Option<PathBuf>,
    /// Compare the newest report of the store with the one before
    #[arg(long, conflicts_with_all = ["old", "new"])]
    pub last: bool,
    /// Where the store is.
    #[command(flatten)]
    pub place: StoreArgs,
    /// How to compare, and where to write.
    #[command(flatten)]
    pub comparing: CompareArgs,
}

/// How to compare two reports, and where to write what changed.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// Profiles to judge changed results by: ids, or TOML files [default: those of the reports
    /// that are built in]
    #[arg(long = "profile", value_name = "ID|FILE")]
    pub profile: Vec<String>,
    /// Compare only what both reports measured, judged again: a quick run with a default run, for
    /// example
    #[arg(long)]
    pub common: bool,
    /// Format of standard output, or of the file named by -o [default: text, or by the file's
    /// ending]
    #[arg(long, value_name = "FORMAT", value_parser = named(DIFFS))]
    pub format: Option<String>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `inventory`.
#[derive(Args, Debug)]
pub struct InventoryArgs {
    /// Reports, folders of reports with all folders in them, stores, and addresses that -o of run
    /// has filled (file://, s3://, gs://, az://)
    #[arg(required = true, value_name = "PATH|URL")]
    pub places: Vec<PathBuf>,
    /// List devices whose results changed since this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub since: Option<Date>,
    /// List devices that were not measured for this many days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub days: u64,
    /// Write what most devices of each model and driver give to this file, as the expected results
    /// of `gate`
    #[arg(long, value_name = "FILE")]
    pub consensus: Option<PathBuf>,
    /// Format of standard output, or of the file named by -o [default: text, or by the file's
    /// ending]
    #[arg(long, value_name = "FORMAT", value_parser = named(INVENTORIES))]
    pub format: Option<String>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The commands of `baseline`.
#[derive(Subcommand, Debug)]
pub enum BaselineCommand {
    /// Accept the present deviations of a report
    ///
    /// Writes an entry for each required rule that deviates, for each profile, to the file, or
    /// starts it. Entries that still hold keep their reason, and accept no more than what fails
    /// now. The file is sorted for review.
    Accept(AcceptArgs),
}

/// Arguments of `baseline accept`.
#[derive(Args, Debug)]
pub struct AcceptArgs {
    /// Report that run wrote as JSON, or the folder that holds it
    pub report: PathBuf,
    /// The baseline to write
    #[arg(short, long, value_name = "FILE", default_value = "fpprobe-baseline.toml")]
    pub output: PathBuf,
    /// Why these deviations are accepted
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Link to more information
    #[arg(long, value_name = "URL")]
    pub link: Option<String>,
    /// Only of these devices: part of a name, vendor:device in hex, or a UUID
    #[arg(long = "device", value_name = "SEL")]
    pub device: Vec<String>,
    /// Only of these profiles
    #[arg(long = "profile", value_name = "ID")]
    pub profile: Vec<String>,
    /// Only these rules
    #[arg(long = "rule", value_name = "ID")]
    pub rule: Vec<String>,
    /// Only these causes, by the ids that `fpprobe show` prints
    #[arg(long = "cause", value_name = "ID")]
    pub cause: Vec<String>,
    /// Remove entries of which no device of the report shows anything, measured by every kernel of
    /// the entry; other machines that share the baseline may still need them
    #[arg(long)]
    pub prune: bool,
    /// Only while the driver has the name that it has now
    #[arg(long)]
    pub this_driver: bool,
    /// Only for these versions of the driver, for example '>=25.0, <25.2'
    #[arg(long, value_name = "RANGE")]
    pub versions: Option<VersionRange>,
    /// Only until this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub expires: Option<Date>,
    /// Accept reports that were measured with active layers
    #[arg(long)]
    pub allow_tainted: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The baseline that baseline accept wrote
    #[arg(long, value_name = "FILE")]
    pub baseline: PathBuf,
    /// Report that run wrote as JSON, or the folder that holds it [default: measure now]
    #[arg(conflicts_with_all = ["kernel", "jobs", "timeout", "device_timeout", "dump_raw"])]
    pub report: Option<PathBuf>,
    /// Kernels to measure: ids, or patterns with * [default: those of a default run]
    #[arg(long, value_name = "FILTER")]
    pub kernel: Vec<String>,
    /// Fail also if accepted deviations improved or were not measured
    #[arg(long)]
    pub strict: bool,
    /// Check reports that were measured with active layers
    #[arg(long)]
    pub allow_tainted: bool,
    /// Profiles that count: those of the report with these ids; to measure by, ids of `fpprobe
    /// profiles`, or TOML files [default: all]
    #[arg(long = "profile", value_name = "ID|FILE")]
    pub profile: Vec<String>,
    /// Format of standard output, or of the file named by -o [default: text, or by the file's
    /// ending]
    #[arg(long, value_name = "FORMAT", value_parser = named(CHECKS))]
    pub format: Option<String>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// How to measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
}
