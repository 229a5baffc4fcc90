//! Whether a device may be measured now.

use std::time::{Duration, Instant, SystemTime};

use fpprobe_system::machine;
use jiff::Zoned;

use crate::budget::DailyUsage;
use crate::busy::Load;
use crate::config::BusyAction;
use crate::quarantine::Quarantine;
use crate::queue::{OrderDecision, Pending};
use crate::settings::{DaemonSettings, seconds};
use crate::utilisation::Utilisation;
use crate::window;

/// Between two looks at what only time changes.
const LOOK: Duration = Duration::from_secs(10);

/// What is waited for while it is asked how busy a device is.
pub const USE_UNKNOWN: &str = "whether the device is in use is being asked";

/// What the busy policy looks at.
pub struct BusyPolicy<'a> {
    /// The configuration.
    pub settings: &'a DaemonSettings,
    /// Devices that are left alone.
    pub quarantine: &'a Quarantine,
    /// Time that was spent.
    pub spent: &'a mut DailyUsage,
    /// How busy devices are.
    pub utilisation: &'a mut Utilisation,
    /// The slot that the daemon itself uses now.
    pub own: Option<&'a str>,
}

impl BusyPolicy<'_> {
    /// Whether this may be measured now.
    pub fn verdict(&mut self, pending: &Pending, now: Instant) -> OrderDecision {
        let (daemon, device) = (&self.settings.daemon, &pending.order.device);
        let wait = |reason: &str| OrderDecision::Wait(reason.to_owned(), LOOK);
        if self.quarantine.entries().contains_key(&device.slot) {
            return wait("the device is in quarantine");
        }
        if !window::open(&self.settings.windows, &Zoned::now()) {
            return wait("a maintenance window");
        }
        if daemon.budget.day > 0.0
            && self.spent.total(SystemTime::now()) >= seconds(daemon.budget.day)
        {
            return wait("the day's budget of time is spent");
        }
        if pending.is_idle() && machine::load().is_some_and(|load| load > daemon.idle) {
            return wait("the host is not idle");
        }
        self.of_use(pending, now)
    }

    fn of_use(&mut self, pending: &Pending, now: Instant) -> OrderDecision {
        let (busy, device) = (&self.settings.daemon.busy, &pending.order.device);
        if self.own == Some(&device.slot[..]) {
            return OrderDecision::Go;
        }
        let Some(load) = self.utilisation.of(device, now) else {
            return OrderDecision::Wait(USE_UNKNOWN.to_owned(), LOOK);
        };
        let (state, reason) = match load {
            Load::Percent(percent) if percent <= busy.percent => return OrderDecision::Go,
            Load::Percent(percent) => (busy.in_use, format!("the device is in use ({percent} %)")),
            Load::Unknown => (busy.unknown, "whether the device is in use is unknown".to_owned()),
        };
        let patience = seconds(busy.patience);
        let patient = patience.is_zero() || now.duration_since(pending.since) < patience;
        match state {
            BusyAction::Skip => OrderDecision::Drop,
            BusyAction::Postpone if patient => OrderDecision::Wait(reason, seconds(busy.retry)),
            BusyAction::Measure | BusyAction::Postpone => OrderDecision::Go,
        }
    }
}
