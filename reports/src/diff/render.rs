//! Forms in which a comparison can be written: one file each, all of the document alone.

mod brief;
mod digest;
mod heading;
mod html;
mod md;
mod text;

use std::io::{self, Write};

use super::Diff;
pub use crate::render::paper::Style;
use crate::render::{FormatEntry, json};

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
    DiffFormat { name: "json", extensions: &["json"], about: "every change, one document", renderer: &DiffJson },
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
