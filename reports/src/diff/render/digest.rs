//! What people are shown of a comparison: the same change of many kernels or profiles is one.

use std::collections::HashMap;

use crate::diff::words::newness;
use crate::diff::{
    ChangeKind, DeviceDiff, FieldChange, FindingChange, Group, IncidentChange, KernelChange, KernelOutcome, LaneChange,
    LaneVerdict, RuleChange, Ruling,
};
use crate::model::{Evidence, Incident, Outcome};
use crate::render::lane::{self, EvidenceLine};
use crate::render::phrase;
use crate::values::eval_command;

/// The same change of one rule in several profiles.
pub(super) struct RuleDigest<'a> {
    /// As the first of the profiles has it.
    pub(super) change: &'a RuleChange,
    /// The profiles.
    pub(super) profiles: Vec<&'a str>,
}

/// The rules of a device whose verdict changed, each once.
pub(super) fn rules(device: &DeviceDiff) -> Vec<RuleDigest<'_>> {
    let mut rules: Vec<RuleDigest<'_>> = Vec::new();
    for change in &device.rules {
        let same = |one: &&mut RuleDigest<'_>| {
            one.change.rule == change.rule && (&one.change.old, &one.change.new) == (&change.old, &change.new)
        };
        match rules.iter_mut().find(same) {
            Some(one) => one.profiles.push(&change.profile),
            None => rules.push(RuleDigest { change, profiles: vec![&change.profile] }),
        }
    }
    rules
}

/// Kernels of one operation that changed in the same way.
pub(super) struct Family<'a> {
    /// What it means.
    pub(super) kind: ChangeKind,
    /// The kernels, those with the shortest ids first, each with those of its changed inputs that it is about.
    pub(super) kernels: Vec<(&'a KernelChange, Option<&'a Group>)>,
}

/// The kernels of a device, by kind and operation, what is wrong now also by the rules that do not accept it; where no bits were
/// compared by kind, outcome and reason. Inputs of one kernel may have changed in several ways, and it is in several families then.
pub(super) fn families(device: &DeviceDiff) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut places: HashMap<_, usize> = HashMap::new();
    for change in &device.kernels {
        let groups = if change.groups.is_empty() { vec![None] } else { change.groups.iter().map(Some).collect() };
        for group in groups {
            let (kind, alike, rules) = match group {
                None => (change.kind, outcomes(change), Vec::new()),
                Some(group) => (group.kind, operation(change), lost(group)),
            };
            let place = *places.entry((kind, alike, rules)).or_insert_with(|| {
                families.push(Family { kind, kernels: Vec::new() });
                families.len() - 1
            });
            families[place].kernels.push((change, group));
        }
    }
    for family in &mut families {
        family.kernels.sort_by_key(|(change, _)| change.kernel.len());
    }
    families.sort_by_key(|family| family.kind);
    families
}

fn operation(change: &KernelChange) -> String {
    change.kernel.split(':').next().unwrap_or_default().to_owned()
}

/// The rules that accept a group's answers no more, each once.
fn lost(group: &Group) -> Vec<&str> {
    let lost = group.judged.iter().filter(|said| said.old && !said.new);
    let mut rules: Vec<&str> = lost.flat_map(|said| &said.rules).map(String::as_str).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

impl<'a> Family<'a> {
    /// The kernel that is shown.
    pub(super) fn first(&self) -> &'a KernelChange {
        self.kernels[0].0
    }

    /// The inputs that are shown.
    pub(super) fn group(&self) -> Option<&'a Group> {
        self.kernels[0].1
    }

    /// Such inputs of all of them.
    fn lanes(&self) -> usize {
        self.kernels.iter().filter_map(|(_, group)| *group).map(|group| group.lanes.len()).sum()
    }

    /// `f32.exp2: 12 of 520 inputs; with 37 kernels more of f32.exp2, 456 inputs`.
    pub(super) fn title(&self) -> String {
        let first = self.first();
        let more = match self.kernels.len() - 1 {
            0 => String::new(),
            1 => " and 1 kernel more".to_owned(),
            more => format!(" and {} kernels more", phrase::grouped(more)),
        };
        match self.group() {
            Some(group) => {
                let all = if more.is_empty() {
                    String::new()
                } else {
                    format!(", {} in all", phrase::number(self.lanes(), "input"))
                };
                let here = phrase::grouped(group.lanes.len());
                format!("{}: {here} of {}{more}{all}", first.kernel, phrase::number(first.lanes, "input"))
            }
            None if first.old.is_some() && first.new.is_some() && first.lanes > 0 => {
                format!("{}{more}: other inputs were asked", first.kernel)
            }
            None => format!("{}{more}: {}", first.kernel, outcomes(first)),
        }
    }
}

/// A finding of one side alone: `new` or `gone`, and what it says.
pub(super) fn finding(change: &FindingChange) -> String {
    format!("{}: {}", newness(change.presence), change.text)
}

/// What went wrong on one side alone.
pub(super) fn incident(change: &IncidentChange) -> String {
    let Incident { subject, outcome, detail } = &change.incident;
    let subject = if subject == "-" { "the device" } else { subject };
    let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
    format!("{}: {subject}: {}{detail}", newness(change.presence), phrase::incident(*outcome))
}

/// `ran -> unsupported (shaderFloat64)`.
fn outcomes(change: &KernelChange) -> String {
    let side = |ended: &Option<KernelOutcome>| match ended {
        None => match &change.instead {
            None => "not asked".to_owned(),
            Some(controls) => format!("not asked, but under {controls} in its place"),
        },
        // What differs between two runs is counted there, kernel by kernel.
        Some(ended) if ended.detail.is_empty() || ended.outcome == Outcome::Flaky => {
            phrase::outcome(ended.outcome).to_owned()
        }
        Some(ended) => format!("{} ({})", phrase::outcome(ended.outcome), ended.detail),
    };
    arrow(&side(&change.old), &side(&change.new))
}

/// What was and what is.
pub(super) fn arrow(old: &str, new: &str) -> String {
    format!("{old} \u{2192} {new}")
}

/// Heading of results that no text defines, and that changed.
pub(super) const TRAITS: &str = "Traits changed";

/// Heading of causes that are new, worse, better or missing.
pub(super) const CAUSES: &str = "Causes changed";

/// A field's two values.
pub(super) fn field(change: &FieldChange) -> String {
    let side = |text: &Option<String>| match text.as_deref() {
        None | Some("") => "none".to_owned(),
        Some(text) => text.to_owned(),
    };
    arrow(&side(&change.old), &side(&change.new))
}

/// The two verdicts of a rule.
pub(super) fn verdicts(change: &RuleChange) -> String {
    let side = |ruling: &Option<Ruling>| match ruling {
        None => "not there".to_owned(),
        Some(Ruling { verdict, label, behaviour, failing }) => {
            let mut more: Vec<String> = Vec::new();
            more.extend((!label.is_empty()).then(|| label.clone()));
            more.extend((*failing > 0).then(|| format!("{} not accepted", phrase::number(*failing, "lane"))));
            more.extend((!behaviour.is_empty()).then(|| behaviour.clone()));
            let name = verdict.name();
            if more.is_empty() { name.to_owned() } else { format!("{name} ({})", more.join("; ")) }
        }
    };
    arrow(&side(&change.old), &side(&change.new))
}

/// What the profiles say of a group: those that say the same in one phrase.
pub(super) fn judged(group: &Group) -> String {
    if group.judged.is_empty() {
        return "no required rule says anything".to_owned();
    }
    let mut phrases: Vec<(&LaneVerdict, Vec<&str>)> = Vec::new();
    for said in &group.judged {
        let same = |one: &&mut (&LaneVerdict, Vec<&str>)| {
            (one.0.old, one.0.new, &one.0.rules) == (said.old, said.new, &said.rules)
        };
        match phrases.iter_mut().find(same) {
            Some(one) => one.1.push(&said.profile),
            None => phrases.push((said, vec![&said.profile])),
        }
    }
    phrases.sort_by_key(|(said, _)| match (said.old, said.new) {
        (true, false) => 0,
        (false, true) => 1,
        (false, false) => 2,
        (true, true) => 3,
    });
    let phrases = phrases.into_iter().map(|(said, profiles)| {
        let how = match (said.old, said.new) {
            (true, false) => "accepted before, not now",
            (false, true) => "accepted now, not before",
            (false, false) => "accepted neither before nor now",
            (true, true) => "accepted before and now",
        };
        let rules = if said.rules.is_empty() { String::new() } else { format!(" ({})", said.rules.join(", ")) };
        format!("{}: {how}{rules}", profiles.join(", "))
    });
    phrases.collect::<Vec<_>>().join("; ")
}

/// A changed lane as lines.
pub(super) fn lines(kernel: &str, shown: &LaneChange) -> Vec<EvidenceLine> {
    let answers = [
        Some(("old", &shown.old)),
        shown.old_second.as_ref().map(|value| ("old, again", value)),
        Some(("new", &shown.new)),
        shown.new_second.as_ref().map(|value| ("new, again", value)),
    ];
    lane::answers(kernel, &shown.inputs, answers.into_iter().flatten())
}

/// What shows a rule's change: the first lane that it does not accept any more.
pub(super) fn shown(change: &RuleChange) -> Option<&Evidence> {
    let is_worse = matches!(change.kind, ChangeKind::NewlyDeviating | ChangeKind::NewlyAvoidable);
    change.evidence.first().filter(|_| is_worse)
}

/// The command that shows a lane.
pub(super) fn command(kernel: &str, shown: &LaneChange) -> String {
    eval_command(kernel, &shown.inputs)
}
