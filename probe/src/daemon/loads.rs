//! How busy devices are, asked in threads: who asks a driver may wait long, or for ever, and the loop must not.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::busy::{self, Load};
use super::happening::Happening;
use super::roster::Known;

/// How long an answer holds.
const FRESH: Duration = Duration::from_secs(5);
/// Without an answer it is unknown after that.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known, by slot.
pub struct Loads {
    known: HashMap<String, (Instant, Load)>,
    asked: HashMap<String, Instant>,
    sender: Sender<Happening>,
    ask: fn(&str, &str) -> Load,
}

impl Loads {
    /// Nothing is known yet; what is learnt is sent there.
    pub fn new(sender: Sender<Happening>) -> Loads {
        Loads { known: HashMap::new(), asked: HashMap::new(), sender, ask: busy::load }
    }

    /// How busy a device is; `None` while that is being asked. One that does not answer is asked nothing else.
    pub fn of(&mut self, device: &Known, now: Instant) -> Option<Load> {
        if device.kind == "cpu" {
            return Some((self.ask)(&device.slot, &device.kind));
        }
        if let Some((since, load)) = self.known.get(&device.slot)
            && now.duration_since(*since) < FRESH
        {
            return Some(*load);
        }
        if let Some(since) = self.asked.get(&device.slot) {
            return (now.duration_since(*since) > PATIENCE).then_some(Load::Unknown);
        }
        let (slot, kind, sender, ask) = (device.slot.clone(), device.kind.clone(), self.sender.clone(), self.ask);
        let asking = std::thread::Builder::new().name("load".to_owned()).spawn(move || {
            let load = ask(&slot, &kind);
            // Nobody listens any more when the daemon ends.
            let _ = sender.send(Happening::Loaded(slot, load));
        });
        if asking.is_err() {
            return Some(Load::Unknown);
        }
        self.asked.insert(device.slot.clone(), now);
        None
    }

    /// An answer.
    pub fn tell(&mut self, slot: String, load: Load, now: Instant) {
        self.asked.remove(&slot);
        self.known.insert(slot, (now, load));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::super::references::tests::device;
    use super::*;

    #[test]
    fn an_answer_is_waited_for_elsewhere_and_holds_for_a_while() {
        let (sender, happenings) = channel();
        let (device, now) = (device("one"), Instant::now());
        let mut loads = Loads { ask: |_, _| Load::Percent(37), ..Loads::new(sender) };
        assert_eq!(loads.of(&device, now), None);
        let Happening::Loaded(slot, load) = happenings.recv().unwrap() else { panic!("something else") };
        loads.tell(slot, load, now);
        assert_eq!(loads.of(&device, now), Some(Load::Percent(37)));
        assert_eq!(loads.of(&device, now + FRESH), None);
    }

    #[test]
    fn who_never_answers_is_unknown_and_asked_once() {
        let (sender, happenings) = channel();
        let ask = |_: &str, _: &str| loop {
            std::thread::park();
        };
        let (device, now) = (device("one"), Instant::now());
        let mut loads = Loads { ask, ..Loads::new(sender) };
        for (later, expected) in [(0, None), (1, None), (11, Some(Load::Unknown)), (1000, Some(Load::Unknown))] {
            assert_eq!(loads.of(&device, now + Duration::from_secs(later)), expected);
        }
        assert!(happenings.try_recv().is_err());
    }
}
