//! A run that was interrupted or killed goes on from its journal; what the journal cannot vouch for
//! it does not believe.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use crate::scene::{Ended, ends, fpprobe, json};

const FILTER: &str = "f32.fm*";
/// A run that goes on has the seed that it began with.
const SEED: [&str; 4] = ["--seed", "3", "--random", "4"];

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.toml"), "[workers]\nbatch = 1\njobs = 1\n").unwrap();
        Place { folder }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn journal(&self) -> PathBuf {
        self.out().join("journal.jsonl")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = fpprobe(&["swiftshader"]);
        command
            .env_remove("FPPROBE_DRIVERS_CACHES")
            .arg("--config")
            .arg(self.folder.path().join("config.toml"))
            .arg("-v")
            .arg("run")
            .args(arguments);
        command
    }

    fn run(&self) -> Command {
        let mut command = self.command(&[FILTER]);
        command.args(SEED).arg("-o").arg(self.out());
        command
    }

    fn resume(&self, more: &[&str]) -> Ended {
        let mut command = self.command(&["--resume"]);
        command.arg(self.out()).args(more);
        ends(&mut command)
    }

    /// Starts this command and sends it a signal when the n-th batch is asked.
    fn disturb(mut command: Command, nth: usize, signal: &str) -> (Option<i32>, String) {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        lines
            .by_ref()
            .filter(|line| line.contains(" kernels from "))
            .nth(nth)
            .expect("there are more batches");
        send(&child, signal);
        let err: String = lines.map(|line| line + "\n").collect();
        assert!(!err.contains("panicked"), "{err}");
        (child.wait().unwrap().code(), err)
    }

    /// The report without its times.
    fn report(&self) -> String {
        timeless(&self.out())
    }

    /// What an undisturbed run reports.
    fn calm() -> &'static str {
        static CALM: LazyLock<String> = LazyLock::new(|| {
            let place = Place::new();
            ends(&mut place.run()).with(0);
            assert_eq!(
                fs::read_dir(place.out()).unwrap().count(),
                3,
                "report.json, its results and report.html"
            );
            place.report()
        });
        &CALM
    }
}

/// Sends it twice at once, as `timeout` does to a process and its group: that is one signal.
fn send(child: &Child, signal: &str) {
    let twice = r#"kill "$0" "$1" && { kill "$0" "$1"; true; }"#;
    let mut bash = Command::new("bash");
    assert!(bash.args(["-c", twice, signal, &child.id().to_string()]).status().unwrap().success());
}

pub fn timeless(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("report.json")).unwrap();
    let times = |line: &&str| !line.contains("\"started\"") && !line.contains("\"finished\"");
    text.lines().filter(times).map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn a_killed_supervisor_goes_on_and_reports_the_same_bytes() {
    let place = Place::new();
    let (code, _) = Place::disturb(place.run(), 4, "-KILL");
    assert_eq!(code, None);
    assert!(!place.out().join("report.json").exists());
    // Killed again, and a last line cut off.
    let mut again = place.command(&["--resume"]);
    again.arg(place.out());
    Place::disturb(again, 4, "-KILL");
    let journal = fs::read(place.journal()).unwrap();
    fs::write(place.journal(), &journal[..journal.len() - 7]).unwrap();
    let resumed = place.resume(&[]);
    resumed.with(0);
    assert!(resumed.err.contains("was cut off"), "{}", resumed.err);
    assert_eq!(place.report(), Place::calm());
    assert!(!place.journal().exists(), "the report holds everything");
    let nothing = place.resume(&[]);
    nothing.with(2);
    assert!(nothing.err.contains("nothing to resume"), "{}", nothing.err);
}

#[test]
fn an_interrupt_ends_the_run_with_what_was_measured() {
    for signal in ["-INT", "-TERM"] {
        let place = Place::new();
        let (code, _) = Place::disturb(place.run(), 6, signal);
        assert_eq!(code, Some(5));
        let report = json(&place.out().join("report.json"));
        let device = &report["devices"][0];
        let observations = device["observations"].as_array().unwrap();
        assert!(observations.iter().all(|observation| observation["outcome"] != "crashed"));
        assert!((3..50).contains(&observations.len()), "{}", observations.len());
        let incidents = device["incomplete"].as_array().unwrap();
        assert_eq!(incidents.len(), 1);
        let detail = incidents[0]["detail"].as_str().unwrap();
        assert!(
            detail.contains("SIG")
                && detail.contains("--resume")
                && detail.contains("were not asked"),
            "{detail}"
        );
        assert_eq!(incidents[0].get("outcome"), None, "nothing happened to them");
        assert!(
            device["profiles"]
                .as_array()
                .unwrap()
                .iter()
                .all(|profile| profile["class"] == "incomplete")
        );
        place.resume(&[]).with(0);
        assert_eq!(place.report(), Place::calm());
    }
}

#[test]
fn a_damaged_journal_is_refused_with_its_line_and_left_alone() {
    let place = Place::new();
    Place::disturb(place.run(), 6, "-KILL");
    let text = fs::read_to_string(place.journal()).unwrap();
    let at = text.match_indices("\"out\":\"").nth(1).unwrap().0 + 8;
    let line = text[..at].matches('\n').count() + 1;
    let mut bytes = text.into_bytes();
    bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
    fs::write(place.journal(), &bytes).unwrap();
    let ended = place.resume(&[]);
    ended.with(2);
    assert!(ended.err.contains(&format!("line {line} is damaged")), "{}", ended.err);
    assert_eq!(fs::read(place.journal()).unwrap(), bytes);
}

/// The journal as if the machine had been started anew after it.
fn restarted(place: &Place) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let text = fs::read_to_string(place.journal()).unwrap();
    let rewritten = text.lines().map(|line| {
        if !line.contains("\"record\":\"leg\"") {
            return line.to_owned() + "\n";
        }
        let body = line.replace(boot.trim(), "00000000-0000-0000-0000-000000000000");
        let body = body.split(",\"sum\"").next().unwrap().to_owned();
        let sum = fpprobe_reports::journal::digest(body.as_bytes());
        format!("{body},\"sum\":\"{sum}\"}}\n")
    });
    let rewritten: String = rewritten.collect();
    fs::write(place.journal(), rewritten).unwrap();
}

#[test]
fn a_kernel_that_took_the_machine_down_stays_in_quarantine() {
    let place = Place::new();
    Place::disturb(place.run(), 6, "-KILL");
    // As if the machine had stopped right after the last intent, whatever came of it here.
    let text = fs::read_to_string(place.journal()).unwrap();
    let intent = text.rfind("{\"record\":\"intent\"").unwrap();
    let last = text[intent..].lines().next().unwrap();
    fs::write(place.journal(), &text[..=intent + last.len()]).unwrap();
    let kernel =
        last.split("\"kernels\":[\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    restarted(&place);
    for attempt in ["first", "second"] {
        place.resume(&[]).with(5);
        wait_for(&place, &kernel, attempt);
    }
    // A new run in the same place keeps away from it too.
    let anew = ends(&mut place.run());
    anew.with(5);
    assert!(
        !anew.err.contains("an unfinished run"),
        "all that was left was the quarantine: {}",
        anew.err
    );
    wait_for(&place, &kernel, "a new run");
    // So does one that asks something else, or another driver, and the next one after that.
    let mut other = place.command(&["f32.sqrt", "-o"]);
    ends(other.arg(place.out())).with(0);
    let mut lavapipe = fpprobe(&["lavapipe-25"]);
    ends(lavapipe.args(["run", "f32.sqrt", "-o"]).arg(place.out())).with(0);
    let again = ends(&mut place.run());
    again.with(5);
    assert!(
        !again.err.contains("an unfinished run"),
        "all that was left was the quarantine: {}",
        again.err
    );
    wait_for(&place, &kernel, "after others");
    place.resume(&["--retry-quarantined"]).with(0);
    assert_eq!(place.report(), Place::calm());
    assert!(!place.journal().exists());
}

/// The report says of this kernel alone that it was not run, and why.
fn wait_for(place: &Place, kernel: &str, when: &str) {
    let report = json(&place.out().join("report.json"));
    let device = &report["devices"][0];
    let observations = device["observations"].as_array().unwrap();
    assert!(
        observations.iter().all(|one| one["kernel"] != kernel),
        "{when}: what was not asked has no observation"
    );
    assert!(observations.len() > 50, "{when}");
    let incidents = device["incomplete"].as_array().unwrap();
    assert_eq!(incidents.len(), 1, "{when}: {incidents:?}");
    assert_eq!(incidents[0]["subject"], kernel, "{when}");
    assert!(incidents[0]["detail"].as_str().unwrap().contains("--retry-quarantined"), "{when}");
}

#[test]
fn a_run_that_was_interrupted_in_order_holds_nothing_back() {
    let place = Place::new();
    assert_eq!(Place::disturb(place.run(), 6, "-TERM").0, Some(5));
    restarted(&place);
    place.resume(&[]).with(0);
    assert_eq!(place.report(), Place::calm());
}

#[test]
fn answers_of_other_circumstances_do_not_mix() {
    let place = Place::new();
    Place::disturb(place.run(), 6, "-KILL");
    fs::write(
        place.folder.path().join("config.toml"),
        "[workers]\nbatch = 1\njobs = 1\n[drivers]\ncaches = true\n",
    )
    .unwrap();
    let ended = place.resume(&[]);
    ended.with(2);
    assert!(ended.err.contains("caches"), "{}", ended.err);
    // On how many are asked side by side nothing depends; which NaN comes may depend on the company
    // in a module.
    fs::write(place.folder.path().join("config.toml"), "[workers]\nbatch = 1\n").unwrap();
    place.resume(&[]).with(0);
    assert_eq!(place.report(), Place::calm());
}

#[test]
fn a_mistyped_command_leaves_the_journal_alone() {
    let place = Place::new();
    Place::disturb(place.run(), 6, "-KILL");
    let before = fs::read(place.journal()).unwrap();
    let mut wrong = place.run();
    ends(wrong.args(["--device", "nosuch"])).with(2);
    assert_eq!(fs::read(place.journal()).unwrap(), before);
}

#[test]
fn every_unfinished_run_is_kept() {
    let place = Place::new();
    for _ in 0..3 {
        Place::disturb(place.run(), 3, "-KILL");
    }
    let again = ends(&mut place.run());
    again.with(0);
    assert!(again.err.contains("an unfinished run was here"), "{}", again.err);
    for name in ["journal.jsonl.old", "journal.jsonl.old2", "journal.jsonl.old3"] {
        let text = fs::read_to_string(place.out().join(name)).unwrap();
        assert!(text.contains("\"record\":\"answers\""), "{name}");
    }
    assert!(!place.journal().exists());
}

#[test]
fn first_verdicts_come_again_where_a_run_goes_on() {
    let place = Place::new();
    let until_first_verdicts = |mut command: Command| {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let found = lines.find(|line| line.contains("first verdicts"));
        send(&child, "-KILL");
        let _ = child.wait();
        found
    };
    let mut begun = place.command(&["-o"]);
    begun.arg(place.out());
    let first = until_first_verdicts(begun).expect("a run of everything shows first verdicts");
    let mut resumed = place.command(&["--resume"]);
    resumed.arg(place.out());
    assert_eq!(until_first_verdicts(resumed), Some(first));
}

#[test]
fn what_cannot_be_resumed_says_so() {
    let place = Place::new();
    Place::disturb(place.run(), 3, "-KILL");
    // Another driver in the place of the first.
    let mut other = fpprobe(&["lavapipe-25"]);
    let ended = ends(other.args(["run", "--resume"]).arg(place.out()));
    ended.with(2);
    assert!(
        ended.err.contains("is not there any more") && ended.err.contains("SwiftShader"),
        "{}",
        ended.err
    );
    // Options that the journal has fixed.
    let mut command = place.command(&["--resume"]);
    ends(command.arg(place.out()).arg("f32.fadd")).with(2);
    // A journal of another version.
    fs::write(place.journal(), "{\"record\":\"run\",\"journal\":\"fpprobe-journal/9\"}\n").unwrap();
    let ended = place.resume(&[]);
    ended.with(2);
    assert!(ended.err.contains("line 1"), "{}", ended.err);
    fs::write(place.journal(), "").unwrap();
    let ended = place.resume(&[]);
    ended.with(2);
    assert!(ended.err.contains("it holds nothing"), "{}", ended.err);
}

#[test]
fn two_runs_do_not_write_into_one_place() {
    let place = Place::new();
    let mut first = place.run().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines().map(Result::unwrap);
    lines.by_ref().find(|line| line.contains(" kernels from ")).unwrap();
    send(&first, "-STOP");
    let second = ends(&mut place.run());
    send(&first, "-CONT");
    second.with(2);
    assert!(second.err.contains("is in use"), "{}", second.err);
    lines.count();
    assert_eq!(first.wait().unwrap().code(), Some(0));
}

/// The same command under a limit of the shell's `ulimit`. No file may grow beyond N kibibytes
/// (`-f N`) stands in for a full disk: no signal, so that the write itself fails.
pub fn cramped(run: &Command, limit: &str) -> Command {
    let mut command = Command::new("bash");
    let script = format!("trap '' XFSZ; ulimit {limit}; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(run.get_program()).args(run.get_args());
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn a_full_disk_ends_the_run_with_a_reason() {
    let place = Place::new();
    let ended = ends(&mut cramped(&place.run(), "-f 0"));
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(
        ended.err.contains("failed to write journal") && ended.err.contains("File too large"),
        "{}",
        ended.err
    );
}

#[test]
fn a_disk_that_fills_up_in_mid_run_loses_nothing() {
    let place = Place::new();
    let ended = ends(&mut cramped(&place.run(), "-f 64"));
    ended.with(2);
    assert!(
        ended.err.contains("failed to write") && ended.err.contains("File too large"),
        "{}",
        ended.err
    );
    assert!(
        fs::read_to_string(place.journal()).unwrap().matches("\"record\":\"answers\"").count() > 1
    );
    place.resume(&[]).with(0);
    assert_eq!(place.report(), Place::calm());
}
