//! Why something is measured.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What made the daemon look.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// It has started.
    Start,
    /// The clock.
    Schedule,
    /// A manifest, a driver's library, or what else is watched.
    File(PathBuf),
    /// A device node came or went.
    Node(PathBuf),
    /// A device is another, or new.
    Identity,
    /// The host is idle, and the quick run before was not all.
    Idle,
    /// Requested by somebody.
    #[serde(rename = "asked")]
    Requested,
    /// What an interrupted round measured has not been reported.
    Unfinished,
}

impl Trigger {
    /// What waits for one and is required for another is required for the stronger: who asks comes
    /// before the clock and changes, and those before what there is time for.
    pub fn strength(&self) -> u8 {
        match self {
            Trigger::Unfinished => 0,
            Trigger::Idle => 1,
            Trigger::Requested => 3,
            _ => 2,
        }
    }

    /// Its name in metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Trigger::Start => "start",
            Trigger::Schedule => "schedule",
            Trigger::File(_) => "file",
            Trigger::Node(_) => "node",
            Trigger::Identity => "identity",
            Trigger::Idle => "idle",
            Trigger::Requested => "asked",
            Trigger::Unfinished => "unfinished",
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Start => f.write_str("start"),
            Trigger::Schedule => f.write_str("schedule"),
            Trigger::File(path) => write!(f, "{} changed", path.display()),
            Trigger::Node(path) => write!(f, "device node {} changed", path.display()),
            Trigger::Identity => f.write_str("another device or driver than before"),
            Trigger::Idle => f.write_str("the host is idle"),
            Trigger::Requested => f.write_str("asked for"),
            Trigger::Unfinished => f.write_str("a round was interrupted"),
        }
    }
}
