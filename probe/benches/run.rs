//! Whole-program benchmark: the default run on one driver with its disk caches off.
//!
//! `cargo bench -p fpprobe` (or `make bench`) runs the release binary on each driver of `target/drivers/` and prints
//! kernels, modules, judged lanes, and wall time as minimum, median and maximum. `FPPROBE_BENCH_RUNS` sets the number of
//! runs (default 5). It compares nothing and never fails for being slow.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const DRIVERS: [&str; 3] = ["lavapipe-25", "lavapipe-22", "swiftshader"];

fn main() {
    let runs: usize = std::env::var("FPPROBE_BENCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(5).max(1);
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("{:12} {:>8} {:>8} {:>9}   wall s (min, median, max of {runs})", "driver", "kernels", "modules", "lanes");
    for driver in DRIVERS {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../target/drivers/{driver}.json"));
        assert!(manifest.exists(), "{} is missing: run .ci/drivers first", manifest.display());
        let report = folder.path().join(format!("{driver}.json"));
        let run = |verbose: bool| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fpprobe"));
            command
                .arg("run")
                .arg("-o")
                .arg(&report)
                .env("VK_DRIVER_FILES", &manifest)
                .env("VK_ICD_FILENAMES", &manifest);
            if verbose {
                command.arg("-v");
            }
            command.stdout(Stdio::null()).output().expect("fpprobe starts")
        };
        // The first run warms the page cache, and its log tells how many batches there were; each is compiled twice.
        let warm = run(true);
        let batches =
            String::from_utf8_lossy(&warm.stderr).lines().filter(|line| line.contains(" kernels from ")).count();
        let mut times: Vec<Duration> = (0..runs)
            .map(|_| {
                let start = Instant::now();
                run(false);
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        let text = std::fs::read_to_string(&report).expect("the report is there");
        let value: Value = serde_json::from_str(&text).expect("the report is JSON");
        let device = &value["devices"][0];
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let lanes: u64 = list(&device["profiles"])
            .iter()
            .flat_map(|profile| list(&profile["rules"]))
            .filter_map(|rule| rule["lanes"].as_u64())
            .sum();
        let seconds = |index: usize| times[index].as_secs_f64();
        println!(
            "{driver:12} {:>8} {:>8} {lanes:>9}   {:.2}  {:.2}  {:.2}",
            list(&device["observations"]).len(),
            2 * batches,
            seconds(0),
            seconds(times.len() / 2),
            seconds(times.len() - 1)
        );
    }
}
