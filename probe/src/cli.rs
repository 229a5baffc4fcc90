//! The command line: every command and option is declared here once; parser, help, man page and completions follow.
#![expect(clippy::doc_markdown, clippy::doc_link_with_quotes, reason = "the comments below are help texts")]

mod changes;
mod daemon;
mod store;
mod sweep;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
use fpprobe_reports::DOCUMENTS;
use fpprobe_reports::model::APPLICATION;
use fpprobe_reports::render::{self, ANSWERS, FORMATS};
use fpprobe_spirv::emit::Form;

pub use self::changes::{AcceptArgs, BaselineCommand, CheckArgs, Comparing, DiffArgs};
pub use self::daemon::{DaemonArgs, DaemonCommand, QuarantineCommand};
pub use self::store::{HistoryArgs, HistoryCommand, Keeping, Place};
pub use self::sweep::{MergeArgs, Shard, SweepArgs};
use crate::exit;

/// Asks every Vulkan device small, exact floating-point questions, keeps the raw bits of its answers, and judges them
/// against the rules of Direct3D, OpenGL, WGSL and Vulkan.
#[derive(Parser, Debug)]
#[command(name = "fpprobe", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Args, Debug)]
pub struct Global {
    /// Configuration file [default: $XDG_CONFIG_HOME/fpprobe/config.toml, then /etc/fpprobe/config.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// One setting of config.toml, for example daemon.http.listen=127.0.0.1:9464; wins over file and environment
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Ends with the process of this number, which has started it
    #[arg(long, value_name = "PID", hide = true)]
    pub tied: Option<i32>,
    /// Shows what workers and drivers print, and each step of the supervisor, on standard error
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Lists every physical device of every installed driver
    ///
    /// A driver that crashes, hangs or cannot be loaded is a row with the reason, and hides no other device.
    List(ListArgs),
    /// Measures devices and judges the answers
    ///
    /// Prints a summary on the terminal; -o writes the report to a file (format from its extension) or into a folder
    /// (report.json and report.html). With -o every answer is put on disk as it arrives, in a journal beside the report:
    /// --resume goes on from there. Ctrl-C ends the run with what was measured.
    Run(RunArgs),
    /// Runs one kernel on given bits
    ///
    /// Without INPUT, reads JSON lines such as {"in": ["80000000"]} from standard input. Writes one JSON line for each
    /// case and device.
    Eval(EvalArgs),
    /// Shows what a profile accepts for given bits
    ///
    /// Needs no device. Without INPUT, reads JSON lines from standard input, as eval does. Required rules alone count: what
    /// a profile recommends or only describes is left out.
    Accepts(AcceptsArgs),
    /// Judges the observations of an existing report again
    ///
    /// Needs no device: a report holds every answer. Its verdicts are replaced, everything else stays.
    Judge(JudgeArgs),
    /// Lists, shows, checks and prunes the reports that are kept
    ///
    /// `run --store` and `history add` fill the store: a folder of compressed reports that nothing changes. An ID is the first
    /// digits of what `list` shows, `last` for the newest report, `last-1` for the one before.
    History(HistoryArgs),
    /// Compares two reports: what changed, whether it matters, and the proof
    ///
    /// OLD and NEW are reports that run wrote as JSON, or folders of them. Devices are matched by slot. First what a rule
    /// accepts no more, then what it accepts now, what changed and is permitted, claims, what appeared or vanished, what could
    /// no longer be measured, and last the bits of NaNs that no rule cares about. Verdicts of rules are those of the reports;
    /// each changed input is judged by the present profiles. Differences leave the exit status at 0: check is the gate.
    Diff(DiffArgs),
    /// Keeps the deviations that are known and accepted
    Baseline {
        /// What to do with them
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// The gate: a report, or what is measured now, against a baseline of accepted deviations
    ///
    /// Exit status 3 where a required rule deviates and that is not accepted: it is not in the baseline, or other bits or more
    /// lanes deviate than were accepted, or its driver, version or day is another. What is accepted and better now, or was not
    /// measured, is told, and with --strict it is a failure too. Exit status 4 where nothing was measured, and 5 where
    /// something was lost.
    Check(CheckArgs),
    /// Asks kernels every input that they have
    ///
    /// Two numbers of 16 bits, or one of up to 32: f32.sqrt is asked 4,294,967,296 questions, f16.fadd as many. Every result is
    /// judged by the required rules of the profiles. With --fingerprint the device keeps digests of its answers instead, block by
    /// block, and --resolve names the inputs that it answers differently than an older fingerprint has it. With -o what is found
    /// is put on disk as it arrives: the same command again goes on where it was interrupted or killed. What deviates or has
    /// changed leaves the exit status at 0.
    Sweep(SweepArgs),
    /// Puts the parts of a sweep together that --shard has made
    Merge(MergeArgs),
    /// Answers what people ask of every device, each in one sentence, with the lanes that show it
    ///
    /// Without REPORT, measures the kernels that the questions look at.
    Answers(AnswersArgs),
    /// Lists the kernels, or emits one as a self-contained case
    ///
    /// Any kernel of the list may carry controls, and but for packed formats also route (uniform, push, spec, literal),
    /// stage (fragment, vertex), width and front end: f32.fadd:controls=szin32;route=spec;width=2. Without a pattern these
    /// are left out.
    Kernels(KernelsArgs),
    /// Lists the rules of a profile, or of all
    ///
    /// With --coverage: the kernels and inputs that each rule looks at, and on how many it rejects a plausible wrong answer
    /// (a neighbour, the other zero, a subnormal flushed or kept, the other operand, a NaN); and, for all profiles
    /// together, what becomes of every id of the catalogue.
    Rules(RulesArgs),
    /// Explains a rule or a kernel
    Explain {
        /// Id of a rule or of a kernel
        #[arg(value_name = "RULE|KERNEL")]
        what: String,
    },
    /// Watches drivers and devices, measures when something changed, and tells who needs to know
    ///
    /// Measures when it starts, by the clock, and when a driver or a device changed: a quick run, compared with the last stored
    /// report and the baseline, and a default run when the host is idle. [daemon] in config.toml says when, with what manners,
    /// and whom it tells. SIGHUP has it read that again, SIGTERM ends it.
    Daemon(DaemonArgs),
    /// Shows the settings in effect, or checks them
    ///
    /// A setting is that of the command line (--set KEY=VALUE), else that of the environment (FPPROBE_ and the key in capitals,
    /// with _ for dots: FPPROBE_WORKERS_JOBS), else that of the configuration file, else the default.
    Config {
        /// What to do with them
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Lists the profiles
    Profiles,
    /// Looks for what keeps devices from being measured, and says what to do
    Doctor,
    /// Prints the JSON schema of a document
    Schema {
        /// The document
        #[arg(default_value = "report", value_parser = documents())]
        document: String,
    },
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the man page
    Man,
    /// Tells how busy NVIDIA's management library says that a device is: the daemon asks, which loads no library of drivers
    #[command(hide = true)]
    Utilisation {
        /// Where it is: DDDD:BB:DD.F
        address: String,
    },
    /// A worker process: started by fpprobe itself, with requests on file descriptor 3 and answers on 4
    #[command(hide = true)]
    Worker {
        /// Name of the application that the driver is told
        #[arg(long, value_name = "NAME", default_value = APPLICATION)]
        application: String,
        /// Folder for what each dispatch leaves in memory
        #[arg(long, value_name = "DIR")]
        dump_raw: Option<PathBuf>,
        /// Most memory of its own, in MiB
        #[arg(long, value_name = "MIB")]
        memory: Option<u64>,
    },
}

/// What to do with the settings.
#[derive(Subcommand, Debug)]
pub enum ConfigCommand {
    /// Prints every setting with its value, as a configuration file has it
    Show {
        /// Says where each was made
        #[arg(long)]
        origin: bool,
    },
    /// Says whether the settings can be meant, those of the daemon too: schedules, windows, addresses, what they name
    Check,
}

/// Which devices.
#[derive(Args, Debug, Default)]
pub struct Devices {
    /// Devices to use: an index of `fpprobe list`, part of a name, vendor:device in hex, or a UUID [default: all]
    #[arg(long = "device", value_name = "SEL")]
    pub device: Vec<String>,
}

/// How to measure.
#[derive(Args, Debug, Default)]
pub struct Measuring {
    /// Worker processes per device [default: 2; on CPU devices one per core, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub jobs: Option<u32>,
    /// Seconds that a worker may take for one batch of kernels, and for a kernel that is asked alone [default: 10]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Seconds that a device may take for everything [default: 3600]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub device_timeout: Option<f64>,
    /// For debugging fpprobe: writes what each dispatch leaves in memory into files in this folder
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub dump_raw: Option<PathBuf>,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Prints one JSON document
    #[arg(long)]
    pub json: bool,
}

/// How to judge, and where the report goes.
#[derive(Args, Debug)]
pub struct Judging {
    /// Profiles to judge by: ids of `fpprobe profiles`, or TOML files [default: all built in]
    #[arg(long = "profile", value_name = "ID|FILE")]
    pub profile: Vec<String>,
    /// Format of standard output, or of the file named by -o
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<String>,
    /// File to write (format from its extension), or folder for report.json and report.html
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Profiles that every device must meet (P:default: without any control), else exit status 3; or a Vulkan Profiles
    /// file, FILE.json or FILE.json:NAME, whose float controls every device must honour, not only claim
    #[arg(long, value_name = "PROFILE")]
    pub require: Vec<String>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct RunArgs {
    /// Kernels to measure: ids, or patterns with * [default: all that the profiles ask for]
    pub filter: Vec<String>,
    /// Asks every combination of route, width, front end and controls, each with all inputs, but for constants, which are
    /// code of the kernel, and have the boundary ones; takes long
    #[arg(long)]
    pub exhaustive: bool,
    /// Asks what tells within seconds whether a driver still does what it did: subnormals, minimum and maximum, square roots,
    /// 16-bit subnormals, packing to 11 and 10 bits, and kernels that deviated in the last stored report of the device: those
    /// first that stand for most rules, until two seconds are up. What was not asked stays incomplete, so that --require would
    /// not be met
    #[arg(long, conflicts_with_all = ["filter", "exhaustive", "resume", "require"])]
    pub quick: bool,
    /// Vary poison, orders, places and sizes of all dispatches by this number; the same number repeats a run byte for byte
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Run this many random cases of every kernel as well, chosen by the seed; texels and constants have none
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pub random: u32,
    /// Dispatch the pipelines of compute kernels twice at the same time as well: over two queues where the device has them, else by
    /// two threads. Results that differ are reported as unstable
    #[arg(long)]
    pub stress: bool,
    /// Goes on with the run whose report was to be written there, after it was interrupted or killed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["filter", "exhaustive", "seed", "random", "stress", "device", "profile", "output", "format"])]
    pub resume: Option<PathBuf>,
    /// Measures kernels that are in quarantine, because the machine went down while they were being measured
    #[arg(long)]
    pub retry_quarantined: bool,
    /// A report of before, for the daemon.
    #[command(flatten)]
    pub against: Against,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// Whether to keep the report.
    #[command(flatten)]
    pub keeping: Keeping,
    /// How to judge and where to write.
    #[command(flatten)]
    pub judging: Judging,
    /// How to measure.
    #[command(flatten)]
    pub measuring: Measuring,
}

/// A report to compare with while there is still in memory what was judged.
#[derive(Args, Debug, Default)]
pub struct Against {
    /// Report of before: what `diff --common` finds in it and in this run's stored report goes to --difference
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
    /// One value per operand, in hex; a vector's components joined by commas
    pub input: Vec<String>,
    /// Run every case of this list of the kernel's, as a run does, and show INPUT of them, or all: a result that differs
    /// between two runs may depend on its place. Reports name the list where it matters
    #[arg(long, value_name = "LIST")]
    pub among: Option<String>,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// How to measure.
    #[command(flatten)]
    pub measuring: Measuring,
}

/// Arguments of `accepts`.
#[derive(Args, Debug)]
pub struct AcceptsArgs {
    /// Id of a profile, or TOML file
    pub profile: String,
    /// Kernel id, for example f32.inverse_sqrt
    pub kernel: String,
    /// One value per operand, in hex; a vector's components joined by commas
    pub input: Vec<String>,
}

/// Arguments of `judge`.
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// Report that `run` wrote as JSON
    pub report: PathBuf,
    /// How to judge and where to write.
    #[command(flatten)]
    pub judging: Judging,
}

/// Arguments of `answers`.
#[derive(Args, Debug)]
pub struct AnswersArgs {
    /// Report that `run` wrote as JSON [default: measure now]
    pub report: Option<PathBuf>,
    /// Form of the answers
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = named(ANSWERS))]
    pub format: String,
    /// Which devices.
    #[command(flatten)]
    pub devices: Devices,
    /// How to measure.
    #[command(flatten)]
    pub measuring: Measuring,
}

/// Arguments of `rules`.
#[derive(Args, Debug)]
pub struct RulesArgs {
    /// Id of a profile, or TOML file [default: all built in]
    pub profile: Option<String>,
    /// Shows what each rule can tell apart; needs no device
    #[arg(long)]
    pub coverage: bool,
    /// With --coverage: prints one JSON document
    #[arg(long, requires = "coverage")]
    pub json: bool,
}

/// Arguments of `kernels`.
#[derive(Args, Debug)]
pub struct KernelsArgs {
    /// Kernel id, or pattern with *
    pub filter: Option<String>,
    /// Emits the kernel as a case of its own (SPIR-V, its assembly, or AmberScript), with these inputs or the catalogue's
    #[arg(long, value_name = "spv|spvasm|amber", requires = "filter")]
    pub emit: Option<Form>,
    /// With --emit: one value per operand, in hex; a vector's components joined by commas
    #[arg(requires = "emit")]
    pub input: Vec<String>,
}

fn formats() -> PossibleValuesParser {
    named(FORMATS)
}

fn named<R: ?Sized>(formats: &'static [render::Form<R>]) -> PossibleValuesParser {
    formats.iter().map(|format| PossibleValue::new(format.name).help(format.about)).collect::<Vec<_>>().into()
}

fn documents() -> PossibleValuesParser {
    DOCUMENTS.iter().map(|one| PossibleValue::new(one.name).help(one.about)).collect::<Vec<_>>().into()
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(value),
        _ => Err("expected seconds, more than 0 and at most 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn declarations_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
