//! The daemon's page in a real browser.

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::host::Host;

#[test]
fn the_page_follows_the_daemon_in_a_browser() {
    let mut host = Host::new("lavapipe-22", "");
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    host.install("lavapipe-25");
    host.wait("the update", || host.messages().contains("has changed since"));
    let history = |host: &Host| host.status()["devices"][0]["history"].clone();
    let before = history(&host);
    assert_eq!(before.as_array().unwrap().len(), 2, "{before}");
    host.signal(Signal::TERM);
    host.ended();
    host.configure("start = false\n");
    host.start();
    host.wait("the device", || !host.status()["devices"].as_array().unwrap().is_empty());
    assert_eq!(history(&host), before, "a restart keeps the history");
    assert!(host.run(&["run-now"]).0);
    host.wait("the third round", || history(&host).as_array().unwrap().len() == 3);
    let report = history(&host)[1]["report"].as_str().unwrap().to_owned();
    assert!(host.get(&format!("/diffs/{report}.json")).contains("fpprobe-diff/2"));

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/daemon/page.mjs");
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut looks = Command::new("node");
    looks.arg(script).arg(format!("http://{}/", host.address())).arg(pictures);
    let output = looks
        .output()
        .unwrap_or_else(|error| panic!("node: {error}; .ci/install test installs it"));
    let text = [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .concat();
    assert!(output.status.success(), "{text}");
}
