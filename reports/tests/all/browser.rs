//! The pages in a real browser: `tests/browser/pages.mjs` looks at them.

use std::path::Path;
use std::process::Command;

use fpprobe_reports::load;
use fpprobe_reports::model::{DeviceTrait, MIXED, Report, TraitShare, TraitValue};
use fpprobe_reports::save::save;

use crate::fixture::{self, render};
use crate::{diff, inventory, stairs, sweep};

#[test]
fn pages_work_in_a_browser() {
    let (old, new) = diff::update();
    let pages = [
        ("report", render("html", &stairs::devices())),
        ("fleet", render("html", &renamed(&fleet()))),
        ("diff", diff::shown(&diff::compared(&old, &new).diff, "html")),
        ("inventory", inventory::page()),
        ("nothing-changed", diff::shown(&diff::compared(&old, &old).diff, "html")),
        ("sweep", sweep::page()),
    ];
    look_at("pages", &pages, &[]);
}

/// The report that `make test-pages` measures: a default run on several drivers.
#[test]
#[ignore = "needs a report of several drivers: make test-pages"]
fn pages_of_a_default_run_work_in_a_browser() {
    let path = std::env::var("FPPROBE_REPORT").expect("FPPROBE_REPORT names a report.json");
    let report = load::load(Path::new(&path)).unwrap();
    let of = |numbers: &[usize]| Report {
        devices: numbers.iter().map(|number| report.devices[*number].clone()).collect(),
        ..report.clone()
    };
    let alone: Vec<(String, Report)> = (0..report.devices.len())
        .map(|number| (format!("device-{number}"), of(&[number])))
        .collect();
    let bounded: Vec<(&str, String)> =
        alone.iter().map(|(name, report)| (name.as_str(), render("html", report))).collect();
    let twelve: Vec<usize> = (0..report.devices.len()).cycle().take(12).collect();
    let changes = diff::compared(&alone[0].1, &alone[1].1);
    let pages = [
        ("three", render("html", &of(&[0, 1, 2]))),
        ("twelve", render("html", &renamed(&of(&twelve)))),
        ("changes", diff::shown(&changes.diff, "html")),
        ("hosts", inventory::page_of(&alone)),
    ];
    look_at("default-run", &pages, &bounded);
}

/// Looks at pages by name; `bounded` ones have to be small and print on few sheets.
fn look_at(folder: &str, pages: &[(&str, String)], bounded: &[(&str, String)]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let written = |(name, page): &(&str, String)| {
        let path = folder.join(format!("{name}.html"));
        save(&path, |out| out.write_all(page.as_bytes())).unwrap();
        path
    };
    let mut looks = Command::new("node");
    looks.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/pages.mjs")).arg(&folder);
    looks.args(pages.iter().map(written)).arg("--bounded").args(bounded.iter().map(written));
    let output = looks
        .output()
        .unwrap_or_else(|error| panic!("node: {error}; .ci/install test installs it"));
    let said = [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .concat();
    println!("{said}");
    assert!(output.status.success(), "{said}");
}

/// Twelve devices with traits.
fn fleet() -> Report {
    let mut report = fixture::report();
    let share = |value: &str, lanes| TraitShare {
        value: value.into(),
        lanes,
        kernels: vec!["f32.fadd".into()],
        place: String::new(),
        example: None,
        words: String::new(),
    };
    let mixed = TraitValue {
        value: MIXED.into(),
        lanes: 100,
        shares: vec![share("kept", 96), share("flushed", 4)],
        evidence: Vec::new(),
    };
    let kept = TraitValue { value: "kept".into(), shares: Vec::new(), ..mixed.clone() };
    let one = |id: &str, constants| DeviceTrait {
        id: id.into(),
        run_time: Some(mixed.clone()),
        constants,
    };
    let mut device = report.devices.remove(0);
    device.traits = vec![
        one("f32.subnormal_operands", Some(kept)),
        one("f16.subnormal_operands", None),
        one("constants_agree", None),
    ];
    report.devices = vec![device; 12];
    report
}

/// The report with a name and a slot of its own for each device.
fn renamed(report: &Report) -> Report {
    let mut report = report.clone();
    for (number, device) in report.devices.iter_mut().enumerate() {
        device.identity.name = format!("Example Graphics Accelerator {number}");
        device.identity.slot = format!("cpu:10005:0:13:{number}");
    }
    report
}
