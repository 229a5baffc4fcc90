//! Every required rule of the built-in profiles, shown to fail: on a device that meets all of them, a fault in its
//! arithmetic makes the rule deviate, and changes no verdict that the fault is not about.
//!
//! The device is a real driver behind the fault layer, asked and judged by the real program. `--nocapture` shows what each
//! fault took, and how many rules were seen to fail.

#[path = "../faults/faulty.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod faulty;
mod rows;
#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod scene;
mod statements;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fpprobe_profiles::{Level, Profile, profile};
use serde_json::Value;

use rows::{Fault, Row, Table, Verdicts};

/// The driver, and what it lacks to meet every profile without any control: binary32 keeps subnormals, and the reciprocal
/// square root of binary16 is an ulp off here and there (D32-18, D16-08).
const DRIVER: &str = "lavapipe-25";
const CORRECTED: &str = "flush f32 operands\nflush f32 results\nround to nearest in f16.inverse_sqrt\n";

/// Rows in progress at a time: the driver itself uses one core.
const THREADS: usize = 3;

fn profiles() -> Vec<Profile> {
    profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap()).collect()
}

/// The verdicts of all built-in profiles on the driver with these faults. Without kernels, every kernel is asked.
fn verdicts(faults: &str, kernels: &[&str]) -> Verdicts {
    let run = faulty::run_on(DRIVER, faults, kernels, &[]);
    assert_eq!(run.code, 0, "{faults}:\n{}", run.err);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut verdicts = Verdicts::new();
    for profile in run.device()["profiles"].as_array().unwrap() {
        let id = text(&profile["id"]);
        for rule in profile["rules"].as_array().unwrap() {
            verdicts.insert(format!("{id}/{}", text(&rule["id"])), text(&rule["verdict"]));
        }
        verdicts.insert(id, text(&profile["class"]));
    }
    verdicts
}

fn classes(verdicts: &Verdicts) -> BTreeSet<&str> {
    verdicts.iter().filter(|(name, _)| !name.contains('/')).map(|(_, class)| class.as_str()).collect()
}

#[test]
fn the_corrected_device_conforms() {
    assert_eq!(classes(&verdicts(CORRECTED, &[])), ["conforms"].into());
    // So it does under a mode of its own making, where that is honoured.
    let rounded = "round to nearest in f16.inverse_sqrt\nclaim ftz32";
    assert_eq!(classes(&verdicts(rounded, &[])), ["conforms", "conforms with"].into());
    assert_eq!(classes(&verdicts(&format!("{rounded} ignored"), &[])), ["conforms", "deviates"].into());
}

/// What changes by a fault on the corrected device, and whether it is what the table says.
fn shown(fault: &Fault, base: &Verdicts, kernels: &[&str]) -> Result<(), String> {
    let start = Instant::now();
    let changed: Verdicts = verdicts(&format!("{CORRECTED}{}", fault.faults), kernels)
        .into_iter()
        .filter(|(name, verdict)| base.get(name) != Some(verdict))
        .collect();
    println!("{:5.1} s  {}", start.elapsed().as_secs_f32(), fault.faults.trim().replace('\n', "; "));
    let expected = fault.changes();
    if changed == expected {
        return Ok(());
    }
    Err(format!("{}\n    changes  {changed:?}\n    expected {expected:?}", fault.faults))
}

/// The rules that a row makes deviate, as `PROFILE/RULE`: those it is about, outside and not inside.
fn killed(row: &Row) -> BTreeSet<String> {
    let deviates =
        |fault: &Fault, name: &String| fault.changes().get(name).is_some_and(|verdict| verdict == "deviates");
    let about = |name: &String| name.split_once('/').is_some_and(|(_, id)| row.rule.iter().any(|rule| rule == id));
    let outside = row.outside.changes().into_keys().filter(|name| about(name) && deviates(&row.outside, name));
    outside.filter(|name| !row.inside.as_ref().is_some_and(|inside| deviates(inside, name))).collect()
}

#[test]
fn every_required_rule_can_fail() {
    let profiles = profiles();
    let kernels: BTreeSet<String> =
        profiles.iter().flat_map(Profile::kernels).map(|kernel| kernel.to_string()).collect();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let base = verdicts(CORRECTED, &kernels);
    assert_eq!(classes(&base), ["conforms"].into());

    let table = Table::read();
    let faults: Vec<&Fault> = table.row.iter().flat_map(|row| [&row.outside].into_iter().chain(&row.inside)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::from_fn(|| faults.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.filter_map(|fault| shown(fault, &base, &kernels).err()).collect::<Vec<String>>()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    for row in &table.row {
        let killed = killed(row);
        let idle = row.rule.iter().find(|id| !killed.iter().any(|name| name.ends_with(&format!("/{id}"))));
        assert_eq!(idle, None, "not seen to fail by {}", row.outside.faults);
    }
    let killed: BTreeSet<String> = table.row.iter().flat_map(killed).collect();
    let mut survivors = Vec::new();
    let mut total = 0;
    for profile in &profiles {
        let required = profile.rules.iter().filter(|rule| rule.level == Level::Required);
        let names: Vec<String> = required.map(|rule| format!("{}/{}", profile.id, rule.id)).collect();
        let missing: Vec<String> = names.iter().filter(|name| !killed.contains(*name)).cloned().collect();
        println!("{}: {} of {} required rules seen to fail", profile.id, names.len() - missing.len(), names.len());
        total += names.len();
        survivors.extend(missing);
    }
    println!("in all: {} of {total}", total - survivors.len());
    assert!(survivors.is_empty(), "no fault makes these deviate: {survivors:?}");
}
