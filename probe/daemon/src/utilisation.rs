//! How busy devices are, asked in threads: who asks a driver may wait long, or for ever, and the
//! loop must not.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::busy::{self, Load};
use crate::device_table::KnownDevice;
use crate::event::DaemonEvent;

/// How long an answer holds.
const FRESH: Duration = Duration::from_secs(5);
/// Without an answer it is unknown after that.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known, by slot.
pub struct Utilisation {
    known: HashMap<String, (Instant, Load)>,
    queried: HashMap<String, Instant>,
    sender: Sender<DaemonEvent>,
    query: fn(&str, &str) -> Load,
}

impl Utilisation {
    /// Nothing is known yet; what is learnt is sent there.
    pub fn new(sender: Sender<DaemonEvent>) -> Utilisation {
        Utilisation { known: HashMap::new(), queried: HashMap::new(), sender, query: busy::load }
    }

    /// How busy a device is; `None` while that is being asked. One that does not answer is asked
    /// nothing else.
    pub fn of(&mut self, device: &KnownDevice, now: Instant) -> Option<Load> {
        if device.kind == "cpu" {
            return Some((self.query)(&device.slot, &device.kind));
        }
        if let Some((since, load)) = self.known.get(&device.slot)
            && now.duration_since(*since) < FRESH
        {
            return Some(*load);
        }
        if let Some(since) = self.queried.get(&device.slot) {
            return (now.duration_since(*since) > PATIENCE).then_some(Load::Unknown);
        }
        let (slot, kind, sender, ask) =
            (device.slot.clone(), device.kind.clone(), self.sender.clone(), self.query);
        let pending = std::thread::Builder::new().name("load".to_owned()).spawn(move || {
            let load = ask(&slot, &kind);
            // Nobody listens any more when the daemon ends.
            let _ = sender.send(DaemonEvent::Loaded(slot, load));
        });
        if pending.is_err() {
            return Some(Load::Unknown);
        }
        self.queried.insert(device.slot.clone(), now);
        None
    }

    /// An answer.
    pub fn update(&mut self, slot: String, load: Load, now: Instant) {
        self.queried.remove(&slot);
        self.known.insert(slot, (now, load));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::references::tests::device;

    #[test]
    fn an_answer_is_waited_for_elsewhere_and_holds_for_a_while() {
        let (sender, events) = channel();
        let (device, now) = (device("one"), Instant::now());
        let mut utilisation =
            Utilisation { query: |_, _| Load::Percent(37), ..Utilisation::new(sender) };
        assert_eq!(utilisation.of(&device, now), None);
        let DaemonEvent::Loaded(slot, load) = events.recv().unwrap() else {
            panic!("something else")
        };
        utilisation.update(slot, load, now);
        assert_eq!(utilisation.of(&device, now), Some(Load::Percent(37)));
        assert_eq!(utilisation.of(&device, now + FRESH), None);
    }

    #[test]
    fn who_never_answers_is_unknown_and_asked_once() {
        let (sender, events) = channel();
        let ask = |_: &str, _: &str| loop {
            std::thread::park();
        };
        let (device, now) = (device("one"), Instant::now());
        let mut utilisation = Utilisation { query: ask, ..Utilisation::new(sender) };
        for (later, expected) in
            [(0, None), (1, None), (11, Some(Load::Unknown)), (1000, Some(Load::Unknown))]
        {
            assert_eq!(utilisation.of(&device, now + Duration::from_secs(later)), expected);
        }
        assert!(events.try_recv().is_err());
    }
}
