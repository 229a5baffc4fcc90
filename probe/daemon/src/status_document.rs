//! The status document, written for whoever reads it.

use std::time::SystemTime;

use fpprobe_reports::save::save;

use crate::device_table::KnownDevice;
use crate::log::Priority;
use crate::service::Service;
use crate::shared_status::{DaemonStatus, DeviceStatus, SCHEMA};

impl Service {
    /// Shows what is.
    pub(super) fn publish(&mut self) {
        let measuring = self.measuring.as_ref().map(|(order, _)| order.device.key.clone());
        let state = match () {
            () if self.stopping.is_some() => "stopping",
            () if self.state.paused => "paused",
            () if measuring.is_some() => "measuring",
            () if !self.looked => "starting",
            () if self.looking => "looking",
            () => "waiting",
        };
        let waiting = self.queue.waiting();
        self.metrics.set("fpprobe_daemon_paused", &[], f64::from(u8::from(self.state.paused)));
        self.metrics.set("fpprobe_daemon_waiting", &[], waiting.len() as f64);
        self.metrics.set("fpprobe_daemon_notices_waiting", &[], self.messenger.waiting() as f64);
        self.metrics.forget("fpprobe_daemon_quarantined");
        for slot in self.quarantine.entries().keys() {
            self.metrics.set("fpprobe_daemon_quarantined", &[("slot", slot)], 1.0);
        }
        let shown = |known: &KnownDevice| DeviceStatus {
            known: known.clone(),
            measuring: measuring.as_ref() == Some(&known.key),
            last: self.state.last.get(&known.key).cloned(),
            history: self.state.history(&known.place()).to_vec(),
        };
        let status = DaemonStatus {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            started: self.started.clone(),
            state,
            devices: self.table.devices.iter().map(shown).collect(),
            waiting,
            quarantine: self.quarantine.entries().clone(),
            failures: self.failures.clone(),
            next: self.alarm.next().map(ToString::to_string),
            spent: self.state.spent.total(SystemTime::now()).as_secs(),
            log: self.entries.iter().cloned().collect(),
        };
        let (status, metrics) =
            (serde_json::to_string(&status).unwrap_or_default(), self.metrics.text());
        let before = self.shared.look();
        let ready = self.looked && self.stopping.is_none();
        if *before.status == *status && *before.metrics == *metrics && before.ready == ready {
            return;
        }
        let textfile = self.settings.daemon.textfile.clone();
        let outdated = !textfile.as_os_str().is_empty() && *before.metrics != *metrics;
        if outdated && let Err(error) = save(&textfile, |out| out.write_all(metrics.as_bytes())) {
            self.log.write(Priority::Error, &error.to_string(), &[]);
        }
        self.shared.publish(status, metrics, ready);
    }
}
