//! When the clock says to measure: an interval, or a calendar expression in local time, with jitter.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::str::FromStr;
use std::time::Duration;

use croner::Cron;
use jiff::{SignedDuration, Zoned};

/// A schedule.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// Never by the clock.
    Never,
    /// So long after the time before.
    Every(Duration),
    /// Minute, hour, day, month, weekday.
    Calendar(Box<Cron>),
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
            let cron = Cron::from_str(text);
            return cron.map(|cron| Schedule::Calendar(Box::new(cron))).map_err(|error| {
                format!("`daemon.schedule`: `{text}` is no calendar expression ({error}) and no interval (`every 6h`)")
            });
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
            Schedule::Every(interval) => after.checked_add(SignedDuration::try_from(*interval).ok()?).ok()?,
            Schedule::Calendar(cron) => cron.find_next_occurrence(after, false).ok()?,
        };
        // Hosts that start together need not measure together; nothing depends on how good this chance is.
        let chance = RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64;
        time.checked_add(SignedDuration::try_from(jitter.mul_f64(chance)).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn intervals_and_calendars() {
        let now = at("2026-03-04T05:06:07[UTC]");
        for (text, expected) in [
            ("every 90s", "2026-03-04T05:07:37[UTC]"),
            ("every 6h", "2026-03-04T11:06:07[UTC]"),
            ("0 3 * * *", "2026-03-05T03:00:00[UTC]"),
            ("30 2 * * sun", "2026-03-08T02:30:00[UTC]"),
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap().next(&now, Duration::ZERO), Some(at(expected)), "{text}");
        }
        assert!("".parse::<Schedule>().unwrap().next(&now, Duration::ZERO).is_none());
    }

    #[test]
    fn jitter_only_delays() {
        let (now, schedule) = (at("2026-03-04T05:06:07[UTC]"), "every 1h".parse::<Schedule>().unwrap());
        let times: Vec<Zoned> = (0..50).filter_map(|_| schedule.next(&now, Duration::from_mins(10))).collect();
        let (least, most) = (at("2026-03-04T06:06:07[UTC]"), at("2026-03-04T06:16:07[UTC]"));
        assert!(times.len() == 50 && times.iter().all(|time| *time >= least && *time <= most));
        assert!(times.iter().any(|time| *time != times[0]));
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["every", "every soon", "every 0h", "every 999999d", "0 25 * * *", "tomorrow"] {
            assert!(text.parse::<Schedule>().unwrap_err().contains("daemon.schedule"), "{text}");
        }
    }
}
