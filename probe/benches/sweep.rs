//! Whole-program benchmark: sweeps over 2^32 inputs, by the kernel alone, with fingerprints, and judged.
//!
//! `cargo bench -p fpprobe --bench sweep` (or `make bench`) runs the release binary on each driver of `target/drivers/` and prints
//! CPU seconds of all processes, and wall time, of each. Words after `--` are the kernels (default: [`KERNELS`]);
//! `FPPROBE_BENCH_DRIVERS` names drivers. It compares nothing and never fails for being slow.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

const DRIVERS: &str = "lavapipe-25 lavapipe-22";
const KERNELS: [&str; 12] = [
    "f32.fabs",
    "f32.floor",
    "f32.sqrt",
    "f32.convert_f_to_s",
    "f32.exp2",
    "f32.log2",
    "f32.sin",
    "f16.fadd",
    "f16.fmul",
    "f16.fdiv",
    "f16.fmin",
    "f16.ford_less_than",
];
/// How each kernel runs.
const WAYS: [&[&str]; 3] = [&["--raw"], &["--fingerprint"], &["--profile", "d3d11", "--profile", "vulkan"]];
/// Clock ticks a second in `/proc` (`USER_HZ`), which is 100 on every architecture of Linux that has Vulkan.
const TICKS: f64 = 100.0;

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let kernels = if named.is_empty() { KERNELS.map(str::to_owned).to_vec() } else { named };
    let drivers = std::env::var("FPPROBE_BENCH_DRIVERS").unwrap_or_else(|_| DRIVERS.to_owned());
    println!("CPU s (wall s)");
    println!("{:12} {:20} {:>14} {:>14} {:>6} {:>16}", "driver", "kernel", "raw", "fingerprint", "ratio", "judged");
    for driver in drivers.split_whitespace() {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../target/drivers/{driver}.json"));
        assert!(manifest.exists(), "{} is missing: run .ci/drivers first", manifest.display());
        for kernel in &kernels {
            let [raw, print, judged] = WAYS.map(|way| {
                let (before, start) = (spent(), Instant::now());
                let status = Command::new(env!("CARGO_BIN_EXE_fpprobe"))
                    .args(["sweep", kernel])
                    .args(way)
                    .env("VK_DRIVER_FILES", &manifest)
                    .env("VK_ICD_FILENAMES", &manifest)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status()
                    .expect("fpprobe starts");
                (status.success().then(|| spent() - before), start.elapsed().as_secs_f64())
            });
            let shown =
                |(cpu, wall): (Option<f64>, f64)| cpu.map_or("-".to_owned(), |cpu| format!("{cpu:.2} ({wall:.2})"));
            let ratio = raw.0.zip(print.0).map_or("-".to_owned(), |(raw, print)| format!("{:.2}", print / raw));
            println!(
                "{driver:12} {kernel:20} {:>14} {:>14} {ratio:>6} {:>16}",
                shown(raw),
                shown(print),
                shown(judged)
            );
        }
    }
}

/// CPU seconds of all processes that this one has started and waited for (proc(5), `cutime` and `cstime` of `/proc/PID/stat`).
fn spent() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("there is /proc");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / TICKS
}
