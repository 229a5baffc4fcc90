//! What stands below a report on a terminal: what to type next, and where the report is.

use std::io;

use super::paper::{Ink, Paper, together};
use crate::model::Report;

/// Where a report that is shown can be read again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReportPlace {
    /// It is the last one of the usual store.
    Last,
    /// Elsewhere: the argument, or arguments, by which `show` and `repro` find it.
    Argument(String),
    /// It is sent to this address.
    Address(String),
    /// It is only shown.
    Nowhere,
}

/// Writes commands that lead on from this report, and its place.
pub(super) fn write(paper: &mut Paper, report: &Report, place: &ReportPlace) -> io::Result<()> {
    // Of no device there is nothing to look at or to keep.
    if report.devices.is_empty() {
        return Ok(());
    }
    let causes = report.devices.iter().map(|device| device.causes.len()).sum::<usize>();
    let (argument, kept) = match place {
        ReportPlace::Last => (String::new(), "report kept as `last`".to_owned()),
        ReportPlace::Argument(argument) => {
            (format!(" {argument}"), format!("report kept: {argument}"))
        }
        ReportPlace::Address(address) => {
            let text = format!("report goes to {address}");
            return paper.line(0, 2, &[(Ink::Faint, &text)]);
        }
        ReportPlace::Nowhere => {
            let text = "report not kept: `-o FOLDER` writes it to files";
            return paper.line(0, 2, &[(Ink::Faint, text)]);
        }
    };
    let mut parts = Vec::new();
    if causes > 0 {
        parts.push(format!("fpprobe show 1{argument}"));
        parts.push(format!("fpprobe repro {}{argument}", causes.min(2)));
    }
    if report.devices.iter().any(|device| !device.traits.is_empty()) {
        parts.push(format!("fpprobe show traits{argument}"));
    }
    parts.push(kept);
    let parts: Vec<String> = parts.iter().map(|part| together(part)).collect();
    paper.line(0, 2, &[(Ink::Faint, &parts.join(" · "))])
}
