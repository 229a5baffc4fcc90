//! The pages in a real browser: `tests/browser/pages.mjs` looks at them.

use std::path::Path;
use std::process::Command;

use fpprobe_reports::model::{DeviceTrait, MIXED, Report, TraitShare, TraitValue};
use fpprobe_reports::save::save;

use crate::fixture::{self, render};
use crate::{diff, inventory, stairs};

#[test]
fn pages_work_in_a_browser() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    let (old, new) = diff::update();
    let pages = [
        ("report.html", render("html", &stairs::devices())),
        ("fleet.html", render("html", &fleet())),
        ("diff.html", diff::shown(&diff::compared(&old, &new).diff, "html")),
        ("inventory.html", inventory::page()),
        ("nothing-changed.html", diff::shown(&diff::compared(&old, &old).diff, "html")),
    ];
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/pages.mjs");
    let mut looks = Command::new("node");
    looks.arg(script).arg(&folder);
    for (name, page) in pages {
        let path = folder.join(name);
        save(&path, |out| out.write_all(page.as_bytes())).unwrap();
        looks.arg(path);
    }
    let output = looks
        .output()
        .unwrap_or_else(|error| panic!("node: {error}; .ci/install test installs it"));
    let said = [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .concat();
    assert!(output.status.success(), "{said}");
}

/// Twelve devices with traits, each with a name of its own.
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
    report.devices = (0..12)
        .map(|number| {
            let mut device = device.clone();
            device.identity.name = format!("Example Graphics Accelerator {number}");
            device.identity.slot = format!("cpu:10005:0:13:{number}");
            device
        })
        .collect();
    report
}
