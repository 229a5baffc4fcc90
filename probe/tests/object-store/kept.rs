//! Faults that stay: what cannot be sent waits, and comes later, whole and in one copy.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::proxy::Fault;
use crate::scene::ends;
use crate::store::{KERNEL, SECRETS, Store, sends, wait_until};

/// What one run leaves.
const RUN: [(&str, usize); 3] =
    [("reports/", 1), ("reports/observations/", 1), ("tables/devices/", 1)];

#[test]
fn what_cannot_be_sent_waits_for_the_next_run() {
    let store = Store::new();
    // What is no plain code is not repeated.
    let refusals = [
        (400, "ExpiredToken", " (ExpiredToken); "),
        (403, "AccessDenied", " (AccessDenied); "),
        (403, "Token TOKENTOKENTOKENTOKEN", "; "),
    ];
    for (number, (status, code, repeated)) in refusals.into_iter().enumerate() {
        store.proxy.fail(Fault::Refused(status, code), 0, usize::MAX);
        let ended = store.run(&format!("node-{number}"));
        ended.with(0);
        let warning = "warning: not sent to s3://fleet/a/b: the store answered with";
        assert!(ended.err.contains(&format!("{warning} {status}{repeated}")), "{}", ended.err);
        let spool = store.spool(&format!("node-{number}"));
        assert_eq!(spool.len(), 1);
        let text = String::from_utf8_lossy(&spool[0]);
        assert!(
            text.contains("s3://fleet/a/b") && !SECRETS.iter().any(|secret| text.contains(secret))
        );
    }
    assert!(store.objects().is_empty());

    // A run that sends nothing of its own.
    store.proxy.heal();
    let ended = sends(store.probe("node-0").args(["run", KERNEL, "--no-keep"]));
    ended.with(0);
    assert!(ended.err.contains("sent 1 delivery that had waited"), "{}", ended.err);
    assert_eq!((store.whole(), store.spool("node-0").len()), (BTreeMap::from(RUN), 0));
    // One that does.
    let ended = store.run("node-1");
    assert!(ended.err.contains("sent 1 delivery that had waited"), "{}", ended.err);
    let three = [("reports/", 3), ("reports/observations/", 1), ("tables/devices/", 3)];
    assert_eq!((store.whole(), store.spool("node-1").len()), (BTreeMap::from(three), 0));
}

#[test]
fn a_store_that_is_full_shows_nothing_half() {
    let store = Store::new();
    // The results have room, the report has none.
    store.proxy.fail(Fault::Refused(507, "XMinioStorageFull"), 1, usize::MAX);
    let begun = Instant::now();
    store.run("node-1").with(0);
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    assert_eq!(store.whole(), BTreeMap::from([("reports/observations/", 1)]));
    store.proxy.heal();
    store.run("node-1").with(0);
    let two = [("reports/", 2), ("reports/observations/", 1), ("tables/devices/", 2)];
    assert_eq!((store.whole(), store.spool("node-1").len()), (BTreeMap::from(two), 0));
}

#[test]
fn a_run_that_is_killed_while_it_sends_has_lost_nothing() {
    let store = Store::new();
    store.proxy.fail(Fault::Silent, 1, usize::MAX);
    let mut run = store.probe("node-1");
    run.args(["run", KERNEL, "--no-keep", "-o", "s3://fleet/a/b"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the results are there", || !store.objects().is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(store.whole(), BTreeMap::from([("reports/observations/", 1)]));
    store.proxy.heal();
    sends(store.probe("node-1").args(["run", KERNEL, "--no-keep"])).with(0);
    assert_eq!((store.whole(), store.spool("node-1").len()), (BTreeMap::from(RUN), 0));
}

#[test]
fn a_gate_keeps_its_time_and_what_it_says_comes_later() {
    let store = Store::new();
    let expected = store.folder.path().join("expected.json");
    let gate = |more: &[&str]| {
        let mut gate = store.probe("node-1");
        gate.arg("gate").arg("--expect").arg(&expected).args(more);
        gate
    };
    ends(&mut gate(&["--record"])).with(0);
    store.proxy.fail(Fault::Silent, 0, usize::MAX);
    let begun = Instant::now();
    let ended = sends(&mut gate(&["--budget", "4s", "-o", "s3://fleet/a/b"]));
    assert!(begun.elapsed() < Duration::from_millis(4500), "{:?}", begun.elapsed());
    assert!(ended.err.contains("warning: not sent to s3://fleet/a/b"), "{}", ended.err);
    assert_eq!(store.spool("node-1").len(), 1);
    assert!(store.objects().is_empty());
    store.proxy.heal();
    let sent = sends(&mut gate(&["--budget", "6s", "-o", "s3://fleet/a/b"]));
    assert!(sent.err.contains("sent 1 delivery that had waited"), "{}", sent.err);
    assert_eq!((store.whole(), store.spool("node-1").len()), (BTreeMap::from([("gates/", 2)]), 0));
    for bytes in store.objects().values() {
        let answer: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(
            (answer["schema"].as_str(), answer["host"]["label"].as_str()),
            (Some("fpprobe-gate/1"), Some("node-1"))
        );
        let line = format!(
            "{}: {}\n",
            answer["verdict"].as_str().unwrap(),
            answer["text"].as_str().unwrap()
        );
        assert!([&ended.out, &sent.out].contains(&&line), "{line}");
    }
}

#[test]
fn what_has_no_place_to_wait_is_an_error() {
    let store = Store::new();
    store.proxy.fail(Fault::Refused(403, "AccessDenied"), 0, usize::MAX);
    let mut run = store.probe("node-1");
    run.env("XDG_STATE_HOME", "/proc").args(["run", KERNEL, "--no-keep", "-o", "s3://fleet/a/b"]);
    let ended = sends(&mut run);
    ended.with(2);
    assert!(ended.err.contains("it cannot wait in the spool either"), "{}", ended.err);
    // Where the store takes it, no spool is needed.
    store.proxy.heal();
    sends(&mut run).with(0);
    assert_eq!(store.whole(), BTreeMap::from(RUN));
}

#[test]
fn credentials_are_the_environments_alone() {
    let store = Store::new();
    for address in
        ["s3://AKIA:TOKENTOKENTOKENTOKEN@fleet/a", "az://fleet/a?sig=TOKENTOKENTOKENTOKEN"]
    {
        let ended = sends(store.probe("node-1").args(["run", KERNEL, "-o", address]));
        ended.with(2);
        assert!(ended.err.contains("credentials come from the environment"), "{}", ended.err);
        let set = format!("output={address}");
        let ended = sends(store.probe("node-1").args(["--set", &set, "config", "show"]));
        ended.with(2);
    }
    assert!(sends(store.probe("node-1").args(["config", "show"])).with(0).contains("output"));
    // Without credentials nothing is found out by waiting for long.
    let mut run = store.probe("node-1");
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
        run.env_remove(name);
    }
    run.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9");
    let begun = Instant::now();
    let ended = sends(run.args(["run", KERNEL, "--no-keep", "-o", "s3://fleet/a/b"]));
    ended.with(0);
    assert!(ended.err.contains("warning: not sent"), "{}", ended.err);
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}
