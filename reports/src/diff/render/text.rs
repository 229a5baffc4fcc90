//! The important changes for a terminal, of bounded length: what is left out is counted.

use std::io::{self, Write};

use super::{RenderDiff, Style};
use super::{alone, brief, counts, sections, sources};
use crate::change::{ChangeKind, ChangeSection, ink, text};
use crate::diff::{DeviceDiff, Diff};
use crate::render::paper::{Ink, Paper, pad};
use crate::render::phrase;

/// For people at a terminal.
pub(super) struct DiffText;

impl RenderDiff for DiffText {
    fn render(&self, diff: &Diff, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        let files = format!("{} \u{2192} {}", sources(&diff.old), sources(&diff.new));
        paper.line(0, 2, &[(Ink::Strong, "Changes  "), (Ink::Faint, &files)])?;
        if diff.summary.empty {
            let devices = phrase::number(diff.summary.compared, "device");
            return paper.line(
                0,
                2,
                &[(Ink::Good, "nothing changed"), (Ink::Plain, &format!(" on {devices}"))],
            );
        }
        if style.is_whole() {
            let counts = counts(&diff.summary);
            let column = counts.iter().map(|(kind, _)| kind.name().len()).max().unwrap_or(0) + 2;
            for (kind, counts) in &counts {
                paper.line(
                    2,
                    column,
                    &[(ink(*kind), &pad(kind.name(), column)), (Ink::Plain, counts)],
                )?;
            }
        }
        text(
            paper,
            ChangeSection::of("Not measured", ChangeKind::Changed, diff.incomplete.iter())
                .as_slice(),
        )?;
        diff.devices.iter().filter(|device| !device.is_empty()).try_for_each(|device| {
            title(paper, device, diff.is_of_several())?;
            match alone(device) {
                Some(alone) => paper.line(2, 2, &[(Ink::Note, &alone)]),
                None if style.is_whole() => text(paper, &sections(device)),
                None => brief::device(paper, device),
            }
        })
    }
}

/// Name and place of a device.
fn title(paper: &mut Paper, device: &DeviceDiff, several: bool) -> io::Result<()> {
    if several || paper.is_whole() {
        paper.gap()?;
    }
    let host = if several { format!("  {}", device.host) } else { String::new() };
    paper.line(
        0,
        2,
        &[(Ink::Strong, &device.name), (Ink::Faint, &format!("  {}{host}", device.slot))],
    )
}
