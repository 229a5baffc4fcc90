//! The store: what keeps a report, and the commands that look after what is kept.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Comparing, formats};

/// Where reports are kept.
#[derive(Args, Debug, Default)]
pub struct Place {
    /// Folder of the store, in which a run then stores its report [default: $STATE_DIRECTORY, else
    /// $XDG_STATE_HOME/fpprobe, else ~/.local/state/fpprobe]
    #[arg(long, value_name = "DIR", global = true)]
    pub store_path: Option<PathBuf>,
}

/// Whether to keep a report.
#[derive(Args, Debug, Default)]
pub struct Keeping {
    /// Puts the report into the store, where `fpprobe history` finds it
    #[arg(long, overrides_with = "no_store")]
    pub store: bool,
    /// Does not, whatever the configuration says
    #[arg(long, overrides_with = "store")]
    pub no_store: bool,
    /// Stores a report although a device is tainted (by an active layer, say), which makes it unfit as reference
    #[arg(long)]
    pub allow_tainted: bool,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// Arguments of `history`.
#[derive(Args, Debug)]
pub struct HistoryArgs {
    /// Where.
    #[command(flatten)]
    pub place: Place,
    /// What to do.
    #[command(subcommand)]
    pub command: HistoryCommand,
}

/// What to do with the store.
#[derive(Subcommand, Debug)]
pub enum HistoryCommand {
    /// List the reports, the one stored last first
    List {
        /// Prints one JSON document
        #[arg(long)]
        json: bool,
        /// Only reports of such devices: part of a name or of the driver's, vendor:device in hex, a slot, a key, a UUID
        #[arg(long = "device", value_name = "TEXT")]
        device: Vec<String>,
        /// At most so many
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Shows one report, in any format
    Show {
        /// Id, `last`, or `last-N`
        id: String,
        /// Format of standard output, or of the file named by -o
        #[arg(long, value_name = "FORMAT", value_parser = formats())]
        format: Option<String>,
        /// File to write (format from its extension), or folder for report.json and report.html
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
    },
    /// Compares two reports, as diff does
    Compare {
        /// Id, `last`, or `last-N`
        old: String,
        /// Likewise
        new: String,
        /// How to compare, and where to write.
        #[command(flatten)]
        comparing: Comparing,
    },
    /// Puts reports into the store
    Add {
        /// Reports that `run` wrote as JSON, or files of another store
        #[arg(required = true, value_name = "REPORT")]
        reports: Vec<PathBuf>,
        /// Stores reports of tainted devices, too
        #[arg(long)]
        allow_tainted: bool,
    },
    /// Remove old reports
    ///
    /// The one stored last always stays. A limit that is not given is that of the configuration; 0 is no limit.
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
        /// Says what would go, and removes nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Read every report and check that everything is there that was stored, and as it was stored
    ///
    /// Exit status 2 where it is not, or where there is no store.
    Verify {
        /// Write the index anew, and note in the log what is lost: the next verify does not report it again
        #[arg(long)]
        rebuild: bool,
        /// Move damaged files into the folder `damaged` of the store
        #[arg(long)]
        set_aside: bool,
    },
}
