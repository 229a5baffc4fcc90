//! What becomes of an order when its round has ended: reported, continued, or tried again.

use std::time::{Duration, Instant, SystemTime};

use crate::findings::RoundResult;
use crate::log::Priority;
use crate::order::{Order, RunExtent};
use crate::pending_work::PendingWork;
use crate::service::{Service, add};
use crate::shared_status::Last;
use crate::trigger::Trigger;
use fpprobe_reports::host;

/// How often a round that failed is tried again.
const RETRIES: u32 = 3;
/// Wait before that; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(5);

impl Service {
    /// Takes over what came of an order.
    pub(super) fn measured(&mut self, outcome: RoundResult, now: Instant) {
        self.measuring = None;
        self.state.spent.add(SystemTime::now(), outcome.time);
        self.remember();
        let RoundResult { order, found, late, .. } = outcome;
        let result = match &found {
            Ok(Some(_)) => "done",
            Ok(None) => "stopped",
            Err(_) => "failed",
        };
        let labels =
            [&order.device.labels()[..], &[("extent", order.extent.name()), ("result", result)]]
                .concat();
        self.metrics.count("fpprobe_daemon_rounds_total", &labels);
        match found {
            Ok(Some(found)) => match self.found(&order, found) {
                Ok(()) if late => self.order(order, now),
                Ok(()) if order.extent == RunExtent::Quick && self.settings.daemon.full => {
                    self.order(Order::new(order.device, RunExtent::Full, Trigger::Idle), now);
                }
                Ok(()) => {}
                Err(error) => self.failed(order, &format!("could not be told of: {error:#}"), now),
            },
            Ok(None) if self.stopping.is_none() => self.queue.add(order, now),
            Ok(None) => {}
            Err(problem) => {
                self.failed(order, &format!("could not be measured: {problem}"), now);
                // It may be another device by now.
                add(&mut self.want, Trigger::Identity);
            }
        }
    }

    /// Orders a measurement, though not of what is left alone.
    pub(super) fn order(&mut self, order: Order, now: Instant) {
        if !self.quarantine.entries().contains_key(&order.device.slot) {
            self.queue.add(order, now);
        }
    }

    /// Tries again later, a few times.
    pub(super) fn failed(&mut self, mut order: Order, problem: &str, now: Instant) {
        let device = order.device.clone();
        if order.failures < RETRIES {
            let pause = PAUSE * 2u32.pow(order.failures);
            order.failures += 1;
            self.queue.add_later(order, now, now + pause);
            let text = format!("{problem}; it is tried again in {} s", pause.as_secs());
            self.log_device(Priority::Warning, &device, &text, &[]);
        } else {
            // What cannot be compared does not keep the device from being measured.
            PendingWork::end(&self.settings.folder(), &order);
            let text = format!(
                "{problem}; after {RETRIES} more attempts it is left until the next trigger"
            );
            self.log_device(Priority::Error, &device, &text, &[]);
            let (finished, driver) = (host::now(), device.driver_info.clone());
            let last = Last { extent: order.extent, finished, text, driver, ..Last::default() };
            self.state.note(&device.place(), last);
            self.remember();
        }
    }
}
