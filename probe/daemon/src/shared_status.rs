//! What the daemon shows of itself: written by the loop, read by whoever asks, who never waits for
//! the loop.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::device_table::KnownDevice;
use crate::quarantine::QuarantineEntry;

/// The value of `schema`.
pub const SCHEMA: &str = "fpprobe-daemon/1";

/// The state of the daemon.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct DaemonStatus {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// RFC 3339, UTC.
    pub started: String,
    /// What it is doing: `starting`, `looking`, `measuring`, `waiting`, `paused` or `stopping`.
    pub state: &'static str,
    /// The devices.
    pub devices: Vec<DeviceStatus>,
    /// What waits to be measured, and for what.
    pub waiting: Vec<PendingDevice>,
    /// Slots that are left alone.
    pub quarantine: BTreeMap<String, QuarantineEntry>,
    /// What could not be looked at, watched or reported.
    #[serde(rename = "troubles")]
    pub failures: Vec<String>,
    /// The next time of the schedule.
    pub next: Option<String>,
    /// Seconds that measuring took within a day.
    pub spent: u64,
    /// The last entries of the log, oldest first.
    pub log: Vec<String>,
}

/// A device and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DeviceStatus {
    /// The device.
    #[serde(flatten)]
    pub known: KnownDevice,
    /// Whether it is being measured.
    pub measuring: bool,
    /// What its last round found.
    pub last: Option<Last>,
    /// What its last rounds came to, under earlier drivers too, the newest first.
    pub history: Vec<Last>,
}

/// What a round found.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Last {
    /// Id of the stored report; empty where there is none.
    pub report: String,
    /// Quick or full.
    pub extent: crate::order::RunExtent,
    /// RFC 3339, UTC.
    pub finished: String,
    /// Rules that were met once and have not been since.
    pub newly_deviating: usize,
    /// Kernels that answered otherwise than in the report before.
    #[serde(default)]
    pub changed_kernels: usize,
    /// Deviations that the baseline does not accept; none where there is no baseline.
    pub unaccepted: Option<usize>,
    /// In words.
    pub text: String,
    /// Whether there is a difference of that report and the one before.
    #[serde(default)]
    pub changed: bool,
    /// The driver's version, as it says it itself.
    #[serde(default)]
    pub driver: String,
    /// The class of each profile, in words.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Headlines of the gravest causes.
    #[serde(default)]
    pub causes: Vec<String>,
    /// How many more causes there are.
    #[serde(default)]
    pub more_causes: usize,
}

/// A device that waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PendingDevice {
    /// Its key.
    pub key: String,
    /// Its slot.
    pub slot: String,
    /// How much of it.
    pub extent: crate::order::RunExtent,
    /// Why it is to be measured.
    pub trigger: String,
    /// What it waits for; empty where it is next.
    pub reason: String,
}

/// How long the loop may take for one turn, which is a second where nothing happens.
const STUCK: Duration = Duration::from_secs(30);

/// The status that the loop writes and others read.
#[derive(Debug)]
pub struct SharedStatus {
    shown: Mutex<Snapshot>,
    changed: Condvar,
    /// When the loop went round last.
    beat: Mutex<Instant>,
}

/// What was published.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Counts the changes.
    pub version: u64,
    /// The state, as JSON on one line.
    pub status: Arc<str>,
    /// The metrics.
    pub metrics: Arc<str>,
    /// Whether it has looked at the devices and is not about to end.
    pub ready: bool,
}

impl SharedStatus {
    /// An empty one.
    pub fn new(now: Instant) -> SharedStatus {
        SharedStatus { shown: Mutex::default(), changed: Condvar::new(), beat: Mutex::new(now) }
    }

    /// The loop goes round.
    pub fn beat(&self, now: Instant) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// For how long the loop has not gone round, where that is too long.
    pub fn stuck(&self, now: Instant) -> Option<Duration> {
        let beat = *self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        Some(now.saturating_duration_since(beat)).filter(|since| *since > STUCK)
    }

    /// Publishes a state.
    pub fn publish(&self, status: String, metrics: String, ready: bool) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = Snapshot {
            version: shown.version + 1,
            status: status.into(),
            metrics: metrics.into(),
            ready,
        };
        self.changed.notify_all();
    }

    /// What was published last.
    pub fn look(&self) -> Snapshot {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was published, as soon as it is another than this one, or after a while.
    pub fn wait(&self, version: u64, longest: Duration) -> Snapshot {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let waited =
            self.changed.wait_timeout_while(shown, longest, |snapshot| snapshot.version == version);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_is_stuck_is_noticed() {
        let begun = Instant::now();
        let shared = SharedStatus::new(begun);
        assert_eq!(shared.stuck(begun + Duration::from_secs(20)), None);
        assert_eq!(shared.stuck(begun + Duration::from_secs(31)), Some(Duration::from_secs(31)));
        shared.beat(begun + Duration::from_secs(31));
        assert_eq!(shared.stuck(begun + Duration::from_secs(40)), None);
    }
}
