//! A device's changes on one screen: what is new, worse and fixed, each cause with a lane; traits; the rest by number.

use std::collections::BTreeMap;
use std::io;

use super::digest;
use super::heading::title;
use crate::diff::words::newness;
use crate::diff::{CauseChange, ChangeKind, DeviceDiff, FieldChange, KernelChange, KernelLane, Presence};
use crate::model::{MIXED, NOT_OFFERED};
use crate::render::lane;
use crate::render::paper::{Ink, Paper, pad};
use crate::render::phrase;

/// Lines of causes with those of the device's fields and profiles, and lines of traits, that are shown: what a screen has
/// room for.
const CAUSES: usize = 13;
const TRAITS: usize = 5;
/// Columns of the word before a cause.
const TAG: usize = 8;
/// Fields of a device whose driver is the same.
const FIELDS: usize = 3;

/// Kinds of changes that required rules are about.
const JUDGED: [(ChangeKind, &str, Ink); 3] = [
    (ChangeKind::NewlyDeviating, "Newly deviating", Ink::Bad),
    (ChangeKind::NewlyConforming, "Newly conforming", Ink::Good),
    (ChangeKind::DeviatesOtherwise, "Deviating otherwise", Ink::Bad),
];
/// Kinds of changed results that break no rule, what is said of them, and how many operations are named.
const QUIET: [(ChangeKind, &str, usize); 2] = [
    (ChangeKind::Permitted, "Accepted before and now", 24),
    (ChangeKind::Unjudged, "Changed where no required rule applies", 12),
];

/// What changed of one device.
pub(super) fn device(paper: &mut Paper, device: &DeviceDiff, several: bool) -> io::Result<()> {
    title(paper, device, several)?;
    if device.presence != Presence::Both {
        return Ok(());
    }
    let mut lines = identity(&device.identity);
    lines.extend(device.profiles.iter().map(|change| (&*change.profile, change.in_words())));
    let column = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    for (name, text) in &lines {
        paper.line(2, column, &[(Ink::Strong, &pad(name, column)), (Ink::Plain, text)])?;
    }
    causes(paper, &device.causes, CAUSES.saturating_sub(lines.len()))?;
    rules(paper, device)?;
    traits(paper, &device.traits)?;
    rest(paper, device)
}

/// The driver, and how many other fields are otherwise; the first of them where the driver is the same.
fn identity(fields: &[FieldChange]) -> Vec<(&str, String)> {
    let driver = fields.iter().find(|change| change.field == "driver.info");
    let shown: Vec<&FieldChange> = driver.map_or_else(|| fields.iter().take(FIELDS).collect(), |driver| vec![driver]);
    let more = fields.len() - shown.len();
    let mut lines: Vec<(&str, String)> =
        shown.into_iter().map(|change| (change.field.trim_end_matches(".info"), digest::field(change))).collect();
    if let Some((_, text)) = lines.last_mut().filter(|_| more > 0) {
        *text = format!("{text} ({} more)", phrase::number(more, "field"));
    }
    lines
}

fn causes(paper: &mut Paper, changes: &[CauseChange], most: usize) -> io::Result<()> {
    let mut counts: BTreeMap<usize, (&str, bool, usize)> = BTreeMap::new();
    for change in changes {
        let (tag, bad) = change.tag();
        let place = ["NEW", "WORSE", "FIXED", "BETTER"].iter().position(|one| *one == tag).unwrap_or_default();
        counts.entry(place).or_insert((tag, bad, 0)).2 += 1;
    }
    if counts.is_empty() {
        return Ok(());
    }
    let words: Vec<(Ink, String)> = counts
        .values()
        .map(|(tag, bad, count)| (ink(*bad), format!("{tag} {}", phrase::number(*count, "cause"))))
        .collect();
    let mut pieces: Vec<(Ink, &str)> = Vec::new();
    for (ink, word) in &words {
        pieces.extend((!pieces.is_empty()).then_some((Ink::Faint, " · ")));
        pieces.push((*ink, word));
    }
    paper.line(0, 2, &pieces)?;
    let (better, mut ordered): (Vec<&CauseChange>, Vec<&CauseChange>) =
        changes.iter().partition(|change| change.is_better());
    ordered.truncate(most);
    let mut room = most - ordered.len();
    let width = paper.width().saturating_sub(TAG);
    let mut shown = ordered.len();
    for change in ordered {
        headline(paper, change, width)?;
        if let Some(lane) = change.lane.as_ref().filter(|_| room > 0) {
            room -= 1;
            paper.line(TAG, 0, &[(Ink::Faint, &phrase::shortened(&gave(lane), width))])?;
        }
    }
    for change in better.into_iter().take(room) {
        shown += 1;
        headline(paper, change, width)?;
    }
    more(paper, changes.len(), shown, "cause")
}

/// Rules by what their change means, and the changed inputs of all kernels, as far as required rules judge them.
fn rules(paper: &mut Paper, device: &DeviceDiff) -> io::Result<()> {
    let mut is_quiet = device.causes.is_empty();
    for (kind, about, ink) in JUDGED {
        let mut ids: Vec<&str> = device.rules.iter().filter(|one| one.kind == kind).map(|one| &*one.rule).collect();
        ids.sort_unstable();
        ids.dedup();
        let of = |change: &KernelChange| -> usize {
            change.groups.iter().filter(|group| group.kind == kind).map(|group| group.lanes.len()).sum()
        };
        let changed: Vec<usize> = device.kernels.iter().map(of).filter(|lanes| *lanes > 0).collect();
        if ids.is_empty() && changed.is_empty() {
            continue;
        }
        is_quiet = false;
        let mut parts = Vec::new();
        parts.extend((!ids.is_empty()).then(|| phrase::number(ids.len(), "rule")));
        let lanes = phrase::number(changed.iter().sum(), "input");
        parts.extend((!changed.is_empty()).then(|| format!("{lanes} of {}", phrase::number(changed.len(), "kernel"))));
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

/// What the cause is, and where it was there before how much of it.
fn headline(paper: &mut Paper, change: &CauseChange, width: usize) -> io::Result<()> {
    let (tag, bad) = change.tag();
    let text = change.in_words();
    let words = [Presence::Appeared, Presence::Vanished].map(newness);
    let words = words.into_iter().find_map(|word| text.strip_suffix(word)?.strip_suffix(": "));
    let text = words.map_or_else(|| text.replace(": worse (", " (").replace(": better (", " ("), str::to_owned);
    let text = phrase::shortened(&text, width);
    paper.line(0, TAG, &[(ink(bad), &pad(tag, TAG)), (Ink::Plain, &text)])
}

/// `f64.fconvert_f16 1.8e308 gave inf, gives NaN(quiet)`.
fn gave(shown: &KernelLane) -> String {
    let lines = digest::lines(&shown.kernel, &shown.lane);
    let [inputs, old, new] = ["in", "old", "new"].map(|name| lane::values(&lines, name).join(", "));
    format!("{} {inputs} gave {old}, gives {new}", shown.kernel)
}

/// Traits, those that changed alike on one line; of those that one side alone offers how many there are.
fn traits(paper: &mut Paper, changes: &[FieldChange]) -> io::Result<()> {
    let is_offer = |side: &Option<String>| side.as_deref().is_none_or(|text| text == NOT_OFFERED.replace('_', " "));
    let (offers, values): (Vec<&FieldChange>, Vec<&FieldChange>) =
        changes.iter().partition(|change| is_offer(&change.old) || is_offer(&change.new));
    let mut alike: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for change in values {
        let (id, scope) = change.field.split_once(", ").unwrap_or((&change.field, ""));
        let value = digest::field(change);
        match alike.iter_mut().find(|(known, place, _)| (&**known, *place) == (&*value, scope)) {
            Some((_, _, ids)) => ids.push(id),
            None => alike.push((value, scope, vec![id])),
        }
    }
    // What shows at run time, and throughout, first.
    alike.sort_by_key(|(value, scope, _)| (*scope == "constants", value.contains(MIXED)));
    if changes.is_empty() {
        return Ok(());
    }
    paper.line(0, 2, &[(Ink::Strong, digest::TRAITS)])?;
    for (value, scope, ids) in alike.iter().take(TRAITS) {
        let ids = ids.join(", ");
        let text = format!("{ids}{}: {value}", if *scope == "constants" { " of constants" } else { "" });
        paper.line(2, 0, &[(Ink::Plain, &phrase::shortened(&text, paper.width().saturating_sub(2)))])?;
    }
    more(paper, alike.len(), TRAITS, "line")?;
    match offers.len() {
        0 => Ok(()),
        count => {
            let text = format!("{} that one of the two drivers does not offer", phrase::number(count, "trait"));
            paper.line(2, 2, &[(Ink::Faint, &text)])
        }
    }
}

/// What breaks no rule, in numbers.
fn rest(paper: &mut Paper, device: &DeviceDiff) -> io::Result<()> {
    for (kind, about, most) in QUIET {
        let mut operations: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut kernels, mut lanes) = (0, 0);
        for change in &device.kernels {
            let own: usize =
                change.groups.iter().filter(|group| group.kind == kind).map(|group| group.lanes.len()).sum();
            if own > 0 {
                kernels += 1;
                lanes += own;
                *operations.entry(operation(&change.kernel)).or_default() += own;
            }
        }
        if lanes == 0 {
            continue;
        }
        let mut operations: Vec<(&str, usize)> = operations.into_iter().collect();
        operations.sort_by_key(|(name, lanes)| (std::cmp::Reverse(*lanes), *name));
        let mut names: Vec<String> =
            operations.iter().take(most).map(|(name, lanes)| format!("{name} {}", phrase::grouped(*lanes))).collect();
        let left = operations.len().saturating_sub(most);
        names.extend((left > 0).then(|| format!("{left} more")));
        let head = format!("{about}, {} of {}: ", phrase::number(lanes, "input"), phrase::number(kernels, "kernel"));
        paper.line(0, 2, &[(Ink::Note, &head), (Ink::Plain, &names.join(", "))])?;
    }
    let of = |kind: ChangeKind| device.kernels.iter().filter(move |change| change.kind == kind);
    let mut coverage: Vec<String> = Vec::new();
    for (kind, what) in [
        (ChangeKind::Appeared, "measured in the new report alone"),
        (ChangeKind::Vanished, "in the old report alone"),
        (ChangeKind::Unmeasurable, "not measured any more"),
    ] {
        let (count, instead) = (of(kind).count(), of(kind).filter(|change| change.instead.is_some()).count());
        let other =
            if instead > 0 { format!(" ({} under other controls)", phrase::grouped(instead)) } else { String::new() };
        coverage.extend((count > 0).then(|| format!("{} {what}{other}", phrase::number(count, "kernel"))));
    }
    let nans: usize = of(ChangeKind::NanBits).count();
    coverage.extend((nans > 0).then(|| format!("bits of NaNs of {}", phrase::number(nans, "kernel"))));
    coverage.extend((!device.claims.is_empty()).then(|| phrase::number(device.claims.len(), "claim")));
    coverage.extend((!device.findings.is_empty()).then(|| phrase::number(device.findings.len(), "finding")));
    coverage.extend((!device.incomplete.is_empty()).then(|| phrase::number(device.incomplete.len(), "incident")));
    if !coverage.is_empty() {
        paper.line(0, 2, &[(Ink::Faint, "Else: "), (Ink::Plain, &coverage.join("; "))])?;
    }
    paper.line(0, 2, &[(Ink::Faint, "`--verbose` shows each rule and operation, `--format json` every input")])
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

fn ink(bad: bool) -> Ink {
    if bad { Ink::Bad } else { Ink::Good }
}
