//! What a device does that no required rule allows.

use fpprobe_profiles::{Level, Verdict};

use crate::broken_rules::names;
use crate::model::{Device, ProfileResult, RuleResult};

/// The required rules of each profile that a device does not meet. One that only depends on another
/// of them does not count.
pub fn deviations(device: &Device) -> Vec<(&ProfileResult, &RuleResult)> {
    let of_profile = |profile: &'_ ProfileResult| -> Vec<usize> {
        let deviating: Vec<&RuleResult> =
            profile.rules.iter().filter(|rule| is_deviation(rule)).collect();
        let explained =
            |rule: &RuleResult| deviating.iter().any(|cause| names(&rule.behaviour, &cause.id));
        let counts = |rule: &RuleResult| {
            is_deviation(rule)
                || rule.level == Level::Required
                    && rule.verdict == Verdict::Depends
                    && !explained(rule)
        };
        (0..profile.rules.len()).filter(|index| counts(&profile.rules[*index])).collect()
    };
    let profiles = device.profiles.iter();
    profiles
        .flat_map(|profile| {
            of_profile(profile).into_iter().map(move |index| (profile, &profile.rules[index]))
        })
        .collect()
}

fn is_deviation(rule: &RuleResult) -> bool {
    rule.level == Level::Required && rule.verdict == Verdict::Deviates
}
