//! Renderers: one file per output format, each behind [`Render`].

mod answers;
mod board;
pub mod caps;
mod cause;
pub(crate) mod csv;
mod field;
mod foot;
mod form;
pub(crate) mod html;
pub(crate) mod json;
mod jsonl;
pub(crate) mod junit;
mod key;
pub(crate) mod lane;
mod matrix;
pub(crate) mod md;
pub(crate) mod paper;
mod parquet;
pub(crate) mod phrase;
mod prometheus;
pub mod recipes;
pub mod subject;
mod summary;
pub(crate) mod text;
pub mod unrun;
mod vulkan_profile;

use std::io::{self, Write};
use std::path::Path;

pub use answers::ANSWERS;
pub use caps::Caps;
pub use cause::cause;
pub(crate) use cause::fix as cause_fix;
pub use csv::Csv;
pub use field::{field, some};
pub use foot::ReportPlace;
pub use form::{FormatEntry, UnknownFormat, for_path, named};
pub use html::Html;
pub use json::Json;
pub use jsonl::JsonLines;
pub use junit::Junit;
pub use matrix::matrix;
pub use md::Markdown;
pub use paper::{Detail, Ink, Paper, Style};
pub use parquet::Parquet;
pub use phrase::class_in_words;
pub use prometheus::Prometheus;
pub use recipes::Recipes;
pub use summary::{first_verdicts, side_by_side};
pub use text::Text;
pub use vulkan_profile::VulkanProfile;

use crate::model::Report;

/// A form in which a report can be written.
pub trait Render {
    /// Writes the whole report. What comes from drivers and files is escaped for the format.
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;

    /// Whether it is text; what is not belongs into a file, and fails where results cannot be read.
    fn is_text(&self) -> bool {
        true
    }

    /// The same for a terminal, where the format has colours and lines.
    fn show(&self, report: &Report, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        self.render(report, out)
    }

    /// What stands below it on a terminal: commands that lead on, and where the report is. Formats
    /// for programs have nothing.
    fn foot(
        &self,
        _report: &Report,
        _place: &ReportPlace,
        _style: Style,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }
}

/// An output format of reports.
pub type OutputFormat = FormatEntry<dyn Render + Sync>;

/// Every output format, in the order of help texts.
pub static FORMATS: &[OutputFormat] = &[
    OutputFormat {
        name: "text",
        extensions: &["txt"],
        about: "summary and deviations for the terminal",
        renderer: &Text { style: Style::PLAIN },
    },
    OutputFormat {
        name: "json",
        extensions: &["json"],
        about: "the whole report, one document",
        renderer: &Json,
    },
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
    OutputFormat {
        name: "junit",
        extensions: &["xml"],
        about: "JUnit XML for CI systems: a suite for each device and profile, a case for each rule",
        renderer: &Junit,
    },
    OutputFormat {
        name: "parquet",
        extensions: &["parquet"],
        about: "every result of every kernel as a table for SQL: a row for each lane",
        renderer: &Parquet,
    },
    OutputFormat {
        name: "csv",
        extensions: &["csv"],
        about: "one row per device, profile and rule",
        renderer: &Csv,
    },
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
    OutputFormat {
        name: "caps",
        extensions: &["caps"],
        about: "what may be relied on, what may not, and what is unknown, for programs that choose code paths",
        renderer: &Caps,
    },
    OutputFormat {
        name: "prometheus",
        extensions: &["prom"],
        about: "metrics for node_exporter's textfile collector",
        renderer: &Prometheus,
    },
    OutputFormat {
        name: "vulkan-profile",
        extensions: &["vkprofile"],
        about: "Vulkan Profiles JSON: float controls as claimed, and as verified",
        renderer: &VulkanProfile,
    },
];

/// The output format of this name.
pub fn by_name(name: &str) -> Result<&'static OutputFormat, UnknownFormat> {
    named(FORMATS, name)
}

/// The output format that the ending of a file name stands for, in small letters or capitals.
pub fn by_path(path: &Path) -> Result<&'static OutputFormat, UnknownFormat> {
    for_path(FORMATS, path)
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
        let message = |found: Result<&OutputFormat, UnknownFormat>| {
            found.map(|format| format.name).unwrap_err().to_string()
        };
        assert_eq!(
            message(by_name("yaml")),
            "unknown output format `yaml`; known are text, json, jsonl, html, junit, parquet, csv, md, recipes, caps, prometheus, \
             vulkan-profile"
        );
        assert!(message(by_path(Path::new("report"))).contains("known endings are .txt, .json"));
    }
}
