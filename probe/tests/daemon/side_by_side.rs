//! Two drivers of one device.

use std::fs;

use crate::host::Host;
use crate::scene::manifest;

#[test]
fn two_drivers_of_one_slot_are_each_compared_with_their_own_past() {
    let host = Host::new("lavapipe-22", "");
    // Put there while the first is being looked at, or measured: in the same slot, of the same
    // name.
    fs::copy(manifest("lavapipe-25"), host.path("drivers/other.json")).unwrap();
    let reports = || -> Option<Vec<String>> {
        let status = host.status();
        let devices = status["devices"].as_array()?;
        let reports =
            devices.iter().map(|device| device["last"]["report"].as_str().map(str::to_owned));
        reports.collect::<Option<Vec<_>>>().filter(|reports| reports.len() == 2)
    };
    let before = host.wait("both measurements", reports);
    let status = host.status();
    assert_eq!(status["devices"][0]["slot"], status["devices"][1]["slot"], "{status}");
    let first = |log: &str| log.matches("was measured for the first time").count();
    assert_eq!(first(&host.messages()), 2, "{}", host.messages());
    assert!(host.run(&["run-now"]).0);
    host.wait("both again", || {
        reports().is_some_and(|now| now.iter().zip(&before).all(|(now, before)| now != before))
    });
    let log = host.messages();
    assert_eq!(log.matches("has not changed since").count(), 2, "{log}");
    let metrics = host.get("/metrics");
    let of = |manifest: &str| {
        let series = |line: &&str| {
            line.starts_with("fpprobe_daemon_changed_kernels{") && line.contains(manifest)
        };
        metrics.lines().filter(series).count()
    };
    assert_eq!((of("driver.json"), of("other.json")), (1, 1), "{metrics}");
    // One of them is updated: the other stays as it was.
    host.install("swiftshader");
    host.wait("the update", || {
        let text = host.status()["devices"].to_string();
        text.contains("SwiftShader").then_some(())
    });
}
