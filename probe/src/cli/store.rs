//! The store: what keeps a report, and the commands that look after what is kept.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{CompareArgs, formats};

/// Where reports are kept.
#[derive(Args, Debug, Default)]
pub struct StoreArgs {
    /// Folder of the store, in which a run then stores its report [default: $STATE_DIRECTORY, else
    /// $XDG_STATE_HOME/fpprobe, else ~/.local/state/fpprobe]
    #[arg(long, value_name = "DIR", global = true)]
    pub store_path: Option<PathBuf>,
}

/// Whether to keep a report.
#[derive(Args, Debug, Default)]
pub struct KeepArgs {
    /// Store the report; end with an error if that fails. By default a run stores its report too,
    /// and a failure is a warning
    #[arg(long, overrides_with = "no_keep")]
    pub store: bool,
    /// Do not store the report
    #[arg(long, alias = "no-store", overrides_with = "store")]
    pub no_keep: bool,
    /// Store the report even if a device is tainted, for example by an active layer
    #[arg(long)]
    pub allow_tainted: bool,
    /// Where.
    #[command(flatten)]
    pub place: StoreArgs,
}

/// Arguments of `history`.
#[derive(Args, Debug)]
pub struct HistoryArgs {
    /// Where.
    #[command(flatten)]
    pub place: StoreArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: HistoryCommand,
}

/// What to do with the store.
#[derive(Subcommand, Debug)]
pub enum HistoryCommand {
    /// List the reports, the one stored last first
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        /// Only reports of such devices: part of a name or of the driver's, vendor:device in hex,
        /// a slot, a key, a UUID
        #[arg(long = "device", value_name = "TEXT")]
        device: Vec<String>,
        /// List at most N reports
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Show one report, in any format
    Show {
        /// Id, `last`, or `last-N`
        id: String,
        /// Format of standard output, or of the file named by -o
        #[arg(long, value_name = "FORMAT", value_parser = formats())]
        format: Option<String>,
        /// File to write (format from its extension), or folder for report.json, its results and
        /// report.html
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
    },
    /// Compare two reports, as diff does
    Compare {
        /// Id, `last`, or `last-N`
        old: String,
        /// Likewise
        new: String,
        /// How to compare, and where to write.
        #[command(flatten)]
        comparing: CompareArgs,
    },
    /// Add reports to the store
    Add {
        /// Reports that `run` wrote as JSON, or files of another store
        #[arg(required = true, value_name = "REPORT")]
        reports: Vec<PathBuf>,
        /// Store reports of tainted devices as well
        #[arg(long)]
        allow_tainted: bool,
    },
    /// Remove old reports
    ///
    /// The one stored last always stays. A limit that is not given is that of the configuration; 0
    /// is no limit.
    Prune {
        /// Number of reports to keep
        #[arg(long, value_name = "N")]
        keep_count: Option<u64>,
        /// Age up to which reports are kept, in days
        #[arg(long, value_name = "N")]
        keep_days: Option<u64>,
        /// Bytes that all together may take
        #[arg(long, value_name = "N")]
        keep_bytes: Option<u64>,
        /// List what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Store anew what earlier versions stored, in the form of this one
    ///
    /// Reports keep their ids. Earlier versions of fpprobe cannot read them afterwards. Exit status
    /// 2 if one cannot be read; it stays as it is.
    Migrate,
    /// Verify that every stored report is there and unchanged
    ///
    /// Exit status 2 if not, or if there is no store.
    Verify {
        /// Rebuild the index, and record losses in the log: the next verify does not report them
        /// again
        #[arg(long)]
        rebuild: bool,
        /// Move damaged files into the folder `damaged` of the store
        #[arg(long)]
        set_aside: bool,
    },
}
