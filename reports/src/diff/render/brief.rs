//! A device's changes on one screen: what is new, worse and fixed, each cause with a lane; traits;
//! the rest by number.

use std::collections::BTreeMap;
use std::io;

use crate::change::{Change, ChangeKind, Subject, gave};
use crate::diff::DeviceDiff;
use crate::model::MIXED;
use crate::render::lane::{self, LaneSentence};
use crate::render::paper::{Ink, Paper, pad};
use crate::render::phrase;

/// Lines of causes with those of the device's fields and profiles, and lines of traits, that are
/// shown: what a screen has room for.
const CAUSES: usize = 13;
const TRAITS: usize = 5;
/// Columns of the word before a cause.
const TAG: usize = 8;
/// Fields of a device whose driver is the same.
const FIELDS: usize = 3;

/// A group of changes that required rules are about.
type Judged = (fn(&Change) -> bool, &'static str, Ink);
const JUDGED: [Judged; 5] = [
    (|change| change.kind == ChangeKind::Regressed && !change.avoidable, "Regressed", Ink::Bad),
    (|change| change.kind == ChangeKind::Fixed && !change.avoidable, "Fixed", Ink::Good),
    (Change::is_deviating, "Deviating otherwise", Ink::Bad),
    // Another variant of the kernel meets the rule.
    (|change| change.kind == ChangeKind::Regressed && change.avoidable, "Avoidable", Ink::Doubt),
    (
        |change| change.kind == ChangeKind::Fixed && change.avoidable,
        "Fixed, was avoidable",
        Ink::Good,
    ),
];
/// Lines that name the operations whose changed results break no rule; the others are counted.
const OPERATIONS: usize = 2;

/// What changed of one device.
pub(super) fn device(paper: &mut Paper, device: &DeviceDiff) -> io::Result<()> {
    let mut lines = identity(&device.of(Subject::Identity).collect::<Vec<_>>());
    lines.extend(device.of(Subject::Class).map(|change| (&*change.id, change.values())));
    let column = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    for (name, text) in &lines {
        paper.line(2, column, &[(Ink::Strong, &pad(name, column)), (Ink::Plain, text)])?;
    }
    traits(paper, &device.of(Subject::Trait).collect::<Vec<_>>())?;
    let all: Vec<&Change> = device.of(Subject::Cause).collect();
    // A driver's name may take more than one line.
    let above: usize =
        lines.iter().map(|(_, text)| 1 + (column + text.chars().count()) / paper.width()).sum();
    causes(paper, &all, CAUSES.saturating_sub(above))?;
    rules(paper, device, all.is_empty())?;
    rest(paper, device)
}

/// The driver, and how many other fields are otherwise; the first of them where the driver is the
/// same.
fn identity<'a>(fields: &[&'a Change]) -> Vec<(&'a str, String)> {
    let driver = fields.iter().find(|change| change.id == "driver.info");
    let shown = driver.map_or_else(|| &fields[..fields.len().min(FIELDS)], std::slice::from_ref);
    let more = fields.len() - shown.len();
    let mut lines: Vec<(&str, String)> =
        shown.iter().map(|change| (change.id.trim_end_matches(".info"), change.values())).collect();
    if let Some((_, text)) = lines.last_mut().filter(|_| more > 0) {
        *text = format!("{text} ({} more)", phrase::number(more, "field"));
    }
    lines
}

fn causes(paper: &mut Paper, changes: &[&Change], most: usize) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let counts = ["NEW", "WORSE", "FIXED", "BETTER"].map(|tag| {
        let of: Vec<&Change> =
            changes.iter().copied().filter(|change| change.tag() == tag).collect();
        Some((ink(of.first()?), format!("{tag} {}", phrase::number(of.len(), "cause"))))
    });
    let words: Vec<(Ink, String)> = counts.into_iter().flatten().collect();
    let mut pieces: Vec<(Ink, &str)> = Vec::new();
    for (ink, word) in &words {
        pieces.extend((!pieces.is_empty()).then_some((Ink::Faint, " · ")));
        pieces.push((*ink, word));
    }
    paper.line(0, 2, &pieces)?;
    let (better, mut ordered): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| change.tag() == "BETTER");
    ordered.truncate(most);
    let mut room = most - ordered.len();
    let width = paper.width().saturating_sub(TAG);
    let mut shown = ordered.len();
    for change in ordered {
        headline(paper, change, width)?;
        if let Some(lane) = shown_lane(change).filter(|_| room > 0) {
            room -= 1;
            paper.line(TAG, 0, &[(Ink::Faint, &lane.within(width))])?;
        }
    }
    for change in better.into_iter().take(room) {
        shown += 1;
        headline(paper, change, width)?;
    }
    more(paper, changes.len(), shown, "cause")
}

/// A lane of a cause with both results, else what one report has.
fn shown_lane(change: &Change) -> Option<LaneSentence> {
    let alone = || Some(lane::sentence(change.evidence.first()?));
    change.lanes.as_ref().and_then(gave).or_else(alone)
}

/// Rules by what their change means, and the changed inputs of all kernels, as far as required
/// rules judge them.
fn rules(paper: &mut Paper, device: &DeviceDiff, mut is_quiet: bool) -> io::Result<()> {
    for (is_it, about, ink) in JUDGED {
        let mut ids: Vec<&str> =
            device.of(Subject::Rule).filter(|one| is_it(one)).map(|one| &*one.id).collect();
        ids.sort_unstable();
        ids.dedup();
        let (kernels, lanes) = kernels(device, is_it);
        if ids.is_empty() && lanes == 0 {
            continue;
        }
        is_quiet = false;
        let mut parts = Vec::new();
        parts.extend((!ids.is_empty()).then(|| phrase::number(ids.len(), "rule")));
        let inputs = || {
            format!(
                "{} of {}",
                phrase::number(lanes, "input"),
                phrase::number(kernels.len(), "kernel")
            )
        };
        parts.extend((lanes > 0).then(inputs));
        let names = if ids.is_empty() { String::new() } else { format!(": {}", ids.join(", ")) };
        let text = format!(", {}{names}", parts.join(", "));
        let room = paper.width().saturating_sub(about.len());
        paper.line(0, 2, &[(ink, about), (Ink::Plain, &phrase::shortened(&text, room))])?;
    }
    if is_quiet {
        paper.line(0, 2, &[(Ink::Good, "No deviation is new, worse or fixed")])?;
    }
    Ok(())
}

/// Kernels with such changed inputs, and how many inputs each has and all have.
fn kernels(device: &DeviceDiff, is_it: impl Fn(&Change) -> bool) -> (BTreeMap<&str, usize>, usize) {
    let mut kernels: BTreeMap<&str, usize> = BTreeMap::new();
    for change in
        device.of(Subject::Kernel).filter(|change| is_it(change) && !change.changed().is_empty())
    {
        *kernels.entry(&change.id).or_default() += change.changed().len();
    }
    let lanes = kernels.values().sum();
    (kernels, lanes)
}

/// What the cause is, and where it was there before how much of it.
fn headline(paper: &mut Paper, change: &Change, width: usize) -> io::Result<()> {
    let text = match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!("{} ({new}, was {old})", change.text),
        _ => change.text.clone(),
    };
    let text = phrase::shortened(&text, width);
    paper.line(0, TAG, &[(ink(change), &pad(change.tag(), TAG)), (Ink::Plain, &text)])
}

/// Traits, those that changed alike on one line; of those that one side alone offers how many there
/// are.
fn traits(paper: &mut Paper, changes: &[&Change]) -> io::Result<()> {
    let mut alike: Vec<(String, bool, Vec<&str>)> = Vec::new();
    let values = || changes.iter().filter(|change| change.kind == ChangeKind::Changed);
    for change in values() {
        let (value, constants) = (change.values(), change.constants_only);
        match alike.iter_mut().find(|(known, place, _)| (known, *place) == (&value, constants)) {
            Some((_, _, ids)) => ids.push(&change.id),
            None => alike.push((value, constants, vec![&change.id])),
        }
    }
    // What shows at run time, and throughout, first.
    alike.sort_by_key(|(value, constants, _)| (*constants, value.contains(MIXED)));
    if changes.is_empty() {
        return Ok(());
    }
    paper.line(0, 2, &[(Ink::Strong, "Traits changed")])?;
    for (value, constants, ids) in alike.iter().take(TRAITS) {
        let text =
            format!("{}{}: {value}", ids.join(", "), if *constants { " of constants" } else { "" });
        paper.line(
            2,
            0,
            &[(Ink::Plain, &phrase::shortened(&text, paper.width().saturating_sub(2)))],
        )?;
    }
    more(paper, alike.len(), TRAITS, "line")?;
    match changes.len() - values().count() {
        0 => Ok(()),
        count => {
            let text = format!(
                "{} that one of the two drivers does not offer",
                phrase::number(count, "trait")
            );
            paper.line(2, 2, &[(Ink::Faint, &text)])
        }
    }
}

/// What breaks no rule, in numbers.
fn rest(paper: &mut Paper, device: &DeviceDiff) -> io::Result<()> {
    let is_judged =
        |change: &Change| change.lanes.as_ref().is_some_and(|lanes| !lanes.judged.is_empty());
    for (judged, about) in
        [(true, "Accepted before and now"), (false, "Changed where no required rule applies")]
    {
        let is_it = |one: &Change| {
            one.kind == ChangeKind::Changed && !one.is_deviating() && is_judged(one) == judged
        };
        let (kernels, lanes) = kernels(device, is_it);
        if lanes == 0 {
            continue;
        }
        let mut operations: BTreeMap<&str, usize> = BTreeMap::new();
        for (kernel, own) in &kernels {
            *operations.entry(operation(kernel)).or_default() += own;
        }
        let mut operations: Vec<(&str, usize)> = operations.into_iter().collect();
        operations.sort_by_key(|(name, lanes)| (std::cmp::Reverse(*lanes), *name));
        let head = format!(
            "{about}, {} of {}: ",
            phrase::number(lanes, "input"),
            phrase::number(kernels.len(), "kernel")
        );
        let names = first_of(&operations, (OPERATIONS * paper.width()).saturating_sub(head.len()));
        paper.line(0, 2, &[(Ink::Note, &head), (Ink::Plain, &names)])?;
    }
    let ended = || device.of(Subject::Kernel).filter(|change| change.lanes.is_none());
    let mut others: Vec<String> = Vec::new();
    let is_appeared = |change: &Change| change.kind == ChangeKind::Appeared;
    let is_unselected =
        |change: &Change| change.kind == ChangeKind::Disappeared && !change.is_unmeasurable();
    for (is_it, what) in [
        (&is_appeared as &dyn Fn(&Change) -> bool, "measured in the new report alone"),
        (&is_unselected, "in the old report alone"),
        (&Change::is_unmeasurable, "not measured any more"),
    ] {
        let of = || ended().filter(|change| is_it(change));
        let (count, instead) =
            (of().count(), of().filter(|change| !change.note.is_empty()).count());
        let other = if instead > 0 {
            format!(" ({} under other controls)", phrase::grouped(instead))
        } else {
            String::new()
        };
        others.extend(
            (count > 0).then(|| format!("{} {what}{other}", phrase::number(count, "kernel"))),
        );
    }
    let (nans, _) = kernels(device, |change| change.kind == ChangeKind::NanBits);
    others.extend(
        (!nans.is_empty())
            .then(|| format!("bits of NaNs of {}", phrase::number(nans.len(), "kernel"))),
    );
    for (subject, name) in
        [(Subject::Claim, "claim"), (Subject::Finding, "finding"), (Subject::Incident, "incident")]
    {
        let count = device.of(subject).count();
        others.extend((count > 0).then(|| phrase::number(count, name)));
    }
    if !others.is_empty() {
        paper.line(0, 2, &[(Ink::Faint, "Else: "), (Ink::Plain, &others.join("; "))])?;
    }
    paper.line(
        0,
        2,
        &[(Ink::Faint, "`--verbose` shows each rule and operation, `--format json` every input")],
    )
}

/// The first of these operations, each with its changed inputs, in this many characters; of the
/// others how many there are.
fn first_of(operations: &[(&str, usize)], room: usize) -> String {
    // What the rest may take: the last words, and the ends of lines that no word fits.
    const REST: usize = 30;
    let mut text = String::new();
    for (index, (name, lanes)) in operations.iter().enumerate() {
        let piece = format!("{name} {}", phrase::grouped(*lanes));
        if index > 0 && text.len() + piece.len() + REST > room {
            return format!("{text}, {} more", operations.len() - index);
        }
        text.extend((index > 0).then_some(", "));
        text.push_str(&piece);
    }
    text
}

/// The operation of a kernel, whatever the format.
fn operation(kernel: &str) -> &str {
    kernel.split([':', '.']).nth(1).unwrap_or(kernel)
}

fn more(paper: &mut Paper, count: usize, shown: usize, what: &str) -> io::Result<()> {
    let left = count.saturating_sub(shown);
    if left == 0 {
        return Ok(());
    }
    paper.line(2, 2, &[(Ink::Faint, &format!("{} more", phrase::number(left, what)))])
}

fn ink(cause: &Change) -> Ink {
    crate::change::ink(cause.kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{ChangedLanes, LaneChange, LaneVerdict};
    use crate::model::Value;
    use crate::render::paper::{Detail, Style};

    /// More of everything than fits: each list is cut, and says how much it leaves out.
    #[test]
    fn changes_of_any_number_fit_a_screen() {
        let lane = LaneChange {
            inputs: Vec::new(),
            old: None,
            new: Value::Bits("0".into()),
            old_second: None,
            new_second: None,
        };
        let kernel = |index: usize, kind, avoidable, judged: bool| Change {
            avoidable,
            lanes: Some(ChangedLanes {
                kernel: format!("f32.operation_of_a_long_name_{index}"),
                compared: 9,
                apart: 0,
                judged: judged
                    .then(|| LaneVerdict {
                        profile: "vulkan".into(),
                        old: true,
                        new: true,
                        rules: Vec::new(),
                    })
                    .into_iter()
                    .collect(),
                changed: vec![lane.clone(); index + 1],
            }),
            ..Change::new(kind, Subject::Kernel, format!("f32.operation_of_a_long_name_{index}"))
        };
        let mut changes = Vec::new();
        for index in 0..40 {
            let long = "words of a cause, a trait, a profile or a driver ".repeat(4);
            for (kind, subject, most) in [
                (ChangeKind::Changed, Subject::Identity, 9),
                (ChangeKind::Changed, Subject::Class, 4),
                (ChangeKind::Changed, Subject::Trait, 40),
                (ChangeKind::Appeared, Subject::Trait, 40),
                (ChangeKind::Regressed, Subject::Cause, 40),
                (ChangeKind::Fixed, Subject::Cause, 40),
                (ChangeKind::Regressed, Subject::Rule, 40),
                (ChangeKind::Fixed, Subject::Rule, 40),
                (ChangeKind::Appeared, Subject::Kernel, 40),
                (ChangeKind::Disappeared, Subject::Kernel, 40),
                (ChangeKind::Changed, Subject::Claim, 40),
                (ChangeKind::Changed, Subject::Finding, 40),
                (ChangeKind::Regressed, Subject::Incident, 40),
            ] {
                let is_driver = subject == Subject::Identity && index == 0;
                let id = if is_driver { "driver.info".into() } else { format!("member-{index}") };
                let value = |side: &str| Some(format!("{side} driver of {index}.0.7-2~bpo12+1"));
                changes.extend((index < most).then(|| Change {
                    text: long.clone(),
                    old: (kind != ChangeKind::Regressed).then(|| value("old")).flatten(),
                    new: value("new"),
                    ..Change::new(kind, subject, &id)
                }));
            }
            for avoidable in [false, true] {
                changes.push(kernel(index, ChangeKind::Regressed, avoidable, true));
                changes.push(kernel(index, ChangeKind::Fixed, avoidable, true));
            }
            changes.push(kernel(index, ChangeKind::Changed, false, true));
            changes.push(kernel(index, ChangeKind::Changed, false, false));
            changes.push(kernel(index, ChangeKind::NanBits, false, false));
        }
        let diff = DeviceDiff {
            slot: "cpu:10005:0".into(),
            name: "a device".into(),
            driver: "a driver".into(),
            host: String::new(),
            headlines: Vec::new(),
            changes,
        };
        let style = Style { colour: false, width: 100, detail: Detail::Screen };
        let mut text = Vec::new();
        device(&mut Paper::new(&mut text, style), &diff).unwrap();
        let text = String::from_utf8(text).unwrap();
        // The names of the reports and of the device stand above.
        assert!(text.lines().count() <= 38, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(text.matches("operation_of_a_long_name_39 ").count(), 2, "{text}");
        assert!(text.matches(" more\n").count() >= 3, "{text}");
    }
}
