//! A driver update under a running daemon.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::host::{Host, PATIENCE};
use crate::scene::json;

/// What the issue of a driver update may take until everybody knows; a build for tests, beside
/// other tests, takes longer.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_driver_that_changes_under_the_daemon_is_told_to_everybody() {
    let folder = tempfile::tempdir().unwrap();
    let hooked = folder.path().join("hook.json");
    let settings = format!(
        "tell = \"changes\"\ntextfile = \"{0}/metrics.prom\"\nhook.command = [\"tee\", \"{0}/hook.json\"]\n",
        folder.path().display()
    );
    let host = Host::new("lavapipe-22", &settings);
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    let store = || {
        fs::read_dir(host.path("store"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "fpreport"))
            .count()
    };
    assert_eq!(store(), 1);
    // From here on the journal is there.
    let journal = UnixDatagram::bind(host.path("journal")).unwrap();
    journal.set_read_timeout(Some(PATIENCE)).unwrap();
    let (done, text) = host.run(&["reload"]);
    assert!(done, "{text}");

    let begun = Instant::now();
    host.install("lavapipe-25");
    let hook: Value =
        host.wait("the hook", || serde_json::from_str(&fs::read_to_string(&hooked).ok()?).ok());
    let mut bytes = vec![0; 1 << 16];
    let entry = loop {
        let length = journal.recv(&mut bytes).expect("an entry of the journal");
        let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
        if text.contains("has changed since") {
            break text;
        }
    };
    let metrics = host.wait("the metrics", || {
        let text = fs::read_to_string(folder.path().join("metrics.prom")).ok()?;
        let changed =
            text.lines().find(|line| line.starts_with("fpprobe_daemon_changed_kernels{"))?;
        (!changed.ends_with(" 0")).then(|| text.clone())
    });
    let took = begun.elapsed();
    println!("told after {:.1} s", took.as_secs_f64());
    assert!(cfg!(debug_assertions) || took < SOON, "it took {took:?}");

    assert_eq!(hook["schema"], "fpprobe-diff/2");
    // Both reports are where it says.
    for side in ["old", "new"] {
        let file = std::path::Path::new(hook[side][0]["file"].as_str().unwrap());
        assert!(
            file.is_file() && file.parent() == Some(&host.path("store")),
            "{side}: {}",
            file.display()
        );
    }
    let changes = hook["devices"][0]["changes"].as_array().unwrap();
    let find = |subject: &str, id: &str| {
        let mut found =
            changes.iter().filter(|change| change["subject"] == subject && change["id"] == id);
        found.next().unwrap_or_else(|| panic!("{subject} {id}")).to_string()
    };
    // Mesa 22 converts what does not fit otherwise than Mesa 25 does.
    find("kernel", "f32.convert_f_to_s");
    let of_nan = find("trait", "f32.to_i32_of_nan");
    assert!(!of_nan.contains("constants_only"), "{of_nan}");
    let headlines = hook["devices"][0]["headlines"].to_string();
    assert!(headlines.contains("f32 to i32 of NaN"), "{headlines}");
    let identity = find("identity", "driver.info");
    assert!(identity.contains("Mesa 22") && identity.contains("Mesa 25"), "{identity}");
    for field in [
        "FPPROBE_DEVICE=llvmpipe",
        "FPPROBE_DRIVER=Mesa 25",
        "FPPROBE_VERDICT=none",
        "SYSLOG_IDENTIFIER=fpprobe",
    ] {
        assert!(entry.contains(field), "{entry}");
    }
    assert!(
        metrics.contains("Mesa 25") && !metrics.contains("Mesa 22"),
        "a driver that is gone has no metrics"
    );
    assert_eq!(store(), 2);
    let id = host.status()["devices"][0]["last"]["report"].as_str().unwrap().to_owned();
    let kept: Value = serde_json::from_slice(
        &fs::read(host.path("store/daemon/diffs").join(format!("{id}.json"))).unwrap(),
    )
    .unwrap();
    assert_eq!(kept, hook);
    assert!(host.get("/metrics").contains("fpprobe_daemon_changed_kernels"));
    assert!(host.get(&format!("/diffs/{id}.json")).contains("fpprobe-diff/2"));
    let page = host.get(&format!("/diffs/{id}"));
    assert!(page.contains("text/html") && page.contains("Traits changed"), "{page}");
    assert!(host.get(&format!("/reports/{id}")).contains("<html"));
}

#[test]
fn a_driver_that_goes_is_missed_and_one_that_comes_is_measured() {
    let host = Host::new("swiftshader", "");
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    fs::remove_file(host.path("drivers/driver.json")).unwrap();
    host.wait("the device is gone", || host.status()["devices"].as_array().unwrap().is_empty());
    assert!(host.messages().contains("is gone"));
    host.install("swiftshader");
    host.wait("it is measured again", || host.messages().contains("has not changed since"));
}

#[test]
fn updates_are_compared_though_the_store_keeps_one_report() {
    let mut host = Host::new("lavapipe-22", "start = false\n");
    host.signal(Signal::TERM);
    host.ended();
    host.configure("");
    let text = fs::read_to_string(host.path("config.toml")).unwrap();
    fs::write(host.path("config.toml"), text.replace("[store]\n", "[store]\nkeep_count = 1\n"))
        .unwrap();
    host.start();
    let last = || host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned);
    let mut before = host.wait("the first measurement", last);
    for driver in ["lavapipe-25", "lavapipe-22"] {
        host.install(driver);
        let now = host.wait("the measurement of the update", || last().filter(|id| *id != before));
        let files = fs::read_dir(host.path("store")).unwrap().flatten();
        let names = files.map(|entry| entry.path().display().to_string());
        let reports: Vec<String> = names.filter(|name| name.ends_with(".fpreport")).collect();
        assert!(
            matches!(&reports[..], [one] if one.ends_with(&format!("{now}.fpreport"))),
            "{reports:?}"
        );
        assert!(
            host.messages().contains(&format!("has changed since {before}: ")),
            "{}",
            host.messages()
        );
        let diff = json(&host.path("store/daemon/diffs").join(format!("{now}.json")));
        assert!(!diff["devices"][0]["changes"].as_array().unwrap().is_empty());
        let page = host.get(&format!("/diffs/{now}"));
        assert!(
            page.starts_with("HTTP/1.1 404 ") && page.contains(&format!("/diffs/{now}.json has")),
            "{page}"
        );
        before = now;
    }
}

#[test]
fn reports_of_full_rounds_go_where_the_output_is() {
    let mut host = Host::new("mock", "start = false\n");
    host.signal(Signal::TERM);
    host.ended();
    host.configure("");
    // What is sent lies in the state folder until it is.
    host.environment.push(("XDG_STATE_HOME", host.path("state")));
    let (fleet, file) = (host.path("fleet"), host.path("config.toml"));
    let text =
        fs::read_to_string(&file).unwrap().replace("full = false", "full = true\nidle = 64.0");
    fs::write(&file, format!("output = \"file://{}\"\n{text}", fleet.display())).unwrap();
    host.start();
    let report = host.wait("a report in the folder", || {
        let files = fs::read_dir(fleet.join("reports")).ok()?.flatten();
        files
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "json"))
    });
    let sent: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    let rows = sent["observations"]["rows"].as_u64();
    assert!(rows > Some(1_000_000), "quick rounds send nothing: {rows:?}");
    assert!(fleet.join("tables/devices").is_dir());
}
