//! Maintenance windows: the hours, in local time, in which devices may be measured.

use std::str::FromStr;

use jiff::Zoned;
use jiff::civil::Weekday;

/// Days of the week, as they are written.
const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];
/// Minutes of a day.
const DAY: u32 = 24 * 60;

/// `sat,sun 22:00-06:00`: on these days, or on any, from one minute of the day up to another, that
/// of the next day where it comes first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// None for all.
    days: Vec<Weekday>,
    from: u32,
    to: u32,
}

/// Whether these windows, or the lack of any, let a moment through.
pub fn open(windows: &[Window], now: &Zoned) -> bool {
    windows.is_empty() || windows.iter().any(|window| window.holds(now))
}

impl Window {
    fn holds(&self, now: &Zoned) -> bool {
        let minute =
            u32::try_from(now.hour()).unwrap_or(0) * 60 + u32::try_from(now.minute()).unwrap_or(0);
        let begun_on = |day: Weekday| self.days.is_empty() || self.days.contains(&day);
        let today = now.weekday();
        if self.from < self.to {
            return begun_on(today) && (self.from..self.to).contains(&minute);
        }
        // Past midnight it is the window of the day before.
        minute >= self.from && begun_on(today) || minute < self.to && begun_on(today.previous())
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Window, String> {
        let wrong = || {
            format!(
                "`daemon.windows`: `{text}` is no window: write `22:00-06:00` or `sat,sun 00:00-24:00`"
            )
        };
        let (days, hours) = text.trim().rsplit_once(' ').unwrap_or(("", text.trim()));
        let day = |name: &str| {
            let name = name.trim().to_lowercase();
            DAYS.iter().find(|day| day.0 == name).map(|day| day.1).ok_or_else(wrong)
        };
        let days = days
            .split(',')
            .filter(|name| !name.trim().is_empty())
            .map(day)
            .collect::<Result<_, _>>()?;
        let minute = |text: &str| -> Option<u32> {
            let (hour, minute) = text.split_once(':')?;
            let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
            let whole = hour.checked_mul(60)?.checked_add(minute)?;
            (minute < 60 && whole <= DAY).then_some(whole)
        };
        let (from, to) = hours.split_once('-').ok_or_else(wrong)?;
        let (from, to) = (minute(from).ok_or_else(wrong)?, minute(to).ok_or_else(wrong)?);
        if from == to { Err(wrong()) } else { Ok(Window { days, from, to }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_their_hours_past_midnight_too() {
        // 2026-03-07 is a Saturday.
        for (window, time, expected) in [
            ("22:00-06:00", "2026-03-04T23:00:00[UTC]", true),
            ("22:00-06:00", "2026-03-04T05:59:59[UTC]", true),
            ("22:00-06:00", "2026-03-04T06:00:00[UTC]", false),
            ("sat,sun 00:00-24:00", "2026-03-07T12:00:00[UTC]", true),
            ("sat,sun 00:00-24:00", "2026-03-06T23:59:00[UTC]", false),
            ("Sat 22:00-06:00", "2026-03-08T05:00:00[UTC]", true),
            ("sat 22:00-06:00", "2026-03-07T05:00:00[UTC]", false),
            ("08:00-09:30", "2026-03-04T09:29:00[UTC]", true),
        ] {
            let window: Window = window.parse().unwrap();
            assert_eq!(
                open(std::slice::from_ref(&window), &time.parse().unwrap()),
                expected,
                "{window:?} {time}"
            );
        }
        assert!(open(&[], &"2026-03-04T09:29:00[UTC]".parse().unwrap()));
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["", "22-6", "25:00-26:00", "some 10:00-11:00", "10:00-10:00", "10:60-11:00"] {
            assert!(text.parse::<Window>().unwrap_err().contains("daemon.windows"), "{text}");
        }
    }
}
