//! What the daemon makes of the documents that `run`, `diff` and `check` write.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fpprobe_reports::change::{Change, ChangeKind, Subject};
use fpprobe_reports::diff::{Diff, ReportSource};
use fpprobe_reports::limited;
use fpprobe_reports::model::{Cause, Incident, Outcome, ProfileResult, RESOLVED, Verdict};
use fpprobe_reports::render::class_in_words;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Bytes that a document may have.
const LIMIT: u64 = 1 << 30;

/// What changed since the report before.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoundChanges {
    /// Every change of every device.
    pub all: Vec<Change>,
    /// Traits that changed, then causes that are new, worse or missing, in short sentences.
    pub headlines: Vec<String>,
}

/// Of a comparison of any version.
#[derive(Deserialize)]
struct Sources {
    old: Vec<ReportSource>,
    new: Vec<ReportSource>,
}

/// The files of the two reports of a comparison; none where it is not of two.
pub fn files(text: &[u8]) -> Option<[PathBuf; 2]> {
    let Sources { old, new } = serde_json::from_slice(text).ok()?;
    let ([old], [new]) = (&old[..], &new[..]) else { return None };
    Some([old, new].map(|source| PathBuf::from(&source.file)))
}

impl From<Diff> for RoundChanges {
    fn from(diff: Diff) -> RoundChanges {
        let mut changes = RoundChanges::default();
        for device in diff.devices {
            changes.headlines.extend(device.headlines);
            changes.all.extend(device.changes);
        }
        changes
    }
}

impl RoundChanges {
    fn of(&self, kind: ChangeKind, subject: Subject) -> impl Iterator<Item = &Change> {
        self.all.iter().filter(move |change| (change.kind, change.subject) == (kind, subject))
    }

    /// Rules that accept no more what the device does.
    pub fn regressions(&self) -> impl Iterator<Item = &Change> {
        self.of(ChangeKind::Regressed, Subject::Rule)
    }

    /// Rules that accept again what the device does, or what could not be judged before.
    pub fn conforming(&self) -> impl Iterator<Item = &Change> {
        let is_met = |rule: &&Change| rule.verdict.is_some_and(Verdict::is_met);
        self.of(ChangeKind::Fixed, Subject::Rule)
            .chain(self.of(ChangeKind::Appeared, Subject::Rule).filter(is_met))
    }

    /// What is accepted no more: rules that are not met, and kernels that give further results that
    /// a rule does not accept, or none at all.
    pub fn regressed(&self) -> impl Iterator<Item = String> {
        self.named(ChangeKind::Regressed, Change::is_unmeasurable)
    }

    /// What is accepted again, or has results again.
    pub fn fixed(&self) -> impl Iterator<Item = String> {
        self.named(ChangeKind::Fixed, |kernel| kernel.kind == ChangeKind::Appeared)
    }

    /// Rules of this kind, by profile and id, and kernels, by id; those whose outcome is otherwise
    /// apart, since one that deviates may come to have no result, too.
    fn named(
        &self,
        kind: ChangeKind,
        outcome: fn(&Change) -> bool,
    ) -> impl Iterator<Item = String> {
        let name = move |kernel: &Change| match kernel.kind {
            of if of == kind => Some(kernel.id.clone()),
            _ if outcome(kernel) => Some(format!("{} answers", kernel.id)),
            _ => None,
        };
        let kernels = self.all.iter().filter(|change| change.subject == Subject::Kernel);
        self.of(kind, Subject::Rule)
            .flat_map(rules)
            .map(|(profile, id)| format!("{profile} {id}"))
            .chain(kernels.filter_map(name))
    }

    /// What is accepted no more, in words.
    pub fn worse(&self) -> String {
        let counted =
            |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let kernels = || self.of(ChangeKind::Regressed, Subject::Kernel);
        let (rules, deviating) = (self.regressions().flat_map(rules).count(), distinct(kernels()));
        let silent = self.all.iter().filter(|change| change.is_unmeasurable()).count();
        let mut words = Vec::new();
        words.extend((rules > 0).then(|| format!("{} regressed", counted(rules, "rule"))));
        if deviating > 0 {
            let inputs = counted(kernels().map(|kernel| kernel.changed().len()).sum(), "input");
            words.push(format!("{inputs} of {} regressed", counted(deviating, "kernel")));
        }
        words.extend(
            (silent > 0).then(|| format!("no result any more from {}", counted(silent, "kernel"))),
        );
        if words.is_empty() { "nothing regressed".to_owned() } else { words.join(", ") }
    }

    /// Numbers of rules and of kernels that changed, without kernels whose bits of NaNs never are
    /// the same.
    pub fn counts(&self) -> (usize, usize) {
        let rules =
            self.all.iter().filter(|change| change.subject == Subject::Rule).flat_map(rules);
        let steady = |change: &&Change| change.subject == Subject::Kernel && !change.is_unsteady();
        (rules.count(), distinct(self.all.iter().filter(steady)))
    }

    /// What changed in who the device is, in words.
    pub fn identity(&self) -> Vec<String> {
        self.all
            .iter()
            .filter(|change| change.subject == Subject::Identity)
            .map(Change::in_words)
            .collect()
    }

    /// What changed since a report, in one sentence: the first headlines, then numbers.
    pub fn in_words(&self, before: &str) -> String {
        let (rules, kernels) = self.counts();
        let headlines = first(self.headlines.clone(), "; ");
        let headlines = if headlines.is_empty() { headlines } else { headlines + "; " };
        format!(
            "has changed since {before}: {headlines}{kernels} kernels, {rules} verdicts; {}",
            self.worse()
        )
    }
}

/// Profile and rule of a rule's change, for each of its profiles.
pub fn rules(change: &Change) -> impl Iterator<Item = (String, String)> {
    change.profiles.iter().map(|profile| (profile.clone(), change.id.clone()))
}

/// Kernels, each once.
fn distinct<'a>(changes: impl Iterator<Item = &'a Change>) -> usize {
    changes.map(|change| &change.id).collect::<BTreeSet<_>>().len()
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
    incomplete: Vec<Incident>,
}

impl ReportSummary {
    /// The class of each profile: `d3d11 deviates: 5 causes at run time, 2 of constants alone`.
    pub fn classes(&self) -> Vec<String> {
        let of = |device: &ReportedDevice| -> Vec<String> {
            let class =
                |one: &ProfileResult| format!("{} {}", one.id, class_in_words(&device.causes, one));
            device.profiles.iter().map(class).collect()
        };
        self.devices.iter().flat_map(of).collect()
    }

    /// Headlines of the causes, the gravest first.
    pub fn causes(&self) -> Vec<String> {
        self.devices
            .iter()
            .flat_map(|device| &device.causes)
            .map(|cause| cause.headline.clone())
            .collect()
    }

    /// Whether a kernel, or the device, crashed, hung or was lost.
    pub fn is_incomplete(&self) -> bool {
        self.devices
            .iter()
            .flat_map(|device| &device.incomplete)
            .any(|incident| incident.outcome.is_some())
    }

    /// Why the device is better left alone: it hung, and not only once.
    pub fn hung(&self) -> Option<String> {
        let incidents = self.devices.iter().flat_map(|device| &device.incomplete);
        let mut hung = incidents.filter(|incident| {
            incident.outcome == Some(Outcome::Hung) && !incident.detail.ends_with(RESOLVED)
        });
        hung.next().map(|incident| format!("{}: {}", incident.subject, incident.detail))
    }
}

/// Reads a document.
pub fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = limited::bytes(path, LIMIT)?;
    serde_json::from_slice(&bytes).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}

#[cfg(test)]
pub mod tests {
    use fpprobe_reports::change::{ChangedLanes, LaneChange};
    use fpprobe_reports::model::Value;
    use serde_json::json;

    use super::*;

    /// Nothing but these.
    pub fn changes(all: &[Change]) -> RoundChanges {
        RoundChanges { all: all.to_vec(), headlines: Vec::new() }
    }

    /// A rule of profile `p`.
    pub fn rule(kind: ChangeKind, id: &str) -> Change {
        Change { profiles: vec!["p".to_owned()], ..Change::new(kind, Subject::Rule, id) }
    }

    /// A kernel that ran in both reports.
    pub fn kernel(kind: ChangeKind, id: &str) -> Change {
        let [old, new] = [Some("ran".to_owned()), Some("ran".to_owned())];
        Change { old, new, ..Change::new(kind, Subject::Kernel, id) }
    }

    #[test]
    fn a_device_that_hung_once_and_not_when_it_was_run_again_is_not_left_alone() {
        let hung = |incidents: serde_json::Value| {
            let report: ReportSummary =
                serde_json::from_value(json!({ "devices": [{ "incomplete": incidents }] }))
                    .unwrap();
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
        let value = || Value::Bits("0".into());
        let lane = LaneChange {
            inputs: vec![value()],
            old: Some(value()),
            new: value(),
            old_second: None,
            new_second: None,
        };
        let with = |kind, count| {
            let (kernel, changed) = ("f32.fadd".to_owned(), vec![lane.clone(); count]);
            let lanes = ChangedLanes { kernel, compared: 9, apart: 0, judged: Vec::new(), changed };
            Change { lanes: Some(lanes), ..self::kernel(kind, "f32.fadd") }
        };
        let silent = kernel(ChangeKind::Disappeared, "f32.fsub");
        let unselected = Change { new: None, ..kernel(ChangeKind::Disappeared, "f32.fmul") };
        assert_eq!(changes(&[]).worse(), "nothing regressed");
        assert_eq!(
            changes(&[
                with(ChangeKind::Regressed, 3),
                with(ChangeKind::Changed, 5),
                silent,
                unselected
            ])
            .worse(),
            "3 inputs of 1 kernel regressed, no result any more from 1 kernel"
        );
    }

    #[test]
    fn traits_and_causes_come_before_numbers() {
        let words = |headlines: &[&str]| {
            let headlines = headlines.iter().map(|text| (*text).to_owned()).collect();
            RoundChanges { headlines, all: Vec::new() }.in_words("0a1b")
        };
        let numbers = "0 kernels, 0 verdicts; nothing regressed";
        assert_eq!(words(&[]), format!("has changed since 0a1b: {numbers}"));
        let some =
            ["now fuses f32 fma", "f64 fconvert_f16: a number becomes NaN: new", "c", "d", "e"];
        let text = "now fuses f32 fma; f64 fconvert_f16: a number becomes NaN: new; c; 2 more";
        assert_eq!(words(&some), format!("has changed since 0a1b: {text}; {numbers}"));
    }

    #[test]
    fn bits_of_nans_that_change_from_run_to_run_are_no_change() {
        let count = |kind, sides: [&str; 2]| {
            let [old, new] = sides.map(|side| Some(side.to_owned()));
            changes(&[Change { old, new, ..kernel(kind, "f32.fadd") }]).counts().1
        };
        let flaky = "flaky";
        assert_eq!(
            [["ran", flaky], [flaky, "ran"]].map(|sides| count(ChangeKind::NanBits, sides)),
            [0, 0]
        );
        assert_eq!(
            [
                count(ChangeKind::NanBits, ["ran", "ran"]),
                count(ChangeKind::Changed, ["ran", flaky])
            ],
            [1, 1]
        );
    }

    #[test]
    fn rules_that_are_judged_again_and_met_are_fixed() {
        let fixed = |verdict| {
            let rule = Change { verdict: Some(verdict), ..rule(ChangeKind::Appeared, "R") };
            changes(&[rule]).conforming().count()
        };
        assert_eq!(
            [Verdict::Conforms, Verdict::Permitted, Verdict::Incomplete].map(fixed),
            [1, 1, 0]
        );
    }

    #[test]
    fn kernels_that_can_be_measured_no_more_are_a_regression() {
        for (kind, expected) in [
            (ChangeKind::Disappeared, true),
            (ChangeKind::Regressed, true),
            (ChangeKind::Changed, false),
        ] {
            let all = changes(&[kernel(kind, "f32.fadd")]);
            assert_eq!(all.regressed().any(|id| id.starts_with("f32.fadd")), expected, "{kind:?}");
        }
    }
}
