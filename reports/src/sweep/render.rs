//! Forms in which a sweep can be written.

mod html;
mod text;

use std::io::{self, Write};

use super::Sweep;
use crate::render::paper::Style;
use crate::render::{Form, json};

/// A form in which a sweep can be written.
pub trait RenderSweep {
    /// Writes it; `style` is of a terminal, for forms that are for one.
    fn render(&self, sweep: &Sweep, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// An output format of sweeps.
pub type SweepFormat = Form<dyn RenderSweep + Sync>;

/// Every form, in the order of help texts.
pub static SWEEPS: &[SweepFormat] = &[
    SweepFormat { name: "text", extensions: &["txt"], about: "for the terminal", renderer: &text::Text },
    SweepFormat { name: "json", extensions: &["json"], about: "one document", renderer: &Json },
    SweepFormat { name: "html", extensions: &["html", "htm"], about: "a page of its own", renderer: &html::Html },
];

struct Json;

impl RenderSweep for Json {
    fn render(&self, sweep: &Sweep, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(sweep, out)
    }
}
