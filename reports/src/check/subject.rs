//! What is checked: a device with its answers, and the lanes that show what is objected to.

use std::collections::{BTreeMap, HashMap};

use fpprobe_profiles::Profile;

use crate::baseline::Objection;
use crate::deviations::deviations;
use crate::evidence::{self, of_lane};
use crate::failed::{DeviceResults, LanesByKernel, ListedLanes};
use crate::model::{Device, Evidence, Report, RuleResult};
use crate::record::RecordError;

/// A device with its results.
pub(super) struct CheckedDevice<'r> {
    pub(super) device: &'r Device,
    pub(super) answers: DeviceResults,
    /// The failing lanes of each deviating rule, by profile and rule, where the report names them.
    lanes: HashMap<(String, String), ListedLanes>,
    /// Those of the kernels' lists, by profile, of all rules together.
    together: HashMap<String, LanesByKernel>,
}

impl<'r> CheckedDevice<'r> {
    pub(super) fn new(
        device: &'r Device,
        report: &Report,
    ) -> Result<CheckedDevice<'r>, RecordError> {
        let answers = DeviceResults::of(device, report)?;
        let lanes = deviations(device).into_iter().filter_map(|(profile, rule)| {
            Some(((profile.id.clone(), rule.id.clone()), answers.by_list(answers.lanes(rule)?)))
        });
        let lanes: HashMap<_, ListedLanes> = lanes.collect();
        let mut together: HashMap<String, LanesByKernel> = HashMap::new();
        for ((profile, _), lanes) in &lanes {
            let all = together.entry(profile.clone()).or_default();
            for (kernel, lanes) in &lanes.listed {
                all.entry(kernel.clone()).or_default().extend_from_slice(lanes);
            }
        }
        for lanes in together.values_mut().flat_map(BTreeMap::values_mut) {
            lanes.sort_unstable();
            lanes.dedup();
        }
        Ok(CheckedDevice { device, answers, lanes, together })
    }

    /// The failing lanes of a rule.
    pub(super) fn lanes(&self, profile: &str, rule: &str) -> Option<&ListedLanes> {
        self.lanes.get(&(profile.to_owned(), rule.to_owned()))
    }

    /// The failing lanes of all rules of a profile, of the kernels' lists.
    pub(super) fn of_profile(&self, profile: &str) -> Option<&LanesByKernel> {
        self.together.get(profile)
    }

    /// The lanes that show a deviation, that which is objected to first.
    pub(super) fn evidence(
        &self,
        profiles: &[Profile],
        profile: &str,
        rule: &RuleResult,
        objection: &Objection,
    ) -> Vec<Evidence> {
        let mut evidence = rule.evidence.clone();
        let Some((kernel, lane)) = &objection.lane else { return evidence };
        let Some((observation, case, part)) = self.answers.find(kernel, lane) else {
            return evidence;
        };
        evidence::put_first(
            &mut evidence,
            of_lane(profiles, (profile, &rule.id), observation, (case, part)),
        );
        evidence
    }
}
