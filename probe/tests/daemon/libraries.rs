//! What a driver depends on, and links on the way to it, are watched as the driver is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::host::Host;
use crate::scene::{json, manifest};

fn last(host: &Host) -> Option<String> {
    host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned)
}

/// Stops the daemon, and starts it with this configuration.
fn again(host: &mut Host, settings: &str) {
    host.signal(Signal::TERM);
    host.ended();
    host.configure(settings);
    host.start();
}

#[test]
fn a_library_that_a_driver_has_loaded_is_replaced() {
    let mut host = Host::new("swiftshader", "start = false\n");
    let folder = host.folder.path().to_owned();
    let build = |text: &str, name: &str| {
        let source = folder.join("needed.c");
        fs::write(&source, text).unwrap();
        let compiled =
            Command::new("cc").args(["-shared", "-o"]).arg(folder.join(name)).arg(&source).status();
        assert!(compiled.unwrap().success());
    };
    build("int one;", "libneeded.so.1");
    // A process of a driver loads what the driver needs, and this.
    host.environment.push(("LD_PRELOAD", host.path("libneeded.so.1")));
    again(&mut host, "");
    let first = host.wait("the first measurement", || last(&host));
    build("int one, two;", "new");
    fs::rename(host.path("new"), host.path("libneeded.so.1")).unwrap();
    host.wait("the second measurement", || last(&host).is_some_and(|last| last != first));
    let log = host.messages();
    assert!(log.contains("has another") && log.contains("libneeded.so.1"), "{log}");
    assert!(log.contains(&format!("has not changed since {first}")), "{log}");
}

#[test]
fn a_link_above_the_manifest_is_turned() {
    let mut host = Host::new("swiftshader", "start = false\n");
    for driver in ["lavapipe-22", "lavapipe-25"] {
        let folder = host.path(driver);
        fs::create_dir(&folder).unwrap();
        let library = json(&manifest(driver))["ICD"]["library_path"].as_str().unwrap().to_owned();
        let library = manifest(driver).parent().unwrap_or(Path::new("/")).join(library);
        let text = format!(
            r#"{{"file_format_version":"1.0.0","ICD":{{"library_path":{library:?},"api_version":"1.3.0"}}}}"#
        );
        fs::write(folder.join("driver.json"), text).unwrap();
    }
    fs::remove_dir_all(host.path("drivers")).unwrap();
    let turn = |host: &Host, driver: &str| {
        symlink(driver, host.path("link")).unwrap();
        fs::rename(host.path("link"), host.path("drivers")).unwrap();
    };
    turn(&host, "lavapipe-22");
    let settings = "poll = 86400.0\n";
    let info = |host: &Host| host.status()["devices"][0]["driver_info"].as_str().map(str::to_owned);
    let is = |version: &'static str| {
        move |info: Option<String>| info.is_some_and(|info| info.contains(version))
    };
    again(&mut host, settings);
    host.wait("the first measurement", || last(&host));
    assert!(is("Mesa 22")(info(&host)));
    for (driver, version) in [("lavapipe-25", "Mesa 25"), ("lavapipe-22", "Mesa 22")] {
        turn(&host, driver);
        host.wait(driver, || is(version)(info(&host)));
    }
}
