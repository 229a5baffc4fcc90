//! The Khronos validation layer has nothing to say of kernels of every kind, by every route. SPIRV-Tools alone looks at
//! the modules of all of them.
//!
//! Debian 12's layer (1.3.239) is older than `SPV_KHR_float_controls2`. What it says of that extension is told apart by
//! what it names, and the kernels that it cannot judge are listed by name and counted.

use std::io::Write as _;

use crate::scene::{HONEST, ends, fpprobe, json};

/// Operations of every kind, under all controls, at all widths and by all routes that are asked.
const KINDS: [&str; 15] = [
    "*.fadd*",
    "*.fma*",
    "*.sqrt*",
    "*.fmin*",
    "*.select*",
    "*.frexp*",
    "*.dot*",
    "*.reflect*",
    "*.matrix_times_*",
    "*.fconvert_*",
    "*.ford_equal*",
    "*pack*",
    "*.store*",
    "*.load*",
    "*.narrow_widen*",
];

/// What a layer says of a capability that it does not know, before its number.
const UNKNOWN: &str = "Invalid capability operand: ";

/// Marks of what a layer says that does not know `SPV_KHR_float_controls2`: the extension, its capability by number and
/// without, the structure that enables it, and that such a module cannot be specialised.
const NEWER: [&str; 5] = [
    "SPV_KHR_float_controls2",
    "Invalid capability operand: 6029",
    "Unhandled OpCapability",
    "1000528000",
    "VUID-VkPipelineShaderStageCreateInfo-pSpecializationInfo-06719",
];

#[test]
fn the_validation_layer_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    for driver in HONEST {
        let report = folder.path().join(format!("{driver}.json"));
        let mut command = fpprobe(&[driver]);
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
        let ended = ends(command.args(["run", "-v", "--timeout", "60"]).args(KINDS).arg("-o").arg(&report));
        ended.with(0);
        let report = json(&report);
        let device = &report["devices"][0];
        // The layer was really there: it taints the report.
        assert!(device["taint"].to_string().contains("khronos_validation"), "{driver}: {}", device["taint"]);
        let said: Vec<&str> =
            ended.err.lines().filter(|line| line.contains("VUID-") || line.contains("UNASSIGNED-")).collect();
        let other = said.iter().find(|line| line.contains(UNKNOWN) && !line.contains(NEWER[1]));
        assert_eq!(other, None, "{driver}: another capability is unknown");
        let newer = |line: &&&str| NEWER.iter().any(|mark| line.contains(mark));
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
