//! The gate: a report against a baseline. What deviates and is not accepted is new; what is
//! accepted and does not deviate any more, or was not measured, is reported, too. An empty report
//! never passes.

mod coverage;
mod render;

use fpprobe_profiles::{Outcome, Profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::coverage::CoverageCheck;
pub use self::render::{CHECKS, CheckFormat, RenderCheck};
use crate::baseline::{
    AcceptedRows, Baseline, Date, FailingDevice, FailingProfile, FailingRule, MeasuredCoverage,
    Objection, TaintedDevice, standing,
};
use crate::change::{Change, ChangeKind, DeviceName, Subject};
use crate::evidence::{self, of_lane};
use crate::failed::{self, CaseList};
use crate::model::{Device, Evidence, Incident, Program, Report};
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
    /// What is otherwise than accepted: rules that `regressed`; rules that `appeared`, since they
    /// deviate only in kernels that the baseline's report did not measure; causes that are accepted
    /// and `fixed`, or that fewer lanes show; accepted causes that `disappeared`, since the report
    /// did not measure what showed them; kernels that `disappeared`, since they ran for the
    /// baseline and do not run now; incidents: what was lost, and kernels that the device claims to
    /// support and that do not run; kernels that `changed`, since they fail a rule on random
    /// operands alone, of which a baseline holds none; and devices of the baseline that
    /// `disappeared`.
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
    /// Something deviates that is not accepted, or was not measured before, a device is missing, a
    /// kernel does not run that ran before, or, strictly, something is not as it was accepted.
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
    /// Headline of the first cause of it that is accepted.
    #[serde(default)]
    pub cause: String,
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
        FailingDevice::of(device, report).map_err(|cause| CheckError::Unreadable {
            device: device.identity.name.clone(),
            cause: Box::new(cause),
        })
    });
    let devices = read.collect::<Result<Vec<_>, _>>()?;
    let (mut changes, mut accepted) = (Vec::new(), Vec::new());
    for (device, of) in
        devices.iter().flat_map(|device| device.profiles.iter().map(move |of| (device, of)))
    {
        let (identity, profile) = (&device.device.identity, &of.profile.id);
        let rows = AcceptedRows::of(&baseline.accepted, identity, profile, terms.today);
        for failing in &of.rules {
            changes.extend(random_lanes(device.device, profile, failing));
            if failing.is_random() {
                continue;
            }
            let rule = failing.rule;
            match rows.accepts(failing, of, &device.results) {
                Ok(acceptance) => accepted.push(AcceptedDeviation {
                    device: who(device.device),
                    profile: profile.clone(),
                    rule: rule.id.clone(),
                    title: rule.title.clone(),
                    cause: acceptance.headline.clone(),
                    reason: acceptance.reason.clone(),
                    link: acceptance.link.clone(),
                }),
                Err(objection) if is_unmeasured(failing, of, device, (&rows, baseline)) => {
                    changes.push(Change {
                        device: Some(who(device.device)),
                        text: rule.title.clone(),
                        note: "the baseline's report did not measure these kernels, or not on these inputs"
                            .to_owned(),
                        new: Some(phrase::lanes(rule)),
                        profiles: vec![profile.clone()],
                        citation: rule.citation.clone(),
                        verdict: Some(rule.verdict),
                        evidence: shown(device, of, failing, (profiles, &objection)),
                        ..Change::new(ChangeKind::Appeared, Subject::Rule, &rule.id)
                    });
                }
                Err(objection) => changes.push(Change {
                    device: Some(who(device.device)),
                    text: rule.title.clone(),
                    note: objection.why.clone(),
                    new: Some(phrase::lanes(rule)),
                    profiles: vec![profile.clone()],
                    citation: rule.citation.clone(),
                    verdict: Some(rule.verdict),
                    evidence: shown(device, of, failing, (profiles, &objection)),
                    ..Change::new(ChangeKind::Regressed, Subject::Rule, &rule.id)
                }),
            }
        }
    }
    changes.extend(baseline.accepted.iter().filter_map(|one| standing(one, &devices)));
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

/// Whether a deviation that is not accepted is of kernels or inputs alone of which the baseline's
/// report has no result: by itself that is no regression, but coverage.
fn is_unmeasured(
    failing: &FailingRule<'_>,
    of: &FailingProfile<'_>,
    device: &FailingDevice<'_>,
    (rows, baseline): (&AcceptedRows<'_>, &Baseline),
) -> bool {
    let identity = &device.device.identity;
    let known = baseline.measured.iter().filter(|one| one.applies(identity));
    let measured: Vec<&MeasuredCoverage> = known.collect();
    if measured.is_empty() || !failing.is_known {
        return false;
    }
    let is_new = |kernel: &str| !measured.iter().any(|one| one.kernels.contains(kernel));
    let is_short = |kernel: &str| {
        !measured.iter().any(|one| one.kernels.contains(kernel) && !one.short.contains(kernel))
    };
    let is_accepted = |kernel: &str, lanes: &[String]| {
        let list = device.results.list(kernel).unwrap_or(CaseList::Whole);
        let known = (list == CaseList::Whole && is_short(kernel))
            .then(|| failed::on_short_list(kernel, lanes))
            .flatten();
        match known {
            Some(known) => rows.unaccepted(kernel, &known, of, CaseList::Short).is_empty(),
            None => rows.unaccepted(kernel, lanes, of, list).is_empty(),
        }
    };
    failing.listed.iter().all(|(kernel, lanes)| is_new(kernel) || is_accepted(kernel, lanes))
}

/// The lanes that show a deviation, that which is objected to first.
fn shown(
    device: &FailingDevice<'_>,
    of: &FailingProfile<'_>,
    failing: &FailingRule<'_>,
    (profiles, objection): (&[Profile], &Objection),
) -> Vec<Evidence> {
    let mut evidence = failing.rule.evidence.clone();
    let lane = objection.lane.as_ref();
    if let Some((observation, case, part)) =
        lane.and_then(|(kernel, lane)| device.results.find(kernel, lane))
    {
        let rule = (of.profile.id.as_str(), failing.rule.id.as_str());
        evidence::put_first(&mut evidence, of_lane(profiles, rule, observation, (case, part)));
    }
    evidence
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

    /// Rules that deviate only where the baseline's report measured nothing.
    pub fn appeared(&self) -> impl Iterator<Item = &Change> {
        self.of(ChangeKind::Appeared, Subject::Rule)
    }

    /// Whether something regressed or deviates where nothing was measured before, a device is
    /// missing, or a kernel does not run any more.
    fn is_worse(&self) -> bool {
        let lost = [Subject::Kernel, Subject::Device]
            .map(|subject| self.of(ChangeKind::Disappeared, subject).next());
        let mut new = self.regressed().chain(self.appeared());
        new.next().is_some() || lost.iter().any(Option::is_some)
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

/// Kernels that fail a rule on random operands, and on none of their lists: they close the gate
/// strictly only, since nothing says that it is new.
fn random_lanes(device: &Device, profile: &str, failing: &FailingRule<'_>) -> Vec<Change> {
    let id = &failing.rule.id;
    let alone = failing.random.iter().filter(|(kernel, _)| !failing.listed.contains_key(*kernel));
    let failure = |(kernel, lanes): (&String, &Vec<String>)| Change {
        device: Some(who(device)),
        text: id.clone(),
        note: format!(
            "fails {id} in {profile} on {} of random operands, the first {}",
            phrase::number(lanes.len(), "lane"),
            lanes.first().map_or("", String::as_str)
        ),
        profiles: vec![profile.to_owned()],
        ..Change::new(ChangeKind::Changed, Subject::Kernel, kernel)
    };
    alone.map(failure).collect()
}

fn who(device: &Device) -> DeviceName {
    DeviceName { name: device.identity.name.clone(), key: device.identity.key.clone() }
}
