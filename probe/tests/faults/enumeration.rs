//! Drivers that fail before there is a device.

use crate::faulty::{faulty, measured};
use crate::scene::{ends, manifest};

/// Calls on the way to the list of devices.
const CALLS: [&str; 8] = [
    "load",
    "vkCreateInstance",
    "vkEnumeratePhysicalDevices",
    "vkGetPhysicalDeviceProperties",
    "vkGetPhysicalDeviceProperties2",
    "vkGetPhysicalDeviceFeatures2",
    "vkGetPhysicalDeviceQueueFamilyProperties",
    "vkEnumerateDeviceExtensionProperties",
];

#[test]
fn a_driver_that_crashes_is_a_row_and_hides_no_other() {
    for call in CALLS {
        let statement = format!("crash in {call} on lavapipe-25");
        let list =
            ends(faulty(&["lavapipe-25", "swiftshader"], &statement).args(["list", "--json"]))
                .document(5);
        assert_eq!(list["devices"].as_array().unwrap().len(), 1, "{call}");
        let row = &list["incomplete"][0];
        assert_eq!(row["subject"], manifest("lavapipe-25").display().to_string());
        assert_eq!(row["outcome"], "crashed");
        assert!(row["detail"].to_string().contains("SIGSEGV"), "{row}");
    }
}

#[test]
fn a_driver_that_hangs_is_a_row_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[workers]\ntimeout = 2\n").unwrap();
    for action in ["hang", "deaf"] {
        let statement = format!("{action} in vkEnumeratePhysicalDevices on lavapipe-25");
        let mut command = faulty(&["lavapipe-25", "swiftshader"], &statement);
        let list = ends(command.arg("--config").arg(&config).args(["list", "--json"])).document(5);
        assert_eq!(list["devices"].as_array().unwrap().len(), 1);
        assert_eq!(list["incomplete"][0]["outcome"], "hung");
    }
}

#[test]
fn an_error_is_a_row_with_call_and_code() {
    for call in ["vkCreateInstance", "vkEnumeratePhysicalDevices"] {
        let statement = format!("return VK_ERROR_OUT_OF_HOST_MEMORY in {call} on lavapipe-25");
        let list =
            ends(faulty(&["lavapipe-25", "swiftshader"], &statement).args(["list", "--json"]))
                .document(5);
        assert_eq!(list["devices"].as_array().unwrap().len(), 1, "{call}");
        let detail = list["incomplete"][0]["detail"].as_str().unwrap();
        assert!(
            detail.contains(call) && detail.contains("VK_ERROR_OUT_OF_HOST_MEMORY"),
            "{detail}"
        );
    }
}

#[test]
fn the_other_driver_is_measured_all_the_same() {
    let mut command = faulty(
        &["lavapipe-25", "swiftshader"],
        "crash in vkEnumeratePhysicalDevices on lavapipe-25",
    );
    let ended = ends(command.args(["run", "f32.fabs", "--format", "json"]));
    let report = ended.document(5);
    assert_eq!(report["devices"][0]["observations"][0]["outcome"], "ran");
    assert_eq!(report["incomplete"][0]["outcome"], "crashed");
}

#[test]
fn a_worker_that_is_killed_while_it_looks_for_devices_costs_nothing() {
    for statement in
        ["crash SIGKILL in vkCreateInstance once ever", "crash in vkCreateInstance once ever"]
    {
        let run = measured(statement);
        assert_eq!((run.code, run.struck.len()), (0, 1), "{statement}: {}", run.err);
        run.others_unharmed(&[]);
        assert!(run.err.contains("looks again"), "{}", run.err);
        // The report names it, and is complete.
        let detail = run.report["incomplete"][0]["detail"].as_str().unwrap();
        assert!(
            detail.starts_with("recovered: a worker died while enumerating devices (the worker "),
            "{detail}"
        );
        assert!(!statement.contains("SIGKILL") || detail.contains("SIGKILL"), "{detail}");
    }
}
