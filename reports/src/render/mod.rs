//! Renderers: one file per output format, each behind [`Render`].

mod answers;
mod csv;
mod html;
mod json;
mod jsonl;
mod lane;
mod md;
mod paper;
mod phrase;
mod recipes;
mod text;

use std::io::{self, Write};
use std::path::Path;

pub use answers::ANSWERS;
pub use csv::Csv;
pub use html::Html;
pub use json::Json;
pub use jsonl::JsonLines;
pub use md::Markdown;
pub use paper::Style;
pub use recipes::Recipes;
pub use text::Text;

use crate::model::Report;

/// A form in which a report can be written.
pub trait Render {
    /// Writes the whole report. What comes from drivers and files is escaped for the format.
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;

    /// The same for a terminal, where the format has colours and lines.
    fn show(&self, report: &Report, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        self.render(report, out)
    }
}

/// An output format: its names and its renderer.
pub struct OutputFormat {
    /// Name for `--format`.
    pub name: &'static str,
    /// File extensions that stand for it, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for help texts.
    pub about: &'static str,
    /// The renderer, with defaults.
    pub renderer: &'static (dyn Render + Sync),
}

/// Every output format, in the order of help texts.
pub static FORMATS: &[OutputFormat] = &[
    OutputFormat {
        name: "text",
        extensions: &["txt"],
        about: "summary and deviations for the terminal",
        renderer: &Text { style: Style::PLAIN },
    },
    OutputFormat { name: "json", extensions: &["json"], about: "the whole report, one document", renderer: &Json },
    OutputFormat {
        name: "jsonl",
        extensions: &["jsonl", "ndjson"],
        about: "one JSON document a line: observations, verdicts, findings",
        renderer: &JsonLines,
    },
    OutputFormat {
        name: "html",
        extensions: &["html", "htm"],
        about: "one self-contained page to read, filter and print",
        renderer: &Html,
    },
    OutputFormat { name: "csv", extensions: &["csv"], about: "one row per device, profile and rule", renderer: &Csv },
    OutputFormat {
        name: "md",
        extensions: &["md", "markdown"],
        about: "Markdown that fits a pull request comment",
        renderer: &Markdown,
    },
    OutputFormat {
        name: "recipes",
        extensions: &["recipes"],
        about: "what a translation layer must emit on each device, in SPIR-V's terms, to be read when it starts",
        renderer: &Recipes,
    },
];

/// No such output format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownFormat {
    /// By name.
    #[error("unknown output format `{name}`; known are {}", known_names())]
    Name {
        /// What was asked for.
        name: String,
    },
    /// By file name.
    #[error(
        "cannot tell the output format from the file name `{file}`; known endings are {}, or name a format with --format",
        known_extensions()
    )]
    Extension {
        /// The file.
        file: String,
    },
}

/// The output format of this name.
pub fn by_name(name: &str) -> Result<&'static OutputFormat, UnknownFormat> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| UnknownFormat::Name { name: name.to_owned() })
}

/// The output format that the ending of a file name stands for, in small letters or capitals.
pub fn by_path(path: &Path) -> Result<&'static OutputFormat, UnknownFormat> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    FORMATS
        .iter()
        .find(|format| format.extensions.contains(&extension.as_str()))
        .ok_or_else(|| UnknownFormat::Extension { file: path.display().to_string() })
}

fn known_names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

fn known_extensions() -> String {
    let extensions = FORMATS.iter().flat_map(|format| format.extensions);
    extensions.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name_and_ending() {
        for format in FORMATS {
            assert_eq!(by_name(format.name).map(|found| found.name), Ok(format.name));
            for extension in format.extensions {
                let path = format!("out/report.{}", extension.to_uppercase());
                assert_eq!(by_path(Path::new(&path)).map(|found| found.name), Ok(format.name));
            }
        }
        let message =
            |found: Result<&OutputFormat, UnknownFormat>| found.map(|format| format.name).unwrap_err().to_string();
        assert_eq!(
            message(by_name("yaml")),
            "unknown output format `yaml`; known are text, json, jsonl, html, csv, md, recipes"
        );
        assert!(message(by_path(Path::new("report"))).contains("known endings are .txt, .json"));
    }
}
