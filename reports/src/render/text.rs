//! The terminal summary: one row per device and profile, then deviations, one per cause, then what
//! else there is.

use std::io::{self, Write};

use super::paper::{Detail, Ink, Paper, Style, pad, together};
use super::unrun::unrun;
use super::{Render, ReportPlace, foot, lane, phrase, summary};
use crate::broken_rules::{BrokenRule, broken_rules};
use crate::escape::visible;
use crate::model::{APPLICATION, Device, Evidence, Finding, Incident, Report, Verdict};
use crate::numbered::first_number;
use crate::scoreboard::Scoreboard;

/// Lanes of evidence shown per cause; the report holds more.
const EVIDENCE: usize = 2;
/// Findings shown of each kind.
const FINDINGS: usize = 4;

/// Text for people; see [`Style`] for colour and width.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Colour and width.
    pub style: Style,
}

impl Render for Text {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.show(report, self.style, out)
    }

    fn show(&self, report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        if style.detail < Detail::All {
            return summary::write(paper, report);
        }
        let profiles = phrase::all_profiles(&report.devices);
        let title = format!("{} {}", report.program.name, report.program.version);
        let scope = format!(
            "  {}, {}, {}",
            phrase::number(report.devices.len(), "device"),
            phrase::number(profiles.len(), "profile"),
            report.started
        ) + &phrase::measured(report.run);
        paper.line(0, 2, &[(Ink::Strong, &title), (Ink::Faint, &scope)])?;
        let column = profiles.iter().map(|id| visible(id).chars().count()).max().unwrap_or(0);
        for device in &report.devices {
            paper.gap()?;
            head(paper, device, column)?;
        }
        for (place, device) in report.devices.iter().enumerate() {
            let several = report.devices.len() > 1;
            let name = if several {
                format!(": {}", phrase::label(report, device))
            } else {
                String::new()
            };
            details(paper, device, first_number(report, place), &name)?;
        }
        if !report.incomplete.is_empty() {
            paper.gap()?;
            paper.line(0, 2, &[(Ink::Strong, "Drivers and devices that could not be measured")])?;
            for incident in &report.incomplete {
                self::incident(paper, incident)?;
            }
        }
        Ok(())
    }

    fn foot(
        &self,
        report: &Report,
        place: &ReportPlace,
        style: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        foot::write(&mut Paper::new(out, style), report, place)
    }
}

/// The device and its row for each profile.
fn head(paper: &mut Paper, device: &Device, column: usize) -> io::Result<()> {
    paper.line(0, 2, &[(Ink::Strong, &device.identity.name)])?;
    let about = format!("{}, {}", device.identity.kind, phrase::driver(&device.identity));
    paper.line(2, 2, &[(Ink::Faint, &about)])?;
    // The usual name says nothing.
    if !["", APPLICATION].contains(&device.application.as_str()) {
        paper.line(
            2,
            2,
            &[(Ink::Plain, "measured as application "), (Ink::Strong, &device.application)],
        )?;
    }
    for taint in &device.taint {
        paper.line(2, 2, &[(Ink::Doubt, "tainted: "), (Ink::Plain, taint)])?;
    }
    for profile in &device.profiles {
        let id = pad(&profile.id, column + 2);
        let class = pad(profile.class.name(), 15);
        let counts: Vec<String> =
            phrase::count_list(&profile.counts).iter().map(|count| together(count)).collect();
        let counts = counts.join(", ");
        let conditions = phrase::conditions(profile);
        let conditions =
            if conditions.is_empty() { String::new() } else { format!("; {conditions}") };
        let pieces = [
            (Ink::Plain, id.as_str()),
            (Ink::of_class(profile.class), &class),
            (Ink::Plain, &counts),
            (Ink::Note, &conditions),
        ];
        // Where the terminal is too narrow for a third column, what does not fit goes below.
        let hang = if paper.width() >= column + 50 { column + 17 } else { 4 };
        paper.line(2, hang, &pieces)?;
    }
    if device.profiles.is_empty() {
        paper.line(2, 2, &[(Ink::Doubt, "not judged by any profile")])?;
    }
    Ok(())
}

/// `name` tells the device apart where there are several; `first` is the number of its first cause.
fn details(paper: &mut Paper, device: &Device, first: usize, name: &str) -> io::Result<()> {
    if Scoreboard::of(device).is_some() {
        paper.gap()?;
        paper.line(0, 2, &[(Ink::Strong, "Areas by profiles"), (Ink::Faint, name)])?;
        summary::profiles(paper, device)?;
    }
    summary::causes(paper, device, first, name)?;
    let causes = broken_rules(device);
    if !causes.is_empty() {
        paper.gap()?;
        paper.line(0, 2, &[(Ink::Strong, "Rules that are not met"), (Ink::Faint, name)])?;
        for cause in &causes {
            paper.gap()?;
            self::cause(paper, cause)?;
        }
    }
    if !device.findings.is_empty() {
        paper.gap()?;
        paper.line(0, 2, &[(Ink::Strong, "Findings"), (Ink::Faint, name)])?;
        findings(paper, &device.findings)?;
    }
    let unrun = unrun(device);
    if !device.incomplete.is_empty() || !unrun.is_empty() {
        paper.gap()?;
        paper.line(0, 2, &[(Ink::Strong, "Not measured"), (Ink::Faint, name)])?;
        for unrun in unrun {
            paper.line(2, 2, &[(Ink::Plain, &format!("claimed by the device: {unrun}"))])?;
        }
        for incident in phrase::gathered(&device.incomplete) {
            self::incident(paper, &incident)?;
        }
    }
    Ok(())
}

fn cause(paper: &mut Paper, cause: &BrokenRule) -> io::Result<()> {
    let rule = cause.rule;
    let ink = if rule.verdict == Verdict::Depends { Ink::Note } else { Ink::Bad };
    paper.line(2, 2, &[(ink, &rule.id), (Ink::Plain, " "), (Ink::Strong, &rule.title)])?;
    let place = format!(
        "{} in {}; {}; {}",
        rule.level.name(),
        phrase::profile_ids(&cause.profiles),
        phrase::lanes(rule),
        rule.citation
    );
    paper.line(4, 2, &[(Ink::Faint, &place)])?;
    if !rule.behaviour.is_empty() {
        let says = if rule.verdict == Verdict::Depends { "depends on " } else { "seen: " };
        paper.line(4, 2, &[(Ink::Plain, says), (Ink::Plain, &rule.behaviour)])?;
    }
    if let Some(modes) = phrase::fixed_by(rule) {
        paper.line(4, 2, &[(Ink::Note, &modes)])?;
    }
    for evidence in cause.evidence.iter().take(EVIDENCE) {
        self::evidence(paper, evidence, lane::ACCEPTED)?;
    }
    if cause.evidence.len() > EVIDENCE {
        let more = format!("{} more as evidence in the report", cause.evidence.len() - EVIDENCE);
        paper.line(4, 2, &[(Ink::Faint, &more)])?;
    }
    if !cause.dependents.is_empty() {
        paper.line(
            4,
            2,
            &[(Ink::Faint, "also fail because of it: "), (Ink::Note, &phrase::dependents(cause))],
        )?;
    }
    Ok(())
}

/// Findings of one kind are often alike: a few of each, the first with its evidence.
fn findings(paper: &mut Paper, findings: &[Finding]) -> io::Result<()> {
    let mut kinds: Vec<&str> = Vec::new();
    for finding in findings {
        if !kinds.contains(&finding.kind.as_str()) {
            kinds.push(&finding.kind);
        }
    }
    for kind in kinds {
        let alike = || findings.iter().filter(|finding| finding.kind == kind);
        for (index, finding) in alike().take(FINDINGS).enumerate() {
            paper.line(
                2,
                2,
                &[(Ink::Doubt, kind), (Ink::Plain, ": "), (Ink::Plain, &finding.text)],
            )?;
            if let (0, Some(evidence)) = (index, finding.evidence.first()) {
                self::evidence(paper, evidence, lane::against(finding))?;
            }
        }
        let more = alike().count().saturating_sub(FINDINGS);
        if more > 0 {
            paper.line(
                2,
                2,
                &[(Ink::Doubt, kind), (Ink::Faint, &format!(": {more} more in the report"))],
            )?;
        }
    }
    Ok(())
}

/// A lane of evidence, and what it stands against.
pub(crate) fn evidence(paper: &mut Paper, evidence: &Evidence, against: &str) -> io::Result<()> {
    lane(paper, &evidence.kernel, &lane::lines(evidence, against), &evidence.command)
}

/// A lane under its kernel's name, and the command that shows it, if there is one.
pub(crate) fn lane(
    paper: &mut Paper,
    kernel: &str,
    lines: &[lane::EvidenceLine],
    command: &str,
) -> io::Result<()> {
    paper.line(4, 2, &[(Ink::Plain, kernel)])?;
    let column = lines.iter().map(|line| line.hex.len()).max().unwrap_or(0) + 2;
    let labels = lines.iter().map(|line| line.name.len()).max().unwrap_or(0).max(8) + 2;
    for line in lines {
        let label = pad(&line.name, labels);
        let hex = if line.hex.is_empty() { String::new() } else { pad(&line.hex, column) };
        paper.line(
            6,
            labels,
            &[(Ink::Faint, &label), (Ink::Plain, &hex), (Ink::Plain, &line.value)],
        )?;
    }
    if command.is_empty() { Ok(()) } else { paper.whole(6, Ink::Note, command) }
}

fn incident(paper: &mut Paper, incident: &Incident) -> io::Result<()> {
    let outcome = phrase::incident(incident.outcome);
    let subject = if incident.subject == "-" { "the device" } else { &incident.subject };
    let detail =
        if incident.detail.is_empty() { String::new() } else { format!(": {}", incident.detail) };
    paper.line(
        2,
        2,
        &[(Ink::Doubt, outcome), (Ink::Plain, " "), (Ink::Plain, subject), (Ink::Plain, &detail)],
    )
}
