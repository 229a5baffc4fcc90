//! `repro`: each folder is whole, and its files are what they say.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::amber;
use crate::scene::{HONEST, default_report, ends, fpprobe, json};

/// A tool of SPIRV-Tools accepts a file.
#[track_caller]
fn accepted_by(tool: &str, arguments: &[&str], file: &Path) {
    let ended = Command::new(tool)
        .args(arguments)
        .arg(file)
        .output()
        .unwrap_or_else(|error| panic!("{tool}: {error}"));
    let said = [ended.stdout, ended.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    assert!(ended.status.success(), "{tool} {}: {said}", file.display());
}

/// The bits of a result, one after the other.
fn bits(value: &Value) -> Vec<u64> {
    match value {
        Value::Array(list) => list.iter().flat_map(bits).collect(),
        value => vec![u64::from_str_radix(value.as_str().expect("hex"), 16).expect("hex")],
    }
}

/// The script is of the grammar, and fails on the recorded result.
#[track_caller]
fn script_fails_by_itself(file: &Path, lane: &Value) {
    let expectations = amber::read(&fs::read_to_string(file).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let kernel = lane["kernel"].as_str().unwrap();
    // A second result lies in a buffer of its own.
    if !["modf", "frexp"].iter().any(|op| kernel.contains(op)) {
        let out = bits(&lane["out"]);
        let found =
            |one: &amber::Expect| out[usize::try_from(one.index / one.size).unwrap()..].to_vec();
        assert!(
            expectations.iter().any(|one| !one.holds(&found(one))),
            "{kernel} {out:x?}: {expectations:?}"
        );
    }
}

#[track_caller]
fn glsl_compiles(file: &Path) {
    let source = fs::read_to_string(file).unwrap();
    let compiler = shaderc::Compiler::new().unwrap();
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_1 as u32);
    let compiled = compiler.compile_into_spirv(
        &source,
        shaderc::ShaderKind::Compute,
        "case.comp",
        "main",
        Some(&options),
    );
    assert!(compiled.is_ok(), "{}: {:?}", file.display(), compiled.err());
}

/// The folder of every cause of a report of this driver.
fn every_cause(driver: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let report_path = default_report(driver);
    let report = json(report_path);
    let causes = report["devices"][0]["causes"].as_array().unwrap();
    assert!(causes.len() > 10, "{driver}: {} causes", causes.len());
    let (mut scripts, mut quoted) = (0, 0);
    for (number, cause) in (1..).zip(causes) {
        let out = path(&format!("repro{number}"));
        let made = ends(
            fpprobe(&[]).args(["repro", &format!("{number}")]).arg(report_path).arg("-o").arg(&out),
        );
        let files: Vec<&str> =
            made.with(0).lines().filter_map(|line| line.rsplit('/').next()).collect();
        let lane = json(&out.join("lane.json"));
        let kernel = lane["kernel"].as_str().unwrap();
        // The simplest one, or the simplest of a shader.
        let shown = cause["evidence"].as_array().unwrap();
        assert!(shown.contains(&lane), "{driver} {number}: {lane}");
        assert!(lane == shown[0] || files.contains(&"case.spv"), "{driver} {number}: {lane}");
        let issue = fs::read_to_string(out.join("issue.md")).unwrap();
        for part in ["## Result", "## Required", "## Extent", "## Reproduce", "fpprobe eval "] {
            assert!(issue.contains(part), "{driver} {kernel}: {part}\n{issue}");
        }
        let required = issue.split("## Required").nth(1).unwrap().split("\n## ").next().unwrap();
        let is_named = |rule: &Value| required.contains(&format!("`{}` ", rule.as_str().unwrap()));
        assert!(
            cause["rules"].as_array().unwrap().iter().any(is_named),
            "{driver} {kernel}: {required}"
        );
        quoted += usize::from(required.contains("\n> "));
        if files.contains(&"case.amber") {
            scripts += 1;
            script_fails_by_itself(&out.join("case.amber"), &lane);
        } else {
            assert!(issue.contains("- no `case.amber`: "), "{issue}");
        }
        // Debian 12's SPIRV-Tools do not know the extension; `spirv/tests/validation` has one that
        // does.
        let is_newer = kernel.contains("fastmath0");
        if files.contains(&"case.spv") && !is_newer {
            accepted_by("spirv-val", &["--target-env", "vulkan1.1"], &out.join("case.spv"));
            let words = path("words.spv");
            let words = words.to_str().unwrap();
            accepted_by(
                "spirv-as",
                &["--target-env", "spv1.3", "--preserve-numeric-ids", "-o", words],
                &out.join("case.spvasm"),
            );
            let [own, assembled] =
                [&out.join("case.spv"), Path::new(words)].map(|file| fs::read(file).unwrap());
            // The header names who wrote it.
            assert!(
                own[20..] == assembled[20..],
                "{driver} {kernel}: the assembly is another module"
            );
        }
        assert!(files.contains(&"case.spv") || issue.contains("no shader runs"), "{issue}");
        if files.contains(&"case.comp") {
            glsl_compiles(&out.join("case.comp"));
        }
    }
    println!("{driver}: {} causes, {scripts} scripts, {quoted} with quotations", causes.len());
    assert!(scripts > 5 && quoted > 5, "{driver}: {scripts} scripts, {quoted} with quotations");
}

#[test]
fn every_cause_of_lavapipe_25_has_its_folder() {
    every_cause(HONEST[1]);
}

#[test]
fn every_cause_of_swiftshader_has_its_folder() {
    every_cause(HONEST[2]);
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    ends(
        fpprobe(&["lavapipe-25"])
            .args(["run", "f32.fadd", "--profile", "d3d11", "-o"])
            .arg(path("report.json")),
    )
    .with(0);
    let repro = |cause: &str, out: &Path| {
        ends(
            fpprobe(&[])
                .args(["repro", cause])
                .arg(path("report.json"))
                .arg("-o")
                .arg(out)
                .current_dir(folder.path()),
        )
    };
    repro("1", &path("new/folder")).with(0);
    for (cause, out, message) in [
        ("1", path("new/folder"), "is not empty: remove it, or name another folder with -o"),
        ("1", path("report.json"), "cannot write into"),
        ("1", path("report.json/below"), "report.json/below"),
        ("99", path("none"), "it has 1 cause, by number from 1"),
        ("abcdef", path("none"), "no cause of the report is called `abcdef`"),
        ("0", path("none"), "no cause of the report is called `0`"),
    ] {
        let ended = repro(cause, &out);
        assert_eq!(ended.with(2), "");
        assert!(ended.err.contains(message), "{cause} {}: {}", out.display(), ended.err);
    }
    assert!(!path("none").exists());
    // By its id, in the folder of that name.
    let id =
        json(&path("report.json"))["devices"][0]["causes"][0]["id"].as_str().unwrap().to_owned();
    let named =
        ends(fpprobe(&[]).args(["repro", &id]).arg(path("report.json")).current_dir(folder.path()));
    assert!(named.with(0).contains(&format!("repro-{id}/issue.md")), "{}", named.out);
    // A report in which the lane is not one.
    for (place, value) in
        [("in", serde_json::json!(["0"])), ("kernel", "f32.from_the_future".into())]
    {
        let mut report = json(&path("report.json"));
        report["devices"][0]["causes"][0]["evidence"][0][place] = value;
        fs::write(path("wrong.json"), report.to_string()).unwrap();
        let wrong = ends(
            fpprobe(&[]).args(["repro", "1"]).arg(path("wrong.json")).arg("-o").arg(path("none")),
        );
        wrong.with(2);
        assert!(
            wrong.err.contains(&format!("cause {id}")) && !path("none").exists(),
            "{}",
            wrong.err
        );
    }
    let none = ends(fpprobe(&[]).args(["repro", "1", "--store-path"]).arg(path("store")));
    none.with(2);
    assert!(none.err.contains("`fpprobe run`"), "{}", none.err);
}
