//! Which devices there are: found by fresh workers, since a process that has loaded a driver keeps it, whatever becomes of its file.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use fpprobe_system::cancellation::Cancellation;

use crate::door::Door;
use crate::event::Event;
use crate::settings::Settings;
use crate::trigger::Trigger;

/// Discovers devices, in a thread, for these reasons.
pub fn begin(
    door: &Arc<dyn Door>,
    settings: &Settings,
    triggers: Vec<Trigger>,
    cancellation: Cancellation,
    sender: Sender<Event>,
) {
    let (door, settings) = (Arc::clone(door), settings.clone());
    std::thread::spawn(move || {
        let table = door.devices(&settings, cancellation);
        let _ = sender.send(Event::Looked(triggers, table));
    });
}
