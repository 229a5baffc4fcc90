//! The gate: a report against a baseline. What deviates and is not accepted is new; what is
//! accepted and does not deviate any more, or was not measured, is reported, too. An empty report
//! never passes.

mod coverage;
mod render;
mod subject;

use fpprobe_profiles::{Outcome, Profile, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::coverage::CoverageCheck;
pub use self::render::{CHECKS, CheckFormat, RenderCheck};
use self::subject::CheckedDevice;
use crate::baseline::{Acceptance, Baseline, Date, Objection, TaintedDevice, fixed, objection};
use crate::change::{Change, ChangeKind, DeviceName, Subject};
use crate::deviations::deviations;
use crate::failed::{CaseList, LanesByKernel};
use crate::model::{Device, Incident, ProfileResult, Program, Report, RuleResult};
use crate::record::RecordError;
use crate::render::phrase;

/// The value of [`CheckResult::schema`] that this program writes.
pub const SCHEMA: &str = "fpprobe-check/2";

/// What came of a check: `fpprobe-check/2`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// `fpprobe-check/2`.
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
    /// What is otherwise than accepted: rules that `regressed`; rules that are accepted and
    /// `fixed`, or that fewer lanes show; accepted rules that `disappeared`, since the report
    /// does not judge them; kernels that `disappeared`, since they ran for the baseline and do
    /// not run now; incidents: what was lost, and kernels that the device claims to support
    /// and that do not run; kernels that `changed`, since they fail a rule on random operands
    /// alone, of which a baseline holds none; and devices of the baseline that `disappeared`.
    pub changes: Vec<Change>,
    /// Deviations that are accepted.
    pub accepted: Vec<AcceptedDeviation>,
    /// What was measured of each device, beside what the baseline's report measured.
    pub coverage: Vec<CoverageCheck>,
}

/// What came of a check; the first that applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// No device answered anything, or no rule was there to judge an answer.
    NothingMeasured,
    /// Something deviates that is not accepted, a device is missing, a kernel does not run that ran
    /// before, or, strictly, something is not as it was accepted.
    NotPassed,
    /// Nothing of that, but a kernel that the device claims to support did not run, or something
    /// crashed, hung or was lost.
    Incomplete,
    /// Everything that was measured is as accepted.
    Passed,
}

/// A deviation that is accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedDeviation {
    /// Where.
    pub device: DeviceName,
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

/// Compares a report with a baseline. `profiles` show what is accepted of lanes that the report
/// does not show as evidence.
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
        let error = |cause| CheckError::Unreadable {
            device: device.identity.name.clone(),
            cause: Box::new(cause),
        };
        CheckedDevice::new(device, report).map_err(error)
    });
    let subjects = read.collect::<Result<Vec<_>, _>>()?;
    let (mut changes, mut accepted) = (Vec::new(), Vec::new());
    for subject in &subjects {
        let device = subject.device;
        for (profile, rule) in deviations(device) {
            changes.extend(random_lanes(subject, profile, rule));
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
                Err(objection) => changes.push(Change {
                    device: Some(who(device)),
                    text: rule.title.clone(),
                    new: Some(phrase::lanes(rule)),
                    citation: rule.citation.clone(),
                    verdict: Some(rule.verdict),
                    evidence: subject.evidence(profiles, &profile.id, rule, &objection),
                    ..of_rule(ChangeKind::Regressed, &profile.id, &rule.id, objection.why)
                }),
            }
        }
    }
    let unused = baseline.accepted.iter().filter_map(|acceptance| {
        let device = Some(DeviceName { name: acceptance.device.clone(), key: String::new() });
        let change = standing(acceptance, &subjects)?;
        Some(Change { device, ..change })
    });
    changes.extend(unused);
    let covered =
        report.devices.iter().map(|device| coverage::of(device, baseline, &mut changes)).collect();
    if !terms.selected {
        changes.extend(coverage::missing(report, baseline));
    }
    changes.sort_by_key(|change| change.kind);
    let mut checked = CheckResult {
        schema: SCHEMA.to_owned(),
        program,
        started: report.started.clone(),
        gate: Gate::Passed,
        passed: false,
        strict: terms.strict,
        changes,
        accepted,
        coverage: covered,
    };
    checked.gate = gate(report, &checked);
    checked.passed = checked.gate == Gate::Passed;
    Ok(checked)
}

/// A rule of one profile, and why it is reported.
fn of_rule(kind: ChangeKind, profile: &str, rule: &str, note: String) -> Change {
    Change { note, profiles: vec![profile.to_owned()], ..Change::new(kind, Subject::Rule, rule) }
}

impl CheckResult {
    /// What is otherwise in this way.
    pub fn of(&self, kind: ChangeKind, subject: Subject) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| (change.kind, change.subject) == (kind, subject))
    }

    /// Rules that deviate and are not accepted.
    pub fn regressed(&self) -> impl Iterator<Item = &Change> {
        self.of(ChangeKind::Regressed, Subject::Rule)
    }

    /// Whether something regressed, a device is missing, or a kernel does not run any more.
    fn is_worse(&self) -> bool {
        let lost = [Subject::Kernel, Subject::Device]
            .map(|subject| self.of(ChangeKind::Disappeared, subject).next());
        self.regressed().next().is_some() || lost.iter().any(Option::is_some)
    }
}

fn gate(report: &Report, checked: &CheckResult) -> Gate {
    let answered = |device: &&Device| device.observations.iter().any(|one| one.outcome.answered());
    let rules = |device: &Device| device.profiles.iter().flat_map(|profile| &profile.rules).count();
    let silent = |device: &&Device| device.observations.iter().any(|one| one.outcome.is_failure());
    let troubled = |device: &&Device| {
        let lost = device.observations.iter().any(|one| is_loss(one.outcome));
        lost || device.incomplete.iter().any(Incident::is_failure)
            || !answered(device) && silent(device)
    };
    let devices = || report.devices.iter();
    let is_incident = |change: &Change| change.subject == Subject::Incident;
    let unselected = checked.coverage.iter().any(|covered| covered.unselected > 0);
    let differs = unselected || !checked.changes.iter().all(is_incident);
    if !devices().any(|device| answered(&device) && rules(device) > 0) {
        Gate::NothingMeasured
    } else if checked.is_worse() || checked.strict && differs {
        Gate::NotPassed
    } else if report.incomplete.iter().any(Incident::is_failure)
        || checked.changes.iter().any(is_incident)
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

/// The acceptance of a deviation, or why there is none. Which rule of a profile a lane counts for
/// depends on what else was measured, so lanes that are accepted for another rule of the profile
/// are accepted.
fn verdict<'b>(
    baseline: &'b Baseline,
    subject: &CheckedDevice<'_>,
    profile: &ProfileResult,
    rule: &RuleResult,
    today: Date,
) -> Result<&'b Acceptance, Objection> {
    let CheckedDevice { device, answers, .. } = subject;
    let mut why = Objection { why: "not in the baseline".to_owned(), lane: None };
    let lanes = subject.lanes(&profile.id, &rule.id).map(|lanes| &lanes.listed);
    let about = baseline
        .accepted
        .iter()
        .filter(|one| one.is_about(&device.identity, &profile.id, &rule.id));
    for acceptance in about {
        match acceptance.objection(&device.identity, rule, (lanes, answers), today) {
            None => return Ok(acceptance),
            Some(objection) => why = objection,
        }
    }
    lanes
        .and_then(|lanes| accepted_elsewhere(baseline, subject, (profile, rule), lanes, today))
        .ok_or(why)
}

/// An acceptance of these lanes where those of all rules of a profile accept them together.
fn accepted_elsewhere<'b>(
    baseline: &'b Baseline,
    subject: &CheckedDevice<'_>,
    (profile, rule): (&ProfileResult, &RuleResult),
    lanes: &LanesByKernel,
    today: Date,
) -> Option<&'b Acceptance> {
    let CheckedDevice { device: Device { identity, .. }, answers, .. } = subject;
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
    let prints =
        || all.iter().flat_map(|one| one.lanes.iter().map(|prints| (prints, one.rule == rule.id)));
    let accepts = |lanes: &LanesByKernel| objection(prints(), lanes, list).is_none();
    let of_kernels = || {
        let all = subject.of_profile(&profile.id).into_iter().flatten();
        all.filter(|(kernel, _)| lanes.contains_key(*kernel))
            .map(|(kernel, all)| (kernel.clone(), all.clone()))
            .collect()
    };
    (accepts(lanes) || accepts(&of_kernels())).then_some(*first)
}

/// Kernels that fail a rule on random operands, and on none of their lists: they close the gate
/// strictly only, since nothing says that it is new.
fn random_lanes(
    subject: &CheckedDevice<'_>,
    profile: &ProfileResult,
    rule: &RuleResult,
) -> Vec<Change> {
    let Some(lanes) = subject.lanes(&profile.id, &rule.id) else { return Vec::new() };
    let alone = lanes.random.iter().filter(|(kernel, _)| !lanes.listed.contains_key(*kernel));
    let failure = |(kernel, lanes): (&String, &Vec<String>)| Change {
        device: Some(who(subject.device)),
        text: rule.id.clone(),
        note: format!(
            "fails {} in {} on {} of random operands, the first {}",
            rule.id,
            profile.id,
            phrase::number(lanes.len(), "lane"),
            lanes.first().map_or("", String::as_str)
        ),
        profiles: vec![profile.id.clone()],
        ..Change::new(ChangeKind::Changed, Subject::Kernel, kernel)
    };
    alone.map(failure).collect()
}

/// What became of an accepted deviation, where it is not as it was accepted: an incident where it
/// took what was lost to say.
fn standing(acceptance: &Acceptance, subjects: &[CheckedDevice<'_>]) -> Option<Change> {
    let Acceptance { profile, rule, .. } = acceptance;
    let of = |kind, now: String| of_rule(kind, profile, rule, now);
    let unknown = |now: String| of(ChangeKind::Disappeared, now);
    let mut standing = unknown("no such device in the report".into());
    let about =
        |subject: &&CheckedDevice<'_>| acceptance.is_about(&subject.device.identity, profile, rule);
    let mut subjects: Vec<&CheckedDevice<'_>> = subjects.iter().filter(about).collect();
    // Where some have the driver that it is accepted of, the others do not matter.
    if subjects.iter().any(|subject| acceptance.applies(&subject.device.identity)) {
        subjects.retain(|subject| acceptance.applies(&subject.device.identity));
    }
    for subject in subjects {
        let CheckedDevice { device, answers, .. } = subject;
        let all: usize =
            acceptance.lanes.iter().map(|prints| prints.count() * prints.kernels.len()).sum();
        let lanes = subject.lanes(profile, rule).map(|lanes| &lanes.listed);
        let none = LanesByKernel::new();
        let together = (lanes.unwrap_or(&none), subject.of_profile(profile).unwrap_or(&none));
        let fixed_lanes = fixed(&acceptance.lanes, together, |kernel| answers.list(kernel));
        let deviates =
            deviations(device).iter().any(|(of, one)| (&of.id, &one.id) == (profile, rule));
        let is_elsewhere = || acceptance.unmeasured(answers) == 0 && all > 0 && fixed_lanes == 0;
        if deviates || is_elsewhere() {
            match if lanes.is_some() { fixed_lanes } else { 0 } {
                0 => return None,
                fixed_lanes => {
                    let better = format!(
                        "deviates, though not on {fixed_lanes} of the {all} accepted lanes of all kernels"
                    );
                    standing = of(ChangeKind::Fixed, better);
                }
            }
            continue;
        }
        let judged = device.profiles.iter().find(|one| one.id == *profile);
        let result = judged.and_then(|profile| profile.rules.iter().find(|one| one.id == *rule));
        if standing.subject == Subject::Incident {
            continue;
        }
        standing = match (judged, result) {
            (None, _) => unknown("the device was not judged by this profile".into()),
            (_, None) => unknown("the profile has no such rule".into()),
            (_, Some(rule)) => match rule.verdict {
                Verdict::Incomplete if lost(device, rule) => {
                    Change { subject: Subject::Incident, ..unknown(rule.behaviour.clone()) }
                }
                Verdict::Unsupported | Verdict::Incomplete if rule.behaviour.is_empty() => {
                    unknown(rule.verdict.name().into())
                }
                Verdict::Unsupported | Verdict::Incomplete => {
                    unknown(format!("{}: {}", rule.verdict.name(), rule.behaviour))
                }
                met => match (acceptance.unmeasured(answers), acceptance.kernels().count()) {
                    (0, _) => of(ChangeKind::Fixed, met.name().into()),
                    (some, all) => unknown(format!(
                        "{}, though {some} of the {all} kernels that deviated were not measured, or not in full",
                        met.name()
                    )),
                },
            },
        };
    }
    Some(standing)
}

/// Whether an incomplete rule is so because a kernel was lost; the rule names the first kernel that
/// it lacks.
fn lost(device: &Device, rule: &RuleResult) -> bool {
    let named = |kernel: &str| {
        rule.behaviour.strip_prefix(kernel).is_some_and(|rest| rest.starts_with(": "))
    };
    device.observations.iter().any(|one| is_loss(one.outcome) && named(&one.kernel))
}

fn who(device: &Device) -> DeviceName {
    DeviceName { name: device.identity.name.clone(), key: device.identity.key.clone() }
}
