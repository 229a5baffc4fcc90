//! How fast results of whole domains are verified, on one core: `cargo bench -p fpprobe-profiles -- exp2 sin`.
//!
//! The results are those of a device that rounds correctly, or of one whose errors reach two ulps (`--loose`). Of every exponent
//! one chunk is judged.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use fpprobe_profiles::profile::built_in;
use fpprobe_profiles::sweep::{CHUNK, SweepStatistics, Verifier};

/// A function with its name in kernels.
type Named = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Named; 10] = [
    ("floor", f64::floor),
    ("exp", core_math::exp),
    ("exp2", core_math::exp2),
    ("log", core_math::log),
    ("log2", core_math::log2),
    ("sin", core_math::sin),
    ("cos", core_math::cos),
    ("sqrt", f64::sqrt),
    ("inverse_sqrt", core_math::rsqrt),
    ("rcp", f64::recip),
];

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|name| name != "--bench").collect();
    let loose = named.iter().any(|name| name == "--loose");
    let expected = |name: &str| named.iter().all(|one| one.starts_with('-')) || named.iter().any(|one| one == name);
    let profiles = [built_in("d3d11"), built_in("vulkan")].map(|one| one.and_then(Result::ok).expect("built in"));
    for (name, compute) in FUNCTIONS.into_iter().filter(|(name, _)| expected(name)) {
        for profile in &profiles {
            let kernel = format!("f32.{name}").parse().expect("a kernel");
            let Ok(verifier) = Verifier::new(&kernel, std::slice::from_ref(profile)) else { continue };
            let (mut statistics, mut spent, mut slowest) =
                (SweepStatistics::default(), Duration::ZERO, (Duration::ZERO, 0));
            for exponent in 0..512 {
                let first = exponent << 23 | (exponent % 8) * CHUNK;
                let result = |input: u64| {
                    let bits = (compute(f64::from(f32::from_bits(input as u32))) as f32).to_bits();
                    let loosely = loose && f32::from_bits(bits).is_normal();
                    if loosely { bits + (input % 5) as u32 - 2 } else { bits }
                };
                let results: Vec<u32> = (first..first + CHUNK).map(result).collect();
                let start = spent_here();
                verifier.block(first, &results, &mut statistics);
                let took = spent_here().saturating_sub(start);
                spent += took;
                slowest = slowest.max((took, first));
            }
            let each = spent.as_secs_f64() / statistics.inputs as f64;
            println!(
                "{kernel} {}: {:.2} ns an input, 2^32 in {:.1} s; {} deviate; slowest chunk {:08x} with {:.1} ns",
                profile.id,
                each * 1e9,
                each * 2f64.powi(32),
                statistics.deviating,
                slowest.1,
                slowest.0.as_secs_f64() / CHUNK as f64 * 1e9
            );
        }
    }
}

/// Processor time of this thread where the system tells it (Linux), so that others are of no account; else what the clock says.
fn spent_here() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
