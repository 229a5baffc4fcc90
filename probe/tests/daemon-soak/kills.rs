//! The daemon, its runs and their workers killed at random: no report is lost or torn, nothing
//! stays behind.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use fpprobe_spirv::cases::random;

use crate::host::Host;
use crate::scene::ends;
use crate::victim::kill;

/// Longest wait between two kills.
const LONGEST: u64 = 6_000_000;

/// What was done.
#[derive(Default)]
struct Tally {
    daemons: u32,
    others: u32,
}

/// Kills for so long.
pub fn kills(whole: Duration, seed: u64) {
    let mut host = Host::new("swiftshader", "");
    let (begun, mut statistics, mut stored) = (Instant::now(), Tally::default(), BTreeSet::new());
    let mut throws = (0..).map(|number| random(seed << 32 | number));
    let mut below = |limit: u64| throws.next().map_or(0, |number| number % limit);
    while begun.elapsed() < whole {
        host.run(&["run-now"]);
        std::thread::sleep(Duration::from_micros(below(LONGEST)));
        if below(3) == 0 {
            kill(host.id());
            host.ended();
            host.wait("every process ends", || host.processes().is_empty());
            statistics.daemons += 1;
            stored = whole_reports(&host, &stored);
            host.start();
        } else {
            let processes = host.processes();
            if !processes.is_empty() {
                kill(processes[below(processes.len() as u64) as usize]);
                statistics.others += 1;
            }
        }
    }
    // Undisturbed it measures, and ends clean.
    let last = || host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned);
    let before = last();
    host.wait("another report", || host.run(&["run-now"]).0 && last() != before);
    let stored = whole_reports(&host, &stored);
    kill(host.id());
    host.ended();
    host.wait("every process ends", || host.processes().is_empty());
    println!(
        "soak: {:.0} s, {} daemons and {} runs or workers killed, {} reports, all whole; no process left",
        begun.elapsed().as_secs_f64(),
        statistics.daemons,
        statistics.others,
        stored.len()
    );
}

/// Names of the reports in the store, of which every one is whole and none is missing that was
/// there.
fn whole_reports(host: &Host, before: &BTreeSet<String>) -> BTreeSet<String> {
    ends(host.command().args(["history", "verify"])).with(0);
    let names = fs::read_dir(host.path("store")).expect("the store").flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let now: BTreeSet<String> = names.filter(|name| name.ends_with(".fpreport")).collect();
    assert!(before.is_subset(&now), "lost: {:?}", before.difference(&now));
    now
}
