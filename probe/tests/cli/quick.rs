//! `run --quick`: few kernels, and those that deviated the last time.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::scene::{self, ends, fpprobe};

fn kernels(report: &Value) -> BTreeSet<String> {
    let observations = report["devices"][0]["observations"].as_array().unwrap();
    observations.iter().map(|one| one["kernel"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_quick_run_asks_the_families_and_what_deviated_in_the_last_report() {
    let folder = tempfile::tempdir().unwrap();
    let (store, first, second) =
        (folder.path().join("store"), folder.path().join("1.json"), folder.path().join("2.json"));
    let run = |arguments: &[&str], out| {
        let mut command = fpprobe(&["swiftshader"]);
        ends(command.arg("run").args(arguments).arg("--store-path").arg(&store).arg("-o").arg(out))
            .with(0);
    };
    run(&["f32.asin*", "f32.exp2"], &first);
    let failed: BTreeSet<String> = scene::json(&first)["devices"][0]["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|profile| profile["rules"].as_array().unwrap())
        .filter_map(|rule| rule["failed"].as_array())
        .flatten()
        .map(|failed| failed["kernel"].as_str().unwrap().to_owned())
        .collect();
    assert!(failed.contains("f32.exp2"), "{failed:?}");
    // Newer ones, in which nothing deviated: of another machine, and of another driver in the same
    // slot.
    for (day, place, value) in
        [(1, "/host/id", "another"), (2, "/devices/0/driver/name", "another")]
    {
        let mut other = scene::json(&first);
        other["finished"] = format!("2099-01-0{day}T00:00:00Z").into();
        other["devices"][0]["profiles"] = json!([]);
        *other.pointer_mut(place).unwrap() = value.into();
        let file = folder.path().join("other.json");
        fs::write(&file, other.to_string()).unwrap();
        ends(fpprobe(&[]).args(["history", "--store-path"]).arg(&store).arg("add").arg(&file))
            .with(0);
    }
    run(&["--quick"], &second);
    let selected = kernels(&scene::json(&second));
    assert!(failed.is_subset(&selected), "{:?}", failed.difference(&selected));
    assert!(
        ["f32.fmul", "f32.nmax", "f32.inverse_sqrt", "b10g11r11.store:route=storage_image"]
            .iter()
            .all(|id| selected.contains(*id))
    );
    assert!(!selected.contains("f32.asin"), "it did not deviate");
}

#[test]
fn a_run_that_compares_itself_finds_what_diff_finds() {
    let folder = tempfile::tempdir().unwrap();
    let [store, difference, other] =
        ["store", "difference.json", "other.json"].map(|name| folder.path().join(name));
    let stored = || -> BTreeSet<std::path::PathBuf> {
        let files = fs::read_dir(&store).unwrap().flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|end| end == "fpreport")).collect()
    };
    let run = |driver: &str, more: &[&std::ffi::OsStr]| {
        let mut command = fpprobe(&[driver]);
        ends(command.args(["run", "--quick", "--store", "--store-path"]).arg(&store).args(more))
            .with(0);
    };
    run("lavapipe-22", &[]);
    let old = stored().pop_first().unwrap();
    let more =
        ["--against".as_ref(), old.as_os_str(), "--difference".as_ref(), difference.as_os_str()];
    run("lavapipe-25", &more);
    let new = stored().into_iter().find(|file| *file != old).unwrap();
    ends(fpprobe(&[]).args(["diff", "--common"]).args([&old, &new]).arg("-o").arg(&other)).with(0);
    let found = scene::json(&difference);
    let changes = found["devices"][0]["changes"].as_array().unwrap();
    assert!(changes.iter().any(|change| change["subject"] == "kernel"), "{found}");
    assert_eq!(found, scene::json(&other));
}

#[test]
fn a_quick_run_takes_no_filter_and_requires_nothing() {
    for arguments in [
        &["--quick", "f32.fadd"][..],
        &["--quick", "--require", "d3d11"],
        &["--quick", "--exhaustive"],
    ] {
        let ended = ends(fpprobe(&["swiftshader"]).arg("run").args(arguments));
        ended.with(2);
        assert!(ended.err.contains("--quick"), "{}", ended.err);
    }
}

#[test]
fn what_both_were_asked_is_compared_as_if_nothing_else_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small.json"), folder.path().join("large.json"));
    for (filter, out) in [(&["f32.f*"][..], &small), (&["f32.*"], &large)] {
        ends(fpprobe(&["swiftshader"]).arg("run").args(filter).arg("-o").arg(out)).with(0);
    }
    let diff = |arguments: &[&str]| {
        ends(
            fpprobe(&[])
                .arg("diff")
                .args(arguments)
                .arg(&large)
                .arg(&small)
                .args(["--format", "json"]),
        )
        .document(0)
    };
    let kinds = |diff: &Value| -> BTreeSet<String> {
        let changes = diff["devices"][0]["changes"].as_array().unwrap().iter();
        let kernels = changes.filter(|change| change["subject"] == "kernel");
        kernels.map(|kernel| kernel["kind"].as_str().unwrap().to_owned()).collect()
    };
    let (all, common) = (diff(&[]), diff(&["--common"]));
    assert!(kinds(&all).contains("disappeared"), "{:?}", kinds(&all));
    // Which NaN an operation gives depends on the module around it.
    assert!(kinds(&common).iter().all(|kind| kind == "nan_bits"), "{:?}", kinds(&common));
    let changes = common["devices"][0]["changes"].as_array().unwrap();
    assert!(
        !changes.iter().any(|change| change["subject"] == "rule" || change["subject"] == "class"),
        "{changes:?}"
    );
}

#[test]
fn verdicts_stay_where_only_controls_were_asked_beside_what_both_were() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, under) = (folder.path().join("plain.json"), folder.path().join("under.json"));
    for (filter, out) in
        [(&["f32.fadd"][..], &plain), (&["f32.fadd", "f32.fadd:controls=szin32"], &under)]
    {
        ends(fpprobe(&["swiftshader"]).arg("run").args(filter).arg("-o").arg(out)).with(0);
    }
    // A verdict that nobody would come to: it can but be the report's own.
    let mut report = scene::json(&under);
    let rule = report["devices"][0]["profiles"][0]["rules"].as_array_mut().unwrap();
    let rule = rule.iter_mut().find(|rule| rule["verdict"] == "incomplete").unwrap();
    (rule["verdict"], rule["behaviour"]) = ("depends".into(), "of its own".into());
    fs::write(&under, report.to_string()).unwrap();
    let mut diff = fpprobe(&[]);
    let diff = diff.args(["diff", "--common"]).arg(&plain).arg(&under).args(["--format", "json"]);
    let diff = ends(diff).document(0);
    let changes = diff["devices"][0]["changes"].as_array().unwrap();
    let is_own =
        |change: &Value| change["new"].as_str().is_some_and(|new| new.contains("of its own"));
    assert!(
        changes.iter().any(|change| change["subject"] == "rule" && is_own(change)),
        "{changes:?}"
    );
    assert!(changes.iter().all(|change| change["subject"] != "kernel"), "{diff}");
}

#[test]
fn a_quick_run_is_as_accepted_where_the_default_run_of_the_same_driver_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &[String], store: &str, report: &str| {
        let mut command = fpprobe(&["lavapipe-25"]);
        command.arg("run").args(arguments).arg("--store-path").arg(path(store));
        ends(command.arg("-o").arg(path(report))).with(0);
        scene::json(&path(report))
    };
    let accept = |report: &str, out: &str, arguments: &[&str]| {
        let mut command = fpprobe(&[]);
        command
            .args(["baseline", "accept", "--reason", "known", "-o"])
            .arg(path(out))
            .arg(path(report));
        ends(command.args(arguments)).with(0);
    };
    let check = |report: &str, baseline: &str| {
        let mut command = fpprobe(&[]);
        ends(command.args(["check", "--baseline"]).arg(path(baseline)).arg(path(report)))
    };
    // What a quick run asks, and variants of it, by their whole lists: some fail on more cases than
    // a baseline lists one by one.
    let quick = ["--quick".to_owned()];
    let mut selected: Vec<String> =
        kernels(&run(&quick, "new", "quick-new.json")).into_iter().collect();
    selected.extend(["f32.mul_then_add:*", "f16.sqrt:*"].map(str::to_owned));
    run(&selected, "known", "default.json");
    accept("default.json", "accepted.toml", &[]);
    assert!(fs::read_to_string(path("accepted.toml")).unwrap().contains(" short "));
    // The one knows what deviated before, the other does not.
    run(&quick, "known", "quick-known.json");
    for report in ["quick-new.json", "quick-known.json"] {
        let checked = check(report, "accepted.toml");
        let line = checked.with(0).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            line.contains("passed: nothing new") && line.contains("kernels compared"),
            "{report}: {}",
            checked.out
        );
        // What a quick run did not measure stays accepted, whatever is pruned.
        fs::copy(path("accepted.toml"), path("pruned.toml")).unwrap();
        accept(report, "pruned.toml", &["--prune"]);
        let again = check("default.json", "pruned.toml");
        assert!(again.with(0).contains("passed: nothing new"), "{report}: {}", again.out);
        let strict = ["check", "--strict", "--baseline"];
        ends(fpprobe(&[]).args(strict).arg(path("pruned.toml")).arg(path("default.json"))).with(0);
    }
}
