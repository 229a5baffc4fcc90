//! The loop: hears what happens, decides what is measured, and never waits for a driver.
//!
//! Architecture invariant: nothing in here calls Vulkan. Who the devices are is asked of fresh
//! workers, in a thread; what they answer is asked by processes of this program ([`super::job`]),
//! one at a time.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fpprobe_reports::save::save;
use jiff::Zoned;

use crate::busy_policy::{BusyPolicy, USE_UNKNOWN};
use crate::debounce::Debounce;
use crate::device_table::{DeviceTable, KnownDevice};
use crate::discovery;
use crate::door::Door;
use crate::event::DaemonEvent;
use crate::hook::Messenger;
use crate::job::JobLimits;
use crate::log::{Logger, Priority};
use crate::metrics::Metrics;
use crate::order::{Order, RunExtent};
use crate::pending_work;
use crate::quarantine::Quarantine;
use crate::queue::{OrderDecision, OrderQueue};
use crate::round::{RoundContext, round};
use crate::schedule::{Alarm, Ring};
use crate::settings::{DaemonSettings, seconds};
use crate::shared_status::SharedStatus;
use crate::state_file::StateFile;
use crate::trigger::Trigger;
use crate::utilisation::Utilisation;
use crate::watch::Watch;
use crate::window;
use fpprobe_reports::host;
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::service::{self, ServiceState};
use fpprobe_system::signals::ServiceSignal;

/// Longest wait: clocks may be set, and the watchdog wants to be fed.
const TICK: Duration = Duration::from_secs(1);
/// Time for what is under way to end when the daemon does.
const LAST: Duration = Duration::from_millis(3500);
/// Longest wait while it ends.
const ENDING: Duration = Duration::from_millis(50);
/// How many times longer than otherwise a worker may take: at the lowest priority it waits for
/// everybody else.
const PATIENCE: f64 = 6.0;
/// Longest time for a worker, in seconds.
const LONGEST: f64 = 86_400.0;
/// Entries of the log that are shown.
const SHOWN: usize = 50;

/// The daemon.
pub struct Service {
    pub(super) door: Arc<dyn Door>,
    pub(super) settings: DaemonSettings,
    pub(super) sender: Sender<DaemonEvent>,
    pub(super) shared: Arc<SharedStatus>,
    pub(super) watch: Watch,
    pub(super) messenger: Messenger,
    pub(super) quarantine: Quarantine,
    pub(super) log: Logger,
    pub(super) metrics: Metrics,
    pub(super) table: DeviceTable,
    pub(super) queue: OrderQueue,
    pub(super) state: StateFile,
    utilisation: Utilisation,
    pub(super) entries: VecDeque<String>,
    pub(super) failures: Vec<String>,
    pub(super) started: String,
    pub(super) looked: bool,
    pub(super) looking: bool,
    pub(super) measuring: Option<(Order, Arc<AtomicBool>)>,
    pub(super) want: Vec<Trigger>,
    pub(super) debounce: Debounce,
    changed: Vec<Trigger>,
    next_poll: Instant,
    pub(super) alarm: Alarm,
    pub(super) stopping: Option<Instant>,
    cancellation: Cancellation,
}

impl Service {
    /// Before it runs.
    pub fn new(
        door: Arc<dyn Door>,
        settings: DaemonSettings,
        sender: Sender<DaemonEvent>,
        shared: Arc<SharedStatus>,
        (watch, messenger, quarantine): (Watch, Messenger, Quarantine),
    ) -> Service {
        let daemon = &settings.daemon;
        let (log, debounce) =
            (Logger::new(&daemon.journal), Debounce::new(seconds(daemon.debounce)));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut metrics = Metrics::default();
        metrics.set("fpprobe_daemon_start_timestamp_seconds", &[], now as f64);
        let (state, failure) = StateFile::open(&settings.folder().join("remembered.json"));
        for (key, (extent, text)) in &state.metrics {
            metrics.report(key, *extent, text.clone());
        }
        let alarm =
            Alarm::new(&settings.schedule, seconds(daemon.jitter), &Zoned::now(), Instant::now());
        Service {
            door,
            shared,
            watch,
            messenger,
            quarantine,
            log,
            metrics,
            table: DeviceTable::default(),
            queue: OrderQueue::default(),
            state,
            utilisation: Utilisation::new(sender.clone()),
            entries: VecDeque::new(),
            failures: failure.into_iter().collect(),
            started: host::now(),
            looked: false,
            looking: false,
            measuring: None,
            want: vec![Trigger::Start],
            debounce,
            changed: Vec::new(),
            next_poll: Instant::now(),
            alarm,
            stopping: None,
            cancellation: Cancellation::default(),
            sender,
            settings,
        }
    }

    /// Until it is stopped.
    pub fn run(mut self, events: &Receiver<DaemonEvent>) {
        let watchdog = service::watchdog();
        let tick = watchdog.map_or(TICK, |time| TICK.min(time / 3));
        self.log(Priority::Info, "started", &[]);
        // What changes while it looks for the first time is seen.
        let places = self.door.places(&self.settings);
        let problems = self.watch.update(&places, &self.settings.daemon.watch, &self.table);
        self.troubled(problems);
        loop {
            let now = Instant::now();
            if let Some(since) = self.stopping
                && (now.duration_since(since) > LAST || (self.measuring.is_none() && !self.looking))
            {
                break;
            }
            self.clock(now);
            self.begin(now);
            self.publish();
            // The loop itself is what must be alive.
            self.shared.beat(now);
            service::notify(ServiceState::Alive);
            let until = self
                .debounce
                .deadline()
                .map_or(tick, |due| due.saturating_duration_since(now).min(tick));
            let until = if self.stopping.is_some() { until.min(ENDING) } else { until };
            match events.recv_timeout(until) {
                Ok(event) => self.hear(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.log(Priority::Info, "ended", &[]);
        self.publish();
    }

    /// What the time brings.
    fn clock(&mut self, now: Instant) {
        if self.debounce.is_due(now) {
            for trigger in std::mem::take(&mut self.changed) {
                add(&mut self.want, trigger);
            }
        }
        let jitter = seconds(self.settings.daemon.jitter);
        match self.alarm.look(&self.settings.schedule, jitter, &Zoned::now(), now) {
            Ring::Silent => {}
            Ring::Due => add(&mut self.want, Trigger::Schedule),
            Ring::SetBack(by) => {
                let next =
                    self.alarm.next().map_or_else(|| "never".to_owned(), ToString::to_string);
                let text = format!(
                    "the clock was set back by {} s; the schedule's next time is {next}",
                    by.as_secs()
                );
                self.log(Priority::Notice, &text, &[]);
            }
        }
        if self.next_poll <= now {
            self.next_poll = now + seconds(self.settings.daemon.poll);
            add(&mut self.want, Trigger::Identity);
        }
    }

    /// Begins what can begin.
    fn begin(&mut self, now: Instant) {
        if self.stopping.is_some() {
            return;
        }
        if !self.looking && !self.want.is_empty() {
            self.looking = true;
            let triggers = std::mem::take(&mut self.want);
            for trigger in triggers.iter().filter(|trigger| **trigger != Trigger::Identity) {
                self.metrics.count("fpprobe_daemon_triggers_total", &[("trigger", trigger.name())]);
                self.log(Priority::Info, &format!("looks at the devices: {trigger}"), &[]);
            }
            discovery::begin(
                &self.door,
                &self.settings,
                triggers,
                self.cancellation.clone(),
                self.sender.clone(),
            );
        }
        if let Some((order, stop)) = &self.measuring {
            let (settings, quarantine, own) =
                (&self.settings, &self.quarantine, Some(&order.device.slot[..]));
            let (spent, utilisation) = (&mut self.state.spent, &mut self.utilisation);
            let mut busy_policy = BusyPolicy { settings, quarantine, spent, utilisation, own };
            // Who waits for news comes before what nobody waits for, and a default run goes on when
            // it may again.
            let closed = !window::open(&settings.windows, &Zoned::now());
            if order.extent == RunExtent::Full
                && !self.state.paused
                && (closed
                    || self.queue.has_quick(now, |pending| busy_policy.verdict(pending, now)))
            {
                stop.store(true, Ordering::Relaxed);
            }
            return;
        }
        // What is about to be another device is not measured.
        if self.state.paused || self.looking || self.debounce.deadline().is_some() {
            return;
        }
        let (settings, quarantine) = (&self.settings, &self.quarantine);
        let (spent, utilisation) = (&mut self.state.spent, &mut self.utilisation);
        let mut busy_policy = BusyPolicy { settings, quarantine, spent, utilisation, own: None };
        let mut dropped = Vec::new();
        let order = self.queue.take(now, |pending| {
            let verdict = busy_policy.verdict(pending, now);
            if verdict == OrderDecision::Drop {
                dropped.push(pending.order.device.clone());
            }
            verdict
        });
        for device in dropped {
            self.log_device(Priority::Info, &device, "is in use, and is not measured", &[]);
        }
        if let Some(order) = order {
            self.measure(order);
        }
    }

    fn measure(&mut self, order: Order) {
        let text = format!("is measured ({}): {}", order.extent.name(), order.trigger);
        self.log_device(Priority::Info, &order.device, &text, &[]);
        let daemon = &self.settings.daemon;
        let stop = Arc::new(AtomicBool::new(false));
        let time =
            if order.extent == RunExtent::Quick { daemon.budget.quick } else { daemon.budget.full };
        let limits = JobLimits { time: seconds(time), stop: Arc::clone(&stop) };
        let folder = self.settings.folder();
        let place = RoundContext {
            config: folder.join("config.toml"),
            folder,
            door: Arc::clone(&self.door),
            timeout: (self.settings.timeout * PATIENCE).min(LONGEST),
            store: self.settings.store.clone(),
            jobs: daemon.jobs,
            random: daemon.random,
            baseline: self.settings.baseline().map(std::path::Path::to_owned),
            beside: self.table.beside(&order.device),
        };
        let (sender, given) = (self.sender.clone(), order.clone());
        let work = move || {
            let outcome = round(given, &place, &limits);
            let _ = sender.send(DaemonEvent::Measured(Box::new(outcome)));
        };
        match std::thread::Builder::new().name("round".to_owned()).spawn(work) {
            Ok(_) => self.measuring = Some((order, stop)),
            Err(error) => {
                self.failed(order, &format!("failed to start a thread: {error}"), Instant::now());
            }
        }
    }

    fn hear(&mut self, event: DaemonEvent) {
        let now = Instant::now();
        match event {
            DaemonEvent::Changed(trigger) => {
                self.debounce.touch(now);
                add(&mut self.changed, trigger);
            }
            DaemonEvent::Signal(ServiceSignal::Reload) => {
                let _ = self.reload();
            }
            DaemonEvent::Signal(ServiceSignal::End) => self.end(now),
            DaemonEvent::Requested(request, reply) => self.answer(request, &reply),
            DaemonEvent::Looked(triggers, table) => self.looked(&triggers, table, now),
            DaemonEvent::Loaded(slot, load) => {
                self.utilisation.update(slot, load, now);
                self.queue.wake_from(USE_UNKNOWN, now);
            }
            DaemonEvent::Measured(outcome) => self.measured(*outcome, now),
            DaemonEvent::Notified(Ok(text)) => self.log(Priority::Info, &text, &[]),
            DaemonEvent::Notified(Err(text)) => self.log(Priority::Error, &text, &[]),
        }
    }

    /// Begins to end: nothing new begins, and what is under way is stopped.
    fn end(&mut self, now: Instant) {
        if self.stopping.is_none() {
            self.stopping = Some(now);
            service::notify(ServiceState::Stopping);
            self.cancellation.breaks("the daemon ends");
            if let Some((_, stop)) = &self.measuring {
                stop.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Takes over who the devices are.
    fn looked(&mut self, triggers: &[Trigger], table: DeviceTable, now: Instant) {
        self.looking = false;
        let first = !self.looked;
        let news = table.news(&self.table);
        let before = std::mem::take(&mut self.table);
        let others: Vec<(KnownDevice, PathBuf)> = (table.devices.iter())
            .filter_map(|now| {
                let before = before.devices.iter().find(|before| before.key == now.key)?;
                Some((now.clone(), now.other_library(before)?.to_owned()))
            })
            .collect();
        for removed in before.news(&table) {
            self.log_device(Priority::Notice, &removed, "is gone, or has another driver", &[]);
        }
        self.table = table;
        for device in &news {
            self.log_device(Priority::Notice, device, "is there", &[]);
        }
        for (device, library) in &others {
            self.log_device(
                Priority::Notice,
                device,
                &format!("has another {}", library.display()),
                &[],
            );
        }
        let places = self.door.places(&self.settings);
        let mut problems = self.watch.update(&places, &self.settings.daemon.watch, &self.table);
        problems.extend(self.table.failures.iter().cloned());
        self.troubled(problems);
        let devices = &self.table.devices;
        let here = |key: &str| devices.iter().any(|device| device.key == key);
        self.queue.retain(here);
        let labels: Vec<_> = devices.iter().map(KnownDevice::labels).collect();
        self.metrics.retain(here, &labels);
        self.state.retain(here);
        for device in devices.clone() {
            self.measure_up(&device);
        }
        let devices = &self.table.devices;
        let start = self.settings.daemon.start;
        let due = |device: &KnownDevice| {
            triggers.iter().find(|trigger| match trigger {
                Trigger::Start => start,
                Trigger::Schedule => true,
                // A library may be another without saying so.
                Trigger::File(path) => device.is_of(path),
                _ => false,
            })
        };
        let fresh = |device: &KnownDevice| {
            triggers.first().filter(|_| (!first || start) && news.contains(device))
        };
        let other = |device: &KnownDevice| {
            let other = others.iter().find(|(other, _)| other.key == device.key);
            other.map(|(_, library)| Trigger::File(library.clone()))
        };
        let is_match = |device: &KnownDevice| {
            due(device).or_else(|| fresh(device)).cloned().or_else(|| other(device))
        };
        let chosen: Vec<(KnownDevice, Trigger)> =
            devices.iter().filter_map(|device| Some((device.clone(), is_match(device)?))).collect();
        for (device, trigger) in chosen {
            self.order(Order::new(device, RunExtent::Quick, trigger), now);
        }
        if first {
            self.looked = true;
            match pending_work::recover(&self.settings.folder(), &self.settings.store) {
                Ok((orders, problems)) => {
                    for order in orders {
                        self.queue.add(order, now);
                    }
                    for failure in problems {
                        self.log(Priority::Error, &format!("{failure:#}"), &[]);
                    }
                }
                Err(error) => self.log(Priority::Error, &format!("{error:#}"), &[]),
            }
            service::notify(ServiceState::Ready);
        }
    }

    /// Writes down what is to be known when it starts again.
    pub(super) fn remember(&mut self) {
        if let Err(error) = self.state.save() {
            self.log(Priority::Error, &format!("{error:#}"), &[]);
        }
    }

    /// Writes an entry of the log.
    pub(super) fn log(&mut self, priority: Priority, text: &str, fields: &[(&str, &str)]) {
        self.log.write(priority, text, fields);
        let about: Vec<String> =
            fields.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        self.entries.push_back(format!("{} {text}{}", host::now(), about.concat()));
        while self.entries.len() > SHOWN {
            self.entries.pop_front();
        }
    }

    /// Takes over what is wrong, and logs what is new.
    fn troubled(&mut self, problems: Vec<String>) {
        let before = std::mem::replace(&mut self.failures, problems);
        self.metrics.set("fpprobe_daemon_troubles", &[], self.failures.len() as f64);
        let new: Vec<String> =
            self.failures.iter().filter(|failure| !before.contains(failure)).cloned().collect();
        for failure in new {
            self.log(Priority::Warning, &failure, &[]);
        }
    }

    /// One about a device.
    pub(super) fn log_device(
        &mut self,
        priority: Priority,
        device: &KnownDevice,
        text: &str,
        more: &[(&str, &str)],
    ) {
        let who =
            [("device", &device.name[..]), ("slot", &device.slot), ("driver", &device.driver_info)];
        self.log(priority, &format!("{} {text}", device.name), &[&who[..], more].concat());
    }
}

/// Adds what is not there yet.
pub fn add(triggers: &mut Vec<Trigger>, trigger: Trigger) {
    if !triggers.contains(&trigger) {
        triggers.push(trigger);
    }
}

/// The configuration in effect, for the processes that measure.
pub fn write_config(settings: &DaemonSettings) -> anyhow::Result<()> {
    Ok(save(&settings.folder().join("config.toml"), |out| out.write_all(settings.text.as_bytes()))?)
}
