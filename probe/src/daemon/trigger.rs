//! Why something is measured.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// What made the daemon look.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
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
    /// Somebody asked.
    Asked,
}

impl Trigger {
    /// Its name in metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Trigger::Start => "start",
            Trigger::Schedule => "schedule",
            Trigger::File(_) => "file",
            Trigger::Node(_) => "node",
            Trigger::Identity => "identity",
            Trigger::Idle => "idle",
            Trigger::Asked => "asked",
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
            Trigger::Asked => f.write_str("asked for"),
        }
    }
}
