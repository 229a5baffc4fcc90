//! What measuring may cost: time in a day, and memory of a run with everything that it started.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// The time in which a budget is spent.
const DAY: Duration = Duration::from_hours(24);

/// Time that was spent in the last day: by the clock, since a daemon that is started again goes on with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spent(VecDeque<(SystemTime, Duration)>);

impl Spent {
    /// Adds a run that has just ended.
    pub fn add(&mut self, now: SystemTime, time: Duration) {
        self.0.push_back((now, time));
    }

    /// How much there was of it up to now.
    pub fn total(&mut self, now: SystemTime) -> Duration {
        // What a clock that was ahead said has not passed yet: it counts from now.
        self.0.iter_mut().for_each(|(when, _)| *when = now.min(*when));
        let is_over = |when: &SystemTime| now.duration_since(*when).is_ok_and(|since| since > DAY);
        while self.0.front().is_some_and(|(when, _)| is_over(when)) {
            self.0.pop_front();
        }
        self.0.iter().map(|(_, time)| *time).sum()
    }
}

/// Bytes in memory of a process and of all its descendants.
pub fn memory(process: u32) -> u64 {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        if let Some(parent) = field(pid, "PPid:") {
            children.entry(parent as u32).or_default().push(pid);
        }
    }
    let (mut sum, mut left) = (0, vec![process]);
    while let Some(process) = left.pop() {
        sum += field(process, "VmRSS:").unwrap_or(0) * 1024;
        left.extend(children.remove(&process).unwrap_or_default());
    }
    sum
}

/// A number of `/proc/PID/status`.
fn field(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_later_it_is_forgotten() {
        let (start, minute) = (SystemTime::now(), Duration::from_mins(1));
        let mut spent = Spent::default();
        spent.add(start, minute);
        spent.add(start + DAY / 2, minute * 2);
        assert_eq!(spent.total(start + DAY), minute * 3);
        let mut again: Spent = serde_json::from_str(&serde_json::to_string(&spent).unwrap()).unwrap();
        assert_eq!(spent.total(start + DAY + minute), minute * 2);
        assert_eq!(again.total(start + DAY + minute), minute * 2);
    }

    #[test]
    fn what_was_spent_under_a_clock_that_was_ahead_is_forgotten_too() {
        let (now, minute) = (SystemTime::now(), Duration::from_mins(1));
        let mut spent = Spent::default();
        spent.add(now + DAY * 3650, minute);
        assert_eq!(spent.total(now), minute);
        assert_eq!(spent.total(now + DAY + minute), Duration::ZERO);
    }

    #[test]
    fn memory_counts_children() {
        let own = memory(std::process::id());
        let mut child = std::process::Command::new("sleep").arg("10").spawn().unwrap();
        let child_alone = memory(child.id());
        let both = memory(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(child_alone > 0 && own > 0 && both > child_alone, "{own} {child_alone} {both}");
    }
}
