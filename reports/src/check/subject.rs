//! What is checked: a device with its answers, and the lanes that show what is objected to.

use fpprobe_profiles::accepted::Accepted as Set;
use fpprobe_profiles::accepts::KernelDemands;
use fpprobe_profiles::{Observation, Profile};
use serde_json::Value;

use crate::baseline::Objection;
use crate::failed::{DeviceResults, component};
use crate::model::{Device, Evidence, RuleResult};
use crate::values::{encode_answer, encode_case, repeat_command};

/// A device with what it answered.
pub(super) struct Subject<'r> {
    pub(super) device: &'r Device,
    pub(super) answers: DeviceResults,
}

impl Subject<'_> {
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
        let Some((observation, case, part)) = self.answers.find(kernel, lane) else { return evidence };
        let inputs = encode_case(&observation.kernel, observation.cases.case(case));
        let component = component(&observation.kernel, part);
        let is_it = |one: &Evidence| (&one.kernel, &one.inputs, one.component) == (kernel, &inputs, component);
        let first = match evidence.iter().position(is_it) {
            Some(place) => evidence.remove(place),
            None => Evidence {
                kernel: kernel.clone(),
                command: repeat_command(observation, &inputs),
                inputs,
                out: encode_answer(&observation.kernel, observation.answer(case)),
                component,
                accepts: accepts(profiles, (profile, &rule.id), observation, case),
            },
        };
        evidence.insert(0, first);
        evidence
    }
}

/// What a rule accepts of a case; `null` where no such profile or rule is known.
fn accepts(profiles: &[Profile], (profile, rule): (&str, &str), observation: &Observation, case: usize) -> Value {
    let demands = KernelDemands::new(profiles.iter().filter(|one| one.id == profile), &observation.kernel);
    let sets = demands.of(observation.cases.case(case));
    let look = demands.rules().iter().find(|demanding| demanding.rule.id == rule);
    look.and_then(|look| sets.get(look.look)?.as_ref()).map_or(Value::Null, Set::to_json)
}
