//! A device measured once, judged with some of its answers replaced.

use std::collections::HashMap;

use fpprobe_profiles::judge::{Judge, Observations};
use fpprobe_profiles::{Observation, Profile};
use fpprobe_reports::Report;
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
    judges: Vec<(&'a Profile, Judge<'a>)>,
}

impl<'a> Bench<'a> {
    /// Of these profiles, for a device that answers like this.
    pub fn new(profiles: &'a [Profile], device: &'a [Observation]) -> Bench<'a> {
        Bench { device, judges: profiles.iter().zip(Judge::together(profiles)).collect() }
    }

    /// The verdicts where some kernels answer otherwise.
    pub fn verdicts(&self, instead: &[Observation]) -> Verdicts {
        let instead: HashMap<Kernel, &Observation> = instead.iter().map(|one| (one.kernel, one)).collect();
        let all: Vec<Observation> =
            self.device.iter().map(|one| (*instead.get(&one.kernel).unwrap_or(&one)).clone()).collect();
        let index = Observations::new(&all);
        let mut verdicts = Verdicts::new();
        for (profile, judge) in &self.judges {
            let judgement = judge.judge(&index);
            verdicts.insert(profile.id.clone(), judgement.class.name().to_owned());
            let rules = judgement.rules.into_iter();
            verdicts.extend(rules.map(|rule| (format!("{}/{}", profile.id, rule.id), rule.verdict.name().to_owned())));
        }
        verdicts
    }
}
