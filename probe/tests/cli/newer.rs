//! lavapipe of Debian 13. It needs a newer C library than Debian 12 has, which lies beside it, and
//! so a copy of the program that starts with that library.

use std::process::Command;

use serde_json::Value;

use crate::scene::{NEWER, default_report, ends, fpprobe, json};

#[test]
fn a_driver_with_a_c_library_of_its_own_is_measured_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let quick = |command: &mut Command, name: &str| {
        let place = folder.path().join(name);
        ends(command.args(["--set", "workers.timeout=60", "run", "--quick", "-o"]).arg(&place))
            .with(0);
        place.join("report.json")
    };
    let before = quick(&mut fpprobe(&["lavapipe-25"]), "old/");
    let now = quick(&mut fpprobe(&[NEWER]), "new/");
    let report = json(&now);
    let device = &report["devices"][0];
    println!("{}", device["driver"]["info"]);
    // A slow machine leaves kernels out of a quick run; none may crash, hang or be refused.
    let incidents = |of: &Value| of["incomplete"].as_array().unwrap().clone();
    let ended = [incidents(&report), incidents(device)]
        .concat()
        .into_iter()
        .find(|one| !one["outcome"].is_null());
    assert_eq!(ended, None);
    // Since 25.0, f32 arithmetic flushes subnormals as D3D wants.
    let screen = ends(fpprobe(&[]).env("COLUMNS", "100").arg("diff").args([&before, &now]));
    assert!(screen.with(0).contains("FIXED   keeps f32 subnormals"), "{}", screen.out);
    assert!(screen.out.lines().count() <= 40, "{}", screen.out);
}

/// What is known to have changed from Mesa 22.3.6 to 25.0.7 is shown, on one screen, as far as this
/// processor shows it: f16 conversions are the processor's, and without them there is no f16.
#[test]
fn an_update_is_shown_on_one_screen() {
    let reports = ["lavapipe-22", "lavapipe-25"].map(default_report);
    let diff = |arguments: &[&str]| {
        let ended =
            ends(fpprobe(&[]).env("COLUMNS", "100").arg("diff").args(reports).args(arguments));
        ended.with(0).to_owned()
    };
    let text = diff(&[]);
    println!("{text}");
    assert!(
        text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let changes: Value = serde_json::from_str(&diff(&["--format", "json"])).unwrap();
    let changed: Vec<&str> = changes["devices"][0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|change| change["subject"] == "kernel" && !change["lanes"].is_null())
        .filter_map(|change| change["id"].as_str()?.split([':', '.']).nth(1))
        .collect();
    let known = [
        ("modf", "modf "),
        ("atan", "atan "),
        ("quantize_to_f16", "quantize_to_f16"),
        ("fconvert_f16", "fconvert_f16"),
        ("convert_f_to_u", "f32.to_u32_of_negative"),
    ];
    let shown: Vec<&str> =
        known.iter().filter(|(op, _)| changed.contains(op)).map(|(_, words)| *words).collect();
    assert!(shown.len() > 2, "{shown:?}");
    for words in shown {
        assert!(text.contains(words), "{words}: {text}");
    }
    // The gate fits a screen and a comment, too.
    let folder = tempfile::tempdir().unwrap();
    let accepted = folder.path().join("accepted.toml");
    let mut accept = fpprobe(&[]);
    accept.args(["baseline", "accept", "--reason", "known", "-o"]).arg(&accepted).arg(reports[0]);
    ends(&mut accept).with(0);
    // Without conversions to f16, what deviates is where only the newer driver measures.
    let heading = if changed.contains(&"fconvert_f16") { "Not accepted" } else { "Deviating in" };
    for (arguments, most) in [(&[][..], 25), (&["--format", "md"], 60)] {
        let mut check = fpprobe(&[]);
        check
            .env("COLUMNS", "100")
            .args(["check", "--baseline"])
            .arg(&accepted)
            .arg(reports[1])
            .args(arguments);
        let ended = ends(&mut check);
        assert!(
            ended.with(3).lines().count() <= most && ended.out.contains(heading),
            "{}",
            ended.out
        );
    }
}
