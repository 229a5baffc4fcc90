//! What measuring may cost: time in a day. Memory is for the service manager to limit.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// The time in which a budget is spent.
const DAY: Duration = Duration::from_hours(24);

/// Time that was spent in the last day: by the clock, since a daemon that is started again goes on
/// with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DailyUsage(VecDeque<(SystemTime, Duration)>);

impl DailyUsage {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_later_it_is_forgotten() {
        let (start, minute) = (SystemTime::now(), Duration::from_mins(1));
        let mut spent = DailyUsage::default();
        spent.add(start, minute);
        spent.add(start + DAY / 2, minute * 2);
        assert_eq!(spent.total(start + DAY), minute * 3);
        let mut again: DailyUsage =
            serde_json::from_str(&serde_json::to_string(&spent).unwrap()).unwrap();
        assert_eq!(spent.total(start + DAY + minute), minute * 2);
        assert_eq!(again.total(start + DAY + minute), minute * 2);
    }

    #[test]
    fn what_was_spent_under_a_clock_that_was_ahead_is_forgotten_too() {
        let (now, minute) = (SystemTime::now(), Duration::from_mins(1));
        let mut spent = DailyUsage::default();
        spent.add(now + DAY * 3650, minute);
        assert_eq!(spent.total(now), minute);
        assert_eq!(spent.total(now + DAY + minute), Duration::ZERO);
    }
}
