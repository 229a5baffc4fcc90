//! Forms in which a comparison can be written: one file each, all of the document alone.

mod brief;
mod html;
mod md;
mod text;

use std::io::{self, Write};

use super::{DeviceDiff, Diff, ReportSource, Summary};
use crate::change::{ChangeKind, ChangeSection, Subject};
pub use crate::render::paper::Style;
use crate::render::{FormatEntry, json, phrase};

/// A form in which a comparison can be written.
pub trait RenderDiff {
    /// Writes it; `style` is of a terminal, for forms that are for one.
    fn render(&self, diff: &Diff, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// An output format of comparisons.
pub type DiffFormat = FormatEntry<dyn RenderDiff + Sync>;

/// Every form, in the order of help texts.
pub static DIFFS: &[DiffFormat] = &[
    DiffFormat {
        name: "text",
        extensions: &["txt"],
        about: "the important changes, for the terminal",
        renderer: &text::DiffText,
    },
    DiffFormat {
        name: "json",
        extensions: &["json"],
        about: "every change, one document",
        renderer: &DiffJson,
    },
    DiffFormat {
        name: "html",
        extensions: &["html", "htm"],
        about: "one self-contained page to read and print",
        renderer: &html::DiffHtml,
    },
    DiffFormat {
        name: "md",
        extensions: &["md", "markdown"],
        about: "Markdown that fits a pull request comment",
        renderer: &md::DiffMarkdown,
    },
];

/// The document itself.
struct DiffJson;

impl RenderDiff for DiffJson {
    fn render(&self, diff: &Diff, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(diff, out)
    }
}

/// What changed of a device, the important first.
fn sections(device: &DeviceDiff) -> Vec<ChangeSection> {
    let of = |heading: &str, subject| {
        ChangeSection::of(heading, ChangeKind::Changed, device.of(subject))
    };
    let kinds = ChangeKind::ALL.into_iter().filter_map(|kind| {
        let own = [Subject::Rule, Subject::Claim, Subject::Kernel]
            .into_iter()
            .flat_map(|subject| device.of(subject));
        let name = kind.name();
        let heading = name[..1].to_uppercase() + &name[1..];
        ChangeSection::of(&heading, kind, own.filter(|change| change.kind == kind))
    });
    let first = [
        of("Driver and identity", Subject::Identity),
        of("Classes", Subject::Class),
        of("Not measured", Subject::Incident),
        of("Traits changed", Subject::Trait),
        of("Causes changed", Subject::Cause),
    ];
    first.into_iter().flatten().chain(kinds).chain(of("Findings", Subject::Finding)).collect()
}

/// `old.json`, `old.json (seed 5)` or `12 reports`.
fn sources(sources: &[ReportSource]) -> String {
    match sources {
        [one] => match phrase::measured(one.run).strip_prefix(", ") {
            Some(run) => format!("{} ({run})", one.file),
            None => one.file.clone(),
        },
        several => phrase::number(several.len(), "report"),
    }
}

/// What changed in numbers, by kind: `3 causes, 4 rules, 9 kernels (558 inputs)`.
fn counts(summary: &Summary) -> Vec<(ChangeKind, String)> {
    let of_kind = |kind: ChangeKind| {
        let counts = summary.counts.iter().filter(|count| count.kind == kind);
        let phrases = counts.map(|count| {
            let name = match count.subject {
                Subject::Identity => "field",
                Subject::Class => "class",
                Subject::Device => "device",
                Subject::Incident => "incident",
                Subject::Trait => "trait",
                Subject::Cause => "cause",
                Subject::Rule => "rule",
                Subject::Claim => "claim",
                Subject::Kernel => "kernel",
                Subject::Finding => "finding",
            };
            let lanes = phrase::number(count.lanes, "input");
            let lanes = if count.lanes > 0 { format!(" ({lanes})") } else { String::new() };
            phrase::number(count.changes, name).replace("classs", "classes") + &lanes
        });
        (kind, phrases.collect::<Vec<_>>().join(", "))
    };
    ChangeKind::ALL.into_iter().map(of_kind).filter(|(_, counts)| !counts.is_empty()).collect()
}

/// That one side alone has a device.
fn alone(device: &DeviceDiff) -> Option<String> {
    let side = if device.presence()? == ChangeKind::Appeared { "new" } else { "old" };
    Some(format!("is in the {side} reports alone, with {}", device.driver))
}
