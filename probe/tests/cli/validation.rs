//! The Khronos validation layer has nothing to say of the default run.
//!
//! Debian 12's layer (1.3.239) is older than `SPV_KHR_float_controls2`. What it says of that extension is told apart by
//! what it names, and the kernels that it cannot judge are listed by name and counted.

use std::io::Write as _;

use crate::scene::{HONEST, ends, fpprobe, json};

/// What a layer says of a capability that it does not know, beside the message that names it by number.
const NAMELESS: &str = "Unhandled OpCapability";

/// Marks of what a layer says that does not know `SPV_KHR_float_controls2`: the extension, its capability by number, and
/// the structure that enables it.
const NEWER: [&str; 3] = ["SPV_KHR_float_controls2", "Invalid capability operand: 6029", "1000528000"];

#[test]
fn the_validation_layer_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    for driver in HONEST {
        let report = folder.path().join(format!("{driver}.json"));
        let mut command = fpprobe(&[driver]);
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
        let ended = ends(command.args(["run", "-v", "--timeout", "60", "-o"]).arg(&report));
        ended.with(0);
        let report = json(&report);
        let device = &report["devices"][0];
        // The layer was really there: it taints the report.
        assert!(device["taint"].to_string().contains("khronos_validation"), "{driver}: {}", device["taint"]);
        let said: Vec<&str> =
            ended.err.lines().filter(|line| line.contains("VUID-") || line.contains("UNASSIGNED-")).collect();
        let count = |mark: &str| said.iter().filter(|line| line.contains(mark)).count();
        assert_eq!(count(NAMELESS), count(NEWER[1]), "{driver}: another capability is unknown: {said:#?}");
        let newer = |line: &&&str| line.contains(NAMELESS) || NEWER.iter().any(|mark| line.contains(mark));
        let unexpected: Vec<&&str> = said.iter().filter(|line| !newer(line)).collect();
        assert!(unexpected.is_empty(), "{driver}: {unexpected:#?}");
        let observations = device["observations"].as_array().unwrap();
        let kernels =
            observations.iter().filter(|o| o["outcome"] != "unsupported").filter_map(|o| o["kernel"].as_str());
        let beyond: Vec<&str> = kernels.filter(|kernel| kernel.contains("fastmath0")).collect();
        assert_eq!(
            said.is_empty(),
            beyond.is_empty(),
            "{driver}: messages and kernels newer than the layer go together"
        );
        // Past the test harness, which keeps what a passing test prints to itself.
        let mut out = std::io::stderr().lock();
        let _ = writeln!(
            out,
            "{driver}: {} of {} kernels are newer than the validation layer",
            beyond.len(),
            observations.len()
        );
        for kernel in beyond {
            let _ = writeln!(out, "  {kernel}");
        }
    }
}
