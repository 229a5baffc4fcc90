//! Daemon and workers killed: no report is torn, and nothing is left behind.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::host::Host;
use crate::scene::ends;

#[test]
fn a_daemon_that_is_killed_leaves_nothing_behind_and_starts_again() {
    let mut host = Host::new("swiftshader", "");
    for pause in [50, 400, 1000] {
        host.wait("a process that measures", || !host.processes().is_empty());
        std::thread::sleep(Duration::from_millis(pause));
        host.signal(Signal::KILL);
        host.ended();
        host.wait("every process ends", || host.processes().is_empty());
        let verified = ends(host.command().args(["history", "verify"]));
        verified.with(0);
        host.start();
    }
    host.wait("a measurement", || host.messages().contains("report "));
    host.signal(Signal::KILL);
    host.ended();
    host.configure("start = false\n");
    host.start();
    host.wait("the device", || !host.status()["devices"].as_array().unwrap().is_empty());
    let status = host.status();
    assert!(
        status["devices"][0]["last"]["report"].is_string(),
        "what was found is shown still: {status}"
    );
    let metrics = host.get("/metrics");
    assert!(
        metrics
            .lines()
            .any(|line| line.starts_with("fpprobe_") && !line.starts_with("fpprobe_daemon_")),
        "{metrics}"
    );
}

#[test]
fn workers_that_are_killed_cost_nothing_but_time() {
    let host = Host::new("swiftshader", "");
    let kills = std::cell::Cell::new(0);
    host.wait("a measurement", || {
        // The youngest is a worker, most of the time.
        if let Some(pid) = host
            .processes()
            .into_iter()
            .max()
            .filter(|_| kills.get() < 3)
            .and_then(|pid| Pid::from_raw(pid as i32))
        {
            let _ = kill_process(pid, Signal::KILL);
        }
        kills.set(kills.get() + 1);
        std::thread::sleep(Duration::from_millis(300));
        !host.status()["devices"][0]["last"].is_null()
    });
    ends(host.command().args(["history", "verify"])).with(0);
}
