//! Changes as people read them: under headings, and what changed alike of many kernels in one
//! entry.

use std::collections::HashMap;

use super::{Change, ChangeKind, ChangedLanes, LaneChange, LaneVerdict};
use crate::model::Evidence;
use crate::render::lane::{self, ACCEPTED, EvidenceLine, LaneSentence};
use crate::render::phrase;
use crate::values::eval_command;

/// Lanes shown of an entry, at most.
const LANES: usize = 8;

/// Changes under a heading.
pub(crate) struct ChangeSection {
    pub(crate) heading: String,
    pub(crate) kind: ChangeKind,
    pub(crate) entries: Vec<SectionEntry>,
}

/// A change, or kernels of one operation that changed alike.
pub(crate) struct SectionEntry {
    pub(crate) kind: ChangeKind,
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) lanes: Vec<ShownLane>,
}

/// A lane that shows a change.
pub(crate) struct ShownLane {
    pub(crate) kernel: String,
    pub(crate) lines: Vec<EvidenceLine>,
    pub(crate) command: String,
    pub(crate) sentence: LaneSentence,
}

impl ChangeSection {
    /// Those changes that there are, each once; `None` where there are none.
    pub(crate) fn of<'a>(
        heading: &str,
        kind: ChangeKind,
        changes: impl Iterator<Item = &'a Change>,
    ) -> Option<ChangeSection> {
        let entries = gathered(changes);
        (!entries.is_empty()).then(|| ChangeSection { heading: heading.to_owned(), kind, entries })
    }
}

/// Kernels by what changed and operation, what regressed also by the rules that do not accept it;
/// where no lanes were compared by outcome and reason. Everything else by itself.
fn gathered<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<SectionEntry> {
    let mut families: Vec<Vec<&Change>> = Vec::new();
    let mut places: HashMap<_, usize> = HashMap::new();
    for change in changes {
        let place = if change.is_of_kernel() {
            let alike = match &change.lanes {
                Some(_) => change.id.split(':').next().unwrap_or_default().to_owned(),
                None => change.values() + &change.note,
            };
            let name = change.device.as_ref().map(|device| &device.key);
            let key =
                (name, change.kind, change.avoidable, change.is_deviating(), alike, lost(change));
            *places.entry(key).or_insert(families.len())
        } else {
            families.len()
        };
        match families.get_mut(place) {
            Some(family) => family.push(change),
            None => families.push(vec![change]),
        }
    }
    for family in &mut families {
        // Stable, so that the first of equals stays the first.
        family.sort_by_key(|change| change.id.len());
    }
    families.iter().map(|family| entry(family)).collect()
}

fn entry(family: &[&Change]) -> SectionEntry {
    let first = family[0];
    let (mut title, mut note) = (first.in_words(), first.note.clone());
    if first.is_of_kernel() {
        let more = match family.len() - 1 {
            0 => String::new(),
            1 => " and 1 kernel more".to_owned(),
            more => format!(" and {} kernels more", phrase::grouped(more)),
        };
        title = match &first.lanes {
            None if first.old.is_none() && first.new.is_none() => title,
            None => format!("{}{more}{}: {}", first.id, first.on(), first.values()),
            Some(lanes) if lanes.changed.is_empty() => {
                format!("{}{more}: other inputs were run", first.id)
            }
            Some(lanes) => {
                let all: usize = family.iter().map(|change| change.changed().len()).sum();
                let all = if more.is_empty() {
                    more.clone()
                } else {
                    format!(", {} in all", phrase::number(all, "input"))
                };
                note = judged(&lanes.judged);
                let (here, compared) =
                    (phrase::grouped(lanes.changed.len()), phrase::number(lanes.compared, "input"));
                format!("{}: {here} of {compared}{more}{all}", first.id)
            }
        };
        if first.avoidable {
            title += "; another variant meets the rule";
        }
    }
    // Why a baseline does not accept a rule is followed by how many lanes fail.
    let failing = first
        .new
        .clone()
        .filter(|_| first.old.is_none() && !first.citation.is_empty() && !note.is_empty());
    let notes = [note, failing.unwrap_or_default(), first.citation.clone()];
    note = notes.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    // Of what is met no lane shows anything, and of a NaN's bits one is like the other.
    let evidence =
        first.evidence.iter().filter(|_| first.kind == ChangeKind::Regressed).map(of_evidence);
    let of_lanes = first.lanes.iter().filter(|_| first.kind != ChangeKind::NanBits);
    let changed = of_lanes.flat_map(|of| of.changed.iter().map(|lane| of_change(&of.kernel, lane)));
    SectionEntry {
        kind: first.kind,
        title,
        note,
        lanes: evidence.chain(changed).take(LANES).collect(),
    }
}

fn of_evidence(evidence: &Evidence) -> ShownLane {
    ShownLane {
        kernel: evidence.kernel.clone(),
        lines: lane::lines(evidence, ACCEPTED),
        command: evidence.command.clone(),
        sentence: lane::sentence(evidence),
    }
}

fn of_change(kernel: &str, shown: &LaneChange) -> ShownLane {
    let lines = lines(kernel, shown);
    let sentence = sentence(kernel, &lines);
    ShownLane {
        kernel: kernel.to_owned(),
        lines,
        command: eval_command(kernel, &shown.inputs),
        sentence,
    }
}

fn lines(kernel: &str, shown: &LaneChange) -> Vec<EvidenceLine> {
    let results = [
        shown.old.as_ref().map(|value| ("old", value)),
        shown.old_second.as_ref().map(|value| ("old, again", value)),
        Some(("new", &shown.new)),
        shown.new_second.as_ref().map(|value| ("new, again", value)),
    ];
    lane::answers(kernel, &shown.inputs, results.into_iter().flatten())
}

/// Of results of several components those that changed.
fn sentence(kernel: &str, lines: &[EvidenceLine]) -> LaneSentence {
    let subject = format!("{kernel} {}", lane::values(lines, "in").join(", "));
    let of = |word| lines.iter().filter(move |line| line.word() == word);
    let (old, new): (Vec<&EvidenceLine>, Vec<&EvidenceLine>) =
        of("old").zip(of("new")).filter(|(old, new)| old.hex != new.hex).unzip();
    let values = |lines: Vec<&EvidenceLine>| {
        lines.into_iter().map(lane::value).collect::<Vec<_>>().join(", ")
    };
    let names = match of("new").count() {
        0 | 1 => String::new(),
        _ => format!(" in {}", names(&new).join(", ")),
    };
    let result = if old.is_empty() {
        // Both runs differ from one another, or one of the two has other components.
        let [old, new] = ["old", "new"].map(|name| lane::values(lines, name).join(", "));
        format!("gave {old}, gives {new}")
    } else {
        format!("gave {}, gives {}{names}", values(old), values(new))
    };
    LaneSentence { subject, result }
}

/// `y` of `new y`.
fn names<'a>(lines: &[&'a EvidenceLine]) -> Vec<&'a str> {
    lines
        .iter()
        .map(|line| line.name.trim_start_matches("new").trim_start_matches([',', ' ']))
        .collect()
}

/// The first of some lanes: `f64.fconvert_f16 1.8e308 gave inf, gives NaN(quiet)`.
pub(crate) fn gave(lanes: &ChangedLanes) -> Option<LaneSentence> {
    Some(sentence(&lanes.kernel, &lines(&lanes.kernel, lanes.changed.first()?)))
}

/// The rules that accept the results of a kernel no more, each once.
fn lost(change: &Change) -> Vec<&str> {
    let judged =
        change.lanes.iter().flat_map(|lanes| &lanes.judged).filter(|said| said.old && !said.new);
    let mut rules: Vec<&str> = judged.flat_map(|said| &said.rules).map(String::as_str).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// What the profiles say of lanes: those that say the same in one phrase.
fn judged(judged: &[LaneVerdict]) -> String {
    if judged.is_empty() {
        return "no required rule applies".to_owned();
    }
    let mut phrases: Vec<(&LaneVerdict, Vec<&str>)> = Vec::new();
    for said in judged {
        let same = |(one, _): &&mut (&LaneVerdict, Vec<&str>)| {
            (one.old, one.new, &one.rules) == (said.old, said.new, &said.rules)
        };
        match phrases.iter_mut().find(same) {
            Some((_, profiles)) => profiles.push(&said.profile),
            None => phrases.push((said, vec![&said.profile])),
        }
    }
    let how = |said: &LaneVerdict| match (said.old, said.new) {
        (true, false) => (0, "accepted before, not now"),
        (false, true) => (1, "accepted now, not before"),
        (false, false) => (2, "accepted neither before nor now"),
        (true, true) => (3, "accepted before and now"),
    };
    phrases.sort_by_key(|(said, _)| how(said).0);
    let phrases = phrases.into_iter().map(|(said, profiles)| {
        let rules = if said.rules.is_empty() {
            String::new()
        } else {
            format!(" ({})", said.rules.join(", "))
        };
        format!("{}: {}{rules}", profiles.join(", "), how(said).1)
    });
    phrases.collect::<Vec<_>>().join("; ")
}
