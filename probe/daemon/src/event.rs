//! What the loop hears of.

use std::sync::mpsc::SyncSender;

use fpprobe_system::signals::ServiceSignal;

use crate::busy::Load;
use crate::device_table::DeviceTable;
use crate::findings::RoundResult;
use crate::request::{ControlRequest, Reply};
use crate::trigger::Trigger;

/// Something that happened elsewhere.
pub enum DaemonEvent {
    /// A file or node changed.
    Changed(Trigger),
    /// A signal arrived.
    Signal(ServiceSignal),
    /// A client sends a request.
    Requested(ControlRequest, SyncSender<Reply>),
    /// Fresh workers have looked at who the devices are.
    Looked(Vec<Trigger>, DeviceTable),
    /// How busy the device in a slot is.
    Loaded(String, Load),
    /// A device was measured.
    Measured(Box<RoundResult>),
    /// A notice was delivered, or could not be.
    Notified(Result<String, String>),
}
