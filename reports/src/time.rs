//! Times of reports: RFC 3339, UTC, to the second.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Reads a text that is a time.
pub fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let refused =
        || D::Error::custom(format!("{text:?} is no time such as \"2026-11-22T03:09:18Z\""));
    seconds(&text).ok_or_else(refused)?;
    Ok(text)
}

/// Seconds since 1970 of `2026-11-22T03:09:18Z`, a fraction of a second left out; `None` for any
/// other text, and for times before 1970.
pub fn seconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let time = time.split_once('.').map_or(time, |(whole, _)| whole);
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let real =
        (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !real || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Days from civil date, after Howard Hinnant: years begin in March, so that leap days come
    // last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some((days.checked_sub(719_468)? * 24 + hour) * 3600 + minute * 60 + second)
}

/// Three numbers of digits alone.
fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let number = |part: &str| {
        let digits =
            (2..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits)
    };
    let parts: Vec<u64> = text.split(separator).map(number).collect::<Option<_>>()?;
    parts.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_read_and_nothing_else() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T00:00:00Z", Some(951_782_400)),
            ("2024-02-29T23:59:59Z", Some(1_709_251_199)),
            ("2024-02-29T23:59:59.75Z", Some(1_709_251_199)),
            ("2100-01-01T00:00:00Z", Some(4_102_444_800)),
            ("1969-12-31T23:59:59Z", None),
            ("2024-13-01T00:00:00Z", None),
            ("2024-01-01T24:00:00Z", None),
            ("2024-01-01T00:00:00+01:00", None),
            ("2024-01-01", None),
            ("+202-01-01T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
