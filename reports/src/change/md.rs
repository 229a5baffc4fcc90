//! Sections of changes as folds of Markdown: a line for each entry.

use super::sections::{SectionEntry, ShownLane};
use super::{ChangeKind, ChangeSection};
use crate::render::md::{code, escape, folded, list};
use crate::render::phrase;

/// Entries of a fold.
pub(crate) const SHOWN: usize = 8;
/// Lanes of an entry.
const LANES: usize = 2;

/// A section folded up.
pub(crate) fn fold(section: &ChangeSection) -> String {
    let (shown, count) = (section.entries.len().min(SHOWN), section.entries.len());
    let lines = section.entries[..shown].iter().map(line);
    let more = (count > shown).then(|| format!("{} more", phrase::grouped(count - shown)));
    folded(&section.heading, &format!(": {}", phrase::grouped(count)), &list(lines.chain(more)))
}

/// An entry with the lanes that show it and the commands that show these.
pub(crate) fn line(entry: &SectionEntry) -> String {
    let note =
        if entry.note.is_empty() { String::new() } else { format!("; {}", escape(&entry.note)) };
    let lanes =
        if matches!(entry.kind, ChangeKind::Regressed | ChangeKind::Fixed) { LANES } else { 1 };
    let lane = |lane: &ShownLane| {
        format!("<br>{}: {}", escape(&lane.sentence.to_string()), code(&lane.command))
    };
    escape(&entry.title) + &note + &entry.lanes.iter().take(lanes).map(lane).collect::<String>()
}
