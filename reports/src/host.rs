//! The machine and the time, as reports name them.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use fpprobe_system::machine;
pub use fpprobe_system::machine::boot;
use sha2::{Digest as _, Sha256};

use crate::model::{Host, Program};

/// This program.
pub fn program() -> Program {
    Program { name: "fpprobe".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// This machine.
pub fn host() -> Host {
    let (kernel, os) = (machine::kernel(), machine::os());
    Host { id: id(), label: String::new(), tags: BTreeMap::new(), kernel, os }
}

/// A digest of the machine id, as systemd asks of programs that show it to others; zeros where
/// there is none.
fn id() -> String {
    let Some(machine) = machine::id() else { return "0".repeat(16) };
    let digest = Sha256::new().chain_update("fpprobe host\n").chain_update(machine).finalize();
    let head = digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
    format!("{head:016x}")
}

/// Now, RFC 3339, UTC, to the second.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    rfc3339(seconds)
}

/// Days to civil date after Howard Hinnant's `civil_from_days`.
fn rfc3339(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let day = day - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_civil() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_102_444_800, "2100-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
    }
}
