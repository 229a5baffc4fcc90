//! Requests of people to the daemon, by socket or signal.

use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use jiff::Zoned;

use crate::debounce::Debounce;
use crate::device_table::KnownDevice;
use crate::log::{Logger, Priority};
use crate::order::{Order, RunExtent};
use crate::request::{ControlRequest, Reply};
use crate::schedule::Alarm;
use crate::service::{Service, add, write_config};
use crate::settings::{DaemonSettings, seconds};
use crate::trigger::Trigger;

impl Service {
    /// Reads the configuration again; what is wrong with it leaves the old one in effect.
    pub(super) fn reload(&mut self) -> Result<String, String> {
        let read = self.door.settings().and_then(|settings| {
            let fixed = self.settings.fixed(&settings);
            // The store is the one that it has locked.
            let settings = DaemonSettings { store: self.settings.store.clone(), ..settings };
            write_config(&settings).map(|()| (settings, fixed))
        });
        let result = match read {
            Ok((settings, fixed)) => {
                let daemon = &settings.daemon;
                self.log = Logger::new(&daemon.journal);
                self.debounce = Debounce::new(seconds(daemon.debounce));
                // An interval goes on, however often the rest is read again.
                let before = &self.settings.daemon;
                if (&before.schedule, before.jitter) != (&daemon.schedule, daemon.jitter) {
                    self.alarm = Alarm::new(
                        &settings.schedule,
                        seconds(daemon.jitter),
                        &Zoned::now(),
                        Instant::now(),
                    );
                }
                self.messenger.configure(&daemon.hook, &daemon.webhook);
                self.settings = settings;
                add(&mut self.want, Trigger::Identity);
                self.queue.wake(Instant::now());
                let rest = if fixed.is_empty() {
                    String::new()
                } else {
                    format!("; `{}` takes effect when the daemon starts again", fixed.join("`, `"))
                };
                Ok(format!("the configuration was read again{rest}"))
            }
            Err(error) => Err(format!("the configuration stays as it was: {error:#}")),
        };
        match &result {
            Ok(text) => self.log(Priority::Notice, text, &[]),
            Err(text) => self.log(Priority::Error, text, &[]),
        }
        result
    }

    /// Pauses, or goes on, whoever starts it again until then.
    fn pause(&mut self, paused: bool) {
        self.state.paused = paused;
        self.remember();
    }

    pub(super) fn answer(&mut self, request: ControlRequest, reply: &SyncSender<Reply>) {
        let answer = match request {
            ControlRequest::Status => Reply::done(&*self.shared.look().status),
            ControlRequest::RunNow { full, device } => self.run_now(full, device.as_deref()),
            ControlRequest::Pause => {
                self.pause(true);
                if let Some((_, stop)) = &self.measuring {
                    stop.store(true, Ordering::Relaxed);
                }
                Reply::done("paused")
            }
            ControlRequest::Resume => {
                self.pause(false);
                Reply::done("resumed")
            }
            ControlRequest::Reload => self.reload().map_or_else(Reply::refused, Reply::done),
            ControlRequest::QuarantineClear { slot } => self.lift(slot.as_deref()),
        };
        // Who asked may be gone.
        let _ = reply.send(answer);
    }

    /// Lifts quarantines; what was left alone is measured.
    fn lift(&mut self, slot: Option<&str>) -> Reply {
        let before = self.quarantine.entries().clone();
        match self.quarantine.clear(slot) {
            Ok(0) => Reply::refused("nothing of that is in quarantine"),
            Ok(count) => {
                let now = Instant::now();
                self.queue.wake(now);
                let lifted = |known: &&KnownDevice| before.contains_key(&known.slot);
                let devices: Vec<KnownDevice> =
                    self.table.devices.iter().filter(lifted).cloned().collect();
                for device in devices {
                    self.order(Order::new(device, RunExtent::Quick, Trigger::Requested), now);
                }
                Reply::done(format!("{count} lifted"))
            }
            Err(error) => Reply::refused(format!("{error:#}")),
        }
    }

    fn run_now(&mut self, full: bool, device: Option<&str>) -> Reply {
        let is_match = |known: &&KnownDevice| {
            device.is_none_or(|text| {
                known.key == text
                    || known.slot == text
                    || known.name.to_lowercase().contains(&text.to_lowercase())
            })
        };
        let mut devices: Vec<KnownDevice> =
            self.table.devices.iter().filter(is_match).cloned().collect();
        if devices.is_empty() {
            return Reply::refused("there is no such device; `fpprobe daemon status` lists them");
        }
        devices.retain(|known| !self.quarantine.entries().contains_key(&known.slot));
        if devices.is_empty() {
            return Reply::refused(
                "it is in quarantine; `fpprobe daemon quarantine clear` lifts that",
            );
        }
        let extent = if full { RunExtent::Full } else { RunExtent::Quick };
        let count = devices.len();
        for device in devices {
            self.queue.add(Order::new(device, extent, Trigger::Requested), Instant::now());
        }
        Reply::done(format!("{count} to be measured"))
    }
}
