//! Fleets of hosts in folders: what differs is found and named, and nothing hides anything else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::inventory::{Found, FoundError, INVENTORIES, Inventory, SharedBehaviour};
use fpprobe_reports::record::Recorder;
use fpprobe_reports::render::{Detail, Style};
use fpprobe_reports::{Report, files};
use serde_json::json;

use crate::fixture::{NASTY, observation, report, without_answers};

/// 2026-11-20, when the fixture was measured.
const MEASURED: u64 = 1_795_132_800;
const DAY: u64 = 86_400;
const KERNELS: [&str; 4] = ["f32.fadd", "f32.fmul", "f32.sqrt", "f32.fmin"];

fn results() -> Vec<Observation> {
    KERNELS.iter().map(|kernel| observation(kernel, 0)).collect()
}

/// A report of one device.
fn host(label: &str, model: &str, results: &[Observation]) -> Report {
    let (mut report, mut recorder) = (report(), Recorder::new());
    report.host.label = label.into();
    report.devices.truncate(1);
    report.devices[0].identity.name = model.into();
    report.devices[0].observations = recorder.device(results);
    report.inputs = recorder.inputs_table();
    report
}

fn write(folder: &Path, report: &Report) -> PathBuf {
    let path = folder.join(format!("{}.json", report.host.label));
    fs::write(&path, serde_json::to_vec(report).unwrap()).unwrap();
    path
}

fn inventory(folder: &Path) -> Inventory {
    Inventory::of(
        report().program,
        &Found::in_places(&[folder.to_owned()]).unwrap(),
        MEASURED - 10 * DAY,
        None,
    )
}

fn render(format: &str, inventory: &Inventory) -> String {
    let form = INVENTORIES.iter().find(|form| form.name == format).unwrap();
    let mut out = Vec::new();
    form.renderer
        .render(inventory, Style { colour: false, width: 100, detail: Detail::All }, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// Changes one bit of the first result of the first kernel.
fn one_wrong_bit() -> Vec<Observation> {
    let mut results = results();
    let mut out = results[0].out.to_vec();
    out[1] ^= 1;
    results[0].out = out.into();
    results
}

/// The page of a few hosts, of which one computes otherwise, one has another driver and one has a
/// name that attacks.
pub fn page() -> String {
    let folder = tempfile::tempdir().unwrap();
    for label in ["a", "b", "c", "d"] {
        let results = if label == "c" { one_wrong_bit() } else { results() };
        write(folder.path(), &host(label, "Example GPU", &results));
    }
    let mut other = host("e", "Example GPU", &results());
    other.devices[0].identity.driver.info = "26.0".into();
    write(folder.path(), &other);
    let mut hostile = host("f", NASTY, &results());
    hostile.devices[0].identity.driver.name = NASTY.into();
    write(folder.path(), &hostile);
    render("html", &inventory(folder.path()))
}

/// The page of hosts with these names and reports.
pub fn page_of(hosts: &[(String, Report)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (label, report) in hosts {
        let mut report = report.clone();
        report.host.label.clone_from(label);
        report.host.id.clone_from(label);
        write(folder.path(), &report);
    }
    render("html", &inventory(folder.path()))
}

#[test]
fn in_a_fleet_each_host_that_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for model in 0..5 {
        let rack = folder.path().join(format!("rack{model}"));
        fs::create_dir(&rack).unwrap();
        for number in 0..200 {
            let label = format!("node-{model}-{number:03}");
            let results = if (model, number) == (2, 77) { one_wrong_bit() } else { results() };
            let mut report = host(&label, &format!("Example GPU {model}"), &results);
            match (model, number) {
                (3, 14) => report.devices[0].identity.driver.info = "26.0 (another)".into(),
                (4, 1) => "2026-08-01T00:00:00Z".clone_into(&mut report.finished),
                _ => {}
            }
            write(&rack, &report);
        }
    }
    let broken = ["cut.json", "foreign.json", "newer.json"].map(|name| folder.path().join(name));
    fs::write(&broken[0], "{\"schema\": \"fpprobe-report/1\", \"pro").unwrap();
    fs::write(&broken[1], "{}").unwrap();
    fs::write(&broken[2], "{\"schema\": \"fpprobe-report/9\"}").unwrap();
    // Another document of this program does not count as missing.
    fs::write(folder.path().join("diff.json"), "{\"schema\": \"fpprobe-diff/1\"}").unwrap();

    let inventory = inventory(folder.path());
    assert_eq!((inventory.reports, inventory.hosts, inventory.devices), (1000, 1000, 1000));
    assert_eq!((inventory.groups.len(), inventory.minorities().count()), (6, 1));
    let (group, minority) = inventory.minorities().next().unwrap();
    assert_eq!(
        (&*group.model, group.devices, group.compared),
        ("Example GPU 2", 200, KERNELS.len())
    );
    assert_eq!(
        minority.devices.iter().map(|device| &*device.host).collect::<Vec<_>>(),
        ["node-2-077"]
    );
    // The minority has no say in what is expected of its model; a model of one device has no
    // consensus.
    let expected = Found::in_places(&[folder.path().to_owned()])
        .unwrap()
        .consensus(&report().program.version, &|_| true);
    let model = |number: usize| {
        &expected
            .devices
            .iter()
            .find(|one| one.model.name == format!("Example GPU {number}"))
            .unwrap()
            .kernels
    };
    assert_eq!((expected.devices.len(), model(2), model(2).len()), (5, model(1), KERNELS.len()));
    let other =
        Found::in_places(&[folder.path().to_owned()]).unwrap().consensus("another", &|_| true);
    assert_eq!(other.devices, [], "reports of another version");
    let [difference] = &minority.differences[..] else { panic!("{:?}", minority.differences) };
    let lane = difference.lane.as_ref().unwrap();
    assert_eq!((&*difference.kernel, difference.most, lane.cases), ("f32.fadd", 199, 1));
    assert_ne!(lane.out, lane.most);
    let [update] = &inventory.updates[..] else { panic!("{:?}", inventory.updates) };
    assert_eq!(update.few.values().flatten().collect::<Vec<_>>(), ["node-3-014"]);
    let [outdated] = &inventory.outdated[..] else { panic!("{:?}", inventory.outdated) };
    assert_eq!(outdated.host, "node-4-001");
    let unreadable: Vec<&str> = inventory.unreadable.iter().map(|one| &*one.file).collect();
    assert_eq!(unreadable, broken.each_ref().map(|path| path.to_str().unwrap()));

    let text = render("text", &inventory);
    assert!(
        text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(
        text.lines().nth(2).unwrap().starts_with("1 of 200 differs from its equals: node-2-077"),
        "{text}"
    );
    for part in
        ["f32.fadd(", "1 case differs", "node-3-014", "node-4-001", "newer.json", "foreign.json"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let csv = render("csv", &inventory);
    assert_eq!(csv.lines().count(), 1001);
    let row = csv.lines().find(|line| line.starts_with("node-2-077,")).unwrap();
    assert!(row.contains(",2,yes,f32.fadd,"), "{row}");
    let page = render("html", &inventory);
    assert!(page.len() < 60_000 && !page.contains("<script"), "{} bytes", page.len());
    for part in
        ["1 of 200 differs from its equals: node-2-077", "node-3-014", "node-4-001", "cut.json"]
    {
        assert!(page.contains(part), "{part}");
    }
    let document: serde_json::Value = serde_json::from_str(&render("json", &inventory)).unwrap();
    assert_eq!(document["schema"], "fpprobe-inventory/1");
    // Where lines with paths break depends on the folder.
    insta::assert_snapshot!(text.split("3 files unreadable").next().unwrap());
}

#[test]
fn the_newest_report_of_a_device_counts() {
    let folder = tempfile::tempdir().unwrap();
    for (label, day, results) in [("old", 10, one_wrong_bit()), ("new", 20, results())] {
        let mut report = host(label, "Example GPU", &results);
        report.finished = format!("2026-11-{day}T00:00:00Z");
        let path = write(folder.path(), &report);
        // The same host, measured twice.
        let text = fs::read_to_string(&path)
            .unwrap()
            .replace(&format!("\"label\":\"{label}\""), "\"label\":\"one\"");
        fs::write(&path, text).unwrap();
    }
    write(folder.path(), &host("two", "Example GPU", &results()));
    let found = Found::in_places(&[folder.path().to_owned()]).unwrap();
    let with = |since| Inventory::of(report().program, &found, 0, since);
    let whole = with(None);
    assert_eq!(
        (whole.reports, whole.devices, whole.minorities().count(), whole.changed),
        (3, 2, 0, None)
    );
    // 2026-11-15
    let changed = with(Some(MEASURED - 5 * DAY)).changed.unwrap();
    let [changed] = &changed[..] else { panic!("{changed:?}") };
    assert_eq!((&*changed.host, &changed.kernels), ("one", &vec!["f32.fadd".to_owned()]));
    assert_eq!(with(Some(MEASURED + 5 * DAY)).changed, Some(Vec::new()));
}

#[test]
fn nan_bits_are_no_difference_and_what_did_not_run_is() {
    let folder = tempfile::tempdir().unwrap();
    let with_nan = |bits: u64| {
        let mut results = results();
        let mut out = results[1].out.to_vec();
        out[0] = bits;
        results[1].out = out.into();
        results
    };
    for (label, bits) in [("a", 0x7fc0_0000), ("b", 0xffc0_0001), ("c", 0x7fc0_0000)] {
        write(folder.path(), &host(label, "Example GPU", &with_nan(bits)));
    }
    let mut lost = with_nan(0x7fc0_0000);
    lost[3] = without_answers(KERNELS[3], Outcome::DeviceLost, "lost");
    write(folder.path(), &host("d", "Example GPU", &lost));
    // What only one measured is compared with nothing.
    let mut more = with_nan(0x7fc0_0000);
    more.push(observation("f32.exp2", 5));
    write(folder.path(), &host("e", "Example GPU", &more));
    let inventory = inventory(folder.path());
    let [group] = &inventory.groups[..] else { panic!("{:?}", inventory.groups) };
    assert_eq!((group.devices, group.compared, group.nan_bits), (5, KERNELS.len(), 1));
    let minorities: Vec<_> = inventory.minorities().map(|(_, one)| one).collect();
    let [minority] = minorities[..] else { panic!("{minorities:?}") };
    assert_eq!(minority.devices[0].host, "d");
    assert_eq!(minority.differences[0].outcomes, Some(["devicelost".into(), "ran".into()]));
    // Results that differ from run to run are no results.
    let mut flaky = with_nan(0x7fc0_0000);
    let second: Arc<[u64]> = flaky[2].out.iter().map(|bits| bits ^ 1).collect();
    flaky[2] = Observation { outcome: Outcome::Flaky, second: Some(second), ..flaky[2].clone() };
    write(folder.path(), &host("d", "Example GPU", &flaky));
    let inventory = self::inventory(folder.path());
    let (_, minority) = inventory.minorities().next().unwrap();
    assert_eq!((&*minority.devices[0].host, &*minority.differences[0].kernel), ("d", KERNELS[2]));
}

#[test]
fn each_kernel_counts_among_the_devices_that_ran_it() {
    let folder = tempfile::tempdir().unwrap();
    // Of ten devices two ran a kernel, and disagree: neither is a minority.
    for number in 0..10 {
        let mut results = results();
        if number < 2 {
            results.push(observation("f32.exp2", number));
        }
        write(folder.path(), &host(&number.to_string(), "Example GPU", &results));
    }
    let tied = inventory(folder.path());
    assert_eq!((tied.groups[0].behaviours.len(), tied.minorities().count()), (2, 0));
    // Each of three differs in another kernel: beside each stands the result of the two others.
    let folder = tempfile::tempdir().unwrap();
    for (number, kernel) in KERNELS.iter().take(3).enumerate() {
        let mut results = results();
        results[number] = observation(kernel, 4);
        write(folder.path(), &host(&number.to_string(), "Example GPU", &results));
    }
    let inventory = inventory(folder.path());
    assert_eq!(inventory.minorities().count(), 3);
    for (_, minority) in inventory.minorities() {
        let lane = minority.differences[0].lane.as_ref().unwrap();
        assert_eq!((minority.differences.len(), minority.differences[0].most), (1, 2));
        assert_ne!(lane.out, lane.most);
    }
}

#[test]
fn what_cannot_be_read_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = Found::in_places(std::slice::from_ref(&missing)).unwrap_err();
    assert!(error.to_string().contains("missing: No such file"), "{error}");
    assert!(matches!(
        Found::in_places(&[folder.path().to_owned()]),
        Err(FoundError::Nothing { .. })
    ));
    fs::write(folder.path().join("a.json"), json!({ "schema": NASTY }).to_string()).unwrap();
    let mut hostile = host("b", NASTY, &results());
    hostile.devices[0].identity.driver.name = NASTY.into();
    hostile.host.tags.insert(NASTY.into(), NASTY.into());
    write(folder.path(), &hostile);
    let inventory = inventory(folder.path());
    assert_eq!((inventory.reports, inventory.unreadable.len()), (1, 1));
    for format in ["text", "csv", "html"] {
        let text = render(format, &inventory);
        assert!(
            !text.contains(['\u{1b}', '\u{202e}'])
                && (format != "html" || !text.contains("<script")),
            "{text}"
        );
    }
}

#[test]
fn equal_results_of_several_hosts_are_one_and_each_file_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let place = |label: &str| folder.path().join(label);
    let written = |label: &str, results: &[Observation]| {
        fs::create_dir(place(label)).unwrap();
        let report = host(label, "Example GPU", results);
        files::write(&report, &place(label).join("report.json"), true).unwrap();
    };
    let results_of = |label: &str| place(label).join("observations.parquet");
    for label in ["a", "b", "c", "lost", "taken"] {
        written(label, &results());
    }
    written("wrong", &one_wrong_bit());
    // Of equal hosts one has lost its results, and one has another's.
    fs::remove_file(results_of("lost")).unwrap();
    fs::copy(results_of("wrong"), results_of("taken")).unwrap();
    let inventory = inventory(folder.path());
    assert_eq!((inventory.devices, inventory.unreadable.len()), (4, 2), "{inventory:?}");
    for (file, label) in inventory.unreadable.iter().zip(["lost", "taken"]) {
        assert!(Path::new(&file.file).starts_with(place(label)), "{file:?}");
    }
    let [group] = &inventory.groups[..] else { panic!("{:?}", inventory.groups) };
    let hosts = |behaviour: &SharedBehaviour| -> Vec<String> {
        behaviour.devices.iter().map(|device| device.host.clone()).collect()
    };
    assert_eq!(hosts(&group.behaviours[0]), ["a", "b", "c"]);
    assert_eq!(hosts(&group.behaviours[1]), ["wrong"]);
    assert!(group.behaviours[0].devices.iter().all(|one| !one.classes.is_empty()));
}

#[test]
fn devices_of_one_key_keep_their_own_results() {
    let folder = tempfile::tempdir().unwrap();
    for label in ["first", "again"] {
        let mut report = host(label, "Example GPU", &results());
        let mut other = report.devices[0].clone();
        other.identity.slot = "other slot".into();
        let mut recorder = Recorder::new();
        report.devices[0].observations = recorder.device(&results());
        other.observations = recorder.device(&one_wrong_bit());
        report.inputs = recorder.inputs_table();
        report.devices.push(other);
        // Of version 1, which holds its results itself: a table knows devices by their keys.
        write(folder.path(), &report);
    }
    let inventory = inventory(folder.path());
    assert_eq!((inventory.devices, inventory.unreadable.len()), (4, 0), "{inventory:?}");
    let [group] = &inventory.groups[..] else { panic!("{:?}", inventory.groups) };
    let slots = |behaviour: &SharedBehaviour| -> Vec<String> {
        behaviour.devices.iter().map(|device| device.slot.clone()).collect()
    };
    let [one, other] = &group.behaviours[..] else { panic!("{:?}", group.behaviours) };
    assert_eq!([slots(one), slots(other)].concat().len(), 4);
    for behaviour in [one, other] {
        let slots = slots(behaviour);
        assert_eq!(slots[0], slots[1], "{:?}", group.behaviours);
    }
}
