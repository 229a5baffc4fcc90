//! `gate` on devices that compute otherwise, or not at all.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::faulty::faulty;
use crate::scene::{Ended, ends, fpprobe, json};

/// Of `SwiftShader`, these kernels.
const KERNELS: [&str; 3] = ["f32.fadd", "f32.floor", "f32.sqrt"];

/// The one of which blocks are compared.
const SWEPT: &str = "f32.sqrt";

/// What it computes without faults.
fn recorded() -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("expected.json");
    ends(fpprobe(&["swiftshader"]).args(["gate", "--record", "--expect"]).arg(&file)).with(0);
    let mut expected: Value = json(&file);
    let kernels = expected["devices"][0]["kernels"].as_object_mut().unwrap();
    kernels.retain(|kernel, _| KERNELS.contains(&kernel.as_str()));
    assert_eq!(kernels.len(), KERNELS.len());
    let blocks = expected["devices"][0]["blocks"].as_object_mut().unwrap();
    blocks.retain(|kernel, _| kernel == SWEPT);
    assert_eq!(blocks[SWEPT].as_object().unwrap().len(), 64);
    expected
}

fn gate(folder: &Path, statements: &str, budget: &str) -> Ended {
    static EXPECTED: LazyLock<String> = LazyLock::new(|| recorded().to_string());
    let file = folder.join("expected.json");
    if !file.exists() {
        std::fs::write(&file, &*EXPECTED).unwrap();
    }
    let mut command = faulty(&["swiftshader"], statements);
    ends(
        command
            .env("XDG_STATE_HOME", folder)
            .args(["gate", "--budget", budget, "--expect"])
            .arg(&file),
    )
}

#[test]
fn one_wrong_result_is_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    assert!(gate(folder.path(), "", "60s").with(0).starts_with("same: "));
    // What a layer may have changed is nothing to compare others with.
    let other = folder.path().join("other.json");
    let tainted =
        ends(faulty(&["swiftshader"], "").args(["gate", "--record", "--expect"]).arg(&other));
    assert!(
        tainted.code == Some(2) && tainted.err.contains("tainted") && !other.exists(),
        "{}",
        tainted.err
    );
    let wrong = gate(folder.path(), "give r+1 in f32.sqrt when x is 3f800000", "60s");
    assert!(wrong.with(3).contains("other results by f32.sqrt;"), "{}", wrong.out);
}

#[test]
fn one_wrong_input_of_a_million_is_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let same = gate(folder.path(), "", "60s");
    assert!(same.with(0).contains(" and 64 blocks, devices: "), "{}", same.out);
    let expected = json(&folder.path().join("expected.json"));
    let blocks = expected["devices"][0]["blocks"][SWEPT].as_object().unwrap();
    let block: u64 = blocks.keys().next_back().unwrap().parse().unwrap();
    let input = (block << 20) + 0x12345;
    let wrong =
        gate(folder.path(), &format!("give 3f800000 in {SWEPT} when x is {input:x}"), "60s");
    let named = format!("other results by {SWEPT} in block {block}; ");
    assert!(wrong.with(3).contains(&named), "{}", wrong.out);
    // The next call begins with that block, the last of them, however little time it has.
    let places = json(&folder.path().join("fpprobe/gate.json"));
    let place = &places.as_object().unwrap().values().next().unwrap()["block"];
    assert_eq!(place, blocks.len() - 1, "{places}");
    // A block that the domain does not have would pass unnoticed.
    let path = folder.path().join("expected.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen(&format!("\"{block}\":"), "\"4096\":", 1)).unwrap();
    let beyond = gate(folder.path(), "", "60s");
    assert!(beyond.code == Some(2) && beyond.err.contains("no block 4096"), "{}", beyond.err);
}

#[test]
fn a_driver_that_does_not_come_back_is_unknown_when_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    gate(folder.path(), "", "60s").with(0);
    for statement in
        ["hang in vkQueueSubmit", "hang in vkCreateInstance", "crash in vkCreateComputePipelines"]
    {
        let ended = gate(folder.path(), statement, "6s");
        assert!(ended.with(4).starts_with("unknown: "), "{statement}: {}", ended.out);
        assert_eq!(ended.out.lines().count(), 1, "{}", ended.out);
    }
}
