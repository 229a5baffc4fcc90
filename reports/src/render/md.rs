//! Markdown for a pull request comment: the matrix first, then deviations folded up, within a
//! comment's size.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Render, lane, phrase};
use crate::broken_rules::{BrokenRule, broken_rules};
use crate::escape::visible;
use crate::model::{Device, Evidence, Incident, Report};

/// GitHub refuses comments of more than 65,536 characters; some are left for who posts them.
const BUDGET: usize = 60_000;
/// Lanes of evidence shown per cause.
const EVIDENCE: usize = 2;
/// Findings listed per device.
const FINDINGS: usize = 8;

/// GitHub-flavoured Markdown.
#[derive(Clone, Copy, Debug)]
pub struct Markdown;

impl Render for Markdown {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let blocks = report
            .devices
            .iter()
            .flat_map(|device| device_blocks(report, device))
            .chain(report_blocks(report));
        out.write_all(comment(matrix(report), blocks, "the report").as_bytes())
    }
}

/// As many of the blocks as fit into a comment; `all` is what holds the others.
pub(crate) fn comment(mut page: String, blocks: impl Iterator<Item = String>, all: &str) -> String {
    let mut left_out = 0;
    for block in blocks {
        // Whole blocks only: half a table or an open fold would swallow the rest of the page.
        if page.len() + block.len() > BUDGET { left_out += 1 } else { page.push_str(&block) }
    }
    if left_out > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            page,
            "\n{} did not fit here; {all} holds everything.\n",
            phrase::number(left_out, "section")
        );
    }
    page
}

fn matrix(report: &Report) -> String {
    let profiles = phrase::all_profiles(&report.devices);
    let mut page = format!(
        "## Floating-point conformance\n\n{} {}, {}\n\n",
        escape(&report.program.name),
        escape(&report.program.version),
        escape(&report.started)
    );
    if report.devices.is_empty() {
        page.push_str("No device could be measured.\n");
        return page;
    }
    let heads: Vec<String> = profiles.iter().map(|id| escape(id)).collect();
    let _ = writeln!(
        page,
        "| Device | {} |\n|---|{}",
        heads.join(" | "),
        "---|".repeat(profiles.len())
    );
    for device in &report.devices {
        let _ = write!(
            page,
            "| {}<br>{} |",
            code(&device.identity.name),
            code(&phrase::driver(&device.identity))
        );
        for id in &profiles {
            let Some(profile) = device.profiles.iter().find(|profile| profile.id == *id) else {
                page.push_str(" not judged |");
                continue;
            };
            let conditions = phrase::conditions(profile);
            let conditions = if conditions.is_empty() {
                String::new()
            } else {
                format!("<br>{}", escape(&conditions))
            };
            let counts = phrase::counts(&profile.counts);
            let _ = write!(page, " **{}**{conditions}<br>{counts} |", profile.class.name());
        }
        page.push('\n');
    }
    page
}

fn device_blocks(report: &Report, device: &Device) -> Vec<String> {
    let causes = broken_rules(device);
    let mut blocks = Vec::new();
    let heading = |what: &str| format!("\n### {what}: {}\n", code(&phrase::label(report, device)));
    for (index, cause) in causes.iter().enumerate() {
        let title = if index == 0 { heading("Deviations") } else { String::new() };
        blocks.push(title + &cause_block(cause));
    }
    if !device.taint.is_empty() {
        blocks.push(heading("Tainted") + &list(device.taint.iter().map(|taint| code(taint))));
    }
    if !device.findings.is_empty() {
        // The gravest come first in a report; many are alike.
        let findings = device.findings.iter().take(FINDINGS);
        let lines =
            findings.map(|finding| format!("{}: {}", escape(&finding.kind), escape(&finding.text)));
        let more = device.findings.len().saturating_sub(FINDINGS);
        let more = if more > 0 { format!("- {more} more in the report\n") } else { String::new() };
        blocks.push(heading("Findings") + &list(lines) + &more);
    }
    if !device.incomplete.is_empty() {
        blocks.push(heading("Not measured") + &incidents(&device.incomplete));
    }
    blocks
}

fn report_blocks(report: &Report) -> Option<String> {
    (!report.incomplete.is_empty()).then(|| {
        format!(
            "\n### Drivers and devices that could not be measured\n{}",
            incidents(&report.incomplete)
        )
    })
}

pub(crate) fn list(lines: impl Iterator<Item = String>) -> String {
    lines.fold("\n".to_owned(), |list, line| list + "- " + &line + "\n")
}

fn incidents(incidents: &[Incident]) -> String {
    list(phrase::gathered(incidents).iter().map(|incident| {
        let subject =
            if incident.subject == "-" { "the device".to_owned() } else { code(&incident.subject) };
        let detail = if incident.detail.is_empty() {
            String::new()
        } else {
            format!(": {}", code(&incident.detail))
        };
        format!("{} {subject}{detail}", phrase::incident(incident.outcome))
    }))
}

fn cause_block(cause: &BrokenRule) -> String {
    let rule = cause.rule;
    let mut body = format!(
        "\n{} in {}; {}; {}\n",
        rule.level.name(),
        escape(&phrase::profile_ids(&cause.profiles)),
        phrase::lanes(rule),
        escape(&rule.citation)
    );
    if let Some(modes) = phrase::fixed_by(rule) {
        let _ = write!(body, "\nThis {}.\n", escape(&modes));
    }
    if !cause.dependents.is_empty() {
        let _ = write!(body, "\nAlso fail because of it: {}\n", escape(&phrase::dependents(cause)));
    }
    for evidence in cause.evidence.iter().take(EVIDENCE) {
        body.push_str(&evidence_block(evidence));
    }
    folded(&rule.id, &format!(" {} ({})", rule.title, rule.verdict.name()), &body)
}

/// A body that is folded up under a line of text, which begins in bold type.
pub(crate) fn folded(bold: &str, rest: &str, body: &str) -> String {
    // The line is HTML, where backslashes escape nothing.
    let (bold, rest) = (guarded(bold, false), guarded(rest, false));
    format!("\n<details><summary><b>{bold}</b>{rest}</summary>\n{body}\n</details>\n")
}

/// A lane that a rule does not accept.
pub(crate) fn evidence_block(evidence: &Evidence) -> String {
    lane_block(&evidence.kernel, &lane::lines(evidence, lane::ACCEPTED), &evidence.command)
}

/// A lane as a table under the kernel's name, and the command that shows it, if there is one.
pub(crate) fn lane_block(kernel: &str, lines: &[lane::EvidenceLine], command: &str) -> String {
    let mut block = format!("\n| {} | bits | value |\n|---|---|---|\n", code(kernel));
    for line in lines {
        let _ =
            writeln!(block, "| {} | {} | {} |", line.name, code(&line.hex), escape(&line.value));
    }
    if command.is_empty() {
        return block;
    }
    // A fence longer than any run of backticks in it; the command is one line.
    let command = visible(command);
    let fence = "`".repeat(longest_run(&command).max(2) + 1);
    let _ = write!(block, "\n{fence}sh\n{command}\n{fence}\n");
    block
}

/// Text as text: no markup, no links, no mentions.
pub(crate) fn escape(text: &str) -> String {
    guarded(text, true)
}

/// The same as Markdown or as HTML within it.
fn guarded(text: &str, markdown: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            // A mention or reference would notify people and link issues; an empty comment keeps it
            // from being one.
            '@' | '#' => {
                safe.push(c);
                safe.push_str("<!-- -->");
            }
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '|' | '~' | '!' | '$' if markdown => {
                safe.push('\\');
                safe.push(c);
            }
            '\\' | '`' | '*' | '{' | '}' | '[' | ']' | '|' | '~' | '!' | '$' => {
                // Writing to a string cannot fail.
                let _ = write!(safe, "&#x{:x};", u32::from(c));
            }
            _ => safe.push(c),
        }
    }
    safe.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
}

/// Text as code, which nothing inside can end; a bar would end the cell of a table even there.
pub(crate) fn code(text: &str) -> String {
    let text = visible(text);
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(text) + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{ticks}{space}{}{space}{ticks}", text.replace('|', "\\|"))
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escape("rsq(-0) = -INF | *x* <b>"), "rsq(-0) = -INF \\| \\*x\\* &lt;b&gt;");
        assert_eq!(escape("@team #1"), "@<!-- -->team #<!-- -->1");
        assert_eq!(escape("https://x.example"), "https:<!-- -->//x.example");
        assert_eq!(code("a`b``c|d\n"), "``` a`b``c\\|d\\u{a} ```");
        assert_eq!(code(" "), "");
        let folded = folded("f16_a*", " <b> @team [x]", "");
        assert!(
            folded.contains("<b>f16_a&#x2a;</b> &lt;b&gt; @<!-- -->team &#x5b;x&#x5d;</summary>"),
            "{folded}"
        );
    }
}
