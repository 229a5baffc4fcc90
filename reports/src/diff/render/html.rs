//! One self-contained page in the look of the report's: nothing is loaded, nothing runs, it prints.

mod matrix;

use std::io::{self, Write};

use maud::{Markup, html};

use super::{RenderDiff, Style, alone, counts, sections};
use crate::change::{self, ChangeKind, ChangeSection, chip};
use crate::diff::{DeviceDiff, Diff, ReportSource, Summary};
use crate::escape::visible_lines;
use crate::render::html::day;
use crate::render::html::frame::{Frame, scrolling};
use crate::render::phrase;

/// A page.
pub(super) struct DiffHtml;

impl RenderDiff for DiffHtml {
    fn render(&self, diff: &Diff, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(visible_lines(&page(diff).into_string()).as_bytes())
    }
}

fn page(diff: &Diff) -> Markup {
    let frame = Frame {
        program: &diff.program,
        title: "Floating-point changes",
        headline: &headline(&diff.summary),
        source: html! { (sources(&diff.old)) " → " (sources(&diff.new)) },
        subject: "changes",
        foot: html! {
            "Verdicts of rules are those of the reports; inputs are judged by the profiles of the version that compared. Every changed input is "
            "in the comparison as JSON, " code { (diff.schema) } "."
        },
    };
    frame.page(&html! {
        @if let Some(matrix) = matrix::matrix(diff) { section { h2.quiet { "Devices by profile" } (matrix) } }
        @if !diff.summary.counts.is_empty() {
            section {
                h2.quiet { "Changes, the most important first" }
                ul { @for (kind, counts) in counts(&diff.summary) { li { (chip(kind)) " " (counts) } } }
            }
        }
        @if let Some(section) = ChangeSection::of("Not measured", ChangeKind::Changed, diff.incomplete.iter()) { (change::html(&section)) }
        @for (index, device) in diff.devices.iter().enumerate().filter(|(_, device)| !device.is_empty()) {
            (section(index, device, diff.is_of_several()))
        }
    })
}

fn headline(summary: &Summary) -> String {
    let devices = phrase::number(summary.compared, "device");
    if summary.empty {
        return format!("nothing changed on {devices}");
    }
    let inputs = phrase::number(summary.lanes, "input");
    format!("{inputs} of {} changed on {devices}", phrase::number(summary.kernels, "kernel"))
}

fn sources(sources: &[ReportSource]) -> Markup {
    html! {
        @for (index, source) in sources.iter().enumerate() {
            @if index > 0 { ", " }
            (source.file) " (" time datetime=(source.started) { (day(&source.started)) } (phrase::measured(source.run)) ")"
        }
    }
}

fn section(index: usize, device: &DeviceDiff, several: bool) -> Markup {
    html! {
        section.device #{ "d" (index) } aria-label=(device.name) {
            header {
                h2 { (device.name) }
                p { code { (device.slot) } @if several { " of host " code { (device.host) } } }
            }
            @match alone(device) {
                Some(alone) => p { "It " (alone) "." }
                None => @for section in sections(device) { (change::html(&section)) }
            }
        }
    }
}
