//! One device against what is expected of it.

use std::time::{Duration, Instant};

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::expected::{ExpectedDevice, digest};

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
    /// Of a budget.
    pub fn new(begun: Instant, budget: Duration) -> GateTimes {
        let at = |percent: u32| begun + budget * percent / 100;
        GateTimes { lists: at(40), blocks: at(55), end: at(90) }
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
        if let Some(obstacle) = &self.target.found.obstacle {
            return (self.unknown(obstacle), place);
        }
        let answer = self.lists(&mut place.kernel);
        if answer.verdict != GateVerdict::Same {
            return (answer, place);
        }
        let settings = self.times.settings(self.settings);
        let site = DeviceSession::new(self.number, self.target, &settings, self.listener);
        let compared = blocks::compare(&site, self.expected, &mut place.block, self.times.blocks);
        (self.with_blocks(answer, compared), place)
    }

    fn unknown(&self, why: &str) -> GateAnswer {
        GateAnswer::unknown(format!("{}: {why}", self.target.label()))
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
        let deadline = Deadline { from: 0, until, least: Duration::ZERO };
        let unseen = |_: &WorkItem, _: &_| {};
        let measured = match measure(&site.until(deadline, &unseen), &work, Batching::Shared, None)
        {
            Ok(measured) => measured,
            Err(error) => return self.unknown(&error),
        };
        let next = work.iter().position(|item| measured.left_out.contains(&item.kernel));
        *place = next.map_or(*place, |done| (*place + done) % work.len());
        let answer = judged(&self.target.label(), self.expected, &measured);
        if answer.verdict == GateVerdict::Unknown && site.is_over() {
            let kernels = answer.kernels;
            return self.unknown(&format!(
                "it did not end in time after {kernels} kernels; --budget gives more"
            ));
        }
        answer
    }

    /// What lists and blocks say together.
    fn with_blocks(&self, lists: GateAnswer, compared: ComparedBlocks) -> GateAnswer {
        let label = self.target.label();
        let (verdict, text) = match (compared.different, compared.failure) {
            (Some((kernel, block)), _) => (
                GateVerdict::Different,
                format!(
                    "{label}: other results by {kernel} in block {block}; `fpprobe screen {kernel}` \
                     runs them all"
                ),
            ),
            (None, Some(failure)) => (GateVerdict::Unknown, format!("{label}: {failure}")),
            (None, None) => (lists.verdict, lists.text),
        };
        let results = lists.results + compared.inputs as usize;
        GateAnswer { verdict, text, results, blocks: compared.blocks, ..lists }
    }
}

/// What the results say.
fn judged(label: &str, expected: &ExpectedDevice, measured: &Measurement) -> GateAnswer {
    let is_other =
        |one: &&Observation| digest(one).as_ref() != expected.kernels.get(&one.kernel.to_string());
    let answered = || measured.observations.iter().filter(|one| one.outcome.answered());
    let (kernels, results) = (answered().count(), answered().map(|one| one.out.len()).sum());
    let different: Vec<String> =
        answered().filter(is_other).map(|one| one.kernel.to_string()).collect();
    let lost = measured.observations.iter().find(|one| !one.outcome.answered());
    let (verdict, text) = if !different.is_empty() {
        let more = different.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let named = different[..different.len().min(NAMED)].join(", ");
        (
            GateVerdict::Different,
            format!(
                "{label}: other results by {named}{more}; `fpprobe eval {}` runs it",
                different[0]
            ),
        )
    } else if let Some(Observation { kernel, outcome, detail, .. }) = lost {
        let outcome = if *outcome == Outcome::Hung {
            "hung".to_owned()
        } else {
            format!("{outcome:?}").to_lowercase()
        };
        (GateVerdict::Unknown, format!("{label}: {kernel} {outcome}: {detail}"))
    } else if let Some(incident) = measured.incidents.first() {
        (GateVerdict::Unknown, format!("{label}: {}", incident.detail))
    } else if kernels == 0 {
        (
            GateVerdict::Unknown,
            format!("{label}: there was no time for any kernel; --budget gives more"),
        )
    } else {
        (GateVerdict::Same, label.to_owned())
    };
    GateAnswer { verdict, text, kernels, results, blocks: 0 }
}
