//! What outlives a restart, a reload, and damage; and what does not.

use std::fs;

use rustix::process::Signal;

use crate::host::Host;
use crate::scene::{ends, with_manifests};

#[test]
fn a_pause_lasts_until_an_operator_ends_it() {
    let mut host = Host::new("swiftshader", "start = false\n");
    assert!(host.run(&["pause"]).0);
    host.signal(Signal::TERM);
    host.ended();
    host.start();
    assert_eq!(
        host.wait("the look", || Some(host.status()).filter(|status| status["state"] != "looking"))
            ["state"],
        "paused"
    );
    assert!(host.run(&["resume"]).0);
    assert_ne!(host.status()["state"], "paused");
}

#[test]
fn metrics_of_the_last_round_are_there_before_the_next() {
    let mut host = Host::new("swiftshader", "start = false\n");
    assert!(host.run(&["run-now"]).0);
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    let of_devices = |host: &Host| -> Vec<String> {
        let page = host.get("/metrics");
        page.lines()
            .filter(|line| line.contains("slot=") && !line.contains("_total{"))
            .map(str::to_owned)
            .collect()
    };
    let before = of_devices(&host);
    assert!(before.iter().any(|line| line.starts_with("fpprobe_profile_class{")), "{before:#?}");
    host.signal(Signal::TERM);
    host.ended();
    // Nobody asks it to measure.
    host.start();
    // The daemon's own are there once it has looked who the devices are.
    host.wait("the metrics of before", || of_devices(&host) == before);
}

#[test]
fn an_interval_goes_on_however_often_the_rest_is_read_again() {
    let host = Host::new("swiftshader", "start = false\nschedule = \"every 3s\"\n");
    host.wait("the clock", || {
        assert!(host.run(&["reload"]).0);
        host.messages().contains("looks at the devices: schedule")
    });
}

#[test]
fn a_damaged_report_of_before_stops_a_device_once_at_most() {
    let host = Host::new("swiftshader", "");
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    let last = || host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned);
    let before = last().unwrap();
    for entry in fs::read_dir(host.path("store/daemon/references/quick")).unwrap().flatten() {
        let file = entry.path();
        if file.extension().is_some_and(|end| end == "fpreport") {
            let mut bytes = fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle..].fill(0x55);
            // Another name of the store's own file.
            fs::write(&file, bytes).unwrap();
        }
    }
    assert!(host.run(&["run-now"]).0);
    let second = host.wait("the second measurement", || last().filter(|last| *last != before));
    assert!(host.messages().contains("the report of before is damaged"), "{}", host.messages());
    assert!(host.run(&["run-now"]).0);
    host.wait("the third measurement", || last().filter(|last| *last != second && *last != before));
    assert!(
        host.messages().contains(&format!("has not changed since {second}")),
        "{}",
        host.messages()
    );
}

#[test]
fn what_can_never_work_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (settings, problem) in [
        ("schedule = \"0 3 * * sun\"", "systemd timer"),
        ("webhook.url = \"http://\"", "and a host"),
        ("webhook.url = \"ftp://a/\"", "http:// or https://"),
        (
            "webhook = { url = \"https://a/\", authorities = \"/nowhere\" }",
            "daemon.webhook.authorities",
        ),
        ("budget.memory = 4096", "MemoryMax="),
    ] {
        let config = folder.path().join("config.toml");
        let store = folder.path().join("store");
        fs::write(&config, format!("[store]\npath = {store:?}\n[daemon]\n{settings}\n")).unwrap();
        for words in [&["daemon"][..], &["config", "check"]] {
            let ended = ends(with_manifests(&[]).arg("--config").arg(&config).args(words));
            ended.with(2);
            assert!(ended.err.contains(problem), "{settings}: {}", ended.err);
        }
    }
}

#[test]
fn what_can_be_meant_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "[daemon]\nschedule = \"every 1h\"\nwindows = [\"22:00-06:00\"]\n").unwrap();
    let ended = ends(with_manifests(&[]).arg("--config").arg(&config).args(["config", "check"]));
    ended.with(0);
    assert_eq!(ended.out, "valid\n");
}

#[test]
fn a_hook_ends_with_the_daemon() {
    // A number that no other process sleeps for.
    let seconds = format!("{}", 100_000 + std::process::id());
    let sleeps = || {
        let processes =
            fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
        processes
            .filter_map(|path| fs::read(path).ok())
            .any(|words| words == format!("sleep\0{seconds}\0").as_bytes())
    };
    let settings = format!(
        "tell = \"changes\"\nhook.command = [\"sleep\", \"{seconds}\"]\nhook.timeout = 1000.0\n"
    );
    let mut host = Host::new("lavapipe-22", &settings);
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    host.install("lavapipe-25");
    host.wait("the hook", sleeps);
    host.signal(Signal::KILL);
    host.ended();
    host.wait("its end", || !sleeps());
    // It is reported again, now by a program that has a child; both end, and it is reported again
    // the next time.
    let shell = format!(
        "hook.command = [\"sh\", \"-c\", \"sleep {seconds} & wait\"]\nhook.timeout = 1000.0\n"
    );
    host.configure(&format!("tell = \"changes\"\n{shell}"));
    host.start();
    host.wait("the hook's child", sleeps);
    host.signal(Signal::TERM);
    host.ended();
    host.wait("its end", || !sleeps());
    host.start();
    host.wait("the hook's child", sleeps);
}

#[test]
fn a_driver_that_breaks_is_reported() {
    let host = Host::new("swiftshader", "");
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    assert!(
        host.get("/metrics").contains("\nfpprobe_daemon_troubles 0\n"),
        "{}",
        host.get("/metrics")
    );
    let broken = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "/nowhere/lib.so", "api_version": "1.3.0"}}"#;
    fs::write(host.path("drivers/driver.json"), broken).unwrap();
    host.wait("the trouble", || host.messages().contains("/nowhere/lib.so, which does not exist"));
    host.wait("the metric", || host.get("/metrics").contains("\nfpprobe_daemon_troubles 1\n"));
}

#[test]
fn an_address_that_is_taken_may_be_free_later() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let (store, address) = (folder.path().join("store"), taken.local_addr().unwrap());
    fs::write(
        &config,
        format!("[store]\npath = {store:?}\n[daemon]\nhttp.listen = \"{address}\"\n"),
    )
    .unwrap();
    let ended = ends(with_manifests(&[]).arg("--config").arg(&config).arg("daemon"));
    // Not 2, after which the unit does not start it again.
    ended.with(1);
    assert!(ended.err.contains("daemon.http.listen"), "{}", ended.err);
}
