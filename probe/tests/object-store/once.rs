//! Faults that pass: everything arrives at once, whole and in one copy.

use std::collections::{BTreeMap, BTreeSet};

use crate::proxy::Fault;
use crate::store::{Store, sends};

/// What one run leaves.
const RUN: [(&str, usize); 3] =
    [("reports/", 1), ("reports/observations/", 1), ("tables/devices/", 1)];

#[test]
fn a_report_comes_after_its_results_and_before_its_rows() {
    let store = Store::new();
    let said = store.run("node-1").err;
    assert!(said.contains("sent to s3://fleet/a/b: "), "{said}");
    assert_eq!(store.whole(), BTreeMap::from(RUN));
    let puts = store.proxy.puts();
    let begins = [
        "/fleet/a/b/reports/observations/",
        "/fleet/a/b/reports/2",
        "/fleet/a/b/tables/devices/day",
    ];
    assert_eq!(puts.len(), 3, "{puts:?}");
    for ((request, creates, status), begin) in puts.iter().zip(begins) {
        assert!(request.starts_with(&format!("PUT {begin}")), "{request}");
        assert!(*creates && *status == 200, "{puts:?}");
    }

    // Equal results of another host are there already.
    store.run("node-2").with(0);
    let statuses: Vec<u16> = store.proxy.puts().iter().map(|(.., status)| *status).collect();
    assert_eq!(statuses, [412, 200, 200]);
    let twice = [("reports/", 2), ("reports/observations/", 1), ("tables/devices/", 2)];
    assert_eq!(store.whole(), BTreeMap::from(twice));
    assert!(store.spool("node-1").is_empty() && store.spool("node-2").is_empty());
}

#[test]
fn faults_that_pass_lose_nothing() {
    let store = Store::new();
    // The fault, how often it strikes, and the objects that pass before.
    let faults = [
        (Fault::Refused(503, "SlowDown"), 3, 0),
        (Fault::Refused(500, "InternalError"), 1, 1),
        (Fault::CutBefore, 2, 2),
        (Fault::CutHalf, 1, 0),
        (Fault::CutHalf, 1, 1),
        (Fault::CutAfter, 1, 0),
        (Fault::CutAfter, 1, 1),
        (Fault::CutAfter, 1, 2),
        (Fault::Slow(1500), 1, 1),
    ];
    for (number, (fault, failing, passing)) in faults.into_iter().enumerate() {
        store.proxy.fail(fault, passing, failing);
        let host = format!("node-{number}");
        let ended = store.run(&host);
        ended.with(0);
        assert!(ended.err.contains("sent to "), "{fault:?}: {}", ended.err);
        assert!(store.proxy.is_through(), "{fault:?}");
        assert!(store.spool(&host).is_empty(), "{fault:?}");
    }
    let hosts = faults.len();
    let all = [("reports/", hosts), ("reports/observations/", 1), ("tables/devices/", hosts)];
    assert_eq!(store.whole(), BTreeMap::from(all));
    // What was created was created once.
    let created = store.proxy.puts().into_iter().filter(|(.., status)| *status == 200);
    let names: Vec<String> = created.map(|(request, ..)| request).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn sweeps_and_screenings_are_sent_too() {
    let store = Store::new();
    let sweep = ["sweep", "--fingerprint", "f16.sqrt", "-o", "s3://fleet/a/b"];
    sends(store.probe("node-1").args(sweep)).with(0);
    let screen = ["screen", "f16.sqrt", "--for", "1s", "-o", "s3://fleet/a/b/"];
    sends(store.probe("node-1").args(screen)).with(0);
    assert_eq!(
        store.whole(),
        BTreeMap::from([("screens/", 1), ("sweeps/", 2), ("tables/roots/", 1)])
    );
    let names: Vec<String> = store
        .proxy
        .puts()
        .into_iter()
        .filter_map(|(request, ..)| request.rsplit_once('.').map(|(_, end)| end.to_owned()))
        .collect();
    assert_eq!(names, ["fingerprint", "json", "parquet", "json"]);
    // The fingerprint is what a reader beside the document looks for.
    let copied = store.copied().join("sweeps");
    let find = |ending: &str| {
        let mut files = std::fs::read_dir(&copied).unwrap().map(|entry| entry.unwrap().path());
        files.find(|file| file.extension().is_some_and(|end| end == ending)).unwrap()
    };
    let sweep: serde_json::Value = crate::scene::json(&find("json"));
    assert_eq!(find("json").with_extension("fingerprint"), find("fingerprint"));
    assert_eq!(sweep["devices"][0]["kernels"][0]["root"].as_str().unwrap().len(), 64);
    let journals = store.folder.path().join("state/node-1/fpprobe/sweeps");
    assert_eq!(std::fs::read_dir(journals).unwrap().count(), 0);
}

#[test]
fn parts_of_a_sweep_are_merged_where_they_are() {
    let store = Store::new();
    for shard in ["1/2", "2/2", "2/2"] {
        let part = ["sweep", "--fingerprint", "f16.sqrt", "f16.sin", "--shard", shard];
        sends(store.probe("node-1").args(part).args(["-o", "s3://fleet/parts"])).with(0);
    }
    let whole = store.folder.path().join("whole.json");
    let merge = ["merge", "s3://fleet/parts", "-o", whole.to_str().unwrap()];
    sends(store.probe("node-1").args(merge)).with(0);
    let kernels = crate::scene::json(&whole)["devices"][0]["kernels"].clone();
    assert!(kernels.as_array().unwrap().iter().all(|kernel| kernel["root"].is_string()));
    let nothing = ["merge", "s3://fleet/elsewhere"];
    let refused = sends(store.probe("node-1").args(nothing));
    refused.with(2);
    assert!(refused.err.contains("has no sweeps"), "{}", refused.err);
}
