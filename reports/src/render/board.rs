//! The scoreboard on a terminal: a column for each profile, a row for each area.

use std::io;

use super::paper::{Ink, Paper, pad};
use super::phrase;
use crate::model::{Class, Device};
use crate::scoreboard::{ScopedCauses, Score, Scoreboard};

/// Columns of the names of areas, with the space behind them.
const NAMES: usize = 24;
/// Columns of a profile at least: `constants`, and two spaces.
const COLUMN: usize = 11;

/// Columns that the scoreboard of a device takes.
pub(super) fn width(device: &Device) -> usize {
    NAMES + columns(device).iter().map(|(_, width)| width).sum::<usize>()
}

/// Names of profiles, each with the width of its column.
fn columns(device: &Device) -> Vec<(String, usize)> {
    let names = phrase::short_names(device);
    let names = device.profiles.iter().map(|profile| names[profile.id.as_str()].to_owned());
    let widths = device.profiles.iter().map(|profile| if profile.class == Class::ConformsWith { 15 } else { COLUMN });
    names.zip(widths).map(|(name, width)| (name.clone(), width.max(name.len() + 2))).collect()
}

/// Writes it.
pub(super) fn write(paper: &mut Paper, device: &Device, board: &Scoreboard) -> io::Result<()> {
    let columns = columns(device);
    let mut row = |name: &str, ink: Ink, cells: Vec<(Ink, String)>| {
        let cells: Vec<(Ink, String)> =
            cells.into_iter().zip(&columns).map(|((ink, text), (_, width))| (ink, pad(&text, *width))).collect();
        let name = pad(name, NAMES - 2);
        let mut pieces = vec![(ink, name.as_str())];
        pieces.extend(cells.iter().map(|(ink, text)| (*ink, text.as_str())));
        paper.line(2, 2, &pieces)
    };
    row("", Ink::Plain, columns.iter().map(|(name, _)| (Ink::Strong, name.clone())).collect())?;
    let classes = device.profiles.iter().map(|profile| (Ink::of_class(profile.class), profile.class.name().to_owned()));
    row("class", Ink::Strong, classes.collect())?;
    let counts = |of: fn(&ScopedCauses) -> usize| {
        let text = move |causes: &ScopedCauses| match of(causes) {
            0 => (Ink::Good, "ok".to_owned()),
            count => (Ink::Bad, phrase::number(count, "cause")),
        };
        board.causes.iter().map(text).collect::<Vec<_>>()
    };
    row("at run time", Ink::Strong, counts(|causes| causes.run_time))?;
    row("constants only", Ink::Strong, counts(|causes| causes.constants))?;
    let is_met = |scores: &[Score]| scores.iter().all(|score| matches!(score, Score::Ok | Score::Empty));
    let (met, rows): (Vec<_>, Vec<_>) = board.rows.iter().partition(|(_, scores)| is_met(scores));
    for (area, scores) in rows {
        row(area.name(), Ink::Plain, scores.iter().map(|score| (ink(*score), score.text())).collect())?;
    }
    let met: Vec<&str> = met.iter().map(|(area, _)| area.name()).collect();
    if !met.is_empty() {
        paper.line(2, NAMES - 2, &[(Ink::Plain, &pad("ok for all", NAMES - 2)), (Ink::Good, &met.join(", "))])?;
    }
    Ok(())
}

fn ink(score: Score) -> Ink {
    match score {
        Score::Ok => Ink::Good,
        Score::Causes(_) => Ink::Bad,
        Score::Constants => Ink::Note,
        Score::NotMeasured => Ink::Doubt,
        Score::Empty | Score::NotOffered => Ink::Faint,
    }
}
