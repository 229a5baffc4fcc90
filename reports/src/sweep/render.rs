//! Forms in which a sweep can be written.

mod html;
mod text;

use std::io::{self, Write};

use super::Sweep;
use crate::render::paper::Style;
use crate::render::{FormatEntry, json};

/// A form in which a sweep can be written.
pub trait RenderSweep {
    /// Writes it; `style` is of a terminal, for forms that are for one.
    fn render(&self, sweep: &Sweep, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// An output format of sweeps.
pub type SweepFormat = FormatEntry<dyn RenderSweep + Sync>;

/// Every form, in the order of help texts.
pub static SWEEPS: &[SweepFormat] = &[
    SweepFormat {
        name: "text",
        extensions: &["txt"],
        about: "for the terminal",
        renderer: &text::SweepText,
    },
    SweepFormat {
        name: "json",
        extensions: &["json"],
        about: "one document",
        renderer: &SweepJson,
    },
    SweepFormat {
        name: "html",
        extensions: &["html", "htm"],
        about: "a page of its own",
        renderer: &html::SweepHtml,
    },
];

struct SweepJson;

impl RenderSweep for SweepJson {
    fn render(&self, sweep: &Sweep, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(sweep, out)
    }
}
