//! Which devices there are: found by fresh workers, since a process that has loaded a driver keeps
//! it, whatever becomes of its file.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use fpprobe_system::cancellation::Cancellation;

use crate::door::Door;
use crate::event::DaemonEvent;
use crate::settings::DaemonSettings;
use crate::trigger::Trigger;

/// Discovers devices, in a thread, for these reasons.
pub fn begin(
    door: &Arc<dyn Door>,
    settings: &DaemonSettings,
    triggers: Vec<Trigger>,
    cancellation: Cancellation,
    sender: Sender<DaemonEvent>,
) {
    let (door, settings) = (Arc::clone(door), settings.clone());
    std::thread::spawn(move || {
        let table = door.devices(&settings, cancellation);
        let _ = sender.send(DaemonEvent::Looked(triggers, table));
    });
}
