//! A Vulkan Profiles file as a requirement.

use std::path::Path;

use crate::scene::{ends, fpprobe};

#[test]
fn a_device_must_do_what_a_vulkan_profile_demands() {
    let folder = tempfile::tempdir().unwrap();
    let report =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/tests/reports/v1-lavapipe-25.json");
    let judge = |members: &str, name: &str| {
        let path = folder.path().join("demands.json");
        let set = format!(
            r#"{{"properties": {{"VkPhysicalDeviceFloatControlsProperties": {{{members}}}}}, "formats": {{}}}}"#
        );
        let profiles = r#"{"VP_A_one": {"capabilities": ["set"]}, "VP_A_none": {}}"#;
        std::fs::write(
            &path,
            format!(r#"{{"capabilities": {{"set": {set}}}, "profiles": {profiles}}}"#),
        )
        .unwrap();
        let required = format!("{}{name}", path.display());
        ends(fpprobe(&[]).arg("judge").arg(&report).args([
            "--profile",
            "d3d11",
            "--require",
            &required,
        ]))
    };
    let ended = judge(r#""shaderRoundingModeRTZFloat32": true"#, ":VP_A_one");
    ended.with(3);
    assert!(ended.err.contains("does not meet VP_A_one: 0 of 1 demands are met"), "{}", ended.err);
    assert!(
        ended.err.contains("unmet  shaderRoundingModeRTZFloat32: not claimed"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("VP_A_one: not checked: formats"), "{}", ended.err);
    // What the driver claims and nobody has asked is not met either.
    let ended = judge(r#""shaderRoundingModeRTEFloat16": true"#, ":VP_A_one");
    ended.with(3);
    assert!(
        ended.err.contains("claimed; unknown: claimed, but no kernel ran under it"),
        "{}",
        ended.err
    );
    let ended = judge(
        r#""roundingModeIndependence": "VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL""#,
        ":VP_A_one",
    );
    ended.with(0);
    assert!(ended.err.contains("meets VP_A_one: 1 of 1"), "{}", ended.err);
    judge(r#""shaderRoundingModeRTZFloat32": true"#, ":VP_A_none").with(2);
    let ended = judge("", "");
    ended.with(2);
    assert!(
        ended.err.contains("demands.json") && ended.err.contains("VP_A_one, VP_A_none"),
        "{}",
        ended.err
    );
    let ended = judge(r#""shaderDenormPreserveFloat32": "yes""#, ":VP_A_one");
    ended.with(2);
    assert!(ended.err.contains("demands.json: `capabilities.set.properties."), "{}", ended.err);
    assert!(
        ended.err.contains("shaderDenormPreserveFloat32`: expected true or false"),
        "{}",
        ended.err
    );
}
