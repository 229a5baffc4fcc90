//! Results at places with an address: a folder in every build, object stores where they are built
//! in (`probe/tests/object-store`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::documented::documented;
use crate::scene::{ends, fpprobe, json};

/// The program on a host with this label and a state folder.
fn host(folder: &Path, label: &str) -> Command {
    let state = folder.join("state");
    fs::create_dir_all(&state).unwrap();
    let mut command = fpprobe(&["lavapipe-25"]);
    command.env("XDG_STATE_HOME", state).args(["--set", &format!("host.label={label}")]);
    command
}

/// The files below a folder, by their names in it.
fn files(folder: &Path) -> Vec<String> {
    let (mut names, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner)).unwrap().map(|entry| entry.unwrap()) {
            let name = inner.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(name);
            } else {
                names.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_folder_has_results_once_and_rows_for_sql() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = folder.path().join("srv/fleet");
    let address = format!("file://{}", fleet.display());
    for label in ["node-1", "node-2", "node 3/a"] {
        let run = ["run", "f16.fadd", "f16.sqrt", "--no-keep", "-o", &address];
        let ended = ends(host(folder.path(), label).args(run));
        ended.with(0);
        assert!(ended.err.contains(&format!("sent to {address}: ")), "{}", ended.err);
        assert!(ended.out.contains(&format!("report goes to {address}")), "{}", ended.out);
        let sweep = ["sweep", "--fingerprint", "f16.sqrt", "f16.sin", "-o", &address];
        ends(host(folder.path(), label).args(sweep)).with(0);
    }
    // A part of a domain has no root.
    let part = ["sweep", "--fingerprint", "f16.sqrt", "--shard", "1/2", "-o", &address];
    ends(host(folder.path(), "node-4").args(part)).with(0);
    let names = files(&fleet);
    let count = |begin: &str, end: &str| {
        names.iter().filter(|name| name.starts_with(begin) && name.ends_with(end)).count()
    };
    let kinds = [
        count("reports/observations/", ".parquet"),
        count("reports/2", ".json"),
        count("sweeps/2", ".json"),
        count("sweeps/2", ".fingerprint"),
        count("tables/devices/day=2", ".parquet"),
        count("tables/roots/day=2", ".parquet"),
    ];
    assert_eq!((kinds, names.len()), ([1, 3, 4, 4, 3, 3], 18), "{names:#?}");
    assert_eq!(count("reports/", "-node_3_a-"), 0);
    assert!(names.iter().any(|name| name.contains("Z-node_3_a-")), "{names:#?}");
    assert!(files(&folder.path().join("state")).is_empty(), "nothing waits");

    // Parts of one sweep, one of which was sent twice, and nothing else.
    let parts = format!("{address}/parts");
    let half = ["sweep", "--fingerprint", "f16.sqrt", "f16.sin", "--shard"];
    for shard in ["1/2", "2/2", "1/2"] {
        ends(host(folder.path(), "node-5").args(half).args([shard, "-o", &parts])).with(0);
    }
    let merged = folder.path().join("merged.json");
    let merge = |more: &[&str]| {
        ends(fpprobe(&[]).args(["merge", &parts, "-o", merged.to_str().unwrap()]).args(more))
    };
    merge(&[]).with(0);
    let roots = |report: serde_json::Value| {
        let kernels = report["devices"][0]["kernels"].as_array().unwrap().clone();
        kernels.iter().map(|kernel| kernel["root"].clone()).collect::<Vec<_>>()
    };
    let others = ends(fpprobe(&[]).args(["merge", "file:///nowhere/at/all"]));
    others.with(2);
    assert!(others.err.contains("file:///nowhere/at/all"), "{}", others.err);
    let sweep = ["sweep", "--fingerprint", "f16.sqrt", "f16.sin", "-o", merged.to_str().unwrap()];
    let before = roots(json(&merged));
    ends(host(folder.path(), "node-5").args(sweep)).with(0);
    assert_eq!(roots(json(&merged)), before);

    // By its address and by its path.
    let inventory = |place: &str| {
        let ended = ends(fpprobe(&[]).args(["inventory", place, "--format", "json"]));
        ended.with(0).to_owned()
    };
    assert_eq!(inventory(&address), inventory(fleet.to_str().unwrap()));
    assert!(inventory(&address).contains("\"reports\": 3"));

    // The documented questions, without the queries that make tables of reports.
    let queries = documented(&fleet, "docs/fleet.md", 3);
    let [_views, inventory, deviating, outliers, wrong, coverage] = &queries[..] else {
        panic!("{} queries", queries.len());
    };
    assert_eq!((&inventory.rows[0][0], &inventory.rows[0][4]), (&json!("0x10005"), &json!(3)));
    assert!([deviating, outliers, wrong].iter().all(|query| query.rows.is_empty()), "{queries:?}");
    assert_eq!(coverage.rows, [vec![json!("kept"), json!(3), json!(100.0)]]);
}

#[test]
fn what_a_folder_does_not_take_waits() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = folder.path().join("fleet");
    fs::write(&fleet, "a file").unwrap();
    let address = format!("file://{}", fleet.display());
    let run = ["run", "f16.fadd", "--no-keep", "-o", &address];
    let ended = ends(host(folder.path(), "node-1").args(run));
    ended.with(0);
    assert!(ended.err.contains(&format!("warning: not sent to {address}: ")), "{}", ended.err);
    let state = folder.path().join("state");
    assert_eq!(files(&state).len(), 1);
    fs::remove_file(&fleet).unwrap();
    let ended = ends(host(folder.path(), "node-1").args(["run", "f16.fadd", "--no-keep"]));
    ended.with(0);
    assert!(ended.err.contains("sent 1 delivery that had waited"), "{}", ended.err);
    assert_eq!((files(&fleet).len(), files(&state).len()), (3, 0));
}

#[test]
fn a_gate_writes_its_answer_whatever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("answer.json");
    let gate = |output: &str| {
        let gate = ["gate", "--expect", "/nowhere", "--style", "npd", "-o", output];
        let ended = ends(host(folder.path(), "node-1").args(gate));
        ended.with(2);
        assert!(ended.out.starts_with("unknown: ") && !ended.out.contains("SECRET"));
        assert!(!ended.err.contains("SECRET"), "{}", ended.err);
    };
    gate(answer.to_str().unwrap());
    let written = json(&answer);
    let members = ["schema", "verdict", "kernels"].map(|member| written[member].clone());
    assert_eq!(members, [json!("fpprobe-gate/1"), json!("unknown"), json!(0)]);
    assert!(written["text"].as_str().unwrap().contains("/nowhere"), "{written}");
    gate(&format!("file://{}/fleet", folder.path().display()));
    let sent = files(&folder.path().join("fleet"));
    assert!(sent.len() == 1 && sent[0].starts_with("gates/2"), "{sent:?}");
    // It has nowhere to go, which is a reason like any other.
    gate("s3://SECRET@fleet/a");
}

#[test]
fn addresses_that_cannot_be_are_refused_before_anything_is_measured() {
    let refused = |arguments: &[&str]| {
        let ended = ends(fpprobe(&["mock"]).args(arguments));
        ended.with(2);
        assert!(!ended.err.contains("SECRET"), "{}", ended.err);
        ended.err
    };
    for command in ["run", "sweep", "screen"] {
        let secret = ["s3://SECRET@fleet/a", "file:///a?SECRET"];
        for address in secret {
            let error = refused(&[command, "f16.fadd", "-o", address]);
            assert!(error.contains("credentials come from the environment"), "{error}");
        }
        if cfg!(not(feature = "object-store")) {
            let error = refused(&[command, "f16.fadd", "-o", "gs://fleet/a"]);
            assert!(error.contains("gs://fleet/a: this build of fpprobe has no object"), "{error}");
        }
    }
    assert!(refused(&["inventory", "http://SECRET/a"]).contains("file, s3, gs or az"));
    let error = refused(&["inventory", "/nowhere", "-o", "file:///srv/fleet"]);
    assert!(error.contains("-o is a file here"), "{error}");
}
