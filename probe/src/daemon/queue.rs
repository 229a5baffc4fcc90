//! What waits to be measured: each device once for each extent, quick runs first.

use std::time::{Duration, Instant};

use super::board::Waiting;
use super::round::{Extent, Order};
use super::trigger::Trigger;

/// An order that waits.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The order.
    pub order: Order,
    /// Since when.
    pub since: Instant,
    /// Not before that.
    pub after: Instant,
    /// What it waits for.
    pub reason: String,
}

/// The orders that wait.
#[derive(Clone, Debug, Default)]
pub struct Queue(Vec<Pending>);

impl Queue {
    /// Adds an order; one that waits already is brought forward, with the newer reason to measure.
    pub fn add(&mut self, order: Order, now: Instant) {
        self.0
            .retain(|pending| !(pending.order.device.key == order.device.key && pending.order.extent == order.extent));
        self.0.push(Pending { order, since: now, after: now, reason: String::new() });
        self.0.sort_by_key(|pending| (pending.order.extent, pending.since));
    }

    /// Orders of devices that are gone go.
    pub fn retain(&mut self, keys: impl Fn(&str) -> bool) {
        self.0.retain(|pending| keys(&pending.order.device.key));
    }

    /// Takes the first whose time has come and that `ready` lets through; for another, `ready` says what it waits for and how
    /// long, or that it is to be dropped.
    pub fn take(&mut self, now: Instant, mut ready: impl FnMut(&Pending) -> Verdict) -> Option<Order> {
        let mut place = 0;
        while let Some(pending) = self.0.get_mut(place) {
            let verdict = if pending.after <= now { ready(pending) } else { Verdict::Stay };
            match verdict {
                Verdict::Go => return Some(self.0.remove(place).order),
                Verdict::Drop => {
                    self.0.remove(place);
                    continue;
                }
                Verdict::Wait(reason, time) => (pending.reason, pending.after) = (reason, now + time),
                Verdict::Stay => {}
            }
            place += 1;
        }
        None
    }

    /// Whether a quick run could begin now.
    pub fn has_quick(&self, now: Instant) -> bool {
        self.0.iter().any(|pending| pending.order.extent == Extent::Quick && pending.after <= now)
    }

    /// Every order may be looked at again at once: something else than time has changed.
    pub fn wake(&mut self, now: Instant) {
        self.0.iter_mut().for_each(|pending| pending.after = pending.after.min(now));
    }

    /// What waits.
    pub fn waiting(&self) -> Vec<Waiting> {
        let shown = |pending: &Pending| Waiting {
            key: pending.order.device.key.clone(),
            slot: pending.order.device.slot.clone(),
            extent: pending.order.extent,
            trigger: pending.order.trigger.to_string(),
            reason: pending.reason.clone(),
        };
        self.0.iter().map(shown).collect()
    }
}

/// What becomes of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is measured now.
    Go,
    /// It waits for this, and so long until the next look.
    Wait(String, Duration),
    /// It waits on.
    Stay,
    /// It is not measured.
    Drop,
}

impl Pending {
    /// Whether nobody waits for it: it is for when there is nothing else to do.
    pub fn is_idle(&self) -> bool {
        self.order.trigger == Trigger::Idle
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::roster::Known;
    use super::*;

    fn order(key: &str, extent: Extent) -> Order {
        let device = Known {
            key: key.to_owned(),
            slot: key.to_owned(),
            name: String::new(),
            kind: "cpu".to_owned(),
            driver: String::new(),
            driver_info: String::new(),
            library: PathBuf::new(),
            manifest: PathBuf::new(),
        };
        Order { device, extent, trigger: Trigger::Start }
    }

    #[test]
    fn quick_runs_come_first_each_once_and_in_their_order() {
        let (now, minute) = (Instant::now(), Duration::from_mins(1));
        let mut queue = Queue::default();
        for (at, key, extent) in
            [(0, "a", Extent::Full), (1, "b", Extent::Quick), (2, "c", Extent::Quick), (3, "b", Extent::Quick)]
        {
            queue.add(order(key, extent), now + Duration::from_secs(at));
        }
        assert_eq!(queue.waiting().iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["c", "b", "a"]);
        let now = now + minute;
        let busy = |pending: &Pending| match pending.order.device.key.as_str() {
            "c" => Verdict::Wait("busy".to_owned(), minute),
            "b" => Verdict::Drop,
            _ => Verdict::Go,
        };
        assert_eq!(queue.take(now, busy).unwrap().device.key, "a");
        assert_eq!(queue.waiting()[0].reason, "busy");
        assert!(!queue.has_quick(now) && queue.has_quick(now + minute));
        assert!(queue.take(now, |_| Verdict::Go).is_none(), "its time has not come");
        queue.wake(now);
        assert_eq!(queue.take(now, |_| Verdict::Go).unwrap().device.key, "c");
    }
}
