//! The daemon's page in a real browser.

use std::path::Path;
use std::process::Command;

use crate::host::Host;

#[test]
fn the_page_follows_the_daemon_in_a_browser() {
    let host = Host::new("swiftshader", "start = false\n");
    host.wait("the device", || !host.status()["devices"].as_array().unwrap().is_empty());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/daemon/page.mjs");
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("daemon.png");
    let mut looks = Command::new("node");
    looks.arg(script).arg(format!("http://{}/", host.address())).arg(&picture);
    let output = looks.output().unwrap_or_else(|error| panic!("node: {error}; .ci/install test installs it"));
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{said}");
}
