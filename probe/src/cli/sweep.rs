//! Options of the commands that sweep whole domains.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use fpprobe_reports::sweep::SWEEPS;

use super::{Devices, MeasureArgs, named};

/// Arguments of `sweep`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct SweepArgs {
    /// Kernels to sweep: ids, also of domains of up to 48 bits, or patterns with *, which pick
    /// domains of 16 to 32 bits
    #[arg(required = true)]
    pub kernel: Vec<String>,
    /// Profiles to judge every result by: ids of `fpprobe profiles`, or TOML files [default: all
    /// built in]
    #[arg(long = "profile", value_name = "ID|FILE", conflicts_with = "fingerprint")]
    pub profile: Vec<String>,
    /// Compute fingerprints and judge nothing: digests of the results, a million inputs each, in a
    /// file beside the report
    #[arg(long)]
    pub fingerprint: bool,
    /// Compute fingerprints once; by default they are computed again with another local size and
    /// order, and blocks that differ are listed
    #[arg(long, requires = "fingerprint")]
    pub once: bool,
    /// For benchmarks: keep and judge nothing, so that the time is the kernel's own
    #[arg(long, hide = true, conflicts_with_all = ["fingerprint", "profile"])]
    pub raw: bool,
    /// Treat every NaN as the same in fingerprints, whatever its sign and payload
    #[arg(long, requires = "fingerprint")]
    pub normalise_nan: bool,
    /// List the inputs whose result differs from this fingerprint
    ///
    /// If the fingerprint's device is in this machine, the blocks that differ are run on both, and
    /// every input that changed is found. Otherwise the digests show which input of a block
    /// changed, and its old result, if it is the only one of its block. With -o each such
    /// input is also a bit of sweep.changed/DEVICE/KERNEL.zst (zstd; input 0 is the lowest bit of
    /// the first byte), without the limit of the report's lists.
    #[arg(long, value_name = "OLD", requires = "fingerprint")]
    pub resolve: Option<PathBuf>,
    /// Sweep part I of N, for `fpprobe merge`
    #[arg(long, value_name = "I/N", conflicts_with = "budget")]
    pub shard: Option<Shard>,
    /// Stop after this time for each device, such as 30s or 5m; the blocks that ran are spread
    /// over the domain
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Run the kernels for a few seconds each, and print how long N such devices take for the whole
    /// domains, and a number of shards
    #[arg(long, value_name = "N", conflicts_with_all = ["shard", "budget", "resolve", "output", "format", "raw"], value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub plan: Option<u64>,
    /// Choose another spread for --budget
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "budget")]
    pub seed: u64,
    /// Longest time of one dispatch, in milliseconds: desktop drivers abort dispatches that take
    /// seconds
    #[arg(long, value_name = "MS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub dispatch: u64,
    /// Limit results to this many megabytes on the device, and as many on the host
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(16..=65_536))]
    pub memory: u64,
    /// Format of standard output, or of the file named by -o
    #[arg(long, value_name = "FORMAT", value_parser = named(SWEEPS))]
    pub format: Option<String>,
    /// File to write (format from its extension), folder for sweep.json and sweep.html, or address
    /// of a folder or object store (file://, s3://, gs://, az://); fingerprints go beside it
    #[arg(short, long, value_name = "PATH|URL")]
    pub output: Option<PathBuf>,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// How to measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
}

/// Arguments of `merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The parts: reports of sweeps as JSON, their folders, or an address that has nothing but
    /// parts (file://, s3://, gs://, az://)
    #[arg(required = true, value_name = "PART|URL")]
    pub part: Vec<PathBuf>,
    /// Merge parts of several hosts, whose devices are of one model and driver
    #[arg(long)]
    pub across_hosts: bool,
    /// Format of standard output, or of the file named by -o
    #[arg(long, value_name = "FORMAT", value_parser = named(SWEEPS))]
    pub format: Option<String>,
    /// File to write (format from its extension), folder for sweep.json and sweep.html, or address
    /// of a folder or object store (file://, s3://, gs://, az://); fingerprints go beside it
    #[arg(short, long, value_name = "PATH|URL")]
    pub output: Option<PathBuf>,
}

/// A part of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which, from 1.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((number, of)) if (1..=of).contains(&number) && of <= 4096 => {
                Ok(Shard { number, of })
            }
            _ => Err("expected I/N, such as 2/8: part I, from 1 on, of N, at most 4096".to_owned()),
        }
    }
}

/// A time with its unit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => 0.0,
    };
    match number.parse::<f64>() {
        Ok(number) if unit > 0.0 && number > 0.0 && number * unit <= 31_536_000.0 => {
            Ok(Duration::from_secs_f64(number * unit))
        }
        _ => Err("expected a time such as 500ms, 30s, 5m or 2h, at most a year".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_shards_numbers() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert_eq!(duration("800ms"), Ok(Duration::from_millis(800)));
        for text in ["", "s", "0s", "-1s", "3 days", "1e9h", "..s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!("2/8".parse(), Ok(Shard { number: 2, of: 8 }));
        for text in ["0/8", "9/8", "2", "a/b", "1/0", "1/5000"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
