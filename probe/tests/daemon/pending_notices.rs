//! Killed after a report was stored and before anybody was told of it.

use std::fs;

use fpprobe_reports::store::link;
use rustix::process::Signal;
use serde_json::json;

use crate::host::Host;

#[test]
fn a_difference_that_was_stored_and_not_told_is_told_by_the_next_start() {
    let hooked = tempfile::tempdir().unwrap();
    let hook = hooked.path().join("hook.json");
    let settings = |start: bool| {
        format!(
            "start = {start}\ntell = \"changes\"\nhook.command = [\"tee\", \"{}\"]\n",
            hook.display()
        )
    };
    let mut host = Host::new("lavapipe-22", &settings(true));
    host.wait("the first measurement", || {
        host.messages().contains("was measured for the first time")
    });
    let last = || host.status()["devices"][0]["last"]["report"].as_str().map(str::to_owned);
    let before = last().unwrap();
    host.install("lavapipe-25");
    let after = host.wait("the second measurement", || last().filter(|last| *last != before));
    host.wait("the hook", || {
        fs::read_to_string(&hook).is_ok_and(|text| text.contains("fpprobe-diff/2"))
    });
    let device = host.status()["devices"][0].clone();
    host.signal(Signal::KILL);
    host.ended();

    // As it was between the two.
    let own = host.path("store/daemon");
    let name = format!("quick-{}", device["key"].as_str().unwrap().replace(['/', '.'], "_"));
    let unfinished = own.join("unfinished");
    assert_eq!(fs::read_dir(&unfinished).unwrap().count(), 0, "what was told is forgotten");
    let record = json!({
        "order": { "device": device, "extent": "quick", "trigger": "start", "failures": 0 },
        "before": before, "known": [], "stored": null,
    });
    fs::write(unfinished.join(format!("{name}.json")), record.to_string()).unwrap();
    let stored = fs::read_dir(host.path("store")).unwrap().flatten().map(|entry| entry.path());
    let old = stored
        .into_iter()
        .find(|path| path.display().to_string().ends_with(&format!("{before}.fpreport")));
    link(&old.unwrap(), &unfinished.join(format!("{name}.fpreport"))).unwrap();
    fs::remove_file(&hook).unwrap();
    fs::remove_dir_all(own.join("diffs")).unwrap();

    host.configure(&settings(false));
    host.start();
    host.wait("the hook", || {
        fs::read_to_string(&hook).is_ok_and(|text| text.contains("fpprobe-diff/2"))
    });
    assert!(own.join("diffs").join(format!("{after}.json")).is_file());
    host.wait("it is forgotten", || fs::read_dir(&unfinished).unwrap().count() == 0);
}
