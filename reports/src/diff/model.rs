//! The document that a comparison is: `fpprobe-diff/1`. Everything that changed, the most important first in each list.

use std::cmp::{Ordering, Reverse};

use fpprobe_profiles::{Class, Level, Outcome, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Conditions, Evidence, Incident, Program, Severity, Value};

/// The value of [`Diff::schema`] that this program writes.
pub const SCHEMA: &str = "fpprobe-diff/1";

/// What is otherwise in one report, or set of reports, than in another.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Diff {
    /// `fpprobe-diff/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that compared.
    pub program: Program,
    /// The reports before.
    pub old: Vec<ReportSource>,
    /// The reports after.
    pub new: Vec<ReportSource>,
    /// What changed, in numbers.
    pub summary: Summary,
    /// Drivers and devices that could not be measured, of which one side alone tells: why a device appeared or vanished.
    pub incomplete: Vec<IncidentChange>,
    /// Every device, in the order of the new reports, then those that are missing.
    pub devices: Vec<DeviceDiff>,
}

/// Something that went wrong in the old or in the new reports alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct IncidentChange {
    /// Where it is: never in both.
    pub presence: Presence,
    /// What it is.
    pub incident: Incident,
}

/// A finding of the old or of the new report alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct FindingChange {
    /// Where it is: never in both.
    pub presence: Presence,
    /// Its kind, as reports have it: `claim`, `flaky`, `route`, ...
    #[serde(rename = "kind")]
    pub finding: String,
    /// One sentence.
    pub text: String,
}

/// A report that was compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ReportSource {
    /// Its file.
    pub file: String,
    /// Version of the program that wrote it.
    pub program: String,
    /// Id of the machine that it is of.
    pub host: String,
    /// When its run started, RFC 3339, UTC.
    pub started: String,
    /// How it was measured; reports of earlier programs do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Conditions>,
}

/// Counts over all devices that are in both.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Summary {
    /// Whether nothing changed at all.
    pub empty: bool,
    /// Devices that were compared.
    pub compared: usize,
    /// Devices that are in the new reports alone.
    pub appeared: usize,
    /// Devices that are in the old reports alone.
    pub vanished: usize,
    /// Compared devices whose driver is another.
    pub updated: usize,
    /// Inputs whose result changed.
    pub lanes: usize,
    /// Kernels that have such inputs.
    pub kernels: usize,
    /// All changes by kind; kinds that do not occur are left out.
    pub kinds: Vec<Count>,
}

/// How much there is of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Count {
    /// The kind.
    pub kind: ChangeKind,
    /// Rules, once for each profile and device.
    pub rules: usize,
    /// Kernels of which this is the gravest change, or the only one: that they appeared, for example.
    pub kernels: usize,
    /// Inputs.
    pub lanes: usize,
    /// Claims.
    pub claims: usize,
}

/// What a change means, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// What a required rule accepts no more, or does not accept where it is judged for the first time.
    NewlyDeviating,
    /// What a required rule accepts no more, of a way of asking that it does not need: the new report has the rule as met.
    NewlyAvoidable,
    /// What every required rule accepts now, and some did not.
    NewlyConforming,
    /// What every required rule accepts now, of a way of asking that those which did not had no need of: the old report has
    /// them as met.
    AvoidedBefore,
    /// Not accepted before nor now, in another way.
    DeviatesOtherwise,
    /// Accepted before and now.
    Permitted,
    /// Of which no required rule says anything.
    Unjudged,
    /// A claim of the driver.
    Claim,
    /// In the new report alone, or measurable only now.
    Appeared,
    /// In the old report alone.
    Vanished,
    /// Measured and judged before, and now it was not: it could not be, or was not run.
    Unmeasurable,
    /// A NaN before and a NaN now, and to no rule does it matter which.
    NanBits,
}

/// One device.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct DeviceDiff {
    /// Its place, by which it is found in both.
    pub slot: String,
    /// Its name, in the new report where it is there.
    pub name: String,
    /// Its driver with its version, in the new report where it is there.
    pub driver: String,
    /// Id of the machine that it is in.
    pub host: String,
    /// Where it is.
    pub presence: Presence,
    /// What changed, in short sentences: traits, then causes that are new, worse or missing.
    pub headlines: Vec<String>,
    /// What is otherwise in its identity and its driver's.
    pub identity: Vec<FieldChange>,
    /// Traits that changed, by id and scope.
    pub traits: Vec<FieldChange>,
    /// Causes that are new, then those that are worse, better and missing.
    pub causes: Vec<CauseChange>,
    /// Classes that changed, profile by profile.
    pub profiles: Vec<ProfileChange>,
    /// Rules whose verdict changed, as the reports themselves have them.
    pub rules: Vec<RuleChange>,
    /// Claims that changed.
    pub claims: Vec<FieldChange>,
    /// Findings beside the rules that are new, then those that are missing.
    pub findings: Vec<FindingChange>,
    /// Kernels that crashed, hung or were left out, and what befell the device as a whole, on one side alone: new, then gone.
    pub incomplete: Vec<IncidentChange>,
    /// Kernels whose bits or outcome changed.
    pub kernels: Vec<KernelChange>,
}

/// In which reports something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// In both.
    Both,
    /// In the new ones alone.
    Appeared,
    /// In the old ones alone.
    Vanished,
}

/// One field with two values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct FieldChange {
    /// Its name in the report.
    pub field: String,
    /// What it was; `null` where the report has no such field.
    pub old: Option<String>,
    /// What it is.
    pub new: Option<String>,
}

/// A cause of one side alone, or one that is worse or better. Both reports measured what shows it.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CauseChange {
    /// Where it is.
    pub presence: Presence,
    /// Its id, as the new report has it where it is there.
    pub id: String,
    /// What it was; `null` where the old report does not have it.
    pub old: Option<CauseStatus>,
    /// What it is.
    pub new: Option<CauseStatus>,
    /// A lane of which the rules that it breaks say otherwise now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<KernelLane>,
}

/// A changed lane, and the kernel that it is of.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct KernelLane {
    /// Kernel id.
    pub kernel: String,
    /// The lane.
    #[serde(flatten)]
    pub lane: LaneChange,
}

/// A cause in short.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct CauseStatus {
    /// What the device does.
    pub headline: String,
    /// How grave it is.
    pub severity: Severity,
    /// Failing lanes, each once for each profile.
    pub lanes: usize,
    /// Encodings between the worst result and what is accepted there.
    pub distance: u64,
}

/// The class under one profile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ProfileChange {
    /// Profile id.
    pub profile: String,
    /// What it was; `null` where the device was not judged by this profile.
    pub old: Option<ClassStatus>,
    /// What it is.
    pub new: Option<ClassStatus>,
}

/// A class, and what it takes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ClassStatus {
    /// Version of the profile.
    pub version: String,
    /// The class.
    pub class: Class,
    /// The recipe with which it conforms.
    pub needs: Vec<String>,
    /// Optional groups that the device lacks.
    pub without: Vec<String>,
}

/// Verdict of one rule.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct RuleChange {
    /// What it means.
    pub kind: ChangeKind,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// Its title.
    pub title: String,
    /// Document, section, line.
    pub citation: String,
    /// How much it weighs.
    pub level: Level,
    /// What it was; `null` where the profile had no such rule.
    pub old: Option<Ruling>,
    /// What it is.
    pub new: Option<Ruling>,
    /// The new report's evidence; the old one's for a rule that is met now.
    pub evidence: Vec<Evidence>,
}

/// A verdict in short.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// `strict`, `text` or empty.
    pub label: String,
    /// What the device chose, on what the rule depends, or why it is incomplete.
    pub behaviour: String,
    /// Lanes that are not accepted.
    pub failing: usize,
}

/// One kernel.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct KernelChange {
    /// What the gravest of its changes means.
    pub kind: ChangeKind,
    /// Kernel id.
    pub kernel: String,
    /// How it ended; `null` where it was not run.
    pub old: Option<KernelOutcome>,
    /// How it ends now.
    pub new: Option<KernelOutcome>,
    /// Inputs that were asked and answered both times.
    pub lanes: usize,
    /// Those with another result.
    pub changed: usize,
    /// Inputs that were asked in one report alone.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(default)]
    pub apart: usize,
    /// The changed ones, by what they mean.
    pub groups: Vec<Group>,
    /// Of a kernel of which one report alone has answers: controls under which the other alone has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// How a kernel ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct KernelOutcome {
    /// The outcome.
    pub outcome: Outcome,
    /// What else there is to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    pub detail: String,
}

/// Inputs of a kernel of which the profiles say the same.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Group {
    /// What their change means.
    pub kind: ChangeKind,
    /// What each profile says of them; profiles that say nothing of them are left out.
    pub judged: Vec<LaneVerdict>,
    /// The inputs.
    pub lanes: Vec<LaneChange>,
}

/// What the required rules of one profile say of an input, before and now. Both are judged by the present profiles.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
pub struct LaneVerdict {
    /// Profile id.
    pub profile: String,
    /// Whether the old result is accepted.
    pub old: bool,
    /// Whether the new one is.
    pub new: bool,
    /// The rules that do not accept the one or the other.
    pub rules: Vec<String>,
}

/// One input with its two results.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct LaneChange {
    /// Operands.
    #[serde(rename = "in")]
    pub inputs: Vec<Value>,
    /// The result before.
    pub old: Value,
    /// The result now.
    pub new: Value,
    /// What the second run gave before, where that was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_second: Option<Value>,
    /// What the second run gives now, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_second: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Diff {
    /// Whether several reports were compared with others, which may be of several machines.
    pub fn is_of_several(&self) -> bool {
        self.old.len() > 1 || self.new.len() > 1
    }
}

impl CauseChange {
    /// Whether it was there before and is graver now, by severity, lanes and distance.
    pub fn is_worse(&self) -> bool {
        self.order().is_some_and(Ordering::is_gt)
    }

    /// Whether it is there still and less grave.
    pub fn is_better(&self) -> bool {
        self.order().is_some_and(Ordering::is_lt)
    }

    fn order(&self) -> Option<Ordering> {
        let weight = |one: &CauseStatus| (Reverse(one.severity), one.lanes, one.distance);
        Some(weight(self.new.as_ref()?).cmp(&weight(self.old.as_ref()?)))
    }
}

impl ProfileChange {
    /// The class before and now; where it is the same, what is otherwise.
    pub fn in_words(&self) -> String {
        let (Some(old), Some(new)) = (&self.old, &self.new) else {
            let side = |standing: &Option<ClassStatus>| {
                standing.as_ref().map_or("not judged".to_owned(), ClassStatus::in_words)
            };
            return format!("{} → {}", side(&self.old), side(&self.new));
        };
        let named = |class: &ClassStatus| ClassStatus { without: Vec::new(), ..class.clone() }.in_words();
        let (before, now) = (named(old), named(new));
        let mut words = vec![if before == now { now } else { format!("{before} → {now}") }];
        let apart = |what: &str, one: &[String], other: &[String]| {
            let apart: Vec<&str> = one.iter().filter(|name| !other.contains(name)).map(String::as_str).collect();
            (!apart.is_empty()).then(|| format!("{what} {}", apart.join(", ")))
        };
        words.extend(apart("now without", &new.without, &old.without));
        words.extend(apart("no longer without", &old.without, &new.without));
        words.extend((old.version != new.version).then(|| format!("by version {} → {}", old.version, new.version)));
        words.join("; ")
    }
}

impl ClassStatus {
    /// `conforms with szin32, without f64`.
    pub fn in_words(&self) -> String {
        let needs = if self.needs.is_empty() { String::new() } else { format!(" {}", self.needs.join(", ")) };
        let lacks =
            if self.without.is_empty() { String::new() } else { format!(", without {}", self.without.join(", ")) };
        format!("{}{needs}{lacks}", self.class.name())
    }
}

impl ChangeKind {
    /// Every kind, the most important first.
    pub const ALL: [ChangeKind; 12] = [
        ChangeKind::NewlyDeviating,
        ChangeKind::NewlyAvoidable,
        ChangeKind::NewlyConforming,
        ChangeKind::AvoidedBefore,
        ChangeKind::DeviatesOtherwise,
        ChangeKind::Permitted,
        ChangeKind::Unjudged,
        ChangeKind::Claim,
        ChangeKind::Appeared,
        ChangeKind::Vanished,
        ChangeKind::Unmeasurable,
        ChangeKind::NanBits,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::NewlyDeviating => "newly deviating",
            ChangeKind::NewlyAvoidable => "newly deviating, another way meets the rule",
            ChangeKind::NewlyConforming => "newly conforming",
            ChangeKind::AvoidedBefore => "newly conforming, another way met the rule",
            ChangeKind::DeviatesOtherwise => "deviating otherwise",
            ChangeKind::Permitted => "changed but permitted",
            ChangeKind::Unjudged => "changed, no required rule says anything",
            ChangeKind::Claim => "claims changed",
            ChangeKind::Appeared => "appeared",
            ChangeKind::Vanished => "vanished",
            ChangeKind::Unmeasurable => "no longer measured",
            ChangeKind::NanBits => "other bits of a NaN",
        }
    }
}
