//! Requests to the daemon and its replies, one line of JSON each; and where the socket is that
//! takes them.

use std::path::{Path, PathBuf};

use fpprobe_system::folders;
use serde::{Deserialize, Serialize};

/// The socket's name in its folder.
const NAME: &str = "fpprobe.sock";

/// Requests to the daemon.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlRequest {
    /// What it is doing.
    Status,
    /// To measure now, whatever the clock says.
    RunNow {
        /// Everything, not only what a quick run asks.
        full: bool,
        /// Key, slot or part of the name; all where there is none.
        device: Option<String>,
    },
    /// To measure nothing.
    Pause,
    /// To go on.
    Resume,
    /// To read the configuration again.
    Reload,
    /// To lift the quarantine of a slot, or of all.
    QuarantineClear {
        /// The slot.
        slot: Option<String>,
    },
}

/// What it answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reply {
    /// Whether it was done.
    pub done: bool,
    /// In words; for `status` the state, as JSON.
    pub text: String,
}

impl Reply {
    /// Done.
    pub fn done(text: impl Into<String>) -> Reply {
        Reply { done: true, text: text.into() }
    }

    /// Not done.
    pub fn refused(text: impl Into<String>) -> Reply {
        Reply { done: false, text: text.into() }
    }
}

/// Where the socket is: as configured, else where the service manager or the session has a place
/// for it, else in its own folder.
pub fn place(configured: &Path, own: &Path) -> PathBuf {
    if !configured.as_os_str().is_empty() {
        return configured.to_owned();
    }
    folders::runtime().unwrap_or_else(|| own.to_owned()).join(NAME)
}

/// Where a daemon may be found: at that place, and, unless another is configured, where the
/// packaged service has its own.
pub fn places(configured: &Path, own: &Path) -> Vec<PathBuf> {
    let is_usual = configured.as_os_str().is_empty();
    let service = is_usual.then(|| folders::runtime_of_service().join(NAME));
    std::iter::once(place(configured, own)).chain(service).collect()
}
