//! What waits to be measured: each device once for each extent, quick runs first.

use std::time::{Duration, Instant};

use crate::order::{Order, RunExtent};
use crate::shared_status::PendingDevice;
use crate::trigger::Trigger;

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
pub struct OrderQueue(Vec<Pending>);

impl OrderQueue {
    /// Adds an order; one that waits already is brought forward, with the stronger, then newer,
    /// reason to measure.
    pub fn add(&mut self, order: Order, now: Instant) {
        self.add_later(order, now, now);
    }

    /// Adds an order that is not looked at before its time.
    pub fn add_later(&mut self, mut order: Order, now: Instant, after: Instant) {
        let same = |pending: &Pending| {
            pending.order.device.key == order.device.key && pending.order.extent == order.extent
        };
        let waits = self.0.iter().position(same).map(|place| self.0.remove(place));
        let (since, after) =
            waits.as_ref().map_or((now, after), |waits| (waits.since, waits.after.min(after)));
        if let Some(waits) =
            waits.filter(|waits| waits.order.trigger.strength() > order.trigger.strength())
        {
            order.trigger = waits.order.trigger;
        }
        self.0.push(Pending { order, since, after, reason: String::new() });
        self.0.sort_by_key(|pending| (pending.order.extent, pending.since));
    }

    /// Orders of devices that are missing go.
    pub fn retain(&mut self, keys: impl Fn(&str) -> bool) {
        self.0.retain(|pending| keys(&pending.order.device.key));
    }

    /// Takes the first whose time has come and that `ready` lets through; for another, `ready` says
    /// what it waits for and how long, or that it is to be dropped.
    pub fn take(
        &mut self,
        now: Instant,
        mut ready: impl FnMut(&Pending) -> OrderDecision,
    ) -> Option<Order> {
        let mut place = 0;
        while let Some(pending) = self.0.get_mut(place) {
            let verdict = if pending.after <= now { ready(pending) } else { OrderDecision::Stay };
            match verdict {
                OrderDecision::Go => return Some(self.0.remove(place).order),
                OrderDecision::Drop => {
                    self.0.remove(place);
                    continue;
                }
                OrderDecision::Wait(reason, time) => {
                    (pending.reason, pending.after) = (reason, now + time);
                }
                OrderDecision::Stay => {}
            }
            place += 1;
        }
        None
    }

    /// Whether a quick run may begin now, were nothing else under way; for another, `ready` says
    /// what it waits for.
    pub fn has_quick(
        &mut self,
        now: Instant,
        mut ready: impl FnMut(&Pending) -> OrderDecision,
    ) -> bool {
        let quick = |pending: &&mut Pending| {
            pending.order.extent == RunExtent::Quick && pending.after <= now
        };
        self.0.iter_mut().filter(quick).any(|pending| match ready(pending) {
            OrderDecision::Go => true,
            OrderDecision::Wait(reason, time) => {
                (pending.reason, pending.after) = (reason, now + time);
                false
            }
            OrderDecision::Drop | OrderDecision::Stay => false,
        })
    }

    /// Every order may be looked at again at once: something else than time has changed.
    pub fn wake(&mut self, now: Instant) {
        self.0.iter_mut().for_each(|pending| pending.after = pending.after.min(now));
    }

    /// Orders that wait for this may be looked at again at once.
    pub fn wake_from(&mut self, reason: &str, now: Instant) {
        let waiting = self.0.iter_mut().filter(|pending| pending.reason == reason);
        waiting.for_each(|pending| pending.after = pending.after.min(now));
    }

    /// What waits.
    pub fn waiting(&self) -> Vec<PendingDevice> {
        let shown = |pending: &Pending| PendingDevice {
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
pub enum OrderDecision {
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

    use super::*;
    use crate::device_table::KnownDevice;

    fn order(key: &str, extent: RunExtent) -> Order {
        let device = KnownDevice {
            key: key.to_owned(),
            slot: key.to_owned(),
            name: String::new(),
            kind: "cpu".to_owned(),
            driver: String::new(),
            driver_info: String::new(),
            library: PathBuf::new(),
            manifest: PathBuf::new(),
            libraries: Vec::new(),
        };
        Order::new(device, extent, Trigger::Start)
    }

    #[test]
    fn quick_runs_come_first_each_once_and_in_their_order() {
        let (now, minute) = (Instant::now(), Duration::from_mins(1));
        let mut queue = OrderQueue::default();
        for (at, key, extent) in [
            (0, "a", RunExtent::Full),
            (1, "b", RunExtent::Quick),
            (2, "c", RunExtent::Quick),
            (3, "b", RunExtent::Quick),
        ] {
            queue.add(order(key, extent), now + Duration::from_secs(at));
        }
        assert_eq!(
            queue.waiting().iter().map(|one| one.key.as_str()).collect::<Vec<_>>(),
            ["b", "c", "a"]
        );
        let now = now + minute;
        let busy = |pending: &Pending| match pending.order.device.key.as_str() {
            "c" => OrderDecision::Wait("busy".to_owned(), minute),
            "b" => OrderDecision::Drop,
            _ => OrderDecision::Go,
        };
        assert_eq!(queue.take(now, busy).unwrap().device.key, "a");
        assert_eq!(queue.waiting()[0].reason, "busy");
        assert!(!queue.has_quick(now, |_| OrderDecision::Go), "its time has not come");
        let later = now + minute;
        assert!(
            !queue.has_quick(later, |_| OrderDecision::Wait("in quarantine".to_owned(), minute))
        );
        assert!(
            !queue.has_quick(later, |_| OrderDecision::Go)
                && queue.has_quick(later + minute, |_| OrderDecision::Go)
        );
        assert!(queue.take(now, |_| OrderDecision::Go).is_none(), "its time has not come");
        queue.wake(now);
        assert_eq!(queue.take(now, |_| OrderDecision::Go).unwrap().device.key, "c");
    }

    #[test]
    fn what_was_requested_stays_requested_and_has_waited_since_then() {
        let (now, minute) = (Instant::now(), Duration::from_mins(1));
        let mut queue = OrderQueue::default();
        let of = |trigger: Trigger| Order { trigger, ..order("a", RunExtent::Full) };
        queue.add(of(Trigger::Requested), now);
        queue.add(of(Trigger::Idle), now + minute);
        let mut seen = None;
        let taken = queue.take(now + minute, |pending| {
            seen = Some(pending.since);
            OrderDecision::Go
        });
        assert_eq!((taken.unwrap().trigger, seen), (Trigger::Requested, Some(now)));
        queue.add_later(of(Trigger::Schedule), now, now + minute);
        assert!(queue.take(now, |_| OrderDecision::Go).is_none(), "its time has not come");
        queue.add(of(Trigger::Idle), now);
        assert_eq!(queue.take(now, |_| OrderDecision::Go).unwrap().trigger, Trigger::Schedule);
    }
}
