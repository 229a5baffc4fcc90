//! What people ask of the daemon, by socket or signal.

use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use jiff::Zoned;

use super::control::{Reply, Request};
use super::debounce::Debounce;
use super::log::{Log, Priority};
use super::policy::{Policy, seconds};
use super::roster::Known;
use super::round::{Extent, Order};
use super::service::{Service, write_config};
use super::trigger::Trigger;

impl Service {
    /// Reads the configuration again; what is wrong with it leaves the old one in effect.
    pub(super) fn reload(&mut self) -> Result<String, String> {
        let read = self.source.read().and_then(|policy| write_config(&policy).map(|()| policy));
        let result = match read {
            Ok(policy) => {
                let fixed = self.policy.fixed(&policy);
                let daemon = &policy.config.daemon;
                self.log = Log::new(&daemon.journal);
                self.debounce = Debounce::new(seconds(daemon.debounce));
                self.next = policy.schedule.next(&Zoned::now(), seconds(daemon.jitter));
                let store = self.policy.store.clone();
                self.policy = Policy { store, ..policy };
                self.want = Some(Trigger::Identity);
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
            Ok(text) => self.tell(Priority::Notice, text, &[]),
            Err(text) => self.tell(Priority::Error, text, &[]),
        }
        result
    }

    pub(super) fn answer(&mut self, request: Request, reply: &SyncSender<Reply>) {
        let answer = match request {
            Request::Status => Reply::done(&*self.board.look().status),
            Request::RunNow { full, device } => self.run_now(full, device.as_deref()),
            Request::Pause => {
                self.paused = true;
                if let Some((_, stop)) = &self.measuring {
                    stop.store(true, Ordering::Relaxed);
                }
                Reply::done("paused")
            }
            Request::Resume => {
                self.paused = false;
                Reply::done("resumed")
            }
            Request::Reload => self.reload().map_or_else(Reply::refused, Reply::done),
            Request::QuarantineClear { slot } => match self.quarantine.clear(slot.as_deref()) {
                Ok(0) => Reply::refused("nothing of that is in quarantine"),
                Ok(count) => {
                    self.queue.wake(Instant::now());
                    Reply::done(format!("{count} lifted"))
                }
                Err(error) => Reply::refused(format!("{error:#}")),
            },
        };
        // Who asked may be gone.
        let _ = reply.send(answer);
    }

    fn run_now(&mut self, full: bool, device: Option<&str>) -> Reply {
        let wanted = |known: &&Known| {
            device.is_none_or(|text| {
                known.key == text || known.slot == text || known.name.to_lowercase().contains(&text.to_lowercase())
            })
        };
        let devices: Vec<Known> = self.roster.devices.iter().filter(wanted).cloned().collect();
        if devices.is_empty() {
            return Reply::refused("there is no such device; `fpprobe daemon status` lists them");
        }
        let extent = if full { Extent::Full } else { Extent::Quick };
        let count = devices.len();
        for device in devices {
            self.queue.add(Order { device, extent, trigger: Trigger::Asked }, Instant::now());
        }
        Reply::done(format!("{count} to be measured"))
    }
}
