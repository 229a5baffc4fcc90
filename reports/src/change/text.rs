//! Sections of changes for a terminal, of bounded length: what is left out is counted.

use std::io;

use super::{ChangeKind, ChangeSection};
use crate::render::paper::{Ink, Paper};
use crate::render::{phrase, text};

/// Lanes shown of what regressed; of everything else one.
const LANES: usize = 2;

/// Every section: with evidence, or on few lines each.
pub(crate) fn text(paper: &mut Paper, sections: &[ChangeSection]) -> io::Result<()> {
    sections.iter().try_for_each(|section| {
        if paper.is_whole() { whole(paper, section) } else { brief(paper, section) }
    })
}

fn whole(paper: &mut Paper, section: &ChangeSection) -> io::Result<()> {
    let shown = match section.kind {
        ChangeKind::Regressed => 16,
        ChangeKind::Fixed | ChangeKind::Changed => 8,
        _ => 4,
    };
    paper.gap()?;
    paper.line(0, 2, &[(ink(section.kind), &section.heading)])?;
    for entry in section.entries.iter().take(shown) {
        paper.line(2, 4, &[(Ink::Plain, &entry.title)])?;
        if !entry.note.is_empty() {
            paper.line(4, 2, &[(Ink::Faint, &entry.note)])?;
        }
        let lanes =
            entry.lanes.iter().take(if section.kind == ChangeKind::Regressed { LANES } else { 1 });
        lanes
            .into_iter()
            .try_for_each(|lane| text::lane(paper, &lane.kernel, &lane.lines, &lane.command))?;
    }
    more(paper, section, shown)
}

/// What regressed in three lines each, of others the first lines.
fn brief(paper: &mut Paper, section: &ChangeSection) -> io::Result<()> {
    let is_bad = section.kind == ChangeKind::Regressed;
    let shown = if is_bad { 5 } else { 3 };
    let count = format!(": {}", phrase::grouped(section.entries.len()));
    paper.line(0, 2, &[(ink(section.kind), &section.heading), (Ink::Plain, &count)])?;
    let room = paper.width().saturating_sub(4);
    for entry in section.entries.iter().take(shown) {
        let note = if is_bad || entry.note.is_empty() {
            String::new()
        } else {
            format!(": {}", entry.note)
        };
        paper.line(
            2,
            2,
            &[(Ink::Strong, &phrase::shortened(&(entry.title.clone() + &note), room + 2))],
        )?;
        if is_bad {
            paper.line(4, 2, &[(Ink::Plain, &phrase::shortened(&entry.note, room))])?;
            let lane = entry.lanes.first().map(|lane| lane.sentence.within(room));
            paper.line(4, 2, &[(Ink::Faint, &lane.unwrap_or_default())])?;
        }
    }
    Ok(())
}

fn more(paper: &mut Paper, section: &ChangeSection, shown: usize) -> io::Result<()> {
    match section.entries.len().saturating_sub(shown) {
        0 => Ok(()),
        left => {
            paper.line(2, 2, &[(Ink::Faint, &format!("{left} more; --format json has everything"))])
        }
    }
}

/// The ink of a kind.
pub(crate) fn ink(kind: ChangeKind) -> Ink {
    match kind {
        ChangeKind::Regressed => Ink::Bad,
        ChangeKind::Fixed => Ink::Good,
        ChangeKind::Changed | ChangeKind::Appeared => Ink::Note,
        ChangeKind::Disappeared => Ink::Doubt,
        ChangeKind::NanBits => Ink::Faint,
    }
}
