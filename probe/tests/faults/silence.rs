//! The layer without faults changes nothing, and with faults that mean nothing it does not stay
//! silent.

use crate::faulty::{KERNELS, faulty, measured};
use crate::scene::{ends, fpprobe, json};

#[test]
fn without_faults_everything_is_as_without_the_layer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report.json");
    ends(fpprobe(&["swiftshader"]).arg("run").args(KERNELS).arg("-o").arg(&out)).with(0);
    let bare = json(&out);
    let run = measured("");
    assert_eq!((run.code, run.struck.len()), (0, 0), "{}", run.err);
    for part in ["key", "claims", "observations", "profiles", "findings", "incomplete"] {
        assert_eq!(run.device()[part], bare["devices"][0][part], "{part}");
    }
}

#[test]
fn a_statement_that_means_nothing_is_loud() {
    for statements in
        ["crahs in vkQueueSubmit", "skip at f32.no_such_kernel", "@/nowhere/statements"]
    {
        let ended = ends(faulty(&["swiftshader"], statements).args(["-v", "run", "f32.fabs"]));
        ended.with(4);
        assert!(ended.err.contains("fpprobe fault layer:"), "{}", ended.err);
        assert!(ended.err.contains("SIGABRT"), "{}", ended.err);
    }
    let ended =
        ends(faulty(&["swiftshader"], "").env_remove("FPPROBE_FAULTS").args(["-v", "list"]));
    assert!(ended.err.contains("FPPROBE_FAULTS is not set"), "{}", ended.err);
}

#[test]
fn statements_may_come_from_a_file_and_name_their_driver() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("statements");
    std::fs::write(
        &file,
        "# both\nstring deviceName One on swiftshader\nstring deviceName Two on lavapipe-25\n",
    )
    .unwrap();
    let statements = format!("@{}", file.display());
    let list = ends(faulty(&["swiftshader", "lavapipe-25"], &statements).args(["list", "--json"]))
        .document(0);
    let names: Vec<&str> = list["devices"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|device| device["name"].as_str())
        .collect();
    assert_eq!(names, ["One", "Two"]);
}
