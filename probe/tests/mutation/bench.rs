//! A device measured once, judged with some of its answers replaced.

use std::collections::{BTreeSet, HashMap};

use fpprobe_profiles::judge::{self, Judge, Observations, RuleVerdict};
use fpprobe_profiles::{Observation, Profile, Verdict};
use fpprobe_reports::Report;
use fpprobe_reports::cause;
use fpprobe_reports::model::Cause;
use fpprobe_reports::record::read_device;
use fpprobe_spirv::Kernel;

use crate::faulty::Run;
use crate::rows::Verdicts;

/// The observations of a run's only device.
pub fn observations(run: &Run) -> Vec<Observation> {
    let report: Report = serde_json::from_value(run.report.clone()).unwrap();
    read_device(&report.devices[0].observations, &report.inputs).unwrap().observations
}

/// What judges, keeping what does not depend on the device.
pub struct Bench<'a> {
    device: &'a [Observation],
    judges: Vec<Judge<'a>>,
}

impl<'a> Bench<'a> {
    /// Of these profiles, for a device that answers like this.
    pub fn new(profiles: &'a [Profile], device: &'a [Observation]) -> Bench<'a> {
        Bench { device, judges: Judge::together(profiles) }
    }

    /// The verdicts and causes where some kernels answer otherwise.
    pub fn judge(&self, instead: &[Observation]) -> (Verdicts, Vec<Cause>) {
        let instead: HashMap<Kernel, &Observation> =
            instead.iter().map(|one| (one.kernel, one)).collect();
        let all: Vec<Observation> = self
            .device
            .iter()
            .map(|one| (*instead.get(&one.kernel).unwrap_or(&one)).clone())
            .collect();
        let index = Observations::new(&all);
        let judgements = judge::judge(&self.judges, &index);
        let (causes, _) = cause::causes(&self.judges, &judgements, &index);
        let mut verdicts = Verdicts::new();
        for (profile, judgement) in self.judges.iter().map(Judge::profile).zip(judgements) {
            verdicts.insert(profile.id.clone(), judgement.class.name().to_owned());
            let rules = judgement.rules.into_iter();
            let verdict = |rule: &RuleVerdict| {
                if refuses(profile, rule) { Verdict::Deviates } else { rule.verdict }
            };
            let named = |rule: RuleVerdict| {
                (format!("{}/{}", profile.id, rule.id), verdict(&rule).name().to_owned())
            };
            verdicts.extend(rules.map(named));
        }
        (verdicts, causes)
    }

    /// The kernels that answer otherwise now.
    pub fn changed(&self, instead: &[Observation]) -> BTreeSet<String> {
        let before: HashMap<Kernel, &Observation> =
            self.device.iter().map(|one| (one.kernel, one)).collect();
        let differs =
            |one: &&Observation| before.get(&one.kernel).is_none_or(|before| *before != *one);
        instead.iter().filter(differs).map(|one| one.kernel.to_string()).collect()
    }
}

/// Whether a rule does not accept lanes that no behaviour explains, though they count for rules
/// before it: the table says which rules a fault is seen by.
fn refuses(profile: &Profile, rule: &RuleVerdict) -> bool {
    let states =
        |(id, _): &(String, usize)| profile.rule(id).is_some_and(|other| other.judges.is_none());
    rule.verdict == Verdict::Depends && rule.elsewhere.iter().any(states)
}
