//! Markdown for a pull request comment: what changed in numbers, then the changes folded up, within
//! its size.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{RenderDiff, Style, alone, counts, sections};
use crate::change::{ChangeKind, ChangeSection, SHOWN, fold, line};
use crate::diff::Diff;
use crate::render::md::{code, comment, escape, list};
use crate::render::phrase;

/// GitHub-flavoured Markdown.
pub(super) struct DiffMarkdown;

impl RenderDiff for DiffMarkdown {
    fn render(&self, diff: &Diff, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        let devices = diff.devices.iter().filter(|device| !device.is_empty());
        let blocks = devices.flat_map(|device| {
            let host = if diff.is_of_several() {
                format!(" of host {}", code(&device.host))
            } else {
                String::new()
            };
            let alone = alone(device).map_or(String::new(), |alone| format!(" {}", escape(&alone)));
            let heading = format!("\n### {}{host}{alone}\n", code(&device.name));
            std::iter::once(heading).chain(sections(device).iter().map(fold).collect::<Vec<_>>())
        });
        out.write_all(comment(head(diff), blocks, "the comparison as JSON").as_bytes())
    }
}

fn head(diff: &Diff) -> String {
    let mut page = "## Floating-point changes\n".to_owned();
    // Writing to a string cannot fail.
    if diff.summary.empty {
        let _ = writeln!(
            page,
            "\nNothing changed on {}.",
            phrase::number(diff.summary.compared, "device")
        );
        return page;
    }
    let counts = counts(&diff.summary).into_iter();
    let counts = counts.map(|(kind, counts)| format!("**{}**: {}", kind.name(), escape(&counts)));
    let incidents = ChangeSection::of("Not measured", ChangeKind::Changed, diff.incomplete.iter());
    let incidents: Vec<String> =
        incidents.iter().flat_map(|one| one.entries.iter().take(SHOWN).map(line)).collect();
    page + &list(counts.chain(incidents.into_iter().map(|line| format!("not measured, {line}"))))
}
