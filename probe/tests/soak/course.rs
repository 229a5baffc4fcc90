//! One course: runs of one kind, killed until there have been enough kills.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fpprobe_reports::journal::{Record, read};
use fpprobe_spirv::cases::random;
use serde_json::Value;

use crate::scene::{ends, fpprobe};
use crate::victim;

/// A kind of run, and how it is disturbed.
pub struct Course {
    pub name: &'static str,
    pub driver: &'static str,
    pub filter: &'static [&'static str],
    pub config: &'static str,
    /// Longest wait between a leg's first intent and the kill.
    pub longest: Duration,
    /// Most kills of one run.
    pub chain: u64,
}

/// What was done.
#[derive(Default)]
pub struct Tally {
    pub workers: usize,
    pub supervisors: usize,
    /// Legs that were over before the kill: those count for nothing.
    pub escaped: usize,
    pub reports: usize,
}

impl Tally {
    pub fn kills(&self) -> usize {
        self.workers + self.supervisors
    }

    pub fn add(&mut self, other: &Tally) {
        self.workers += other.workers;
        self.supervisors += other.supervisors;
        self.escaped += other.escaped;
        self.reports += other.reports;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { workers, supervisors, escaped, reports } = self;
        write!(
            f,
            "{} kills ({workers} of workers, {supervisors} of supervisors) over {reports} reports; {escaped} legs were over first",
            self.kills()
        )
    }
}

/// A source of numbers that a seed reproduces.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 += 1;
        random(self.0) % limit.max(1)
    }
}

impl Course {
    /// Kills this often. Panics where a report is not what it would have been.
    pub fn run(&self, kills: usize, seed: u64) -> Tally {
        let mut statistics = Tally::default();
        if kills == 0 {
            return statistics;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config = folder.path().join("config.toml");
        fs::write(&config, self.config).expect("a configuration");
        let calm = folder.path().join("calm");
        ends(&mut self.command(&config, &calm)).with(0);
        let calm = timeless(&calm);

        let mut dice = Dice(seed << 32);
        while statistics.kills() < kills {
            let out = folder.path().join(format!("run{}", statistics.reports));
            let most = (1 + dice.below(self.chain)).min((kills - statistics.kills()) as u64);
            self.chain(&config, &out, most, &mut dice, &mut statistics);
            assert!(!out.join("journal.jsonl").exists(), "a whole report leaves no journal");
            assert!(
                timeless(&out) == calm,
                "seed {seed}: the report in {} differs",
                folder.keep().join(out).display()
            );
            statistics.reports += 1;
            fs::remove_dir_all(&out).expect("the run's folder can be removed");
        }
        statistics
    }

    /// A run, or what is left of it where there is a journal.
    fn command(&self, config: &Path, out: &Path) -> Command {
        let mut command = fpprobe(&[self.driver]);
        command.arg("--config").arg(config).arg("run");
        if out.join("journal.jsonl").exists() {
            command.arg("--resume").arg(out);
        } else {
            command.args(self.filter).arg("-o").arg(out);
        }
        command
    }

    /// One run to its end, through at most N kills.
    fn chain(&self, config: &Path, out: &Path, most: u64, dice: &mut Dice, statistics: &mut Tally) {
        let mut left = most;
        let kills = statistics.workers;
        loop {
            let leg = Leg::start(self.command(config, out), out);
            let status = leg.disturb(&mut left, dice, self.longest, statistics);
            match status.code() {
                // The next leg goes on.
                None => {}
                Some(0) => return,
                Some(5) if statistics.workers > kills => return,
                Some(code) => panic!("status {code} in {}", out.display()),
            }
        }
    }
}

/// A report without its times, and without what it says of workers that were killed.
fn timeless(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("report.json")).expect("a report");
    let mut report: Value = serde_json::from_str(&text).expect("a report is JSON");
    (report["started"], report["finished"]) = (Value::Null, Value::Null);
    for device in report["devices"].as_array_mut().expect("a report has devices") {
        let incidents = device["incomplete"].as_array_mut().expect("a device has incidents");
        incidents.retain(|incident| {
            !incident["detail"].as_str().is_some_and(|text| text.contains("ended from outside"))
        });
    }
    report.to_string()
}

/// One process of a run.
struct Leg<'a> {
    child: Child,
    out: &'a Path,
    /// Lines of the journal before it.
    before: usize,
}

/// Lines of a journal, and whether its last line awaits a result.
fn look(out: &Path) -> (usize, bool) {
    let Ok(file) = fs::File::open(out.join("journal.jsonl")) else { return (0, false) };
    let Ok(read) = read(std::io::BufReader::new(file)) else { return (0, false) };
    let (mut begun, mut ended) = (0, 0);
    for (_, record) in &read.records {
        match record {
            Record::Leg(_) => (begun, ended) = (0, 0),
            Record::Intent(_) => begun += 1,
            Record::Answers(_) | Record::Failure(_) => ended += 1,
            _ => {}
        }
    }
    (read.records.len(), begun > ended)
}

impl Leg<'_> {
    fn start(mut command: Command, out: &Path) -> Leg<'_> {
        let before = look(out).0;
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        Leg { child, out, before }
    }

    /// Waits for the first intent, then for a moment, then kills; a leg whose worker was killed may
    /// be hit again.
    fn disturb(
        mut self,
        left: &mut u64,
        dice: &mut Dice,
        longest: Duration,
        statistics: &mut Tally,
    ) -> ExitStatus {
        while *left > 0 {
            let deadline = Instant::now() + Duration::from_mins(1);
            // The first line of a leg says that it has begun.
            while look(self.out).0 < self.before + 2 && !self.is_over() && Instant::now() < deadline
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_micros(dice.below(longest.as_micros() as u64)));
            // Only what is awaited now counts: a kill after the last result proves nothing.
            if self.is_over() || !look(self.out).1 {
                statistics.escaped += 1;
                break;
            }
            if dice.below(2) == 0 {
                victim::kill(self.child.id());
                statistics.supervisors += 1;
                *left -= 1;
                break;
            }
            if let Some(worker) = victim::worker(self.child.id(), dice.below(8)) {
                victim::kill(worker);
                statistics.workers += 1;
                *left -= 1;
            }
        }
        self.child.wait().expect("the program ends")
    }

    fn is_over(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }
}
