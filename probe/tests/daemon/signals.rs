//! Signals: the end, and a configuration that is read again.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::host::Host;
use crate::scene::{ends, with_manifests};

#[test]
fn sigterm_ends_it_in_the_middle_of_a_run_and_leaves_the_journal_whole() {
    let mut host = Host::new("lavapipe-25", "start = false\n");
    host.wait("the device", || !host.status()["devices"].as_array().unwrap().is_empty());
    let (done, text) = host.run(&["run-now", "--full"]);
    assert!(done, "{text}");
    let journal = || {
        let mut files =
            fs::read_dir(host.path("store/daemon/work")).ok()?.flatten().map(|entry| entry.path());
        files.find(|path| path.extension().is_some_and(|end| end == "journal"))
    };
    let journal = host.wait("answers in the journal", || {
        journal().filter(|path| {
            fs::read_to_string(path).is_ok_and(|text| text.contains("\"record\":\"answers\""))
        })
    });
    let begun = Instant::now();
    host.signal(Signal::TERM);
    let status = host.ended();
    let took = begun.elapsed();
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(5), "it took {took:?}");
    assert!(host.processes().is_empty(), "something was left behind");
    assert!(!host.path("socket").exists());
    // What is in the journal goes on: with nothing asked of a device, by looking at what is not
    // there.
    let mut resume = host.command();
    resume.args(["--set", "drivers.manifests=/nonexistent", "run", "--resume"]).arg(&journal);
    let ended = ends(&mut resume);
    assert!(!ended.err.contains("damaged") && ended.err.contains("/nonexistent"), "{}", ended.err);
}

#[test]
fn sighup_takes_what_is_valid_and_keeps_the_old_where_it_is_not() {
    let host = Host::new("swiftshader", "start = false\n");
    host.configure("start = false\nschedule = \"every 6h\"\n");
    host.signal(Signal::HUP);
    host.wait("the new configuration", || host.messages().contains("was read again"));
    assert!(host.status()["next"].is_string());
    host.configure("start = false\nscedule = \"every 6h\"\n");
    host.signal(Signal::HUP);
    host.wait("a message", || host.messages().contains("stays as it was"));
    let log = host.messages();
    assert!(log.contains("did you mean `schedule`?"), "{log}");
    assert!(host.status()["next"].is_string(), "the old one is in effect");
    // Who reads that file finds the daemon in its usual place, and can ask it all the same.
    let usual = tempfile::tempdir().unwrap();
    symlink(host.path("socket"), usual.path().join("fpprobe.sock")).unwrap();
    let mut client = with_manifests(&[]);
    client.env("XDG_RUNTIME_DIR", usual.path()).arg("--config").arg(host.path("config.toml"));
    let ended = ends(client.args(["daemon", "status", "--json"]));
    assert!(ended.with(0).contains("\"next\""));
    assert!(
        ended.err.contains("did you mean `schedule`?") && ended.err.contains("usual place"),
        "{}",
        ended.err
    );
    host.configure("start = false\nschedule = \"0 25 * * *\"\n");
    host.signal(Signal::HUP);
    host.wait("another message", || host.messages().contains("systemd timer"));
    // Another store is for the next start.
    host.configure("start = false\n");
    let text = fs::read_to_string(host.path("config.toml")).unwrap();
    let [old, new] =
        ["store", "elsewhere"].map(|name| format!("path = \"{}\"", host.path(name).display()));
    fs::write(host.path("config.toml"), text.replace(&old, &new)).unwrap();
    host.signal(Signal::HUP);
    host.wait("a third message", || {
        host.messages().contains("`store.path` takes effect when the daemon starts again")
    });
    assert!(!host.path("elsewhere").exists());
    assert!(host.path("store/daemon/config.toml").is_file());
}

#[test]
fn it_pauses_and_resumes() {
    let host = Host::new("swiftshader", "start = false\n");
    host.wait("the device", || !host.status()["devices"].as_array().unwrap().is_empty());
    assert!(host.run(&["pause"]).0);
    assert!(host.run(&["run-now"]).0);
    std::thread::sleep(Duration::from_secs(2));
    let status = host.status();
    assert_eq!(
        (status["state"].as_str(), status["waiting"].as_array().unwrap().len()),
        (Some("paused"), 1)
    );
    assert!(host.run(&["resume"]).0);
    host.wait("the measurement", || host.messages().contains("was measured for the first time"));
    let (done, text) = host.run(&["run-now", "no such device"]);
    assert!(!done && text.contains("no such device"), "{text}");
    assert!(!host.run(&["quarantine", "clear"]).0, "nothing is in quarantine");
}
