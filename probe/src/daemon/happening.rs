//! What the loop hears of.

use std::sync::mpsc::SyncSender;

use super::busy::Load;
use super::control::{Reply, Request};
use super::roster::Roster;
use super::round::Outcome;
use super::trigger::Trigger;

/// Something that happened elsewhere.
pub enum Happening {
    /// A file or node changed.
    Changed(Trigger),
    /// A signal arrived.
    Signal(i32),
    /// Somebody asks something of the daemon.
    Asked(Request, SyncSender<Reply>),
    /// Fresh workers have looked at who the devices are.
    Looked(Vec<Trigger>, Roster),
    /// How busy the device in a slot is.
    Loaded(String, Load),
    /// A device was measured.
    Measured(Box<Outcome>),
    /// A hook or webhook was told, or could not be.
    Told(Result<String, String>),
}
