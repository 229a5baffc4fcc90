//! What measuring may cost: time in a day, and memory of a run with everything that it started.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::time::{Duration, Instant};

/// The time in which a budget is spent.
const DAY: Duration = Duration::from_hours(24);

/// Time that was spent in the last day.
#[derive(Clone, Debug, Default)]
pub struct Spent(VecDeque<(Instant, Duration)>);

impl Spent {
    /// Adds a run that has just ended.
    pub fn add(&mut self, now: Instant, time: Duration) {
        self.0.push_back((now, time));
    }

    /// How much there was of it up to now.
    pub fn total(&mut self, now: Instant) -> Duration {
        while self.0.front().is_some_and(|(when, _)| now.duration_since(*when) > DAY) {
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
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let mut spent = Spent::default();
        spent.add(start, minute);
        spent.add(start + DAY / 2, minute * 2);
        assert_eq!(spent.total(start + DAY), minute * 3);
        assert_eq!(spent.total(start + DAY + minute), minute * 2);
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
