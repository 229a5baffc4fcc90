//! The failing lanes of a device: of each profile, of each rule that deviates, of each cause.

use std::collections::BTreeMap;

use crate::deviations::deviations;
use crate::failed::{DeviceResults, LanesByKernel};
use crate::model::{Device, Failed, ProfileResult, Report, RuleResult};
use crate::record::RecordError;

/// A device with its results and the lanes that fail.
pub(crate) struct FailingDevice<'r> {
    pub(crate) device: &'r Device,
    pub(crate) results: DeviceResults,
    /// Profiles that judged it.
    pub(crate) profiles: Vec<FailingProfile<'r>>,
}

/// What fails of one profile.
pub(crate) struct FailingProfile<'r> {
    pub(crate) profile: &'r ProfileResult,
    /// Rules that deviate.
    pub(crate) rules: Vec<FailingRule<'r>>,
    /// Lanes of the kernels' lists, of all rules.
    pub(crate) all: LanesByKernel,
    /// The same, cause by cause.
    by_cause: Vec<LanesByKernel>,
}

/// What fails of one rule.
pub(crate) struct FailingRule<'r> {
    pub(crate) rule: &'r RuleResult,
    /// Whether the report names every lane.
    pub(crate) is_known: bool,
    /// Lanes of the kernels' lists.
    pub(crate) listed: LanesByKernel,
    /// The same by the ids of their causes; empty where the report does not name that.
    pub(crate) by_cause: BTreeMap<&'r str, LanesByKernel>,
    /// Lanes of random operands.
    pub(crate) random: LanesByKernel,
}

impl<'r> FailingDevice<'r> {
    pub(crate) fn of(
        device: &'r Device,
        report: &Report,
    ) -> Result<FailingDevice<'r>, RecordError> {
        let results = DeviceResults::of(device, report)?;
        let deviating = deviations(device);
        let of_profile = |profile: &'r ProfileResult| {
            let own = deviating.iter().filter(|(other, _)| std::ptr::eq(*other, profile));
            let rules = own.map(|(_, rule)| FailingRule::of(rule, &results)).collect();
            FailingProfile::of(profile, rules)
        };
        let profiles = device.profiles.iter().map(of_profile).collect();
        Ok(FailingDevice { device, results, profiles })
    }

    /// What fails of a profile, if that judged the device.
    pub(crate) fn of_profile(&self, id: &str) -> Option<&FailingProfile<'r>> {
        self.profiles.iter().find(|one| one.profile.id == id)
    }
}

impl<'r> FailingProfile<'r> {
    fn of(profile: &'r ProfileResult, rules: Vec<FailingRule<'r>>) -> FailingProfile<'r> {
        let (mut all, mut by_cause) = (LanesByKernel::new(), BTreeMap::new());
        for rule in &rules {
            add(&mut all, &rule.listed);
            for (cause, lanes) in &rule.by_cause {
                add(by_cause.entry(*cause).or_default(), lanes);
            }
        }
        FailingProfile { profile, rules, all, by_cause: by_cause.into_values().collect() }
    }

    /// Whether the report names every lane.
    pub(crate) fn is_known(&self) -> bool {
        self.rules.iter().all(|rule| rule.is_known)
    }

    /// The failing lanes of a kernel.
    pub(crate) fn of_kernel(&self, kernel: &str) -> &[String] {
        self.all.get(kernel).map_or(&[], Vec::as_slice)
    }

    /// Lanes of a kernel that are one behaviour, as far as this report divides them: all, those of
    /// each cause, those of each rule. Other reports divide them otherwise, since what explains a
    /// lane, and which rule it counts for, depends on what else was measured.
    pub(crate) fn sets(&self, kernel: &str) -> impl Iterator<Item = &[String]> {
        let by_rule = self.rules.iter().map(|rule| &rule.listed);
        let sets = std::iter::once(&self.all).chain(&self.by_cause).chain(by_rule);
        sets.filter_map(move |lanes| lanes.get(kernel)).map(Vec::as_slice)
    }
}

impl<'r> FailingRule<'r> {
    fn of(rule: &'r RuleResult, results: &DeviceResults) -> FailingRule<'r> {
        let mut rows: BTreeMap<&str, Vec<&Failed>> = BTreeMap::new();
        for failed in &rule.failed {
            rows.entry(&failed.cause).or_default().push(failed);
        }
        let lanes =
            rows.into_iter().map(|(cause, rows)| Some((cause, results.lanes(rows.into_iter())?)));
        let lanes: Option<Vec<(&str, LanesByKernel)>> = lanes.collect();
        let is_known = lanes.as_ref().is_some_and(|lanes| !lanes.is_empty());
        let (mut listed, mut random) = (LanesByKernel::new(), LanesByKernel::new());
        let mut by_cause = BTreeMap::new();
        for (cause, lanes) in lanes.unwrap_or_default() {
            let lanes = results.by_list(lanes);
            add(&mut listed, &lanes.listed);
            add(&mut random, &lanes.random);
            by_cause.insert(cause, lanes.listed);
        }
        FailingRule { rule, is_known, listed, by_cause, random }
    }

    /// Whether it fails on random operands alone.
    pub(crate) fn is_random(&self) -> bool {
        self.is_known && self.listed.is_empty()
    }
}

/// Adds lanes to others.
fn add(all: &mut LanesByKernel, more: &LanesByKernel) {
    for (kernel, more) in more {
        let lanes = all.entry(kernel.clone()).or_default();
        lanes.extend_from_slice(more);
        lanes.sort_unstable();
        lanes.dedup();
    }
}
