//! When the clock says to measure: an interval, with jitter. Times of the calendar are for a
//! service manager.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::str::FromStr;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Zoned};

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub enum Schedule {
    /// Never by the clock.
    Never,
    /// So long after the time before.
    Every(Duration),
}

/// Units of an interval, in seconds.
const UNITS: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Schedule::Never);
        }
        let Some(interval) = text.strip_prefix("every ") else {
            return Err(format!(
                "`daemon.schedule`: `{text}` is no interval such as `every 6h`; for times of the calendar, have a systemd \
                 timer start `fpprobe daemon run-now` (docs/daemon.md)"
            ));
        };
        let interval = interval.trim();
        let parsed = UNITS.iter().find_map(|(unit, seconds)| {
            let count: u64 = interval.strip_suffix(unit)?.trim().parse().ok()?;
            count.checked_mul(*seconds).filter(|seconds| (1..=366 * 86_400).contains(seconds))
        });
        parsed.map(|seconds| Schedule::Every(Duration::from_secs(seconds))).ok_or_else(|| {
            format!(
                "`daemon.schedule`: `{text}` is no interval: write a whole number and s, m, h or d, as in `every 6h`"
            )
        })
    }
}

impl Schedule {
    /// The first time after this one, and up to `jitter` later.
    pub fn next(&self, after: &Zoned, jitter: Duration) -> Option<Zoned> {
        let time = match self {
            Schedule::Never => return None,
            Schedule::Every(interval) => {
                after.checked_add(SignedDuration::try_from(*interval).ok()?).ok()?
            }
        };
        // Hosts that start together need not measure together; nothing depends on how good this
        // chance is.
        let chance = RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64;
        time.checked_add(SignedDuration::try_from(jitter.mul_f64(chance)).ok()?).ok()
    }
}

/// How far the clock may differ from the time that has passed: what corrects it in small steps does
/// not set it.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(10);

/// The next time of a schedule, by a clock that may be set.
#[derive(Clone, Debug)]
pub struct Alarm {
    next: Option<Zoned>,
    /// What both clocks said last: the one that may be set, and the one that only passes.
    seen: (Zoned, Instant),
}

/// What an alarm does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ring {
    /// Nothing.
    Silent,
    /// The time has come.
    Due,
    /// The clock was set back by this much; the next time was computed again.
    SetBack(SignedDuration),
}

impl Alarm {
    /// Of a schedule, now.
    pub fn new(schedule: &Schedule, jitter: Duration, wall: &Zoned, passing: Instant) -> Alarm {
        Alarm { next: schedule.next(wall, jitter), seen: (wall.clone(), passing) }
    }

    /// The next time.
    pub fn next(&self) -> Option<&Zoned> {
        self.next.as_ref()
    }

    /// Looks at both clocks.
    pub fn look(
        &mut self,
        schedule: &Schedule,
        jitter: Duration,
        wall: &Zoned,
        passing: Instant,
    ) -> Ring {
        let passed = passing.saturating_duration_since(self.seen.1);
        let expected = SignedDuration::try_from(passed)
            .ok()
            .and_then(|passed| self.seen.0.checked_add(passed).ok());
        let back = expected.map_or(SignedDuration::ZERO, |expected| wall.duration_until(&expected));
        self.seen = (wall.clone(), passing);
        let Some(next) = &self.next else { return Ring::Silent };
        if next <= wall {
            self.next = schedule.next(wall, jitter);
            return Ring::Due;
        }
        if back <= TOLERANCE {
            return Ring::Silent;
        }
        // As much of the interval is left as before.
        self.next = next.checked_sub(back).ok();
        Ring::SetBack(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_keeps_no_schedule_from_its_time() {
        let (ahead, right, passing) =
            (at("2036-03-04T05:06:07[UTC]"), at("2026-03-04T05:06:17[UTC]"), Instant::now());
        {
            let (text, expected) = ("every 90s", "2026-03-04T05:07:37[UTC]");
            let schedule: Schedule = text.parse().unwrap();
            let mut alarm = Alarm::new(&schedule, Duration::ZERO, &ahead, passing);
            let mut look = |wall: &Zoned, seconds: u64| {
                let ring = alarm.look(
                    &schedule,
                    Duration::ZERO,
                    wall,
                    passing + Duration::from_secs(seconds),
                );
                (ring, alarm.next().unwrap().clone())
            };
            let (ring, next) = look(&right, 10);
            assert!(
                matches!(ring, Ring::SetBack(by) if by > SignedDuration::from_hours(80_000)),
                "{text}: {ring:?}"
            );
            assert_eq!(next, at(expected), "{text}");
            // A correction by little, then the time itself.
            let slewed = right.checked_add(SignedDuration::from_millis(800)).unwrap();
            assert_eq!(look(&slewed, 11).0, Ring::Silent, "{text}");
            assert_eq!(look(&at(expected), 12).0, Ring::Due, "{text}");
        }
    }

    #[test]
    fn a_clock_that_is_set_on_rings_once() {
        let (wall, passing) = (at("2026-03-04T05:06:07[UTC]"), Instant::now());
        let schedule: Schedule = "every 6h".parse().unwrap();
        let mut alarm = Alarm::new(&schedule, Duration::ZERO, &wall, passing);
        let later = at("2027-03-04T05:06:07[UTC]");
        assert_eq!(alarm.look(&schedule, Duration::ZERO, &later, passing), Ring::Due);
        assert_eq!(alarm.look(&schedule, Duration::ZERO, &later, passing), Ring::Silent);
        assert_eq!(alarm.next(), Some(&at("2027-03-04T11:06:07[UTC]")));
    }

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn intervals_are_whole_numbers_of_a_unit() {
        let now = at("2026-03-04T05:06:07[UTC]");
        for (text, expected) in
            [("every 90s", "2026-03-04T05:07:37[UTC]"), ("every 6h", "2026-03-04T11:06:07[UTC]")]
        {
            assert_eq!(
                text.parse::<Schedule>().unwrap().next(&now, Duration::ZERO),
                Some(at(expected)),
                "{text}"
            );
        }
        assert!("".parse::<Schedule>().unwrap().next(&now, Duration::ZERO).is_none());
    }

    #[test]
    fn jitter_only_delays() {
        let (now, schedule) =
            (at("2026-03-04T05:06:07[UTC]"), "every 1h".parse::<Schedule>().unwrap());
        let times: Vec<Zoned> =
            (0..50).filter_map(|_| schedule.next(&now, Duration::from_mins(10))).collect();
        let (least, most) = (at("2026-03-04T06:06:07[UTC]"), at("2026-03-04T06:16:07[UTC]"));
        assert!(times.len() == 50 && times.iter().all(|time| *time >= least && *time <= most));
        assert!(times.iter().any(|time| *time != times[0]));
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["every", "every soon", "every 0h", "every 999999d", "tomorrow"] {
            assert!(text.parse::<Schedule>().unwrap_err().contains("daemon.schedule"), "{text}");
        }
        for text in ["0 3 * * *", "30 2 * * sun"] {
            assert!(text.parse::<Schedule>().unwrap_err().contains("systemd timer"), "{text}");
        }
    }
}
