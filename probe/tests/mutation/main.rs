//! Every required rule of the built-in profiles, shown to fail: on a device that meets all of them,
//! a fault in its arithmetic makes the rule deviate, and changes no verdict that the fault is not
//! about. The lanes that fail by it are one cause, with the symptom that the table names, in the
//! kernels that answer otherwise.
//!
//! The device is a real driver behind the fault layer, measured by the real program: everything
//! once, and after a fault the kernels that it touches. `--nocapture` shows what each fault took,
//! and how many rules were seen to fail.

mod bench;
#[path = "../faults/corrections.rs"]
mod corrections;
#[path = "../faults/faulty.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod faulty;
mod growth;
mod rows;
#[path = "../cli/scene.rs"]
#[expect(dead_code, reason = "shared with other tests, which need other parts of it")]
mod scene;
mod statements;
mod touched;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use fpprobe_profiles::{Level, Observation, Profile, profile};
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::{Controls, Format, Kernel, Stage};
use serde_json::Value;

use bench::{Bench, observations};
use corrections::{ATOMIC, DRIVER, FLUSH, UNCORRECTED, without_flush};
use faulty::Run;
use rows::{Fault, Row, Table, Verdicts, level};
use touched::{Batch, Modules};

/// Profiles of which the table names what a row is about, and not everything else that it changes.
const AT_LENGTH: [&str; 2] = ["vulkan", "wgsl"];

/// A profile that looks at next to nothing.
const OTHERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mutation/negation.toml");

/// Rows in progress at a time: the driver itself uses one core.
const THREADS: usize = 3;

/// The profiles that devices are judged by.
fn profiles() -> Vec<Profile> {
    let all = profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap());
    all.filter(|profile| !profile.compile_time).collect()
}

/// The kernels that their rules look at.
fn judged(profiles: &[Profile]) -> HashSet<Kernel> {
    profiles.iter().flat_map(Profile::kernels).collect()
}

/// The device that meets every profile, with these faults.
fn corrected(faults: &str) -> String {
    format!("{FLUSH}{}{faults}", without_flush())
}

/// These kernels run on the driver with these faults, and judged by every profile.
fn run(faults: &str, kernels: &[Kernel]) -> Run {
    run_with(faults, kernels, &[])
}

/// The same with these arguments. Without kernels, every kernel is asked.
fn run_with(faults: &str, kernels: &[Kernel], arguments: &[&str]) -> Run {
    let kernels: Vec<String> = kernels.iter().map(Kernel::to_string).collect();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    // Thousands of modules, each rewritten by an unoptimised layer, while other tests run.
    let run = faulty::run_on(DRIVER, faults, &kernels, &[&["--timeout", "60"], arguments].concat());
    // A command that is garbled may leave poison, which is status 5.
    assert!(run.code == 0 || run.code == 5 && faults.contains("garble "), "{faults}:\n{}", run.err);
    run
}

/// The verdicts of the program itself.
fn verdicts(run: &Run) -> Verdicts {
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

/// Required rules that are not met, in order. What a group of controls that the driver lacks
/// excuses is no part of the device.
fn lacking(verdicts: &Verdicts) -> Vec<&str> {
    let met = ["conforms", "permitted", "unsupported"];
    let rules = verdicts.iter().filter(|(name, _)| name.contains('/'));
    let unmet = rules
        .filter(|(_, verdict)| !met.contains(&verdict.as_str()))
        .map(|(name, _)| name.as_str());
    unmet
        .filter(|name| {
            name.split_once('/').is_some_and(|(profile, id)| level(profile, id) == Level::Required)
        })
        .collect()
}

#[test]
fn the_corrected_device_conforms() {
    // By every route, stage, width and front end; but no fault reaches what the driver's compiler
    // folds, nor the state of the threads on which it draws, which flush every subnormal
    // number, of binary64, too.
    let drawn = |kernel: &Kernel| kernel.stage != Stage::Compute && kernel.format == Format::F64;
    let reached = |kernel: &Kernel| !kernel.route.is_folded() && !drawn(kernel);
    let others = Extent::Default.kernels(&[Controls::NONE], reached);
    let kernels: HashSet<Kernel> = judged(&profiles()).into_iter().chain(others).collect();
    let kernels: Vec<Kernel> = kernels.into_iter().collect();
    assert_eq!(lacking(&verdicts(&run(&corrected(""), &kernels))), UNCORRECTED);
    // So it does under a mode of its own making, where that is honoured.
    let d3d11 = profile::built_in("d3d11").unwrap().unwrap();
    let mode = "ftz32".parse().unwrap();
    let kernels = [d3d11.kernels(), d3d11.kernels_under(mode)].concat();
    let class = |faults: &str| verdicts(&run(faults, &kernels))["d3d11"].clone();
    let rounded = format!("{}claim ftz32", without_flush());
    assert_eq!(
        (class(&rounded), class(&format!("{rounded} ignored"))),
        ("conforms with".into(), "deviates".into())
    );
}

/// What the kernels that each fault of a batch touches answer after it.
fn touched<'a>(batch: &Batch<'a>) -> Vec<(&'a Fault, Vec<Observation>)> {
    let start = Instant::now();
    // The answers are judged here, by a judge that knows what other answers were: the program need
    // not do it.
    let recompile =
        batch.faults.iter().any(|(fault, _)| fault.is_of_second()).then_some("--recompile");
    let arguments: Vec<&str> = ["--profile", OTHERS].into_iter().chain(recompile).collect();
    let statements = batch.statements();
    let answers = observations(&run_with(&corrected(&statements), &batch.kernels(), &arguments));
    println!("{:5.1} s  {}", start.elapsed().as_secs_f32(), statements.trim().replace('\n', "; "));
    let mut answers: HashMap<Kernel, Observation> =
        answers.into_iter().map(|one| (one.kernel, one)).collect();
    let mut own =
        |kernels: &[Kernel]| kernels.iter().filter_map(|kernel| answers.remove(kernel)).collect();
    batch.faults.iter().map(|(fault, kernels)| (*fault, own(kernels))).collect()
}

/// What changes by a fault on the corrected device; an error where it is not what the table says.
fn compare(fault: &Fault, before: &Verdicts, after: Verdicts) -> Result<Verdicts, String> {
    let changed: Verdicts =
        after.into_iter().filter(|(name, verdict)| before.get(name) != Some(verdict)).collect();
    let expected = fault.changes();
    let untold = |name: &&String| {
        let profile = name.split_once('/').map_or(name.as_str(), |(profile, _)| profile);
        AT_LENGTH.contains(&profile)
            && (!expected.contains_key(*name) || before.get(*name) == expected.get(*name))
    };
    let names: BTreeSet<&String> = changed.keys().chain(expected.keys()).collect();
    if names.into_iter().all(|name| changed.get(name) == expected.get(name) || untold(&name)) {
        return Ok(changed);
    }
    Err(format!("{}\n    changes  {changed:?}\n    expected {expected:?}", fault.faults))
}

/// The rules that a row makes deviate, as `PROFILE/RULE`: outside and not inside.
fn killed(row: &Row, changes: &Changes<'_>) -> BTreeSet<String> {
    let deviating = |fault: &Fault| -> BTreeSet<String> {
        let changes = changes.get(fault.faults.as_str()).into_iter().flatten();
        let rules = changes.filter(|(name, verdict)| name.contains('/') && *verdict == "deviates");
        rules.map(|(name, _)| name.clone()).collect()
    };
    let inside = row.inside.as_ref().map(deviating).unwrap_or_default();
    deviating(&row.outside).difference(&inside).cloned().collect()
}

/// What each fault, by its statements, changed.
type Changes<'a> = BTreeMap<&'a str, Verdicts>;

#[test]
fn every_required_rule_can_fail() {
    let profiles = profiles();
    let kernels: Vec<Kernel> = judged(&profiles).into_iter().collect();
    let run = run(&corrected(""), &kernels);
    let (device, verdicts) = (observations(&run), verdicts(&run));
    // These are seen to fail on the driver itself.
    assert_eq!(lacking(&verdicts), UNCORRECTED);
    let bench = Bench::new(&profiles, &device);
    let table = Table::read();
    let faults: Vec<&Fault> =
        table.row.iter().flat_map(|row| [&row.outside].into_iter().chain(&row.inside)).collect();
    let habits = format!("{FLUSH}{ATOMIC}");
    let (batches, next) = (Modules::new(&kernels, &habits).batches(&faults), AtomicUsize::new(0));
    println!("{} faults in {} batches", faults.len(), batches.len());
    let (send, receive) = mpsc::channel();
    let query = |send: mpsc::Sender<_>| {
        for batch in std::iter::from_fn(|| batches.get(next.fetch_add(1, Ordering::Relaxed))) {
            for answered in touched(batch) {
                send.send(answered).unwrap();
            }
        }
    };
    let (mut changes, mut wrong) = (Changes::new(), Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let send = send.clone();
            scope.spawn(|| query(send));
        }
        drop(send);
        let (unfaulted, before) = bench.judge(&[]);
        assert_eq!(unfaulted, verdicts, "the program judges otherwise");
        for (fault, answers) in receive {
            let (after, causes) = bench.judge(&answers);
            wrong.extend(growth::compare(fault, &before, &causes, &bench.changed(&answers)).err());
            match compare(fault, &verdicts, after) {
                Ok(changed) => drop(changes.insert(fault.faults.as_str(), changed)),
                Err(error) => wrong.push(error),
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    for row in &table.row {
        let killed = killed(row, &changes);
        let idle =
            row.rule.iter().find(|id| !killed.iter().any(|name| name.ends_with(&format!("/{id}"))));
        assert_eq!(idle, None, "not seen to fail by {}", row.outside.faults);
    }
    let uncorrected = UNCORRECTED.map(str::to_owned);
    let killed: BTreeSet<String> =
        table.row.iter().flat_map(|row| killed(row, &changes)).chain(uncorrected).collect();
    let mut survivors = Vec::new();
    let mut total = 0;
    for profile in &profiles {
        let required = profile.rules.iter().filter(|rule| rule.level == Level::Required);
        let names: Vec<String> =
            required.map(|rule| format!("{}/{}", profile.id, rule.id)).collect();
        let missing: Vec<String> =
            names.iter().filter(|name| !killed.contains(*name)).cloned().collect();
        println!(
            "{}: {} of {} required rules seen to fail",
            profile.id,
            names.len() - missing.len(),
            names.len()
        );
        total += names.len();
        survivors.extend(missing);
    }
    println!("in all: {} of {total}", total - survivors.len());
    assert!(survivors.is_empty(), "no fault makes these deviate: {survivors:?}");
}
