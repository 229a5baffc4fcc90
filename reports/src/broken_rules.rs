//! The rules that a device breaks: each once for all profiles, with the rules that fail because of
//! it.

use crate::model::{Device, Evidence, Level, ProfileResult, RuleResult, Verdict};

/// One rule that is not met, in every profile in which it is not.
#[derive(Clone, Debug)]
pub struct BrokenRule<'a> {
    /// The rule as the first of these profiles states it.
    pub rule: &'a RuleResult,
    /// The profiles under which it deviates.
    pub profiles: Vec<&'a ProfileResult>,
    /// What shows it, each lane once.
    pub evidence: Vec<&'a Evidence>,
    /// Rules that fail only because of it.
    pub dependents: Vec<Dependent<'a>>,
}

/// A rule whose failing lanes another rule explains.
#[derive(Clone, Debug)]
pub struct Dependent<'a> {
    /// The rule.
    pub rule: &'a RuleResult,
    /// The profiles under which it depends.
    pub profiles: Vec<&'a ProfileResult>,
}

/// The deviations of a device: required rules first, then in the order of the report. A rule that
/// depends on one that does not deviate anywhere comes last, as a cause of its own with verdict
/// `depends`: nothing is left out.
pub fn broken_rules(device: &Device) -> Vec<BrokenRule<'_>> {
    let mut causes: Vec<BrokenRule> = Vec::new();
    for (profile, rule) in judged(device, Verdict::Deviates) {
        add(&mut causes, profile, rule);
    }
    causes.sort_by_key(|cause| cause.rule.level);
    let mut orphans = Vec::new();
    for (profile, rule) in judged(device, Verdict::Depends) {
        let Some(cause) = causes.iter_mut().find(|cause| names(&rule.behaviour, &cause.rule.id))
        else {
            add(&mut orphans, profile, rule);
            continue;
        };
        match cause.dependents.iter_mut().find(|dependent| dependent.rule.id == rule.id) {
            Some(dependent) => dependent.profiles.push(profile),
            None => cause.dependents.push(Dependent { rule, profiles: vec![profile] }),
        }
    }
    causes.append(&mut orphans);
    causes
}

/// Informative rules state behaviour to report, which is no deviation.
fn judged(
    device: &Device,
    verdict: Verdict,
) -> impl Iterator<Item = (&ProfileResult, &RuleResult)> {
    let rules = device
        .profiles
        .iter()
        .flat_map(|profile| profile.rules.iter().map(move |rule| (profile, rule)));
    rules.filter(move |(_, rule)| rule.verdict == verdict && rule.level != Level::Informative)
}

fn add<'a>(causes: &mut Vec<BrokenRule<'a>>, profile: &'a ProfileResult, rule: &'a RuleResult) {
    let index = causes.iter().position(|cause| cause.rule.id == rule.id).unwrap_or_else(|| {
        causes.push(BrokenRule {
            rule,
            profiles: Vec::new(),
            evidence: Vec::new(),
            dependents: Vec::new(),
        });
        causes.len() - 1
    });
    let cause = &mut causes[index];
    cause.profiles.push(profile);
    for evidence in &rule.evidence {
        if !cause.evidence.contains(&evidence) {
            cause.evidence.push(evidence);
        }
    }
}

/// Whether a sentence names this rule, claim or kernel: `D32-1` is not named by `D32-18`.
pub(crate) fn names(sentence: &str, name: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    !name.is_empty()
        && sentence.match_indices(name).any(|(at, _)| {
            !sentence[..at].ends_with(within) && !sentence[at + name.len()..].starts_with(within)
        })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(names("D32-18", "D32-18"));
        assert!(names("depends on D32-18.", "D32-18"));
        assert!(!names("D32-18", "D32-1"));
        assert!(!names("XD32-18", "D32-18"));
        assert!(!names("", ""));
    }
}
