//! One device against what is expected of it.

use std::time::{Duration, Instant};

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::expected::{ExpectedDevice, digest};
use fpprobe_reports::model::RESOLVED;
use fpprobe_spirv::Kernel;

use super::blocks::{self, ComparedBlocks};
use super::lists::items;
use super::positions::GatePosition;
use super::{GateAnswer, GateVerdict};
use crate::event::Listener;
use crate::supervisor::{
    Batching, Deadline, DeviceSession, MeasureSettings, Measurement, Target, WorkItem, measure,
};

/// Kernels named of a device.
const NAMED: usize = 3;

/// Time to end a worker that ignores SIGTERM: it is over within the budget, too.
const ENDING: Duration = Duration::from_millis(500);

/// When a comparison begins to compare blocks and begins nothing more, and when a device that does
/// not answer is given up.
#[derive(Clone, Copy)]
pub struct GateTimes {
    /// Lists of cases up to then,
    pub lists: Instant,
    /// blocks up to then,
    pub blocks: Instant,
    /// and no answer is awaited after that: ending a worker takes time as well.
    pub end: Instant,
}

impl GateTimes {
    /// Of what finding the devices has left of a budget.
    pub fn new(begun: Instant, budget: Duration) -> GateTimes {
        let (now, end) = (Instant::now(), begun + budget.saturating_sub(ENDING).max(budget / 2));
        let left = end.saturating_duration_since(now);
        let at = |percent: u32| now + left * percent / 100;
        GateTimes { lists: at(40), blocks: at(65), end }
    }

    /// These settings with the time that is left.
    pub fn settings(&self, settings: &MeasureSettings) -> MeasureSettings {
        let left = self.end.saturating_duration_since(Instant::now());
        MeasureSettings { timeout: left, device_timeout: left, ..settings.clone() }
    }
}

/// A comparison of one device.
pub struct DeviceComparison<'a> {
    /// Its number in events.
    pub number: usize,
    /// The device.
    pub target: &'a Target,
    /// What is expected of it.
    pub expected: &'a ExpectedDevice,
    /// How to measure it.
    pub settings: &'a MeasureSettings,
    /// Who is notified.
    pub listener: Listener<'a>,
    /// How long.
    pub times: GateTimes,
}

impl DeviceComparison<'_> {
    /// Compares from this place on, lists of cases before blocks; also where the next comparison
    /// begins.
    pub fn run(&self, mut place: GatePosition) -> (GateAnswer, GatePosition) {
        let mut answer = match &self.target.found.obstacle {
            Some(obstacle) => GateAnswer::unknown(obstacle),
            None => self.lists(&mut place.kernel),
        };
        if answer.verdict == GateVerdict::Same {
            let settings = self.times.settings(self.settings);
            let site = DeviceSession::new(self.number, self.target, &settings, self.listener);
            let (expected, until) = (self.expected, self.times.blocks);
            let compared = blocks::compare(&site, expected, &mut place.block, until);
            answer = with_blocks(answer, compared);
        }
        (answer.of_device(&self.target.label()), place)
    }

    /// Compares lists of cases, from this kernel on.
    fn lists(&self, place: &mut usize) -> GateAnswer {
        let settings = self.times.settings(self.settings);
        let site = DeviceSession::new(self.number, self.target, &settings, self.listener);
        let mut work = items(self.expected.kernels.keys().filter_map(|id| id.parse().ok()));
        *place %= work.len().max(1);
        work.rotate_left(*place);
        let GateTimes { lists, blocks, .. } = self.times;
        let until = if self.expected.blocks.is_empty() { blocks } else { lists };
        // The first module runs however late it is: on a busy host, too, a call compares something.
        let deadline = Deadline { from: 1, until, least: Duration::ZERO };
        let measured = match measure(&site.until(deadline), &work, Batching::Shared, None) {
            Ok(measured) => measured,
            Err(error) => return GateAnswer::unknown(error),
        };
        let (answer, failed) = judged(self.expected, &measured);
        // What failed is the first of the next call: a device that was wrong is right once that is.
        let is_next = |item: &WorkItem, kernels: &[Kernel]| kernels.contains(&item.kernel);
        let next = work
            .iter()
            .position(|item| is_next(item, &failed))
            .or_else(|| work.iter().position(|item| is_next(item, &measured.left_out)));
        *place = next.map_or(*place, |done| (*place + done) % work.len());
        if answer.verdict == GateVerdict::Unknown && site.is_over() {
            let kernels = answer.kernels;
            return GateAnswer::unknown(format!(
                "it did not end in time after {kernels} kernels; --budget gives more"
            ));
        }
        answer
    }
}

/// What lists and blocks say together.
fn with_blocks(lists: GateAnswer, compared: ComparedBlocks) -> GateAnswer {
    let (verdict, text) = match (compared.different, compared.failure) {
        (Some((kernel, block)), _) => (
            GateVerdict::Different,
            format!(
                "other results by {kernel} in block {block}; `fpprobe screen {kernel}` runs them all"
            ),
        ),
        (None, Some(failure)) => (GateVerdict::Unknown, failure),
        (None, None) => (lists.verdict, lists.text),
    };
    let results = lists.results + compared.inputs as usize;
    GateAnswer { verdict, text, results, blocks: compared.blocks, ..lists }
}

/// What the results say, and the kernels that are not as expected.
fn judged(expected: &ExpectedDevice, measured: &Measurement) -> (GateAnswer, Vec<Kernel>) {
    let is_other =
        |one: &&Observation| digest(one).as_ref() != expected.kernels.get(&one.kernel.to_string());
    let answered = || measured.observations.iter().filter(|one| one.outcome.answered());
    let (kernels, results) = (answered().count(), answered().map(|one| one.out.len()).sum());
    let different: Vec<Kernel> = answered().filter(is_other).map(|one| one.kernel).collect();
    let mut failed = different.clone();
    let lost = measured.observations.iter().find(|one| !one.outcome.answered());
    let (verdict, text) = if !different.is_empty() {
        let more = different.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let named: Vec<String> = different.iter().take(NAMED).map(Kernel::to_string).collect();
        (
            GateVerdict::Different,
            format!(
                "other results by {}{more}; `fpprobe eval {}` runs it",
                named.join(", "),
                different[0]
            ),
        )
    } else if let Some(Observation { kernel, outcome, detail, .. }) = lost {
        let outcome = if *outcome == Outcome::Hung {
            "hung".to_owned()
        } else {
            format!("{outcome:?}").to_lowercase()
        };
        failed.push(*kernel);
        (GateVerdict::Unknown, format!("{kernel} {outcome}: {detail}"))
    } else if let Some(incident) = measured.incidents.first() {
        // What was to be run again may have had no time for it.
        let detail = incident.detail.trim_end_matches(RESOLVED).trim_end_matches("; ");
        (GateVerdict::Unknown, detail.to_owned())
    } else if kernels == 0 {
        let why = "there was no time for any kernel; --budget gives more";
        (GateVerdict::Unknown, why.to_owned())
    } else {
        (GateVerdict::Same, String::new())
    };
    (GateAnswer { verdict, kernels, results, ..GateAnswer::unknown(text) }, failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_search_for_devices_leaves_time_for_kernels() {
        let (now, budget) = (Instant::now(), Duration::from_secs(20));
        for searched in [0, 10] {
            let begun = now.checked_sub(Duration::from_secs(searched)).unwrap();
            let times = GateTimes::new(begun, budget);
            assert!(now < times.lists && times.lists < times.blocks && times.blocks < times.end);
            assert!(times.end + ENDING <= begun + budget);
        }
        let short = GateTimes::new(now, Duration::from_millis(1));
        assert!(short.end <= now + Duration::from_millis(1));
    }
}
