//! `make soak-daemon`: measurements back to back, with memory and descriptors counted, neither of
//! which may grow; and the daemon and its processes killed at random.
//!
//! `SOAK_SECONDS` and `SOAK_KILL_SECONDS` set how long, `SOAK_SEED` the course of the kills.

#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod scene;

#[path = "../daemon/host.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod host;

mod kills;

#[path = "../soak/victim.rs"]
#[expect(dead_code, reason = "shared with other tests, each of which uses a part")]
mod victim;

use std::time::{Duration, Instant};

use host::Host;
use rustix::process::Signal;

/// How long.
const SECONDS: u64 = 3600;
const KILL_SECONDS: u64 = 120;
/// KiB that memory may grow by after the first quarter.
const GROWTH: u64 = 3 << 10;
/// Reports that the store keeps: what the daemon reads of it each time grows with them.
const KEPT: &str = "50";

fn main() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| {
            text.parse().unwrap_or_else(|_| panic!("{name} must be a number"))
        })
    };
    let seed = number("SOAK_SEED", std::process::id().into());
    println!("soak: seed {seed}");
    kills::kills(Duration::from_secs(number("SOAK_KILL_SECONDS", KILL_SECONDS)), seed);
    match number("SOAK_SECONDS", SECONDS) {
        0 => {}
        seconds => back_to_back(seconds),
    }
}

fn back_to_back(seconds: u64) {
    let mut host = Host::new("swiftshader", "");
    host.signal(Signal::TERM);
    host.ended();
    host.environment.push(("FPPROBE_STORE_KEEP_COUNT", KEPT.into()));
    host.start();
    let (begun, whole) = (Instant::now(), Duration::from_secs(seconds));
    let (mut runs, mut early, mut shown) = (0, None, Instant::now());
    while begun.elapsed() < whole {
        let last = || host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned);
        let before = last();
        host.run(&["run-now"]);
        host.wait("a report", || last() != before);
        assert!(host.get("/metrics").contains("fpprobe_daemon_rounds_total"));
        runs += 1;
        let now = (host.memory(), settled(&host));
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
    let (memory, descriptors) = (host.memory(), settled(&host));
    let early = early.expect("the soak is long enough for two runs");
    println!(
        "soak: {runs} runs; after a quarter {} KiB and {} descriptors, at the end {memory} KiB and {descriptors}",
        early.0, early.1
    );
    assert!(memory <= early.0 + GROWTH, "memory grows");
    assert!(descriptors <= early.1, "descriptors leak");
}

/// Descriptors while nothing is under way: clients, and processes that end, have theirs for a
/// moment.
fn settled(host: &Host) -> usize {
    let look = |_| {
        std::thread::sleep(Duration::from_millis(20));
        host.descriptors()
    };
    (0..10).map(look).min().unwrap_or_default()
}
