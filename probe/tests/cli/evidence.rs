//! Every command in a report runs its lane again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::scene::{HONEST, ends, fpprobe, json};

/// Processes at a time; each takes a fraction of a second of one core.
const PROCESSES: usize = 4;

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

/// Why a command does not give its lane; `None` where it does.
fn objection(driver: &str, command: &str, lane: &Value) -> Option<String> {
    let ended = ends(fpprobe(&[driver]).args(arguments(command)));
    let lines = ended.lines(0);
    let line = lines.iter().find(|line| line["in"] == lane["in"]);
    let given = |line: &Value| [&line["out"], &line["second"]].into_iter().any(|out| *out == lane["out"]);
    let reproduces = line.is_some_and(|line| line["kernel"] == lane["kernel"] && given(line));
    (!reproduces).then(|| format!("{driver}: `{command}` gives {line:?}, not {}", lane["out"]))
}

#[test]
fn every_command_of_a_report_reproduces_its_lane() {
    let folder = tempfile::tempdir().unwrap();
    for driver in HONEST {
        let path = folder.path().join(format!("{driver}.json"));
        ends(fpprobe(&[driver]).args(["run", "-o"]).arg(&path)).with(0);
        let mut all = BTreeMap::new();
        lanes(&json(&path)["devices"], &mut all);
        assert!(all.len() > 100, "{driver}: {} commands", all.len());
        let all: Vec<(String, Value)> = all.into_iter().collect();
        let (next, objections) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..PROCESSES {
                scope.spawn(|| {
                    while let Some((command, lane)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                        objections.lock().unwrap().extend(objection(driver, command, lane));
                    }
                });
            }
        });
        let objections = objections.into_inner().unwrap();
        println!("{driver}: {} commands, {} do not reproduce their lane", all.len(), objections.len());
        assert!(objections.is_empty(), "{}", objections.join("\n"));
    }
}
