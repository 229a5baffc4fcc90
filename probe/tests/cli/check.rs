//! The gate on real drivers: from a first run to red, to accepted, to a driver that does better.

use std::path::{Path, PathBuf};

use crate::scene::{Ended, ends, fpprobe, json};

/// One rule, that 32-bit multiplication flushes subnormals: neither lavapipe does so.
const PROFILE: &str = r#"
id = "flushes"
title = "Multiplication flushes subnormals"
version = "1"
ulp = "vulkan"
[environment.f32]
subnormal_inputs = "flush"
subnormal_results = "flush"
flushed_sign = "either"
zero_sign = "either"
nan_operand = "any"
invalid = "any"
pole_nan = false
nan_bits = "free"
overflow = "either"
integer = "any"
non_finite = "any"
[operation.mul]
lowerings = ["fmul"]
accuracy.f32 = "nearest even"
[[rule]]
id = "F-01"
title = "Subnormal operands and results are zero"
citation = "this test"
format = "f32"
operations = ["mul"]
lanes = { any = ["subnormal"], none = ["nan", "infinite"] }
"#;

/// The one kernel that the rule looks at.
const KERNEL: &str = "f32.fmul";

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        std::fs::write(scene.path("flushes.toml"), PROFILE).unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, driver: &str) -> PathBuf {
        let report = self.path(&format!("{driver}.json"));
        let profile = self.path("flushes.toml");
        ends(
            fpprobe(&[driver])
                .args(["run", KERNEL, "--profile"])
                .arg(profile)
                .arg("-o")
                .arg(&report),
        )
        .with(0);
        report
    }

    fn accept(&self, report: &Path, arguments: &[&str]) -> Ended {
        let mut command = fpprobe(&[]);
        command.args(["baseline", "accept"]).arg(report).arg("-o").arg(self.path("accepted.toml"));
        ends(command.args(["--reason", "lavapipe keeps subnormals"]).args(arguments))
    }

    fn check(&self, arguments: &[&str], report: Option<&Path>) -> Ended {
        let drivers: &[&str] = if report.is_none() { &["lavapipe-25"] } else { &[] };
        let mut command = fpprobe(drivers);
        command
            .arg("check")
            .arg("--baseline")
            .arg(self.path("accepted.toml"))
            .args(arguments)
            .args(report);
        ends(&mut command)
    }
}

#[test]
fn from_a_first_run_to_a_red_gate_to_an_accepted_deviation() {
    let scene = Scene::new();
    let report = scene.run("lavapipe-25");
    std::fs::write(scene.path("accepted.toml"), "schema = \"fpprobe-baseline/1\"\n").unwrap();
    let red = scene.check(&[], Some(&report));
    assert!(red.with(3).contains("F-01") && red.out.lines().count() <= 25, "{}", red.out);
    let whole = scene.check(&["--verbose"], Some(&report));
    assert!(whole.with(3).contains("fpprobe eval f32.fmul"), "{}", whole.out);
    scene.accept(&report, &["--link", "https://example.org/1"]).with(0);
    let text = std::fs::read_to_string(scene.path("accepted.toml")).unwrap();
    assert!(
        text.contains("headline = \"")
            && text.contains("[accept.lanes]\n\"flushes\" = [")
            && text.contains("reason = \"lavapipe keeps subnormals\""),
        "{text}"
    );
    assert!(
        scene
            .check(&[], Some(&report))
            .with(0)
            .contains("passed: nothing new, 1 deviation accepted")
    );
    // What is measured now is no other.
    let profile = scene.path("flushes.toml");
    let measured = ["--kernel", KERNEL, "--profile", profile.to_str().unwrap()];
    scene.check(&measured, None).with(0);
    // What is accepted in profiles that do not count is not missed.
    let path = scene.path("accepted.toml");
    let more = text.replace("schema = \"fpprobe-baseline/2\"\n", "");
    let more = more
        .replace("\n\"flushes\" = [", "\n\"other-flushes\" = [")
        .replace("cause = \"", "cause = \"0");
    std::fs::write(&path, format!("{text}{more}")).unwrap();
    scene.check(&["--strict"], Some(&report)).with(3);
    scene.check(&["--strict", "--profile", "flushes"], Some(&report)).with(0);
    scene.check(&[&measured[..], &["--strict"]].concat(), None).with(0);
    std::fs::write(&path, &text).unwrap();
    // Nor is the older driver: the same bits.
    scene.check(&[], Some(&scene.run("lavapipe-22"))).with(0);
    // The file says the same when it is written again.
    scene.accept(&report, &[]).with(0);
    assert_eq!(std::fs::read_to_string(scene.path("accepted.toml")).unwrap(), text);
}

#[test]
fn conditions_close_the_gate_again() {
    let scene = Scene::new();
    let report = scene.run("lavapipe-25");
    scene.accept(&report, &["--versions", ">=25.0, <26", "--this-driver"]).with(0);
    scene.check(&[], Some(&report)).with(0);
    let older = scene.check(&[], Some(&scene.run("lavapipe-22")));
    assert!(older.with(3).contains("and this is 22.3.6"), "{}", older.out);
    std::fs::remove_file(scene.path("accepted.toml")).unwrap();
    scene.accept(&report, &["--expires", "2090-01-01"]).with(0);
    let text = std::fs::read_to_string(scene.path("accepted.toml")).unwrap();
    std::fs::write(scene.path("accepted.toml"), text.replace("2090-01-01", "2020-01-01")).unwrap();
    assert!(scene.check(&[], Some(&report)).with(3).contains("expired on 2020-01-01"));
    // What cannot be meant leaves the file as it is.
    let before = std::fs::read_to_string(scene.path("accepted.toml")).unwrap();
    for wrong in [
        ["--expires", "2020-01-01"],
        ["--link", "#12"],
        ["--versions", ">=26, <25"],
        ["--rule", "F-02"],
    ] {
        scene.accept(&report, &wrong).with(2);
        assert_eq!(
            std::fs::read_to_string(scene.path("accepted.toml")).unwrap(),
            before,
            "{wrong:?}"
        );
    }
    let wrong = scene.accept(&report, &["--expires", "soon"]);
    wrong.with(2);
    assert!(wrong.err.contains("2027-03-31"), "{}", wrong.err);
    std::fs::write(scene.path("accepted.toml"), "schema = \"fpprobe-baseline/1\"\n[[accpet]]\n")
        .unwrap();
    let misspelt = scene.check(&[], Some(&report));
    misspelt.with(2);
    assert!(
        misspelt.err.contains("accepted.toml:2: ")
            && misspelt.err.contains("did you mean `accept`?"),
        "{}",
        misspelt.err
    );
}

#[test]
fn ci_systems_get_junit() {
    let scene = Scene::new();
    let report = scene.run("lavapipe-25");
    let file = scene.path("junit.xml");
    ends(
        fpprobe(&[])
            .arg("judge")
            .arg(&report)
            .arg("--profile")
            .arg(scene.path("flushes.toml"))
            .arg("-o")
            .arg(&file),
    )
    .with(0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("failures=\"1\"") && text.contains("<property name=\"driver.info\""),
        "{text}"
    );
    scene.accept(&report, &[]).with(0);
    let checked = scene.check(&["--format", "junit"], Some(&report));
    assert!(
        checked.with(0).contains("failures=\"0\"")
            && checked.out.contains("accepted: lavapipe keeps subnormals")
    );
}

#[test]
fn a_report_of_nothing_opens_no_gate() {
    let scene = Scene::new();
    let report = scene.run("lavapipe-25");
    scene.accept(&report, &[]).with(0);
    // A folder stands for the report in it.
    let folder = scene.path("one");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(&report, folder.join("report.json")).unwrap();
    let results = report.with_extension("parquet");
    std::fs::copy(&results, folder.join(results.file_name().unwrap())).unwrap();
    scene.check(&[], Some(&folder)).with(0);
    let mut document = json(&report);
    let write = |name: &str, document: &serde_json::Value| {
        std::fs::write(scene.path(name), document.to_string()).unwrap();
        scene.path(name)
    };
    document["devices"][0]["taint"] = serde_json::json!(["VK_LAYER_x"]);
    let tainted = write("tainted.json", &document);
    let refused = scene.check(&[], Some(&tainted));
    refused.with(2);
    assert!(refused.err.contains("--allow-tainted"), "{}", refused.err);
    scene.check(&["--allow-tainted"], Some(&tainted)).with(0);
    document["devices"] = serde_json::json!([]);
    let nothing = scene.check(&[], Some(&write("nothing.json", &document)));
    assert!(!nothing.with(4).contains("passed"), "{}", nothing.out);
}

/// Rules that Mesa 25 meets less than Mesa 22, each with what its kernels have in common: it rounds
/// twice on the way from 64 to 16 bits, and it offers `FPFastMathDefault`, which Mesa 22 does not.
const WORSE: [(&str, &str); 4] = [
    ("V-rte", "f64.fconvert_f16:"),
    ("V-rte-overflow-convert", "f64.fconvert_f16:"),
    ("V-strict-move", "fastmath0"),
    ("V-strict-arithmetic", "fastmath0"),
];

#[test]
fn an_update_shows_what_changed_and_no_vector_whose_failing_component_did_not() {
    let scene = Scene::new();
    let [old, new] = ["lavapipe-22", "lavapipe-25"].map(|driver| {
        let report = scene.path(&format!("{driver}.json"));
        let kernels = ["f64.fconvert_f16*", "f32.*:width=3", "f32.select_constants*"];
        let mut command = fpprobe(&[driver]);
        ends(
            command
                .args(["--set", "workers.timeout=60", "run"])
                .args(kernels)
                .arg("-o")
                .arg(&report),
        )
        .with(0);
        report
    });
    // Vectors deviate on both.
    scene.accept(&old, &[]).with(0);
    let baseline = std::fs::read_to_string(scene.path("accepted.toml")).unwrap();
    let (accepted, _) = baseline.split_once("[[measured]]").unwrap();
    assert!(accepted.contains(":width=3 "), "{accepted}");
    let ended = scene.check(&["--format", "json"], Some(&new));
    let checked: serde_json::Value = serde_json::from_str(ended.with(3)).unwrap();
    let changes = checked["changes"].as_array().unwrap();
    let deviations: Vec<_> =
        changes.iter().filter(|change| change["kind"] == "regressed").collect();
    assert!(!deviations.is_empty());
    for deviation in deviations {
        let rule = deviation["id"].as_str().unwrap();
        let (_, common) = WORSE
            .iter()
            .find(|(known, _)| *known == rule)
            .unwrap_or_else(|| panic!("{deviation:#}"));
        let kernel = deviation["evidence"][0]["kernel"].as_str().unwrap();
        assert!(kernel.contains(common), "{deviation:#}");
    }
}
