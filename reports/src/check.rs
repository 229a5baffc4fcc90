//! The gate: a report against a baseline. What deviates and is not accepted is new; what is accepted and does not deviate any
//! more, or was not measured, is reported, too. An empty report never passes.

mod coverage;
mod render;
mod subject;

use fpprobe_profiles::{Outcome, Profile, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::coverage::{CoverageCheck, MissingDevice, UnrunKernel};
pub use self::render::{CHECKS, CheckFormat, RenderCheck};
use self::subject::Subject;
use crate::baseline::{Acceptance, Baseline, Date, Objection, TaintedDevice, fixed, objection};
use crate::deviations::deviations;
use crate::failed::{CaseList, LanesByKernel};
use crate::model::{Device, Driver, Evidence, Incident, ProfileResult, Program, Report, RuleResult};
use crate::record::RecordError;

/// The value of [`CheckResult::schema`] that this program writes.
pub const SCHEMA: &str = "fpprobe-check/1";

/// What came of a check: `fpprobe-check/1`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CheckResult {
    /// `fpprobe-check/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that checked.
    pub program: Program,
    /// Start of the run that was checked, RFC 3339, UTC.
    pub started: String,
    /// What came of it.
    pub gate: Gate,
    /// Whether the gate is open.
    pub passed: bool,
    /// Whether what is better than accepted, or was not measured, closes it.
    pub strict: bool,
    /// Deviations that are not accepted.
    pub deviations: Vec<Deviation>,
    /// Deviations that are.
    pub accepted: Vec<AcceptedDeviation>,
    /// Kernels that fail a rule on random operands alone: a baseline holds none of those.
    pub random: Vec<RandomFailure>,
    /// Accepted deviations that are none any more, or that fewer lanes show.
    pub improved: Vec<UnusedAcceptance>,
    /// Accepted deviations of which this report says nothing.
    pub unmeasured: Vec<UnusedAcceptance>,
    /// Accepted deviations of which it says nothing because a kernel crashed, hung or was lost.
    pub lost: Vec<UnusedAcceptance>,
    /// What was measured of each device, beside what the baseline's report measured.
    pub coverage: Vec<CoverageCheck>,
    /// Devices of the baseline that the report does not hold.
    pub missing: Vec<MissingDevice>,
}

/// What came of a check; the first that applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// No device answered anything, or no rule was there to judge an answer.
    NothingMeasured,
    /// Something deviates that is not accepted, a device is missing, a kernel does not run that ran before, or, strictly,
    /// something is not as it was accepted.
    NotPassed,
    /// Nothing of that, but a kernel that the device claims to support did not run, or something crashed, hung or was lost.
    Incomplete,
    /// Everything that was measured is as accepted.
    Passed,
}

/// A device in short.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct DeviceSummary {
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
    pub device: DeviceSummary,
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
    /// The first of them, before all others the one that is why it is not accepted.
    pub evidence: Vec<Evidence>,
}

/// A deviation that is accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct AcceptedDeviation {
    /// Where.
    pub device: DeviceSummary,
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

/// A rule that a kernel fails on random operands alone. It closes the gate strictly only: nothing says that it is new.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct RandomFailure {
    /// Where.
    pub device: DeviceSummary,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// The kernel.
    pub kernel: String,
    /// Failing lanes.
    pub lanes: usize,
    /// The first: operands, and the result.
    pub lane: String,
}

/// An acceptance that nothing in the report needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct UnusedAcceptance {
    /// The device as the baseline names it.
    pub device: String,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// What the rule says now, or why nothing is known of it.
    pub now: String,
}

/// Why a report cannot be checked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckError {
    /// It may tell of something else than the driver.
    #[error("failed to check: {0}")]
    Tainted(TaintedDevice),
    /// Observations that contradict themselves.
    #[error("failed to check `{device}`: {cause}; was the report edited by hand?")]
    Unreadable {
        /// The device.
        device: String,
        /// What is wrong.
        cause: Box<RecordError>,
    },
}

/// How to check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The day of the check.
    pub today: Date,
    /// Whether everything accepted must be measured, and be as it was accepted.
    pub strict: bool,
    /// Whether a device with layers or the like counts.
    pub allow_tainted: bool,
    /// Whether devices were selected, so that others need not be there.
    pub selected: bool,
}

/// Compares a report with a baseline. `profiles` show what is accepted of lanes that the report does not show as evidence.
pub fn check(
    program: Program,
    profiles: &[Profile],
    report: &Report,
    baseline: &Baseline,
    terms: Terms,
) -> Result<CheckResult, CheckError> {
    if !terms.allow_tainted {
        report.devices.iter().try_for_each(TaintedDevice::refuse).map_err(CheckError::Tainted)?;
    }
    let read = report.devices.iter().map(|device| {
        let error = |cause| CheckError::Unreadable { device: device.identity.name.clone(), cause: Box::new(cause) };
        Subject::new(device, report).map_err(error)
    });
    let subjects = read.collect::<Result<Vec<_>, _>>()?;
    let (mut new, mut accepted, mut random) = (Vec::new(), Vec::new(), Vec::new());
    for subject in &subjects {
        let device = subject.device;
        for (profile, rule) in deviations(device) {
            random.extend(random_lanes(subject, profile, rule));
            if subject.lanes(&profile.id, &rule.id).is_some_and(|lanes| lanes.listed.is_empty()) {
                continue;
            }
            match verdict(baseline, subject, profile, rule, terms.today) {
                Ok(acceptance) => accepted.push(AcceptedDeviation {
                    device: who(device),
                    profile: profile.id.clone(),
                    rule: rule.id.clone(),
                    title: rule.title.clone(),
                    reason: acceptance.reason.clone(),
                    link: acceptance.link.clone(),
                }),
                Err(objection) => new.push(Deviation {
                    device: who(device),
                    profile: profile.id.clone(),
                    rule: rule.id.clone(),
                    title: rule.title.clone(),
                    citation: rule.citation.clone(),
                    evidence: subject.evidence(profiles, &profile.id, rule, &objection),
                    why: objection.why,
                    lanes: rule.lanes,
                    failing: rule.failing,
                }),
            }
        }
    }
    let mut checked = CheckResult {
        schema: SCHEMA.to_owned(),
        program,
        started: report.started.clone(),
        gate: Gate::Passed,
        passed: false,
        strict: terms.strict,
        deviations: new,
        accepted,
        random,
        improved: Vec::new(),
        unmeasured: Vec::new(),
        lost: Vec::new(),
        coverage: report.devices.iter().map(|device| coverage::of(device, baseline)).collect(),
        missing: if terms.selected { Vec::new() } else { coverage::missing(report, baseline) },
    };
    for acceptance in &baseline.accepted {
        let removed = |now: String| UnusedAcceptance {
            device: acceptance.device.clone(),
            profile: acceptance.profile.clone(),
            rule: acceptance.rule.clone(),
            now,
        };
        match standing(acceptance, &subjects) {
            AcceptanceStatus::Deviates => {}
            AcceptanceStatus::Better(now) => checked.improved.push(removed(now)),
            AcceptanceStatus::Unknown(now) => checked.unmeasured.push(removed(now)),
            AcceptanceStatus::Lost(now) => checked.lost.push(removed(now)),
        }
    }
    checked.gate = gate(report, &checked);
    checked.passed = checked.gate == Gate::Passed;
    Ok(checked)
}

fn gate(report: &Report, checked: &CheckResult) -> Gate {
    let answered = |device: &&Device| device.observations.iter().any(|one| one.outcome.answered());
    let rules = |device: &Device| device.profiles.iter().flat_map(|profile| &profile.rules).count();
    let silent = |device: &&Device| device.observations.iter().any(|one| one.outcome.is_failure());
    let troubled = |device: &&Device| {
        let lost = device.observations.iter().any(|one| is_loss(one.outcome));
        lost || device.incomplete.iter().any(Incident::is_failure) || !answered(device) && silent(device)
    };
    let devices = || report.devices.iter();
    let unrun = |before: bool| checked.coverage.iter().any(|covered| covered.unrun(before).next().is_some());
    let unasked = checked.coverage.iter().any(|covered| covered.unselected > 0);
    let otherwise =
        !checked.improved.is_empty() || !checked.unmeasured.is_empty() || !checked.random.is_empty() || unasked;
    if !devices().any(|device| answered(&device) && rules(device) > 0) {
        Gate::NothingMeasured
    } else if !checked.deviations.is_empty()
        || !checked.missing.is_empty()
        || unrun(true)
        || checked.strict && otherwise
    {
        Gate::NotPassed
    } else if report.incomplete.iter().any(Incident::is_failure)
        || !checked.lost.is_empty()
        || unrun(false)
        || devices().any(|device| troubled(&device))
    {
        Gate::Incomplete
    } else {
        Gate::Passed
    }
}

/// Whether a kernel was lost by what the driver did, and not for want of a feature.
fn is_loss(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Crashed | Outcome::Hung | Outcome::DeviceLost | Outcome::OutOfMemory)
}

/// The acceptance of a deviation, or why there is none. Which rule of a profile a lane counts for depends on what else was
/// measured, so lanes that are accepted for another rule of the profile are accepted.
fn verdict<'b>(
    baseline: &'b Baseline,
    subject: &Subject<'_>,
    profile: &ProfileResult,
    rule: &RuleResult,
    today: Date,
) -> Result<&'b Acceptance, Objection> {
    let Subject { device, answers, .. } = subject;
    let mut why = Objection { why: "not in the baseline".to_owned(), lane: None };
    let lanes = subject.lanes(&profile.id, &rule.id).map(|lanes| &lanes.listed);
    let about = baseline.accepted.iter().filter(|one| one.is_about(&device.identity, &profile.id, &rule.id));
    for acceptance in about {
        match acceptance.objection(&device.identity, rule, (lanes, answers), today) {
            None => return Ok(acceptance),
            Some(objection) => why = objection,
        }
    }
    lanes.and_then(|lanes| accepted_elsewhere(baseline, subject, (profile, rule), lanes, today)).ok_or(why)
}

/// An acceptance of these lanes where those of all rules of a profile accept them together.
fn accepted_elsewhere<'b>(
    baseline: &'b Baseline,
    subject: &Subject<'_>,
    (profile, rule): (&ProfileResult, &RuleResult),
    lanes: &LanesByKernel,
    today: Date,
) -> Option<&'b Acceptance> {
    let Subject { device: Device { identity, .. }, answers, .. } = subject;
    let is_rule = |id: &str| profile.rules.iter().any(|rule| rule.id == id);
    let holds = |one: &&Acceptance| {
        one.profile == profile.id
            && is_rule(&one.rule)
            && one.applies(identity)
            && one.refuses(identity, today).is_none()
    };
    let all: Vec<&Acceptance> = baseline.accepted.iter().filter(holds).collect();
    let first = all.iter().find(|one| one.kernels().any(|kernel| lanes.contains_key(kernel)))?;
    let list = |kernel: &str| answers.list(kernel).unwrap_or(CaseList::Whole);
    let prints = || all.iter().flat_map(|one| one.lanes.iter().map(|prints| (prints, one.rule == rule.id)));
    let accepts = |lanes: &LanesByKernel| objection(prints(), lanes, list).is_none();
    let of_kernels = || {
        let all = subject.of_profile(&profile.id).into_iter().flatten();
        all.filter(|(kernel, _)| lanes.contains_key(*kernel))
            .map(|(kernel, all)| (kernel.clone(), all.clone()))
            .collect()
    };
    (accepts(lanes) || accepts(&of_kernels())).then_some(*first)
}

/// Kernels that fail a rule on random operands, and on none of their lists.
fn random_lanes(subject: &Subject<'_>, profile: &ProfileResult, rule: &RuleResult) -> Vec<RandomFailure> {
    let Some(lanes) = subject.lanes(&profile.id, &rule.id) else { return Vec::new() };
    let alone = lanes.random.iter().filter(|(kernel, _)| !lanes.listed.contains_key(*kernel));
    let failure = |(kernel, lanes): (&String, &Vec<String>)| RandomFailure {
        device: who(subject.device),
        profile: profile.id.clone(),
        rule: rule.id.clone(),
        kernel: kernel.clone(),
        lanes: lanes.len(),
        lane: lanes.first().cloned().unwrap_or_default(),
    };
    alone.map(failure).collect()
}

/// What became of an accepted deviation.
enum AcceptanceStatus {
    /// It is there on some device.
    Deviates,
    /// The rule is met now, fails through another alone, or fails on fewer lanes.
    Better(String),
    /// The report says nothing of it.
    Unknown(String),
    /// What it would take to say was lost.
    Lost(String),
}

fn standing(acceptance: &Acceptance, subjects: &[Subject<'_>]) -> AcceptanceStatus {
    let mut standing = AcceptanceStatus::Unknown("no such device in the report".into());
    let Acceptance { profile, rule, .. } = acceptance;
    let about = |subject: &&Subject<'_>| acceptance.is_about(&subject.device.identity, profile, rule);
    let mut subjects: Vec<&Subject<'_>> = subjects.iter().filter(about).collect();
    // Where some have the driver that it is accepted of, the others do not matter.
    if subjects.iter().any(|subject| acceptance.applies(&subject.device.identity)) {
        subjects.retain(|subject| acceptance.applies(&subject.device.identity));
    }
    for subject in subjects {
        let Subject { device, answers, .. } = subject;
        let all: usize = acceptance.lanes.iter().map(|prints| prints.count() * prints.kernels.len()).sum();
        let lanes = subject.lanes(profile, rule).map(|lanes| &lanes.listed);
        let none = LanesByKernel::new();
        let together = (lanes.unwrap_or(&none), subject.of_profile(profile).unwrap_or(&none));
        let fixed_lanes = fixed(&acceptance.lanes, together, |kernel| answers.list(kernel));
        let deviates = deviations(device).iter().any(|(of, one)| (&of.id, &one.id) == (profile, rule));
        let is_elsewhere = || acceptance.unmeasured(answers) == 0 && all > 0 && fixed_lanes == 0;
        if deviates || is_elsewhere() {
            match if lanes.is_some() { fixed_lanes } else { 0 } {
                0 => return AcceptanceStatus::Deviates,
                fixed_lanes => {
                    let better =
                        format!("deviates, though not on {fixed_lanes} of the {all} accepted lanes of all kernels");
                    standing = AcceptanceStatus::Better(better);
                }
            }
            continue;
        }
        let judged = device.profiles.iter().find(|one| one.id == *profile);
        let result = judged.and_then(|profile| profile.rules.iter().find(|one| one.id == *rule));
        if matches!(standing, AcceptanceStatus::Lost(_)) {
            continue;
        }
        standing = match (judged, result) {
            (None, _) => AcceptanceStatus::Unknown("the device was not judged by this profile".into()),
            (_, None) => AcceptanceStatus::Unknown("the profile has no such rule".into()),
            (_, Some(rule)) => match rule.verdict {
                Verdict::Incomplete if lost(device, rule) => AcceptanceStatus::Lost(rule.behaviour.clone()),
                Verdict::Unsupported | Verdict::Incomplete if rule.behaviour.is_empty() => {
                    AcceptanceStatus::Unknown(rule.verdict.name().into())
                }
                Verdict::Unsupported | Verdict::Incomplete => {
                    AcceptanceStatus::Unknown(format!("{}: {}", rule.verdict.name(), rule.behaviour))
                }
                met => match (acceptance.unmeasured(answers), acceptance.kernels().count()) {
                    (0, _) => AcceptanceStatus::Better(met.name().into()),
                    (some, all) => AcceptanceStatus::Unknown(format!(
                        "{}, though {some} of the {all} kernels that deviated were not measured, or not in full",
                        met.name()
                    )),
                },
            },
        };
    }
    standing
}

/// Whether an incomplete rule is so because a kernel was lost; the rule names the first kernel that it lacks.
fn lost(device: &Device, rule: &RuleResult) -> bool {
    let named = |kernel: &str| rule.behaviour.strip_prefix(kernel).is_some_and(|rest| rest.starts_with(": "));
    device.observations.iter().any(|one| is_loss(one.outcome) && named(&one.kernel))
}

fn who(device: &Device) -> DeviceSummary {
    let identity = &device.identity;
    DeviceSummary { name: identity.name.clone(), slot: identity.slot.clone(), driver: identity.driver.clone() }
}
