//! The scoreboard on a terminal: a column for each profile, a row for each area.

use std::io;

use super::paper::{Ink, Paper, pad, together};
use super::phrase;
use crate::model::{Area, Class, Device, ProfileResult};
use crate::scoreboard::{CauseCount, ScopedCauses, Score, Scoreboard};

/// Columns of the names of areas, with the space behind them.
pub(super) const NAMES: usize = 23;
/// Columns of a profile at least: `incomplete`, and a space.
const COLUMN: usize = 11;

/// Columns of a class with the number of causes: `12 (2 broken)` or `conforms with`, and a space.
const CLASS: usize = 14;

/// A device with its name among others.
pub(super) type LabelledDevice<'a> = (String, &'a Device);

/// Columns that the scoreboard of a device takes at least.
pub(super) fn width(device: &Device) -> usize {
    NAMES + columns(device, COLUMN).iter().map(|(_, width)| width).sum::<usize>()
}

/// Names of profiles, each with the width of its column.
fn columns(device: &Device, least: usize) -> Vec<(String, usize)> {
    let names = phrase::short_names(device);
    let names = device.profiles.iter().map(|profile| names[profile.id.as_str()].to_owned());
    let widths = device
        .profiles
        .iter()
        .map(|profile| if profile.class == Class::ConformsWith { CLASS } else { least });
    names.zip(widths).map(|(name, width)| (name.clone(), width.max(name.len() + 1))).collect()
}

/// Writes a line for each device: its name, and under each profile the class or, where it deviates,
/// the number of causes.
pub(super) fn devices(paper: &mut Paper, devices: &[LabelledDevice<'_>]) -> io::Result<()> {
    let profiles = phrase::all_profiles(devices.iter().map(|(_, device)| *device));
    let room = paper.width().saturating_sub(profiles.len() * CLASS);
    if room < NAMES {
        for (name, device) in devices {
            let class = |one: &ProfileResult| {
                format!("{} {}", one.id, phrase::class_in_words(&device.causes, one))
            };
            let classes: Vec<String> = device.profiles.iter().map(class).collect();
            paper.line(
                0,
                2,
                &[(Ink::Strong, name), (Ink::Plain, ": "), (Ink::Plain, &classes.join("; "))],
            )?;
        }
        return Ok(());
    }
    let names = phrase::short_ids(&profiles);
    let titles = profiles.iter().map(|id| (Ink::Strong, pad(names[id], CLASS)));
    let mut rows = vec![
        [(Ink::Plain, pad("class, or causes why not", room))]
            .into_iter()
            .chain(titles)
            .collect::<Vec<_>>(),
    ];
    for (name, device) in devices {
        let mut row = vec![(Ink::Strong, pad(&label(name, device, room - 2), room))];
        let causes = Scoreboard::of(device).map(|board| board.causes).unwrap_or_default();
        for id in &profiles {
            let Some((place, profile)) =
                device.profiles.iter().enumerate().find(|(_, one)| one.id == *id)
            else {
                row.push((Ink::Faint, pad("-", CLASS)));
                continue;
            };
            let causes = causes.get(place).copied().unwrap_or_default().whole();
            let text = match (profile.class, causes.all) {
                (Class::Deviates, all @ 1..) => format!("{all}{}", phrase::broken(causes)),
                (Class::Incomplete, all @ 1..) => format!("{} {all}", profile.class.name()),
                (class, _) => class.name().to_owned(),
            };
            row.push((Ink::of_class(profile.class), pad(&text, CLASS)));
        }
        rows.push(row);
    }
    for row in rows {
        let pieces: Vec<(Ink, &str)> =
            row.iter().map(|(ink, text)| (*ink, text.as_str())).collect();
        paper.line(0, 2, &pieces)?;
    }
    Ok(())
}

/// The label of a device, of which the name is cut short first.
fn label(label: &str, device: &Device, room: usize) -> String {
    let name = &device.identity.name;
    let Some(other) = label.strip_prefix(name).filter(|_| label.chars().count() > room) else {
        return phrase::shortened(label, room);
    };
    let own = room.saturating_sub(other.chars().count()).max(room / 3);
    phrase::shortened(&format!("{}{other}", phrase::shortened(name, own)), room)
}

/// Writes it.
pub(super) fn write(paper: &mut Paper, device: &Device, board: &Scoreboard) -> io::Result<()> {
    // Of narrow terminals the severity of causes stands below alone.
    let has_room = NAMES + device.profiles.len() * CLASS <= paper.width();
    let columns = columns(device, if has_room { CLASS } else { COLUMN });
    let mut row = |name: &str, ink: Ink, cells: Vec<(Ink, String)>| {
        let cells: Vec<(Ink, String)> = cells
            .into_iter()
            .zip(&columns)
            .map(|((ink, text), (_, width))| (ink, pad(&text, *width)))
            .collect();
        let name = pad(name, NAMES - 2);
        let mut pieces = vec![(ink, name.as_str())];
        pieces.extend(cells.iter().map(|(ink, text)| (*ink, text.as_str())));
        paper.line(2, 2, &pieces)
    };
    row("", Ink::Plain, columns.iter().map(|(name, _)| (Ink::Strong, name.clone())).collect())?;
    let classes = device
        .profiles
        .iter()
        .map(|profile| (Ink::of_class(profile.class), profile.class.name().to_owned()));
    row("class", Ink::Strong, classes.collect())?;
    let open =
        |profile: usize| board.rows.iter().any(|(_, scores)| scores[profile] == Score::NotMeasured);
    let counts = |of: fn(&ScopedCauses) -> CauseCount| {
        let text = move |(profile, causes): (usize, &ScopedCauses)| match of(causes) {
            CauseCount { all: 0, .. } if open(profile) => (Ink::Doubt, "?".to_owned()),
            CauseCount { all: 0, .. } => (Ink::Good, "ok".to_owned()),
            count @ CauseCount { broken: 1.., .. } if has_room => {
                (Ink::Bad, format!("{}{}", count.all, phrase::broken(count)))
            }
            count => (Ink::Bad, phrase::number(count.all, "cause")),
        };
        board.causes.iter().enumerate().map(text).collect::<Vec<_>>()
    };
    row("at run time", Ink::Strong, counts(|causes| causes.run_time))?;
    row("constants only", Ink::Strong, counts(|causes| causes.constants))?;
    // Areas of which there is one thing to say share a line.
    let alike = |score: Score| {
        let is_alike =
            move |scores: &[Score]| scores.iter().all(|one| [score, Score::Empty].contains(one));
        let rows = board.rows.iter().filter(move |(_, scores)| is_alike(scores));
        rows.map(|(area, _)| *area).collect::<Vec<Area>>()
    };
    let shared = [
        ("ok for all", Ink::Good, alike(Score::Ok)),
        ("not measured", Ink::Doubt, alike(Score::NotMeasured)),
    ];
    let is_shared = |area: Area| shared.iter().any(|(_, _, areas)| areas.contains(&area));
    for (area, scores) in board.rows.iter().filter(|(area, _)| !is_shared(*area)) {
        row(
            area.name(),
            Ink::Plain,
            scores.iter().map(|score| (ink(*score), score.text())).collect(),
        )?;
    }
    for (name, ink, areas) in shared.iter().filter(|(_, _, areas)| !areas.is_empty()) {
        let names: Vec<String> = areas.iter().map(|area| together(area.name())).collect();
        paper.line(
            2,
            NAMES - 2,
            &[(Ink::Plain, &pad(name, NAMES - 2)), (*ink, &names.join(", "))],
        )?;
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
