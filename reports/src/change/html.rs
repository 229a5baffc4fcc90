//! Sections of changes for a page, each lane with its bits.

use maud::{Markup, html};

use super::{ChangeKind, ChangeSection};
use crate::render::html::evidence;
use crate::render::phrase;

/// Entries shown of a section before the others are folded up.
const SHOWN: usize = 64;

/// A section; what regressed is open.
pub(crate) fn html(section: &ChangeSection) -> Markup {
    let (first, rest) = section.entries.split_at(section.entries.len().min(SHOWN));
    let list = |entries: &[super::sections::SectionEntry]| {
        html! {
            @for entry in entries {
                @if entry.lanes.is_empty() { p { (entry.title) @if !entry.note.is_empty() { " " small { (entry.note) } } } } @else {
                    details.lanes open[section.kind == ChangeKind::Regressed] {
                        summary { (entry.title) }
                        @if !entry.note.is_empty() { p.faint { (entry.note) } }
                        div.evidences {
                            @for lane in &entry.lanes { (evidence::figure(&lane.kernel, &lane.lines, &lane.command)) }
                        }
                    }
                }
            }
        }
    };
    html! {
        section {
            h3 { (section.heading) }
            (list(first))
            @if !rest.is_empty() { details { summary { (phrase::grouped(rest.len())) " more" } (list(rest)) } }
        }
    }
}

/// The kind, in the colour of the verdict that it is nearest to.
pub(crate) fn chip(kind: ChangeKind) -> Markup {
    let (style, sign) = match kind {
        ChangeKind::Regressed => ("deviates", "✕"),
        ChangeKind::Fixed => ("conforms", "●"),
        ChangeKind::Changed => ("permitted", "◐"),
        ChangeKind::Appeared => ("permitted", "+"),
        ChangeKind::Disappeared => ("incomplete", "–"),
        ChangeKind::NanBits => ("unsupported", "·"),
    };
    html! { span class={ "chip " (style) } { b aria-hidden="true" { (sign) } (kind.name()) } }
}
