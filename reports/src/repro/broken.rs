//! The sentences of specifications that a failing lane breaks.

use fpprobe_profiles::Profile;

use crate::failed::numbers;
use crate::model::{Device, Evidence, Inputs, ProfileResult, Report, RuleResult, Value};
use crate::numbered::NumberedCause;

/// A rule that a lane breaks, in one profile.
pub(super) struct BrokenSentence<'a> {
    /// The profile.
    pub profile: &'a ProfileResult,
    /// The rule.
    pub rule: &'a RuleResult,
    /// The sentence of the specification, empty where the profile is not known or quotes none.
    pub quote: String,
}

/// The rules of a cause that do not accept this lane; where the report does not say which, those
/// that fail on its kernel, or all.
pub(super) fn broken<'a>(
    report: &'a Report,
    NumberedCause { device, cause, .. }: NumberedCause<'a>,
    evidence: &Evidence,
    profiles: &[Profile],
) -> Vec<BrokenSentence<'a>> {
    let place = case_number(report, device, evidence);
    let rules: Vec<(&ProfileResult, &RuleResult)> = device
        .profiles
        .iter()
        .filter(|profile| cause.profiles.contains(&profile.id))
        .flat_map(|profile| profile.rules.iter().map(move |rule| (profile, rule)))
        .filter(|(_, rule)| rule.failing > 0 && cause.rules.contains(&rule.id))
        .collect();
    let of_case = |rule: &RuleResult| {
        rule.failed.iter().any(|failed| {
            let numbers = || numbers(&failed.cases, usize::MAX).unwrap_or_default();
            failed.kernel == evidence.kernel
                && place.is_some_and(|place| numbers().contains(&place))
        })
    };
    let of_kernel =
        |rule: &RuleResult| rule.failed.iter().any(|failed| failed.kernel == evidence.kernel);
    let pick = |is_broken: &dyn Fn(&RuleResult) -> bool| -> Vec<_> {
        rules.iter().filter(|(_, rule)| is_broken(rule)).copied().collect()
    };
    let picked = [pick(&of_case), pick(&of_kernel)]
        .into_iter()
        .find(|rules| !rules.is_empty())
        .unwrap_or(rules);
    let sentence = |(profile, rule): (&'a ProfileResult, &'a RuleResult)| {
        let known = profiles
            .iter()
            .find(|known| known.id == profile.id)
            .and_then(|known| known.rule(&rule.id));
        BrokenSentence {
            profile,
            rule,
            quote: known.map(|known| known.quote.clone()).unwrap_or_default(),
        }
    };
    picked.into_iter().map(sentence).collect()
}

/// The number of a lane's case among those of its observation.
fn case_number(report: &Report, device: &Device, evidence: &Evidence) -> Option<usize> {
    let observation = device.observations.iter().find(|one| one.kernel == evidence.kernel)?;
    let cases = match &observation.inputs {
        Inputs::Table(name) => report.inputs.get(name)?,
        Inputs::Cases(cases) => cases,
    };
    let case = Value::List(evidence.inputs.clone());
    cases.iter().position(|other| other == case)
}
