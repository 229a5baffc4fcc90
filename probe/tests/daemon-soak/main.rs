//! `make soak-daemon`: measurements back to back, with memory and descriptors counted; neither may grow.
//!
//! `SOAK_SECONDS` sets how long.

#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod scene;

#[path = "../daemon/host.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod host;

use std::time::{Duration, Instant};

use host::Host;

/// How long.
const SECONDS: u64 = 3600;
/// KiB that memory may grow by after the first quarter.
const GROWTH: u64 = 8 << 10;

fn main() {
    let seconds = std::env::var("SOAK_SECONDS").map_or(SECONDS, |text| text.parse().expect("SOAK_SECONDS is a number"));
    let host = Host::new("swiftshader", "");
    let (begun, whole) = (Instant::now(), Duration::from_secs(seconds));
    let (mut runs, mut early, mut shown) = (0, None, Instant::now());
    while begun.elapsed() < whole {
        let last = || host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned);
        let before = last();
        host.ask(&["run-now"]);
        host.wait("a report", || last() != before);
        assert!(host.get("/metrics").contains("fpprobe_daemon_rounds_total"));
        runs += 1;
        let now = (host.memory(), host.descriptors());
        if begun.elapsed() > whole / 4 {
            early.get_or_insert(now);
        }
        if shown.elapsed() > Duration::from_secs(30) {
            shown = Instant::now();
            println!(
                "soak: {:4.0} s, {runs} runs, {} KiB, {} descriptors",
                begun.elapsed().as_secs_f64(),
                now.0,
                now.1
            );
        }
    }
    let (memory, descriptors) = (host.memory(), host.descriptors());
    let early = early.expect("the soak is long enough for two runs");
    println!(
        "soak: {runs} runs; after a quarter {} KiB and {} descriptors, at the end {memory} KiB and {descriptors}",
        early.0, early.1
    );
    assert!(memory <= early.0 + GROWTH, "memory grows");
    assert!(descriptors <= early.1 + 1, "descriptors leak");
}
