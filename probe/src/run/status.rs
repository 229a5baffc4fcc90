//! What a measurement as a whole amounts to, as an exit status.

use fpprobe_profiles::Outcome;

use crate::exit::Status;
use crate::supervisor::Measurement;

/// Counts devices by what they gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunStatus {
    /// Devices with at least one answer.
    answered: usize,
    /// Devices that gave nothing, though what they were asked is not merely unsupported.
    silent: usize,
    /// Kernels that a device claims to support and did not run.
    failed: usize,
    /// Incidents of any kind.
    incidents: usize,
}

impl RunStatus {
    /// Adds a device that was measured.
    pub fn device(&mut self, measured: &Measurement) {
        let outcomes = || measured.observations.iter().map(|observation| observation.outcome);
        if outcomes().any(Outcome::answered) {
            self.answered += 1;
        } else if measured.skipped > 0 || outcomes().any(Outcome::is_failure) {
            self.silent += 1;
        }
        self.failed += outcomes().filter(|outcome| outcome.is_failure()).count();
        self.incidents += measured.incidents.len();
    }

    /// Adds a device on which nothing can be measured.
    pub fn obstructed(&mut self) {
        self.silent += 1;
    }

    /// Adds incidents of drivers.
    pub fn incidents(&mut self, count: usize) {
        self.incidents += count;
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        let incomplete =
            self.incidents > 0 || self.failed > 0 || self.silent > 0 && self.answered > 0;
        Status::Nothing.when(self.answered == 0).and(Status::Incomplete.when(incomplete))
    }
}
