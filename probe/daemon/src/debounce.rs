//! Changes that come in steps, taken for one: package managers write a file, rename it, and go on
//! to the next.

use std::time::{Duration, Instant};

/// How much longer than the quiet it may take where there is none.
const LONGEST: u32 = 10;

/// Waits for quiet.
#[derive(Clone, Copy, Debug)]
pub struct Debounce {
    quiet: Duration,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Debounce {
    /// One that waits for so much quiet.
    pub fn new(quiet: Duration) -> Debounce {
        Debounce { quiet, first: None, last: None }
    }

    /// Something changed.
    pub fn touch(&mut self, now: Instant) {
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// When there will have been quiet enough, or changes for too long; `None` while nothing
    /// changed.
    pub fn deadline(&self) -> Option<Instant> {
        Some((self.last? + self.quiet).min(self.first? + self.quiet * LONGEST))
    }

    /// Whether it is time to act; once.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = self.deadline().is_some_and(|deadline| deadline <= now);
        if due {
            (self.first, self.last) = (None, None);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_one_change_and_endless_steps_do_not_wait_for_ever() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut debounce = Debounce::new(second);
        assert!(!debounce.is_due(start) && debounce.deadline().is_none());
        debounce.touch(start);
        debounce.touch(start + second / 2);
        assert!(!debounce.is_due(start + second));
        assert!(debounce.is_due(start + second * 3 / 2));
        assert!(!debounce.is_due(start + second * 2), "once");
        let mut steps = (0..1000).map(|step| start + second * step / 2);
        let due = steps.find(|now| {
            debounce.touch(*now);
            debounce.is_due(*now)
        });
        assert_eq!(due, Some(start + second * LONGEST));
    }
}
