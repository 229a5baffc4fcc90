//! A device that is being measured: how, until when, and who sees the results.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Kernel;

use super::{MeasureSettings, Target, WorkItem};
use crate::event::Listener;
use fpprobe_worker::protocol::{Failure, KernelResult};

/// A device that is being measured.
#[derive(Clone, Copy)]
pub struct DeviceSession<'a> {
    /// Its number in events.
    pub number: usize,
    /// The device.
    pub target: &'a Target,
    /// How to measure it.
    pub settings: &'a MeasureSettings,
    /// Who is notified.
    pub listener: Listener<'a>,
    /// Who sees final answers as they come.
    pub seer: Option<ResultObserver<'a>>,
    /// What there is no time for after a while.
    pub deadline: Option<Deadline>,
    /// Kernels that are measured first.
    pub early: Option<&'a HashSet<Kernel>>,
    begun: Instant,
}

/// Sees the final answer to what was asked, once.
pub type ResultObserver<'a> = &'a (dyn Fn(&WorkItem, &KernelResult) + Sync);

/// When kernels that can be left out are not begun any more.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// Kernels from this place of the list on can be left out.
    pub from: usize,
    /// No module of theirs is begun after this time, but for the least time that they have.
    pub until: Instant,
    /// The least time that they have, from when the first of them could be begun.
    pub least: Duration,
}

impl Deadline {
    /// Whether time is up, where the first that may be left out could be asked then.
    pub fn is_over(&self, reached: Instant) -> bool {
        self.until.max(reached + self.least) <= Instant::now()
    }
}

impl<'a> DeviceSession<'a> {
    /// The device's time begins now.
    pub fn new(
        number: usize,
        target: &'a Target,
        settings: &'a MeasureSettings,
        listener: Listener<'a>,
    ) -> DeviceSession<'a> {
        DeviceSession {
            number,
            target,
            settings,
            listener,
            seer: None,
            deadline: None,
            early: None,
            begun: Instant::now(),
        }
    }

    /// The same with little time.
    pub fn until(&self, deadline: Deadline) -> DeviceSession<'a> {
        DeviceSession { deadline: Some(deadline), ..*self }
    }

    /// The same, with these kernels before the others.
    pub fn with_early(&self, early: &'a HashSet<Kernel>) -> DeviceSession<'a> {
        DeviceSession { early: Some(early), ..*self }
    }

    /// The same with somebody who sees answers as they come.
    pub fn seen_by<'b>(&'b self, seer: ResultObserver<'b>) -> DeviceSession<'b> {
        DeviceSession { seer: Some(seer), ..*self }
    }

    /// When its time began.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// How long the next request may take: a batch's time, or what is left of the device's.
    pub fn timeout(&self) -> Duration {
        self.settings.timeout.min(self.left()).max(Duration::from_millis(1))
    }

    /// Whether the device has used up its time.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// The failure of a device that has used up its time.
    pub fn overtime(&self) -> Failure {
        let seconds = self.settings.device_timeout.as_secs_f64();
        let more =
            "`workers.device_timeout` of the configuration, or --device-timeout, gives it more";
        Failure::new(Outcome::Hung, format!("the device was not done after {seconds} s ({more})"))
    }

    fn left(&self) -> Duration {
        self.settings.device_timeout.saturating_sub(self.begun.elapsed())
    }
}
