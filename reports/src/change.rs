//! The one notion of change: a row for each trait, cause, rule, kernel and the like that a
//! comparison, a check or a notice reports.

mod html;
mod md;
mod sections;
mod text;

use std::cmp::Reverse;

use fpprobe_profiles::{Outcome, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::html::{chip, html};
pub(crate) use self::md::{SHOWN, fold, line};
pub(crate) use self::sections::{ChangeSection, gave};
pub(crate) use self::text::{ink, text};
use crate::model::{Evidence, Severity, Value};
use crate::render::phrase;

/// What a change means, the most important first.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A required rule accepts it no more, or does not accept it where it is judged for the first
    /// time; a cause that is new or graver; what a baseline does not accept.
    Regressed,
    /// Every required rule accepts it now, and some did not; a cause that is missing or less grave.
    Fixed,
    /// Neither of the two: accepted before and now, or not before nor now, or no required rule
    /// applies.
    Changed,
    /// Coverage: in the new report alone, or measurable only now.
    Appeared,
    /// Coverage: in the old report alone, or measurable no more.
    Disappeared,
    /// A NaN before and a NaN now, and to no rule does it matter which.
    NanBits,
}

/// What changed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A field of the identity of a device or of its driver.
    Identity,
    /// The class under a profile.
    Class,
    /// A device.
    Device,
    /// Something that crashed, hung or was lost.
    Incident,
    /// A trait.
    Trait,
    /// A cause.
    Cause,
    /// A rule.
    Rule,
    /// A claim of the driver.
    Claim,
    /// Results of a kernel, or how it ended.
    Kernel,
    /// A finding beside the rules.
    Finding,
}

/// One change. Members that have nothing to say are left out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What it means.
    pub kind: ChangeKind,
    /// Whether it is of constants, which the compiler folds, and not of run time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constants_only: bool,
    /// Whether the rules are met all the same, now or of what is fixed before: by another variant
    /// of the kernel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub avoidable: bool,
    /// What changed.
    pub subject: Subject,
    /// Id of the trait, cause, rule, profile or kernel, name of the field or claim, kind of the
    /// finding, subject of the incident.
    pub id: String,
    /// The device, where the list holds changes of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceName>,
    /// Headline of the cause, title of the rule, sentence of the finding.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Why it is reported, where kind and values do not say so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What it was; absent where there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Profiles of the rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// Document, section, line of the rule.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// The rule's verdict now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Lanes that the rule does not accept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Results of the kernel that changed alike; of a cause the first of its simplest kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<ChangedLanes>,
}

/// A device in short.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeviceName {
    /// Its name, or what a baseline calls it.
    pub name: String,
    /// Its key; empty of a device that the report does not hold.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// Changed lanes of a kernel of which the profiles say the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChangedLanes {
    /// Kernel id.
    pub kernel: String,
    /// Inputs with results on both sides.
    pub compared: usize,
    /// Inputs that one side alone ran.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub apart: usize,
    /// What each profile says of them; profiles that say nothing of them are left out.
    pub judged: Vec<LaneVerdict>,
    /// The lanes.
    pub changed: Vec<LaneChange>,
}

/// What the required rules of one profile say of an input, before and now. Both are judged by the
/// present profiles.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LaneChange {
    /// Operands.
    #[serde(rename = "in")]
    pub inputs: Vec<Value>,
    /// The result before; absent of a sweep whose digests alone are known.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "before")]
    pub old: Option<Value>,
    /// The result now.
    #[serde(alias = "after")]
    pub new: Value,
    /// What the second run gave before, where that was something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_second: Option<Value>,
    /// What the second run gives now, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_second: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ChangeKind {
    /// Every kind, the most important first.
    pub const ALL: [ChangeKind; 6] = [
        ChangeKind::Regressed,
        ChangeKind::Fixed,
        ChangeKind::Changed,
        ChangeKind::Appeared,
        ChangeKind::Disappeared,
        ChangeKind::NanBits,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        ["regressed", "fixed", "changed", "appeared", "disappeared", "NaN bits"][self as usize]
    }
}

impl Change {
    /// One that has nothing more to say.
    pub fn new(kind: ChangeKind, subject: Subject, id: impl Into<String>) -> Change {
        Change {
            kind,
            constants_only: false,
            avoidable: false,
            subject,
            id: id.into(),
            device: None,
            text: String::new(),
            note: String::new(),
            old: None,
            new: None,
            profiles: Vec::new(),
            citation: String::new(),
            verdict: None,
            evidence: Vec::new(),
            lanes: None,
        }
    }

    /// A value that is another now; `None` where it is the same.
    pub fn of_value(
        subject: Subject,
        id: impl Into<String>,
        [old, new]: [Option<String>; 2],
    ) -> Option<Change> {
        (old != new).then(|| Change { old, new, ..Change::new(ChangeKind::Changed, subject, id) })
    }

    /// Its lanes that changed.
    pub fn changed(&self) -> &[LaneChange] {
        self.lanes.as_ref().map_or(&[], |lanes| &lanes.changed)
    }

    /// Whether a required rule accepts it neither before nor now.
    pub fn is_deviating(&self) -> bool {
        let judged = || self.lanes.iter().flat_map(|lanes| &lanes.judged);
        let fails = matches!(self.verdict, Some(Verdict::Deviates | Verdict::Depends));
        self.kind == ChangeKind::Changed && (fails || judged().any(|said| !said.old && !said.new))
    }

    /// Whether a kernel ran on both sides, and has results of the old one alone.
    pub fn is_unmeasurable(&self) -> bool {
        (self.kind, self.subject) == (ChangeKind::Disappeared, Subject::Kernel)
            && self.new.is_some()
    }

    /// The word for a cause in capitals.
    pub fn tag(&self) -> &'static str {
        match (self.kind, &self.old, &self.new) {
            (ChangeKind::Regressed, None, _) => "NEW",
            (ChangeKind::Regressed, ..) => "WORSE",
            (ChangeKind::Disappeared, ..) => "NOT MEASURED",
            (_, _, None) => "FIXED",
            _ => "BETTER",
        }
    }

    /// What was and what is.
    pub fn values(&self) -> String {
        let none = match self.subject {
            Subject::Kernel => "not run",
            Subject::Class => "not judged",
            Subject::Rule => "not there",
            Subject::Device => "missing",
            _ => "none",
        };
        let side = |side: &Option<String>| {
            side.as_deref().filter(|text| !text.is_empty()).unwrap_or(none).to_owned()
        };
        format!("{} \u{2192} {}", side(&self.old), side(&self.new))
    }

    /// Whether it is of a kernel's results, or of how it ended.
    pub(crate) fn is_of_kernel(&self) -> bool {
        let is_ended = self.device.is_some() && self.profiles.is_empty();
        self.subject == Subject::Kernel || self.subject == Subject::Incident && is_ended
    }

    /// Whether all that changed are bits of NaNs of a kernel that does not give the same twice: so
    /// it is after every run.
    pub fn is_unsteady(&self) -> bool {
        let flaky = Some(phrase::outcome(Outcome::Flaky));
        self.kind == ChangeKind::NanBits
            && [&self.old, &self.new].iter().any(|side| side.as_deref() == flaky)
    }

    /// ` on DEVICE`, where the list holds changes of several.
    fn on(&self) -> String {
        self.device.as_ref().map_or(String::new(), |device| format!(" on {}", device.name))
    }

    /// On one line: `f64 fconvert_f16: a number becomes NaN: new`, `...: worse (40 lanes, was 12)`,
    /// `f32.fma: split → fused`.
    pub fn in_words(&self) -> String {
        let Change { id, text, note, old, new, profiles, .. } = self;
        let of = if self.constants_only && self.subject == Subject::Trait {
            " of constants"
        } else {
            ""
        };
        let presence = if self.kind == ChangeKind::Appeared { "new" } else { "missing" };
        let head = match self.subject {
            Subject::Cause => {
                let (tag, on) = (self.tag().to_lowercase(), self.on());
                return match (old, new) {
                    (Some(old), Some(new)) => format!("{text}{on}: {tag} ({new}, was {old})"),
                    _ => format!("{text}{on}: {tag}"),
                };
            }
            Subject::Finding => return format!("{presence}: {text}"),
            Subject::Incident if self.device.is_none() => return format!("{presence}: {text}"),
            _ if !profiles.is_empty() && self.subject != Subject::Kernel => {
                let title = if text.is_empty() { String::new() } else { format!(": {text}") };
                format!("{id} in {}{}{title}", profiles.join(", "), self.on())
            }
            _ => format!("{id}{of}{}", self.on()),
        };
        let has_values = old.is_some() || new.is_some() && note.is_empty();
        if has_values { format!("{head}: {}", self.values()) } else { head }
    }

    /// A trait's change as a sentence: `now fuses f32 fma at run time`.
    fn sentence(&self, place: &str) -> String {
        let subject = self.id.replace(['.', '_'], " ").replace(" nan", " NaN") + place;
        match self.new.as_deref().unwrap_or("unknown") {
            "fused" => format!("now fuses {subject}"),
            "split" => format!("no longer fuses {subject}"),
            "kept" => format!("now keeps {subject}"),
            "flushed" => format!("now flushes {subject}"),
            now => {
                format!("{subject} is {now} now, was {}", self.old.as_deref().unwrap_or("unknown"))
            }
        }
    }
}

/// What changed of a device in short sentences: traits, then causes that are new, worse or missing.
pub fn headlines(changes: &[Change]) -> Vec<String> {
    let traits: Vec<&Change> = changes.iter().filter(|one| one.subject == Subject::Trait).collect();
    // The scopes of a trait stand side by side: one sentence where they agree.
    let is_same = |one: &&Change, other: &&Change| {
        (&one.id, &one.old, &one.new) == (&other.id, &other.old, &other.new)
    };
    let sentences = traits.chunk_by(is_same).map(|alike| match alike {
        [one] if one.constants_only => one.sentence(" in constants"),
        [one] => one.sentence(" at run time"),
        alike => alike[0].sentence(""),
    });
    let causes =
        changes.iter().filter(|one| one.subject == Subject::Cause && one.tag() != "BETTER");
    sentences.chain(causes.map(Change::in_words)).collect()
}

/// How grave a cause is: severity, lanes, and encodings between the worst result and what is
/// accepted there.
pub(crate) type Gravity = (Severity, usize, u64);

/// A cause before and now; `None` where it is as grave as before.
pub(crate) fn of_cause(
    id: &str,
    text: &str,
    old: Option<Gravity>,
    new: Option<Gravity>,
) -> Option<Change> {
    let weight = |(severity, lanes, distance): Gravity| (Reverse(severity), lanes, distance);
    let lanes = |(severity, lanes, _): Gravity| {
        format!("{}, {}", severity.name(), phrase::number(lanes, "lane"))
    };
    let is_worse = match (old, new) {
        (Some(old), Some(new)) if old == new => return None,
        (old, new) => old.map(weight) < new.map(weight),
    };
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) if old.0 != new.0 => {
            (Some(old.0.name().to_owned()), Some(new.0.name().to_owned()))
        }
        (Some(old), Some(new)) if old.1 != new.1 => {
            (Some(phrase::grouped(old.1)), Some(phrase::number(new.1, "lane")))
        }
        (Some(old), Some(new)) => (Some(old.2.to_string()), Some(format!("off by {}", new.2))),
        (old, new) => (old.map(lanes), new.map(lanes)),
    };
    let kind = if is_worse { ChangeKind::Regressed } else { ChangeKind::Fixed };
    Some(Change { text: text.to_owned(), old, new, ..Change::new(kind, Subject::Cause, id) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADLINE: &str = "f64 fconvert_f16: a number becomes NaN";

    fn cause(old: Option<Gravity>, new: Option<Gravity>) -> Change {
        of_cause("abcdef", HEADLINE, old, new).unwrap()
    }

    #[test]
    fn traits_come_first_and_scopes_that_agree_are_one_sentence() {
        let field = |id: &str, constants_only: bool, old: &str, new: &str| {
            let sides = [old, new].map(|side| Some(side.to_owned()));
            Change { constants_only, ..Change::of_value(Subject::Trait, id, sides).unwrap() }
        };
        let changes = [
            field("f32.fma", false, "split", "fused"),
            field("f32.fma", true, "split", "fused"),
            field("f32.fmin_of_nan", false, "number", "nan"),
            field("f16.subnormal_results", true, "kept", "flushed"),
            cause(None, Some((Severity::Special, 3, 0))),
        ];
        let expected = [
            "now fuses f32 fma",
            "f32 fmin of NaN at run time is nan now, was number",
            "now flushes f16 subnormal results in constants",
            "f64 fconvert_f16: a number becomes NaN: new",
        ];
        assert_eq!(headlines(&changes), expected);
    }

    #[test]
    fn causes_are_new_worse_better_or_missing() {
        use Severity::{LastBit, Special};
        let last =
            |old, new| cause(Some(old), new).in_words().replace(&format!("{HEADLINE}: "), "");
        assert_eq!(last((Special, 3, 0), None), "fixed");
        assert_eq!(
            last((Special, 1012, 0), Some((Special, 2040, 0))),
            "worse (2,040 lanes, was 1,012)"
        );
        assert_eq!(last((Special, 9, 0), Some((LastBit, 30, 0))), "better (last bit, was special)");
        assert_eq!(last((Special, 9, 3), Some((Special, 9, 300))), "worse (off by 300, was 3)");
        assert_eq!(of_cause("", "", Some((Special, 9, 3)), Some((Special, 9, 3))), None);
        let better = cause(Some((Special, 9, 0)), Some((Special, 8, 0)));
        assert!(
            better.tag() == "BETTER" && headlines(&[better]).is_empty(),
            "a notice is of what is worse"
        );
    }
}
