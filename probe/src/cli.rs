//! The command line: every command and option is declared here once; parser, help, man page and
//! completions follow.
#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "the comments below are help texts"
)]

mod changes;
mod daemon;
mod gate;
mod help;
mod store;
mod sweep;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use fpprobe_reports::DOCUMENTS;
use fpprobe_reports::model::APPLICATION;
use fpprobe_reports::render::{self, ANSWERS, FORMATS};
use fpprobe_spirv::emit::EmitFormat;
use fpprobe_spirv::error::nearest;

pub use self::changes::{
    AcceptArgs, BaselineCommand, CheckArgs, CompareArgs, DiffArgs, InventoryArgs,
};
pub use self::daemon::{DaemonArgs, DaemonCommand, QuarantineCommand};
pub use self::gate::{GateArgs, GateStyle, ScreenArgs};
pub use self::help::{EXAMPLES, FIRST, PRECEDENCE, STATUSES};
pub use self::store::{HistoryArgs, HistoryCommand, KeepArgs, StoreArgs};
pub use self::sweep::{MergeArgs, Shard, SweepArgs};

/// Measure floating-point behaviour of Vulkan devices and judge it by Direct3D, OpenGL, WGSL and
/// Vulkan
///
/// Runs small floating-point kernels on every physical device, keeps the raw bits of the results,
/// and judges them by the rules of the four specifications.
#[derive(Parser, Debug)]
#[command(name = "fpprobe", version, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The command line as it was typed; what to type first where nothing was.
    pub fn from_args() -> Result<Option<Cli>, clap::Error> {
        if std::env::args_os().len() < 2 {
            return Ok(None);
        }
        let mut described = Cli::described();
        let matches = described.try_get_matches_from_mut(std::env::args_os().map(operand));
        Cli::from_arg_matches(&matches.map_err(|error| with_nearest(error, &described))?).map(Some)
    }

    /// The declarations with their help.
    pub fn described() -> clap::Command {
        help::with_help(Cli::command())
    }
}

/// A word of the command line. An operand such as `-inf` would be taken for options: it gets the
/// minus sign of typography, which operands may have as well.
fn operand(word: OsString) -> OsString {
    const NAMES: [&str; 6] = ["inf", "nan", "snan", "max", "min", "sub"];
    let Some(rest) = word.to_str().and_then(|word| word.strip_prefix('-')) else { return word };
    let first = rest.split(',').next().unwrap_or(rest);
    if NAMES.contains(&first) || first.parse::<f64>().is_ok() {
        format!("\u{2212}{rest}").into()
    } else {
        word
    }
}

/// The error with the commands whose names are nearest to one that does not exist. clap suggests
/// names that are alike in most places, which a short name with two letters swapped is not.
fn with_nearest(mut error: clap::Error, described: &clap::Command) -> clap::Error {
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && error.get(ContextKind::SuggestedSubcommand).is_none()
    {
        let within = std::env::args()
            .fold(described, |command, word| command.find_subcommand(word).unwrap_or(command));
        let known = within
            .get_subcommands()
            .filter(|known| !known.is_hide_set())
            .map(clap::Command::get_name);
        let nearest = nearest(name, known);
        if !nearest.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest));
        }
    }
    error
}

/// Options of every command.
#[derive(Args, Debug)]
pub struct Global {
    /// Configuration file [default: $XDG_CONFIG_HOME/fpprobe/config.toml, then
    /// /etc/fpprobe/config.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Override one setting of config.toml, for example daemon.http.listen=127.0.0.1:9464
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// End together with the process of this number, which started this one
    #[arg(long, value_name = "PID", hide = true)]
    pub tied: Option<i32>,
    /// Show every cause with a lane (`-vv`: every rule and finding as well); on standard error what
    /// workers and drivers print, and each step of the supervisor
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// List the physical devices of every installed driver
    ///
    /// A driver that crashes, hangs or cannot be loaded is listed with the reason, and hides no
    /// other device.
    List(ListArgs),
    /// Measure devices and judge the results
    ///
    /// Prints a summary on the terminal; -o writes the report to a file (format from its extension)
    /// or into a folder (report.json, observations.parquet and report.html). The results are
    /// beside the document, in FILE.parquet beside FILE.json. With -o every result is written
    /// to a journal beside the report as it arrives: --resume continues from there. Ctrl-C ends
    /// the run and keeps what was measured.
    Run(RunArgs),
    /// Run one kernel on given bits
    ///
    /// Without INPUT, reads JSON lines such as {"in": ["80000000"]} from standard input. Writes one
    /// JSON line for each case and device.
    Eval(EvalArgs),
    /// Show which results a profile accepts for given bits
    ///
    /// Needs no device. Without INPUT, reads JSON lines from standard input, as eval does. Only
    /// required rules count.
    Accepts(AcceptsArgs),
    /// Judge the observations of an existing report again
    ///
    /// Needs no device: a report holds every result. Its verdicts are replaced, everything else
    /// stays.
    Judge(JudgeArgs),
    /// List, show, compare, verify and prune stored reports
    ///
    /// `run` and `history add` fill the store: a folder of compressed reports that nothing changes.
    /// An ID is the first digits of what `list` shows, `last` for the newest report, `last-1`
    /// for the one before.
    History(HistoryArgs),
    /// Compare two reports
    ///
    /// OLD and NEW are reports that run wrote as JSON, or folders of them. Devices are matched by
    /// slot. Lists regressions, then improvements, permitted changes, claims, what appeared or
    /// disappeared, what could no longer be measured, and last the bits of NaNs that no rule
    /// constrains. Verdicts of rules are those of the reports; each changed result is judged by the
    /// present profiles. The exit status is 0 whatever changed: check is the gate.
    Diff(DiffArgs),
    /// Compare the reports of many hosts: equal devices, and which of them differ
    ///
    /// Of each device its newest report counts. Devices of one model and driver are compared by the
    /// results of the kernels that they ran by the same cases; bits of NaNs do not count. A
    /// minority among equals comes first, with a lane that shows it. Exit status 2 if no file
    /// could be read, 5 if some could not.
    Inventory(InventoryArgs),
    /// Accept the known deviations of a report
    Baseline {
        /// What to do
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Fail on deviations that a baseline does not accept
    ///
    /// Checks a report, or measures now. Exit status 3 if a required rule deviates and the baseline
    /// does not accept it: it is not in the baseline, other bits or more lanes deviate than
    /// were accepted, or the entry is for another driver, version or day; also if a kernel that
    /// the baseline measured does not run any more. Accepted deviations that improved or were not
    /// measured are listed; with --strict they fail the check. Exit status 4 if nothing was
    /// measured, 5 if something was lost.
    Check(CheckArgs),
    /// Compare the devices of this host with expected results, in two seconds
    ///
    /// Prints one line: `same`, `different` with the kernels that gave other results, or `unknown`
    /// with the reason. Results are compared bit by bit, but for the bits of NaNs. Each call
    /// continues where the last one ended, so that several calls cover all kernels. --record
    /// writes the file on a trusted host. No driver can keep it longer than --budget.
    Gate(GateArgs),
    /// Search the devices of this host for silent data corruption, for minutes or hours
    ///
    /// Runs blocks of whole input domains and lists of cases again and again, by other local sizes
    /// and orders, and lists every kernel whose results differ from one time to another: input,
    /// bits, rate, time to failure, reproduction rate, temperature. What is wrong each time is
    /// found by --expect and --reference alone. Results are compared bit by bit, but for the bits
    /// of NaNs. Exit status 3 if something differs, 5 if a kernel crashed or hung.
    Screen(ScreenArgs),
    /// Run kernels over their entire input domain
    ///
    /// Two operands of 16 bits, or one of up to 32: f32.sqrt has 4,294,967,296 inputs, f16.fadd as
    /// many. Every result is judged by the required rules of the profiles. With --fingerprint
    /// the device computes digests of its results instead, block by block, and --resolve lists
    /// the inputs whose result differs from an older fingerprint. With -o results are written as
    /// they arrive: the same command again continues after an interruption. The exit status is
    /// 0 whatever deviates or changed.
    Sweep(SweepArgs),
    /// Merge the parts of a sweep that --shard made
    Merge(MergeArgs),
    /// Answer plain questions about every device
    ///
    /// Each answer is one sentence with the lanes that show it. Without REPORT, measures the
    /// kernels that the questions look at.
    Answers(AnswersArgs),
    /// List the kernels, or emit one as a self-contained case
    ///
    /// Any kernel of the list may carry controls, and but for packed formats also route (uniform,
    /// push, spec, literal), stage (fragment, vertex, geometry), width and front end:
    /// f32.fadd:controls=szin32;route=spec;width=2. Without a pattern these are left out.
    Kernels(KernelsArgs),
    /// List the rules of a profile, or of all
    ///
    /// With --coverage: the kernels and inputs that each rule looks at, and on how many it rejects
    /// a plausible wrong result (a neighbour, the other zero, a subnormal flushed or kept, the
    /// other operand, a NaN); and, for all profiles together, where every id of the catalogue
    /// is judged.
    Rules(RulesArgs),
    /// Show a cause, a rule, a trait or a kernel in full, with the last report's evidence
    ///
    /// A cause is named by its number in the report or by its id, everything else by its id, by its
    /// name in SPIR-V, GLSL, HLSL, WGSL, C or CUDA, or by words of its description. Where
    /// several match, they are listed. Without any report, what is known of a rule or kernel is
    /// shown without evidence.
    #[command(visible_alias = "explain")]
    Show(ShowArgs),
    /// Write a folder with everything that a driver engineer needs to reproduce a cause
    ///
    /// An issue text, an AmberScript that fails on the recorded result, SPIR-V with its assembly,
    /// GLSL where the kernel has a spelling, and the simplest failing lane. Needs no device.
    Repro(ReproArgs),
    /// Measure again when drivers or devices change, and send notifications
    ///
    /// Measures at start, by the clock, and when a driver or a device changed: a quick run,
    /// compared with the last stored report and the baseline, and a default run when the host
    /// is idle. [daemon] in config.toml sets schedule, busy policy and notifications. SIGHUP
    /// reloads the configuration, SIGTERM ends the daemon.
    Daemon(DaemonArgs),
    /// Show or validate the settings in effect
    ///
    /// A setting comes from the command line (--set KEY=VALUE), else from the environment (FPPROBE_
    /// and the key in capitals, with _ for dots: FPPROBE_WORKERS_JOBS), else from the
    /// configuration file, else it has its default.
    Config {
        /// What to do
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// List the profiles
    Profiles,
    /// Find what keeps devices from being measured, and what to do about it
    Doctor,
    /// Print the JSON schema of a document
    Schema {
        /// The document
        #[arg(default_value = "report", value_parser = documents())]
        document: String,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
    /// Print utilisation, temperature and clock rate of a device by NVIDIA's management library,
    /// for the daemon, which loads no library of drivers
    #[command(hide = true)]
    Utilisation {
        /// PCI address: DDDD:BB:DD.F
        address: String,
    },
    /// Be a worker process: started by fpprobe itself, with requests on file descriptor 3 and
    /// responses on 4
    #[command(hide = true)]
    Worker {
        /// Application name that the driver sees
        #[arg(long, value_name = "NAME", default_value = APPLICATION)]
        application: String,
        /// Folder for dumps of each dispatch's memory
        #[arg(long, value_name = "DIR")]
        dump_raw: Option<PathBuf>,
        /// Memory limit of the process, in MiB
        #[arg(long, value_name = "MIB")]
        memory: Option<u64>,
    },
}

/// What to do with the settings.
#[derive(Subcommand, Debug)]
pub enum ConfigCommand {
    /// Print every setting with its value, as a configuration file has it
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Validate the configuration, including `[daemon]`
    Check,
}

/// Which devices.
#[derive(Args, Debug, Default)]
pub struct Devices {
    /// Devices to use: an index of `fpprobe list`, part of a name, vendor:device in hex, or a UUID
    /// [default: all]
    #[arg(long = "device", value_name = "SEL")]
    pub device: Vec<String>,
}

/// How to measure.
#[derive(Args, Debug, Default)]
pub struct MeasureArgs {
    /// Worker processes per device [default: 2; on CPU devices one per core, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub jobs: Option<u32>,
    /// Deadline in seconds for one batch of kernels, and for one isolated kernel [default: 10]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Deadline in seconds for all kernels of a device [default: 3600; of a sweep none]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub device_timeout: Option<f64>,
    /// Name of this host in the report [default: host.label of config.toml]
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// For debugging fpprobe: write the memory after each dispatch to files in this folder
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub dump_raw: Option<PathBuf>,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// How to judge, and where the report goes.
#[derive(Args, Debug)]
pub struct JudgingArgs {
    /// Profiles to judge by: ids of `fpprobe profiles`, or TOML files [default: all built in]
    #[arg(long = "profile", value_name = "ID|FILE")]
    pub profile: Vec<String>,
    /// Format of standard output, or of the file named by -o
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<String>,
    /// Write the report to this file (format from its extension); or report.json, its results and
    /// report.html to this folder; or a report, its results and rows of tables to this address of a
    /// folder or object store (file://, s3://, gs://, az://)
    #[arg(short, long, value_name = "PATH|URL")]
    pub output: Option<PathBuf>,
    /// Exit with status 3 unless every device meets this profile (P:default: without any control;
    /// P:run-time: without constants), or honours the float controls of this Vulkan Profiles
    /// file (FILE.json or FILE.json:NAME)
    #[arg(long, value_name = "PROFILE")]
    pub require: Vec<String>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct RunArgs {
    /// Kernels to measure: ids, or patterns with * [default: all that the profiles need]
    pub filter: Vec<String>,
    /// Run every combination of route, width, front end and controls with all inputs (constants:
    /// boundary inputs); takes long
    #[arg(long)]
    pub exhaustive: bool,
    /// Smoke test in about a second: core rules, then kernels that failed before until the time
    /// budget is spent
    #[arg(long, conflicts_with_all = ["filter", "exhaustive", "resume", "require"])]
    pub quick: bool,
    /// Vary poison, order, place and size of all dispatches by this number; the same number
    /// repeats a run byte for byte
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Compile every module a second time, not one in eight; --exhaustive does, too
    #[arg(long)]
    pub recompile: bool,
    /// Add N random cases to every kernel, chosen by the seed; texels and constants have none
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pub random: u32,
    /// Also dispatch compute pipelines twice at the same time, on two queues or from two threads;
    /// results that differ are unstable
    #[arg(long)]
    pub stress: bool,
    /// Continue the interrupted or killed run whose report was to be written there
    #[arg(long, value_name = "DIR", conflicts_with_all = ["filter", "exhaustive", "seed", "recompile", "random", "stress", "device", "profile", "output", "format"])]
    pub resume: Option<PathBuf>,
    /// Measure kernels that are in quarantine because the machine went down while they ran
    #[arg(long)]
    pub retry_quarantined: bool,
    /// Send the report as well, if `output` of the configuration is an address
    #[arg(long, hide = true)]
    pub deliver: bool,
    /// A report of before, for the daemon.
    #[command(flatten)]
    pub against: ReferenceArgs,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// Whether to keep the report.
    #[command(flatten)]
    pub keeping: KeepArgs,
    /// How to judge and where to write.
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// How to measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
}

/// A report to compare with while there is still in memory what was judged.
#[derive(Args, Debug, Default)]
pub struct ReferenceArgs {
    /// Compare with this report as `diff --common` does, and write the result to --difference
    #[arg(long, value_name = "FILE", requires_all = ["difference", "quick"], hide = true)]
    pub against: Option<PathBuf>,
    /// File to write, as JSON
    #[arg(long, value_name = "FILE", requires = "against", hide = true)]
    pub difference: Option<PathBuf>,
}

/// Arguments of `eval`.
#[derive(Args, Debug)]
pub struct EvalArgs {
    /// Kernel id, for example f32.inverse_sqrt
    pub kernel: String,
    /// One value per operand: hex, or 1.0, -0.5, 1e-45, inf, nan, snan, min, max, sub; a vector's
    /// components joined by commas
    pub input: Vec<String>,
    /// Run the whole list of the kernel's cases, as `run` does, and show those of INPUT, or all: a
    /// result that differs between two runs may depend on its place in the list
    #[arg(long, value_name = "LIST")]
    pub among: Option<String>,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// How to measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
}

/// Arguments of `accepts`.
#[derive(Args, Debug)]
pub struct AcceptsArgs {
    /// Id of a profile, or TOML file
    pub profile: String,
    /// Kernel id, for example f32.inverse_sqrt
    pub kernel: String,
    /// One value per operand: hex, or 1.0, -0.5, 1e-45, inf, nan, snan, min, max, sub; a vector's
    /// components joined by commas
    pub input: Vec<String>,
}

/// Arguments of `judge`.
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// Report that `run` wrote as JSON, or a report of the store: `last`, `last-1`, or its id
    pub report: PathBuf,
    /// How to judge and where to write.
    #[command(flatten)]
    pub judging: JudgingArgs,
}

/// Arguments of `show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// A cause's number or id, a rule, a trait (or `traits`), `matrix`, a kernel, an operation, or
    /// words; then a report: a file, a folder, `last`, `last-1` or an id
    /// of the store [default: the causes of the last report]. Several reports and nothing else:
    /// their devices side by side, then each
    #[arg(value_name = "CAUSE|RULE|TRAIT|KERNEL|WORDS [REPORT]")]
    pub what: Vec<String>,
    /// Where the store is.
    #[command(flatten)]
    pub place: StoreArgs,
}

/// Arguments of `repro`.
#[derive(Args, Debug)]
pub struct ReproArgs {
    /// The cause's number in the report, or its id
    pub cause: String,
    /// Report: a file, a folder, `last`, `last-1` or an id of the store
    #[arg(default_value = "last")]
    pub report: PathBuf,
    /// Folder to write, new or empty [default: repro-ID, in the current folder]
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Where the store is.
    #[command(flatten)]
    pub place: StoreArgs,
}

/// Arguments of `answers`.
#[derive(Args, Debug)]
pub struct AnswersArgs {
    /// Report that `run` wrote as JSON, or a report of the store: `last`, `last-1`, or its id
    /// [default: measure now]
    pub report: Option<PathBuf>,
    /// Format of the answers
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = named(ANSWERS))]
    pub format: String,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// How to measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
}

/// Arguments of `rules`.
#[derive(Args, Debug)]
pub struct RulesArgs {
    /// Id of a profile, or TOML file [default: all built in]
    pub profile: Option<String>,
    /// Show which wrong results each rule detects; needs no device
    #[arg(long)]
    pub coverage: bool,
    /// With --coverage: print one JSON document
    #[arg(long, requires = "coverage")]
    pub json: bool,
}

/// Arguments of `kernels`.
#[derive(Args, Debug)]
pub struct KernelsArgs {
    /// Kernel id, or pattern with *
    pub filter: Option<String>,
    /// Emit the kernel as a case of its own (SPIR-V, its assembly, AmberScript, or GLSL), with
    /// these inputs or the catalogue's
    #[arg(long, value_name = "spv|spvasm|amber|glsl", requires = "filter")]
    pub emit: Option<EmitFormat>,
    /// With --emit: one value per operand: hex, or 1.0, -0.5, 1e-45, inf, nan, snan, min, max,
    /// sub; a vector's components joined by commas
    #[arg(requires = "emit")]
    pub input: Vec<String>,
}

fn formats() -> PossibleValuesParser {
    named(FORMATS)
}

fn named<R: ?Sized>(formats: &'static [render::FormatEntry<R>]) -> PossibleValuesParser {
    formats
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about))
        .collect::<Vec<_>>()
        .into()
}

fn documents() -> PossibleValuesParser {
    DOCUMENTS
        .iter()
        .map(|one| PossibleValue::new(one.name).help(one.about))
        .collect::<Vec<_>>()
        .into()
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(value),
        _ => Err("expected seconds, more than 0 and at most 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_are_consistent() {
        super::Cli::described().debug_assert();
    }
}
