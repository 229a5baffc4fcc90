//! What the documents say that `diff` and `check` write: the part that is passed on.

use std::path::{Path, PathBuf};

use fpprobe_reports::limited;
use fpprobe_reports::render::class_in_words;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use fpprobe_reports::model::{Cause, ProfileResult, RESOLVED};

/// Bytes that a document may have.
const LIMIT: u64 = 1 << 30;

/// Of `fpprobe-diff/1`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct DiffDocument {
    /// The report before.
    #[serde(default)]
    old: Vec<DiffSource>,
    /// What was compared with it.
    #[serde(default)]
    new: Vec<DiffSource>,
    /// The devices; those of one report alone are not compared.
    pub devices: Vec<DeviceChanges>,
}

/// A report.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
struct DiffSource {
    file: String,
}

/// Of one device.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct DeviceChanges {
    /// What changed, in short sentences: traits, then causes that are new, worse or missing.
    #[serde(default)]
    pub headlines: Vec<String>,
    /// What is otherwise in its identity and its driver's.
    pub identity: Vec<Field>,
    /// Rules whose verdict changed.
    pub rules: Vec<DiffRule>,
    /// Kernels whose answers changed.
    pub kernels: Vec<DiffKernel>,
}

/// A field with two values.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Field {
    /// Its name.
    #[serde(rename = "field")]
    pub name: String,
    /// Before.
    pub old: Option<String>,
    /// Now.
    pub new: Option<String>,
}

/// A rule.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DiffRule {
    /// What the change means.
    pub kind: String,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    #[serde(rename = "rule")]
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it is now; none where there is no such rule any more.
    pub new: Option<DiffRuling>,
}

/// A verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DiffRuling {
    /// Its name.
    pub verdict: String,
    /// Lanes that are not accepted.
    pub failing: usize,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct DiffKernel {
    /// What the gravest change means.
    pub kind: String,
    /// Its id.
    #[serde(rename = "kernel")]
    pub id: String,
    /// Inputs that are answered otherwise, by what that means.
    #[serde(default)]
    pub groups: Vec<DiffGroup>,
    /// How it ended before; none where it was not run.
    #[serde(default)]
    pub old: Option<DiffOutcome>,
    /// How it ends now.
    #[serde(default)]
    pub new: Option<DiffOutcome>,
}

/// How a kernel ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct DiffOutcome {
    outcome: String,
}

impl DiffKernel {
    /// Whether all that changed are bits of NaNs of a kernel that does not answer twice the same: so it is after every run.
    fn flickers(&self) -> bool {
        let is_flaky = |ended: &Option<DiffOutcome>| ended.as_ref().is_some_and(|ended| ended.outcome == "flaky");
        self.kind == NAN_BITS && (is_flaky(&self.old) || is_flaky(&self.new))
    }
}

/// Inputs whose change means the same.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct DiffGroup {
    /// What it means.
    pub kind: String,
    /// How many there are.
    #[serde(rename = "lanes", deserialize_with = "length")]
    pub inputs: usize,
}

fn length<'de, D: Deserializer<'de>>(list: D) -> Result<usize, D::Error> {
    Ok(Vec::<IgnoredAny>::deserialize(list)?.len())
}

/// What a change means that is a regression.
const NEWLY_DEVIATING: &str = "newly_deviating";
/// The same of kernels, even where another way of asking meets the rule.
const WORSE: [&str; 2] = [NEWLY_DEVIATING, "newly_avoidable"];
/// What one means that is another: it was measured before, and could not be now.
const UNMEASURABLE: &str = "unmeasurable";
/// What the opposites mean: accepted again, or measurable again.
const NEWLY_CONFORMING: &str = "newly_conforming";
const BETTER: [&str; 2] = [NEWLY_CONFORMING, "avoided_before"];
const APPEARED: &str = "appeared";
/// Verdicts of rules that are met.
const MET: [&str; 2] = ["conforms", "permitted"];
/// Other bits of a NaN.
const NAN_BITS: &str = "nan_bits";

impl DiffDocument {
    /// Whether they are what this report changes.
    pub fn is_of(&self, report: &Path) -> bool {
        matches!(&self.new[..], [only] if *only.file == *report.display().to_string())
    }

    /// The files of the two reports; none where it is not of two.
    pub fn files(&self) -> Option<[PathBuf; 2]> {
        let ([old], [new]) = (&self.old[..], &self.new[..]) else { return None };
        Some([old, new].map(|source| PathBuf::from(&source.file)))
    }

    /// Rules that accept no more what the device does.
    pub fn regressions(&self) -> Vec<DiffRule> {
        self.rules(NEWLY_DEVIATING).cloned().collect()
    }

    /// Rules that accept again what the device does, or what could not be judged before.
    pub fn conforming(&self) -> impl Iterator<Item = &DiffRule> {
        let is_met = |rule: &&DiffRule| rule.new.as_ref().is_some_and(|ruling| MET.contains(&&*ruling.verdict));
        self.rules(NEWLY_CONFORMING).chain(self.rules(APPEARED).filter(is_met))
    }

    fn rules(&self, kind: &'static str) -> impl Iterator<Item = &DiffRule> {
        self.devices.iter().flat_map(|device| &device.rules).filter(move |rule| rule.kind == kind)
    }

    /// What is accepted no more: rules that are not met, and kernels that give further results that a rule does not accept,
    /// or none at all.
    pub fn regressed(&self) -> impl Iterator<Item = String> {
        self.named(NEWLY_DEVIATING, &WORSE, UNMEASURABLE)
    }

    /// What is accepted again, or answers again.
    pub fn fixed(&self) -> impl Iterator<Item = String> {
        self.named(NEWLY_CONFORMING, &BETTER, APPEARED)
    }

    /// Rules of the first of these kinds, by profile and id, and kernels of the others, by id; those of the last apart, since one that
    /// deviates may come to give no answer, too.
    fn named(
        &self,
        rules: &'static str,
        answers: &'static [&'static str],
        outcome: &'static str,
    ) -> impl Iterator<Item = String> {
        let rules = self.rules(rules).map(|rule| format!("{} {}", rule.profile, rule.id));
        let name = move |kernel: &DiffKernel| match &kernel.kind[..] {
            kind if answers.contains(&kind) => Some(kernel.id.clone()),
            kind if kind == outcome => Some(format!("{} answers", kernel.id)),
            _ => None,
        };
        rules.chain(self.devices.iter().flat_map(|device| &device.kernels).filter_map(name))
    }

    /// What is accepted no more, in words.
    pub fn worse(&self) -> String {
        let kernels = || self.devices.iter().flat_map(|device| &device.kernels);
        let inputs = |kernel: &DiffKernel| -> usize {
            let worse = kernel.groups.iter().filter(|group| WORSE.contains(&&*group.kind));
            worse.map(|group| group.inputs).sum()
        };
        let deviating: Vec<usize> = kernels().filter(|one| WORSE.contains(&&*one.kind)).map(inputs).collect();
        let silent = kernels().filter(|kernel| kernel.kind == UNMEASURABLE).count();
        let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let mut words = Vec::new();
        let rules = self.rules(NEWLY_DEVIATING).count();
        if rules > 0 {
            words.push(format!("{} newly deviating", counted(rules, "rule")));
        }
        if !deviating.is_empty() {
            let inputs = counted(deviating.iter().sum(), "input");
            words.push(format!("{inputs} of {} newly deviating", counted(deviating.len(), "kernel")));
        }
        if silent > 0 {
            words.push(format!("no answer any more from {}", counted(silent, "kernel")));
        }
        if words.is_empty() { "nothing newly deviating".to_owned() } else { words.join(", ") }
    }

    /// Numbers of rules and of kernels that changed, without kernels that flicker.
    pub fn counts(&self) -> (usize, usize) {
        let sum = |count: fn(&DeviceChanges) -> usize| self.devices.iter().map(count).sum();
        let steady = |device: &DeviceChanges| device.kernels.iter().filter(|kernel| !kernel.flickers()).count();
        (sum(|device| device.rules.len()), sum(steady))
    }

    /// What changed in who the device is, in words.
    pub fn identity(&self) -> Vec<String> {
        self.devices.iter().flat_map(|device| &device.identity).map(Field::in_words).collect()
    }

    /// Traits that changed, then causes that are new, worse or missing, in short sentences.
    pub fn headlines(&self) -> Vec<String> {
        self.devices.iter().flat_map(|device| &device.headlines).cloned().collect()
    }

    /// What changed since a report, in one sentence: the first headlines, then numbers.
    pub fn in_words(&self, before: &str) -> String {
        let (rules, kernels) = self.counts();
        let headlines = first(self.headlines(), "; ");
        let headlines = if headlines.is_empty() { headlines } else { headlines + "; " };
        format!("has changed since {before}: {headlines}{kernels} kernels, {rules} verdicts; {}", self.worse())
    }
}

/// Sentences of a list that stand in another sentence.
const FIRST: usize = 3;

/// The first of them, and how many more there are.
fn first(mut sentences: Vec<String>, between: &str) -> String {
    let more = sentences.len().saturating_sub(FIRST);
    sentences.truncate(FIRST);
    sentences.extend((more > 0).then(|| format!("{more} more")));
    sentences.join(between)
}

impl Field {
    fn in_words(&self) -> String {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "none".to_owned());
        format!("{}: {} -> {}", self.name, side(&self.old), side(&self.new))
    }
}

/// Of `fpprobe-check/1`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct CheckDocument {
    /// Whether the gate is open.
    pub passed: bool,
    /// What deviates and is not accepted.
    pub deviations: Vec<CheckDeviation>,
}

/// A deviation that is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CheckDeviation {
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// Why it is not accepted.
    pub why: String,
}

/// Of a report: what its devices are judged to be, and what went wrong on them.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct ReportSummary {
    devices: Vec<ReportedDevice>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
struct ReportedDevice {
    #[serde(default)]
    profiles: Vec<ProfileResult>,
    #[serde(default)]
    causes: Vec<Cause>,
    incomplete: Vec<ReportedIncident>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
struct ReportedIncident {
    subject: String,
    outcome: Option<String>,
    detail: String,
}

impl ReportSummary {
    /// The class of each profile: `d3d11 deviates: 5 causes at run time, 2 of constants alone`.
    pub fn classes(&self) -> Vec<String> {
        let of = |device: &ReportedDevice| -> Vec<String> {
            let class = |one: &ProfileResult| format!("{} {}", one.id, class_in_words(&device.causes, one));
            device.profiles.iter().map(class).collect()
        };
        self.devices.iter().flat_map(of).collect()
    }

    /// Headlines of the causes, the gravest first.
    pub fn causes(&self) -> Vec<String> {
        self.devices.iter().flat_map(|device| &device.causes).map(|cause| cause.headline.clone()).collect()
    }

    /// Whether a kernel, or the device, crashed, hung or was lost.
    pub fn is_incomplete(&self) -> bool {
        self.devices.iter().flat_map(|device| &device.incomplete).any(|incident| incident.outcome.is_some())
    }

    /// Why the device is better left alone: it hung, and not only once.
    pub fn hung(&self) -> Option<String> {
        let incidents = self.devices.iter().flat_map(|device| &device.incomplete);
        let mut hung = incidents
            .filter(|incident| incident.outcome.as_deref() == Some("hung") && !incident.detail.ends_with(RESOLVED));
        hung.next().map(|incident| format!("{}: {}", incident.subject, incident.detail))
    }
}

/// Reads a document.
pub fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = limited::bytes(path, LIMIT)?;
    serde_json::from_slice(&bytes).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_device_that_hung_once_and_not_when_it_was_run_again_is_not_left_alone() {
        let hung = |incidents: serde_json::Value| {
            let report: ReportSummary =
                serde_json::from_value(json!({ "devices": [{ "incomplete": incidents }] })).unwrap();
            report.hung()
        };
        let resolved = format!("no answer for 60 s, while measuring f32.fadd; {RESOLVED}");
        let once = json!({ "subject": "-", "outcome": "hung", "detail": resolved });
        assert_eq!(hung(json!([once])), None);
        let twice = json!({ "subject": "f32.fadd", "outcome": "hung", "detail": "twice, in a module of its own" });
        assert!(hung(json!([once, twice])).unwrap().starts_with("f32.fadd: "));
        assert_eq!(hung(json!([{ "subject": "-", "outcome": "crashed", "detail": "" }])), None);
    }

    #[test]
    fn what_is_worse_is_said_of_rules_and_of_inputs() {
        let changes = |kernels: serde_json::Value| -> DiffDocument {
            serde_json::from_value(json!({ "devices": [{ "identity": [], "rules": [], "kernels": kernels }] })).unwrap()
        };
        let group = |kind: &str, lanes: usize| json!({ "kind": kind, "judged": [], "lanes": vec![json!({}); lanes] });
        let groups = json!([group("newly_deviating", 3), group("permitted", 5)]);
        let kernel = json!({ "kernel": "f32.fadd", "kind": "newly_deviating", "groups": groups });
        let silent = json!({ "kernel": "f32.fsub", "kind": "unmeasurable", "groups": [] });
        assert_eq!(changes(json!([])).worse(), "nothing newly deviating");
        assert_eq!(
            changes(json!([kernel, silent])).worse(),
            "3 inputs of 1 kernel newly deviating, no answer any more from 1 kernel"
        );
    }

    #[test]
    fn traits_and_causes_come_before_numbers() {
        let changes = |headlines: &[&str]| -> String {
            let device = json!({ "headlines": headlines, "identity": [], "rules": [], "kernels": [] });
            serde_json::from_value::<DiffDocument>(json!({ "devices": [device] })).unwrap().in_words("0a1b")
        };
        let numbers = "0 kernels, 0 verdicts; nothing newly deviating";
        assert_eq!(changes(&[]), format!("has changed since 0a1b: {numbers}"));
        let some = ["now fuses f32 fma", "f64 fconvert_f16: a number becomes NaN: new", "c", "d", "e"];
        let text = "now fuses f32 fma; f64 fconvert_f16: a number becomes NaN: new; c; 2 more";
        assert_eq!(changes(&some), format!("has changed since 0a1b: {text}; {numbers}"));
    }

    #[test]
    fn bits_of_nans_that_change_from_run_to_run_are_no_change() {
        let count = |kind: &str, old: &str, new: &str| {
            let kernel =
                json!({ "kernel": "f32.fadd", "kind": kind, "old": { "outcome": old }, "new": { "outcome": new } });
            let device = json!({ "identity": [], "rules": [], "kernels": [kernel] });
            serde_json::from_value::<DiffDocument>(json!({ "devices": [device] })).unwrap().counts().1
        };
        assert_eq!([count("nan_bits", "ran", "flaky"), count("nan_bits", "flaky", "ran")], [0, 0]);
        assert_eq!([count("nan_bits", "ran", "ran"), count("permitted", "ran", "flaky")], [1, 1]);
    }

    #[test]
    fn rules_that_are_judged_again_and_met_are_fixed() {
        let rule = |verdict: &str| json!({ "kind": "appeared", "profile": "p", "rule": "R", "title": "", "new": { "verdict": verdict, "failing": 0 } });
        let mended = |verdict: &str| {
            let device = json!({ "identity": [], "rules": [rule(verdict)], "kernels": [] });
            serde_json::from_value::<DiffDocument>(json!({ "devices": [device] })).unwrap().conforming().count()
        };
        assert_eq!([mended("conforms"), mended("permitted"), mended("incomplete")], [1, 1, 0]);
    }

    #[test]
    fn kernels_that_can_be_measured_no_more_are_a_regression() {
        for (kind, expected) in
            [("unmeasurable", true), ("newly_deviating", true), ("newly_avoidable", true), ("permitted", false)]
        {
            let kernels =
                vec![DiffKernel { kind: kind.to_owned(), id: "f32.fadd".to_owned(), ..DiffKernel::default() }];
            let changes = DiffDocument {
                devices: vec![DeviceChanges { kernels, ..DeviceChanges::default() }],
                ..DiffDocument::default()
            };
            assert_eq!(changes.regressed().any(|id| id.starts_with("f32.fadd")), expected, "{kind}");
        }
    }
}
