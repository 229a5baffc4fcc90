//! When the daemon leaves a device alone, and how patient it is with one that it measures.

use std::fs;
use std::path::Path;
use std::process::Command;

use jiff::{ToSpan as _, Zoned};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::host::Host;

fn device(host: &Host) -> Value {
    host.wait("the device", || host.status()["devices"].get(0).cloned())
}

#[test]
fn what_is_in_quarantine_is_queued_by_no_trigger() {
    let mut host = Host::new("swiftshader", "start = false\n");
    let slot = device(&host)["slot"].as_str().unwrap().to_owned();
    host.signal(Signal::TERM);
    host.ended();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let quarantine = json!({ slot: { "boot": boot.trim(), "since": "2026-03-04T05:06:07Z", "reason": "it hung" } });
    fs::write(host.path("store/daemon/quarantine.json"), quarantine.to_string()).unwrap();
    host.configure("schedule = \"every 1s\"\n");
    host.start();
    device(&host);
    host.wait("the clock", || host.messages().contains("looks at the devices: schedule"));
    host.install("swiftshader");
    host.wait("the file", || host.messages().contains("driver.json changed"));
    host.wait("the look", || host.status()["state"] == "waiting");
    let (done, text) = host.run(&["run-now"]);
    assert!(!done && text.contains("in quarantine"), "{text}");
    let status = host.status();
    assert!(status["waiting"].as_array().unwrap().is_empty(), "{status}");
    assert!(!host.messages().contains("is measured"));
    assert!(host.run(&["quarantine", "clear"]).0);
    host.wait("the measurement", || host.messages().contains("was measured for the first time"));
}

#[test]
fn workers_have_more_time_than_those_of_who_waits() {
    let host = Host::new("swiftshader", "[workers]\ntimeout = 2.5\n");
    // Sixfold: at the lowest priority they wait for everybody else.
    let run = host.wait("a run", || {
        let command =
            |pid: u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        host.processes()
            .into_iter()
            .map(command)
            .find(|words| words.split('\0').any(|word| word == "run"))
    });
    assert!(run.split('\0').any(|word| word == "workers.timeout=15"), "{run:?}");
    assert!(run.contains("\0--random\x004\0"), "{run:?}");
}

#[test]
fn a_default_run_stops_when_its_window_closes_and_goes_on_when_it_opens() {
    let host = Host::new("lavapipe-25", "start = false\n");
    device(&host);
    assert!(host.run(&["run-now", "--full"]).0);
    let journal = |path: std::path::PathBuf| {
        path.extension().is_some_and(|end| end == "journal").then_some(path)
    };
    let journal = host.wait("answers in the journal", || {
        let files = fs::read_dir(host.path("store/daemon/work")).ok()?.flatten();
        let mut journals = files.filter_map(|entry| journal(entry.path()));
        journals.find(|path| {
            fs::read_to_string(path).is_ok_and(|text| text.contains("\"record\":\"answers\""))
        })
    });
    // A window that was, an hour long and hours ago.
    let hour =
        |hours: i64| Zoned::now().saturating_sub(hours.hours()).strftime("%H:%M").to_string();
    host.configure(&format!("start = false\nwindows = [\"{}-{}\"]\n", hour(4), hour(3)));
    host.signal(Signal::HUP);
    let waiting = host.wait("it is stopped", || host.status()["waiting"].get(0).cloned());
    assert_eq!(
        (waiting["extent"].as_str(), waiting["reason"].as_str()),
        (Some("full"), Some("a maintenance window"))
    );
    assert!(host.processes().is_empty(), "nothing is measured");
    assert!(host.get("/metrics").contains("result=\"stopped\""));
    let answers =
        || fs::read_to_string(&journal).unwrap().matches("\"record\":\"answers\"").count();
    let before = answers();
    assert!(before > 0, "what has answered stays");
    host.configure("start = false\n");
    host.signal(Signal::HUP);
    host.wait("it goes on from there", || journal.exists() && answers() > before);
}

/// What NVML offers to who asks how busy a device is, as nvml.h declares it; the device at
/// 0000:03:00.0 is it by 37 %.
const LIBRARY: &str = r#"
#include <string.h>
typedef struct { unsigned int gpu, memory; } utilization;
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int error) { return "an error"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device) {
    *device = (void *)8;
    return strcmp(address, "0000:03:00.0") ? 6 : 0;
}
int nvmlDeviceGetUtilizationRates(void *device, utilization *rates) {
    rates->gpu = 37, rates->memory = 5;
    return device != (void *)8;
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *degrees) {
    *degrees = 71;
    return device != (void *)8 || sensor;
}
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned int *megahertz) {
    *megahertz = 1410;
    return device != (void *)8 || clock;
}
"#;

#[test]
fn nvidias_library_shows_how_busy_and_how_hot_a_device_is() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("nvml.c");
    fs::write(&source, LIBRARY).unwrap();
    let library = folder.path().join("libnvidia-ml.so.1");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(compiled.unwrap().success());
    let query = |address: &str, path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fpprobe"));
        let output =
            command.args(["utilisation", address]).env("LD_LIBRARY_PATH", path).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(query("0000:03:00.0", folder.path()), (true, "37 71 1410\n".to_owned()));
    let (done, log) = query("0000:04:00.0", folder.path());
    assert!(!done && log.contains("the device at 0000:04:00.0"), "{log}");
    let (done, log) = query("0000:03:00.0", Path::new("/nowhere"));
    assert!(!done && log.contains("management library"), "{log}");
}
