//! The commands in a report run their lanes again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::scene::{HONEST, default_report, ends, ends_reading, fpprobe, json as document};

/// Commands of a driver that run as they are printed, each in a process of its own.
const PRINTED: usize = 30;

/// Findings of one kind whose lanes are run: a thousand kernels by constants differ from those at
/// run time.
const FINDINGS: usize = 10;

/// Leaves as many findings of each kind, spread over all of them.
fn thin_findings(device: &mut Value) {
    let mut kinds = BTreeMap::<String, Vec<Value>>::new();
    for finding in device["findings"].as_array_mut().expect("findings").drain(..) {
        kinds.entry(finding["kind"].to_string()).or_default().push(finding);
    }
    let thinned = kinds.into_values().flat_map(|all| {
        let step = all.len().div_ceil(FINDINGS);
        all.into_iter().step_by(step)
    });
    device["findings"] = thinned.collect();
}

/// Leaves the first lane of each trait in each scope: the others are found and shown by the same
/// code. What answers questions are lanes of traits.
fn thin_traits(device: &mut Value) {
    for one in device["traits"].as_array_mut().expect("traits") {
        for scope in ["run_time", "constants"] {
            if let Some(evidence) =
                one.pointer_mut(&format!("/{scope}/evidence")).and_then(Value::as_array_mut)
            {
                evidence.truncate(1);
            }
        }
    }
    device["answers"] = json!([]);
}

/// Lanes with a command, wherever they stand in a device's entry, by command.
fn lanes(value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| lanes(one, found)),
        Value::Object(members) => {
            if let Some(command) = value["command"].as_str() {
                found.insert(command.to_owned(), value.clone());
            }
            members.values().for_each(|one| lanes(one, found));
        }
        _ => {}
    }
}

/// The arguments of a command as a shell has them.
fn arguments(command: &str) -> Vec<String> {
    let words = command.strip_prefix("fpprobe ").expect("the program").split(' ');
    words.map(|word| word.trim_matches('\'').to_owned()).collect()
}

/// The results of these lanes of one kernel, run isolated from all other kernels.
fn isolated(driver: &str, kernel: &str, lanes: &[(String, Value)]) -> Vec<Value> {
    let input: Vec<String> =
        lanes.iter().map(|(_, lane)| format!("{}\n", json!({ "in": lane["in"] }))).collect();
    let ended = ends_reading(
        fpprobe(&[driver]).args(["--set", "workers.timeout=60", "eval", kernel]),
        &input.concat(),
    );
    ended.lines(0)
}

/// The result of a command as it is printed.
fn printed(driver: &str, command: &str) -> Value {
    let ended =
        ends(fpprobe(&[driver]).args(["--set", "workers.timeout=60"]).args(arguments(command)));
    ended.lines(0).first().cloned().unwrap_or_default()
}

/// Whether a line of `eval` is a lane of the report.
fn is_lane(line: &Value, lane: &Value) -> bool {
    ["kernel", "in", "out"].iter().all(|member| line[member] == lane[member])
}

/// Runs the lanes of one report, of every such kernel.
fn reproduces(driver: &str, every: usize) {
    let (mut all, mut kernels) = (BTreeMap::new(), BTreeMap::<String, Vec<(String, Value)>>::new());
    let mut report = document(default_report(driver));
    for device in report["devices"].as_array_mut().expect("devices") {
        thin_findings(device);
        thin_traits(device);
    }
    lanes(&report["devices"], &mut all);
    // What differs between two runs has no result to reproduce; its command names the list that it
    // ran in.
    all.retain(|command, _| !command.contains(" --among "));
    assert!(all.len() > 100, "{driver}: {} commands", all.len());
    let step = all.len().div_ceil(PRINTED);
    let mut objections: Vec<String> = Vec::new();
    for (command, lane) in all.iter().step_by(step) {
        let line = printed(driver, command);
        objections.extend(
            (!is_lane(&line, lane))
                .then(|| format!("`{command}` gives {line}, not {}", lane["out"])),
        );
    }
    for (command, lane) in &all {
        let kernel = lane["kernel"].as_str().expect("a kernel").to_owned();
        kernels.entry(kernel).or_default().push((command.clone(), lane.clone()));
    }
    for (kernel, lanes) in kernels.iter().step_by(every) {
        let lines = isolated(driver, kernel, lanes);
        assert_eq!(lines.len(), lanes.len(), "{driver}: {kernel}");
        for (line, (command, lane)) in lines.iter().zip(lanes) {
            objections.extend(
                (!is_lane(line, lane))
                    .then(|| format!("`{command}` gives {line}, not {}", lane["out"])),
            );
        }
    }
    println!(
        "{driver}: {} commands of {} kernels, {} do not reproduce their lane",
        all.len(),
        kernels.len(),
        objections.len()
    );
    assert!(objections.is_empty(), "{driver}:\n{}", objections.join("\n"));
}

#[test]
fn commands_reproduce_their_lanes_on_lavapipe_22() {
    // Most of what its compiler does that of 25 does as well.
    reproduces(HONEST[0], 16);
}

#[test]
fn commands_reproduce_their_lanes_on_lavapipe_25() {
    reproduces(HONEST[1], 4);
}

#[test]
fn commands_reproduce_their_lanes_on_swiftshader() {
    reproduces(HONEST[2], 4);
}
