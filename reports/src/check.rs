//! The gate: a report against a baseline. What deviates and is not accepted is new; what is accepted and does not deviate any
//! more is told, too.

mod render;

use fpprobe_profiles::{Level, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::render::{CHECKS, CheckFormat, RenderCheck, Subject};
use crate::baseline::{Acceptance, Baseline, Date};
use crate::causes::names;
use crate::model::{Device, Driver, Evidence, ProfileResult, Program, Report, RuleResult};

/// The value of [`Checked::schema`] that this program writes.
pub const SCHEMA: &str = "fpprobe-check/1";

/// What came of a check: `fpprobe-check/1`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// `fpprobe-check/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that checked.
    pub program: Program,
    /// Start of the run that was checked, RFC 3339, UTC.
    pub started: String,
    /// Whether the gate is open.
    pub passed: bool,
    /// Whether unexpected improvements close it.
    pub strict: bool,
    /// Deviations that are not accepted.
    pub deviations: Vec<Deviation>,
    /// Deviations that are.
    pub accepted: Vec<Accepted>,
    /// Accepted deviations that are none any more.
    pub improved: Vec<Gone>,
    /// Accepted deviations of which this report says nothing.
    pub unmeasured: Vec<Gone>,
}

/// A device in short.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Who {
    /// Its name.
    pub name: String,
    /// Its place.
    pub slot: String,
    /// Its driver.
    pub driver: Driver,
}

/// A deviation that is not accepted.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Deviation {
    /// Where.
    pub device: Who,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// Its title.
    pub title: String,
    /// Document, section, line.
    pub citation: String,
    /// Why it is not accepted.
    pub why: String,
    /// Lanes judged.
    pub lanes: usize,
    /// Lanes that are not accepted.
    pub failing: usize,
    /// The first of them.
    pub evidence: Vec<Evidence>,
}

/// A deviation that is accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Accepted {
    /// Where.
    pub device: Who,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// Its title.
    pub title: String,
    /// Why.
    pub reason: String,
    /// Where more is written.
    pub link: Option<String>,
}

/// An acceptance that nothing in the report needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Gone {
    /// The device as the baseline names it.
    pub device: String,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// What the rule says now, or why nothing is known of it.
    pub now: String,
}

/// Compares a report with a baseline, as of today.
pub fn check(program: Program, report: &Report, baseline: &Baseline, today: Date, strict: bool) -> Checked {
    let (mut new, mut accepted) = (Vec::new(), Vec::new());
    for device in &report.devices {
        for (profile, rule) in deviations(device) {
            match verdict(baseline, device, profile, rule, today) {
                Ok(acceptance) => accepted.push(Accepted {
                    device: who(device),
                    profile: profile.id.clone(),
                    rule: rule.id.clone(),
                    title: rule.title.clone(),
                    reason: acceptance.reason.clone(),
                    link: acceptance.link.clone(),
                }),
                Err(why) => new.push(Deviation {
                    device: who(device),
                    profile: profile.id.clone(),
                    rule: rule.id.clone(),
                    title: rule.title.clone(),
                    citation: rule.citation.clone(),
                    why,
                    lanes: rule.lanes,
                    failing: rule.failing,
                    evidence: rule.evidence.clone(),
                }),
            }
        }
    }
    let (mut improved, mut unmeasured) = (Vec::new(), Vec::new());
    for acceptance in &baseline.accepted {
        let gone = |now: &str| Gone {
            device: acceptance.device.clone(),
            profile: acceptance.profile.clone(),
            rule: acceptance.rule.clone(),
            now: now.to_owned(),
        };
        match standing(acceptance, report) {
            Standing::Deviates => {}
            Standing::Met(now) => improved.push(gone(now)),
            Standing::Unknown(now) => unmeasured.push(gone(now)),
        }
    }
    let passed = new.is_empty() && (improved.is_empty() || !strict);
    let (schema, started) = (SCHEMA.to_owned(), report.started.clone());
    Checked { schema, program, started, passed, strict, deviations: new, accepted, improved, unmeasured }
}

/// The required rules of each profile that a device does not meet. One that only depends on another of them is none of
/// its own.
pub fn deviations(device: &Device) -> Vec<(&ProfileResult, &RuleResult)> {
    let of_profile = |profile: &'_ ProfileResult| -> Vec<usize> {
        let deviating: Vec<&RuleResult> = profile.rules.iter().filter(|rule| is_deviation(rule)).collect();
        let explained = |rule: &RuleResult| deviating.iter().any(|cause| names(&rule.behaviour, &cause.id));
        let counts = |rule: &RuleResult| {
            is_deviation(rule) || rule.level == Level::Required && rule.verdict == Verdict::Depends && !explained(rule)
        };
        (0..profile.rules.len()).filter(|index| counts(&profile.rules[*index])).collect()
    };
    let profiles = device.profiles.iter();
    profiles
        .flat_map(|profile| of_profile(profile).into_iter().map(move |index| (profile, &profile.rules[index])))
        .collect()
}

fn is_deviation(rule: &RuleResult) -> bool {
    rule.level == Level::Required && rule.verdict == Verdict::Deviates
}

/// The acceptance of a deviation, or why there is none.
pub(crate) fn verdict<'b>(
    baseline: &'b Baseline,
    device: &Device,
    profile: &ProfileResult,
    rule: &RuleResult,
    today: Date,
) -> Result<&'b Acceptance, String> {
    let mut why = "not in the baseline".to_owned();
    let about = baseline.accepted.iter().filter(|one| one.is_about(&device.identity, &profile.id, &rule.id));
    for acceptance in about {
        match acceptance.objection(&device.identity, rule, today) {
            None => return Ok(acceptance),
            Some(objection) => why = objection,
        }
    }
    Err(why)
}

/// What became of an accepted deviation.
enum Standing {
    /// It is there on some device.
    Deviates,
    /// The rule is met now, or fails through another alone.
    Met(&'static str),
    /// The report says nothing of it.
    Unknown(&'static str),
}

fn standing(acceptance: &Acceptance, report: &Report) -> Standing {
    let mut standing = Standing::Unknown("no such device in the report");
    for device in &report.devices {
        let Acceptance { profile, rule, .. } = acceptance;
        if !acceptance.is_about(&device.identity, profile, rule) {
            continue;
        }
        if deviations(device).iter().any(|(of, one)| (&of.id, &one.id) == (profile, rule)) {
            return Standing::Deviates;
        }
        let judged = device.profiles.iter().find(|one| one.id == *profile);
        let result = judged.and_then(|profile| profile.rules.iter().find(|one| one.id == *rule));
        standing = match (judged, result) {
            (None, _) => Standing::Unknown("the device was not judged by this profile"),
            (_, None) => Standing::Unknown("the profile has no such rule"),
            (_, Some(rule)) if matches!(rule.verdict, Verdict::Unsupported | Verdict::Incomplete) => {
                Standing::Unknown(rule.verdict.name())
            }
            (_, Some(rule)) => Standing::Met(rule.verdict.name()),
        };
    }
    standing
}

fn who(device: &Device) -> Who {
    let identity = &device.identity;
    Who { name: identity.name.clone(), slot: identity.slot.clone(), driver: identity.driver.clone() }
}
