//! Cooperative matrices on a driver that has them.

use std::process::Command;

use serde_json::json;

use crate::scene::{NEWER, ends, fpprobe, json as read};

const SINGLE: &str = "f32.matrix_mul_add:matrix=8x8x8-f16-f16-f32";

#[test]
fn products_are_listed_run_and_shown_in_words() {
    let list = ends(fpprobe(&[NEWER]).args(["list", "-v"]));
    assert!(list.with(0).contains("8x8x8-f16-f16-f32-f32"), "{}", list.out);
    let list = ends(fpprobe(&[NEWER]).args(["list", "--json"])).document(0);
    let products = list["devices"][0]["claims"]["matrices"].as_array().unwrap().clone();
    assert!(products.contains(&json!("8x8x8-i8-i8-i32-i32")), "{products:?}");

    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("report.json");
    let filters = ["*.matrix_mul_add*", "*.matrix_load_store*"];
    let mut run = fpprobe(&[NEWER]);
    ends(run.args(["--set", "workers.timeout=60", "run"]).args(filters).arg("-o").arg(&place))
        .with(0);
    let report = read(&place);
    let device = &report["devices"][0];
    let observations = device["observations"].as_array().unwrap();
    // A product each, and loads and stores of each kind of matrix.
    assert!(observations.len() > products.len(), "{}", observations.len());
    assert!(observations.iter().all(|one| one["outcome"] == "ran"), "{observations:#?}");
    assert_eq!(device["findings"], json!([]));

    let shown = ends(show(&["matrix"]).arg(&place));
    let text = shown.with(0);
    for words in [
        "f16 times f16, summed in f32: 8x8x8",
        "products are added one after the other, C last",
        "sums are rounded to nearest, ties to even",
        "of A kept; of B kept; of C flushed",
        "infinity times 0 gives the NaN ffc00000",
        "sums of products are exact",
        "loads and stores in both layouts change no bit",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    // The page draws the tree of the sum: each product joins in a step of its own, C in the last.
    let page = folder.path().join("report.html");
    let mut judge = fpprobe(&[]);
    ends(judge.arg("judge").arg(&place).arg("-o").arg(&page)).with(0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains(&format!("aria-label=\"{SINGLE}: sequential c last\"")),
        "no tree is drawn"
    );
    assert!(page.contains("M30 7H52M30 21H52M52 7V21M52 14H70M30 35H70"), "the tree is another");

    // The command of a lane gives the lane.
    let of = device["traits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == "matrix.f16_f32.order")
        .unwrap();
    let lane = &of["run_time"]["evidence"][0];
    let command = lane["command"].as_str().unwrap();
    let words: Vec<String> =
        command.split(' ').skip(2).map(|word| word.trim_matches('\'').to_owned()).collect();
    let again = ends(fpprobe(&[NEWER]).arg("eval").args(&words)).lines(0);
    assert_eq!((&again[0]["in"], &again[0]["out"]), (&lane["in"], &lane["out"]), "{command}");
}

fn show(what: &[&str]) -> Command {
    let mut command = fpprobe(&[]);
    command.env("COLUMNS", "100").arg("show").args(what);
    command
}

#[test]
fn products_that_a_device_does_not_enumerate_are_refused() {
    let ones = ["3c00"; 16].join(",");
    let product = "f32.matrix_mul_add:matrix=16x16x16-f16-f16-f32";
    for (driver, lacks) in
        [(NEWER, "does not enumerate this product"), ("swiftshader", "cooperativeMatrix")]
    {
        let line = &ends(fpprobe(&[driver]).args(["eval", product, &ones, &ones, "0"])).lines(4)[0];
        assert_eq!(line["outcome"], "unsupported");
        assert!(line["detail"].as_str().unwrap().contains(lacks), "{line}");
    }
    let eights = ["3c00"; 8].join(",");
    let line =
        &ends(fpprobe(&[NEWER]).args(["eval", SINGLE, &eights, &eights, "3f800000"])).lines(0)[0];
    assert_eq!(line["out"], "41100000");
}
