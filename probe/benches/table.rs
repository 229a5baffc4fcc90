//! What a user waits for, as one table: `make bench`, or `cargo bench -p fpprobe --bench table --
//! WORD...` for the rows whose names contain a word.
//!
//! A row is a command of the program, or a function of its library, on a driver of
//! `target/drivers/` where it needs one, with the driver's disk cache off: wall time in seconds
//! (minimum, median and maximum of `FPPROBE_BENCH_RUNS`, 5), processor time of all processes
//! (median), and the ratio of the median to the one that `release.tsv` holds, whose first line says
//! of which program, machine and day it is (`UPDATE=TEXT` writes the file, with that line).
//! `FPPROBE_BENCH_PROGRAM` names another build of the program, to compare two in the same hour.
//! Nothing fails for being slow.

#[path = "../../reports/tests/all/fixture/mod.rs"]
#[expect(clippy::wildcard_imports, dead_code, reason = "a file of the tests, which use more of it")]
mod fixture;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use fpprobe_reports::store::Store;
use fpprobe_reports::{files, load};

const DRIVERS: [&str; 3] = ["lavapipe-25", "lavapipe-22", "swiftshader"];
/// The driver of rows that need one report, or sweep.
const DRIVER: &str = DRIVERS[0];
const TEXELS: [&str; 3] = ["*.load:*", "*.store:*", "*.sample:*"];
const SWEPT: [&str; 6] = ["f32.sqrt", "f32.exp2", "f32.sin", "f32.log2", "f16.fadd", "f16.fmin"];
/// How each of them is swept.
const WAYS: [(&str, &[&str]); 3] = [
    ("raw", &["--raw"]),
    ("fingerprint", &["--fingerprint"]),
    ("judged", &["--profile", "d3d11", "--profile", "vulkan"]),
];
/// Reports in the store whose list is timed.
const STORED: usize = 10_000;
const RELEASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/release.tsv");
/// Clock ticks a second in `/proc` (`USER_HZ`), which is 100 on every architecture of Linux that
/// has Vulkan.
const TICKS: f64 = 100.0;

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let runs = std::env::var("FPPROBE_BENCH_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(5)
        .max(1);
    let mut table = BenchTable { words, runs, release: release(), measured: String::new() };
    let folder = tempfile::tempdir().expect("a temporary folder");

    println!(
        "{:32} {:>8} {:>8} {:>8} {:>8}  ratio to release.tsv",
        "seconds", "min", "median", "max", "cpu"
    );
    for driver in DRIVERS {
        let report = folder.path().join(driver);
        let output = report.to_str().expect("its name is text");
        table
            .row(&format!("run {driver}"), || fpprobe(driver, &["run", "--no-keep", "-o", output]));
        table.row(&format!("run --quick {driver}"), || {
            fpprobe(driver, &["run", "--no-keep", "--quick"]);
        });
        table.row(&format!("texels {driver}"), || {
            fpprobe(driver, &[&["run", "--no-keep"][..], &TEXELS].concat());
        });
        describe(driver, &report);
        table.row(&format!("first verdicts {driver}"), || first_verdicts(driver));
    }
    table.row("run --jobs 1 lavapipe-25", || fpprobe(DRIVER, &["run", "--no-keep", "--jobs", "1"]));
    table.row("run lavapipe-25, swiftshader", || {
        fpprobe("lavapipe-25,swiftshader", &["run", "--no-keep"]);
    });
    of_a_report(&mut table, &folder.path().join(DRIVER).join("report.json"));
    of_a_store(&mut table, &folder.path().join("store"));
    for kernel in SWEPT {
        for (way, arguments) in WAYS {
            let sweep = [&["sweep", kernel][..], arguments].concat();
            table.row(&format!("sweep {kernel} {way}"), || fpprobe(DRIVER, &sweep));
        }
    }

    if let Ok(subject) = std::env::var("UPDATE") {
        let text = format!("# {subject}\n{}", table.measured);
        std::fs::write(RELEASE, text).expect("the table of the release can be written");
    }
}

/// The rows that were requested, and what they are compared with.
struct BenchTable {
    words: Vec<String>,
    runs: usize,
    /// Median wall time in seconds by row.
    release: BTreeMap<String, f64>,
    /// Lines of `release.tsv`: row, median wall time and processor time in seconds.
    measured: String,
}

impl BenchTable {
    fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word))
    }

    fn row<T>(&mut self, name: &str, step: impl Fn() -> T) {
        if !self.wants(name) {
            return;
        }
        let mut walls = Vec::new();
        let mut processors = Vec::new();
        for _ in 0..self.runs {
            let (before, start) = (spent(), Instant::now());
            let result = step();
            walls.push(start.elapsed().as_secs_f64());
            processors.push(spent() - before);
            drop(result);
        }
        walls.sort_by(f64::total_cmp);
        processors.sort_by(f64::total_cmp);

        let (median, cpu) = (walls[walls.len() / 2], processors[processors.len() / 2]);
        let ratio = self
            .release
            .get(name)
            .map_or("-".to_owned(), |release| format!("{:.2}", median / release));
        println!(
            "{name:32} {:8.3} {median:8.3} {:8.3} {cpu:8.2}  {ratio}",
            walls[0],
            walls[walls.len() - 1]
        );
        writeln!(self.measured, "{name}\t{median:.3}\t{cpu:.2}").expect("a string takes all");
    }
}

/// Reading, writing and judging a default report, where one was measured.
fn of_a_report(table: &mut BenchTable, document: &Path) {
    let Ok(report) = load::load(document) else { return };
    let copy = document.with_file_name("copy.json");
    let [source, judged] = [document, &copy].map(|path| path.to_str().expect("its name is text"));
    table.row("judge a report", || fpprobe(DRIVER, &["judge", source, "-o", judged]));
    table.row("read a report", || load::load(document).expect("it was read before"));
    table.row("write a report", || files::write(&report, &copy, true).expect("there is room"));
}

/// Commands on a store of small reports.
fn of_a_store(table: &mut BenchTable, folder: &Path) {
    const ROWS: [&str; 2] = ["history list, 10,000 reports", "inventory, 10,000 reports"];
    if !ROWS.iter().any(|row| table.wants(row)) {
        return;
    }
    let store = Store::new(folder.to_owned());
    let mut report = fixture::report();
    for number in 0..STORED {
        let (month, day, hour) = (1 + number / 2800, 1 + number / 100 % 28, number / 10 % 10);
        report.finished = format!("2026-{month:02}-{day:02}T{hour:02}:{:02}:00Z", number % 10);
        store.put(&report, true).expect("it can be stored");
    }
    let path = folder.to_str().expect("its name is text");
    table.row(ROWS[0], || fpprobe(DRIVER, &["history", "list", "--store-path", path]));
    table.row(ROWS[1], || fpprobe(DRIVER, &["inventory", path]));
}

/// What a default run measured and judged: less time for less work would be no gain.
fn describe(driver: &str, folder: &Path) {
    let Ok(report) = load::load(&folder.join("report.json")) else { return };
    let kernels: usize = report.devices.iter().map(|device| device.observations.len()).sum();
    let rules = report
        .devices
        .iter()
        .flat_map(|device| &device.profiles)
        .flat_map(|profile| &profile.rules);
    println!(
        "  {driver}: {kernels} kernels, {} judged lanes",
        rules.map(|rule| rule.lanes).sum::<usize>()
    );
}

/// The program on these drivers, whose names commas part.
fn program(drivers: &str, arguments: &[&str]) -> Command {
    let manifests = drivers.split(',').map(|driver| {
        let manifest = format!("{}/../target/drivers/{driver}.json", env!("CARGO_MANIFEST_DIR"));
        assert!(Path::new(&manifest).exists(), "{manifest} is missing: run .ci/drivers first");
        manifest
    });
    let manifests = manifests.collect::<Vec<_>>().join(":");
    let program = std::env::var_os("FPPROBE_BENCH_PROGRAM");
    let mut command = Command::new(program.unwrap_or(env!("CARGO_BIN_EXE_fpprobe").into()));
    command.args(arguments).env("VK_DRIVER_FILES", &manifests).env("VK_ICD_FILENAMES", manifests);
    // What a store holds decides what a quick run measures.
    command.env("XDG_STATE_HOME", "/nonexistent").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs it to its end; what it finds is not of interest here, that it could not run is.
fn fpprobe(drivers: &str, arguments: &[&str]) {
    let status = program(drivers, arguments).status().expect("fpprobe starts");
    assert!(matches!(status.code(), Some(0 | 3 | 5)), "fpprobe {}: {status}", arguments.join(" "));
}

/// Runs it until it shows the first verdicts of a default run.
fn first_verdicts(driver: &str) {
    let mut command = program(driver, &["run", "--no-keep"]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("fpprobe starts");
    let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let is_first = |line: String| line.contains("first verdicts");
    assert!(lines.map_while(Result::ok).any(is_first), "{driver} gave no first verdicts");
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
}

fn release() -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(RELEASE).unwrap_or_default();
    let row = |line: &str| {
        let mut fields = line.split('\t');
        Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// Processor seconds of this process and of all that it has started and waited for (proc(5),
/// `utime` to `cstime` of `/proc/PID/stat`).
fn spent() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("there is /proc");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(4);
    fields.map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / TICKS
}
