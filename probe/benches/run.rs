//! Whole-program benchmark: the default run on one driver with its disk caches off.
//!
//! `cargo bench -p fpprobe` (or `make bench`) runs the release binary on each driver of `target/drivers/` and prints
//! kernels, modules, judged lanes, wall time as minimum, median and maximum, and the median of each stage: measuring, judging,
//! measuring alone what deviates, and writing the report. `FPPROBE_BENCH_RUNS` sets the number of runs (default 5). It compares
//! nothing and never fails for being slow.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

const DRIVERS: [&str; 3] = ["lavapipe-25", "lavapipe-22", "swiftshader"];

fn main() {
    let runs: usize = std::env::var("FPPROBE_BENCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(5).max(1);
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!(
        "{:12} {:>8} {:>8} {:>9}   {:24} measure  judge  alone  write (medians of {runs})",
        "driver", "kernels", "modules", "lanes", "wall s (min, median, max)"
    );
    for driver in DRIVERS {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../target/drivers/{driver}.json"));
        assert!(manifest.exists(), "{} is missing: run .ci/drivers first", manifest.display());
        let report = folder.path().join(format!("{driver}.json"));
        // The first run warms the page cache, and its log shows how many batches there were; each is compiled twice.
        let warm = run(&manifest, &report, &["-v"]);
        let batches = warm.lines.iter().filter(|(_, line)| line.contains(" kernels from ")).count();
        let runs: Vec<Run> = (0..runs).map(|_| run(&manifest, &report, &[])).collect();
        let text = std::fs::read_to_string(&report).expect("the report is there");
        let value: Value = serde_json::from_str(&text).expect("the report is JSON");
        let device = &value["devices"][0];
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let lanes: u64 = list(&device["profiles"])
            .iter()
            .flat_map(|profile| list(&profile["rules"]))
            .filter_map(|rule| rule["lanes"].as_u64())
            .sum();
        let whole = fpprobe_reports::load::load(&report).expect("the report is whole");
        let kernels = whole.devices[0].observations.len();
        let walls = sorted(runs.iter().map(|run| run.wall));
        let stages = [0, 1, 2, 3].map(|stage| middle(&sorted(runs.iter().map(|run| run.stages()[stage]))));
        let [measure, judge, alone, write] = stages;
        let (least, median, most) = (walls[0], middle(&walls), walls[walls.len() - 1]);
        println!(
            "{driver:12} {kernels:>8} {:>8} {lanes:>9}   {least:7.2} {median:7.2} {most:7.2}   {measure:7.2} {judge:6.2} {alone:6.2} {write:6.2}",
            2 * batches,
        );
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn middle(values: &[f64]) -> f64 {
    values[values.len() / 2]
}

/// One run: what it told, each line with the seconds that had passed, and how long it took, in seconds.
struct Run {
    lines: Vec<(f64, String)>,
    wall: f64,
}

impl Run {
    /// Seconds of each stage. Nothing may deviate; then none is measured alone.
    fn stages(&self) -> [f64; 4] {
        let done = |alone: bool| {
            let of =
                |line: &&(f64, String)| line.1.ends_with(": done") && line.1.contains("each kernel alone") == alone;
            self.lines.iter().rfind(of).map(|(at, _)| *at)
        };
        let measured = done(false).unwrap_or(self.wall);
        let started = self.lines.iter().find(|(_, line)| line.contains("each kernel alone")).map(|(at, _)| *at);
        let (judged, again) = (started.unwrap_or(measured), done(true).unwrap_or(measured));
        [measured, judged - measured, again - judged, self.wall - again]
    }
}

fn run(manifest: &Path, report: &Path, arguments: &[&str]) -> Run {
    let start = Instant::now();
    let mut program = Command::new(env!("CARGO_BIN_EXE_fpprobe"))
        .args(["run", "--no-store"])
        .args(arguments)
        .arg("-o")
        .arg(report)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("fpprobe starts");
    let message = BufReader::new(program.stderr.take().expect("its standard error is a pipe"));
    let lines = message.lines().map_while(Result::ok).map(|line| (start.elapsed().as_secs_f64(), line)).collect();
    program.wait().expect("fpprobe ends");
    Run { lines, wall: start.elapsed().as_secs_f64() }
}
