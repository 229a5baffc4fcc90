//! The important changes for a terminal, of bounded length: what is left out is counted.

use std::io::{self, Write};

use super::digest::{self, Family, RuleDigest};
use super::{RenderDiff, Style};
use super::{brief, heading};
use crate::diff::{
    CauseChange, ChangeKind, DeviceDiff, Diff, FieldChange, FindingChange, IncidentChange, Presence, ReportSource,
    Summary,
};
use crate::model::Level;
use crate::render::lane::ACCEPTED;
use crate::render::paper::{Ink, Paper, pad};
use crate::render::phrase;
use crate::render::text::{evidence, lane};

/// Claims, fields, findings and incidents shown of each device.
const SHOWN: usize = 16;

/// For people at a terminal.
pub(super) struct DiffText;

impl RenderDiff for DiffText {
    fn render(&self, diff: &Diff, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        let files = digest::arrow(&sources(&diff.old), &sources(&diff.new));
        paper.line(0, 2, &[(Ink::Strong, "Changes  "), (Ink::Faint, &files)])?;
        if diff.summary.empty {
            let devices = phrase::number(diff.summary.compared, "device");
            return paper.line(0, 2, &[(Ink::Good, "nothing changed"), (Ink::Plain, &format!(" on {devices}"))]);
        }
        if style.whole {
            summary(paper, &diff.summary)?;
        }
        incidents(paper, 0, &diff.incomplete)?;
        let several = diff.is_of_several();
        diff.devices.iter().filter(|device| !device.is_empty()).try_for_each(|device| {
            if style.whole { self::device(paper, device, several) } else { brief::device(paper, device, several) }
        })
    }
}

/// `old.json`, `old.json (seed 5)` or `12 reports`.
fn sources(sources: &[ReportSource]) -> String {
    match sources {
        [one] => match phrase::measured(one.run).strip_prefix(", ") {
            Some(run) => format!("{} ({run})", one.file),
            None => one.file.clone(),
        },
        several => phrase::number(several.len(), "report"),
    }
}

fn summary(paper: &mut Paper, summary: &Summary) -> io::Result<()> {
    let mut parts = vec![format!("{} compared", phrase::number(summary.compared, "device"))];
    for (count, what) in
        [(summary.updated, "with another driver"), (summary.appeared, "appeared"), (summary.vanished, "vanished")]
    {
        parts.extend((count > 0).then(|| format!("{count} {what}")));
    }
    parts.push(format!(
        "{} of {} changed",
        phrase::number(summary.lanes, "input"),
        phrase::number(summary.kernels, "kernel")
    ));
    paper.line(0, 2, &[(Ink::Plain, &parts.join(", "))])?;
    let column = summary.kinds.iter().map(|count| count.kind.name().len()).max().unwrap_or(0) + 2;
    for count in &summary.kinds {
        let named = [(count.rules, "rule"), (count.kernels, "kernel"), (count.lanes, "input"), (count.claims, "claim")];
        let named: Vec<String> =
            named.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| phrase::number(*count, noun)).collect();
        let kind = pad(count.kind.name(), column);
        paper.line(2, column, &[(ink(count.kind), &kind), (Ink::Plain, &named.join(", "))])?;
    }
    Ok(())
}

fn device(paper: &mut Paper, device: &DeviceDiff, several: bool) -> io::Result<()> {
    heading::title(paper, device, several)?;
    if device.presence != Presence::Both {
        return Ok(());
    }
    let column = device.identity.iter().map(|field| field.field.len()).max().unwrap_or(0) + 2;
    for change in &device.identity {
        let name = pad(&change.field, column);
        paper.line(2, column, &[(Ink::Faint, &name), (Ink::Plain, &digest::field(change))])?;
    }
    for change in &device.profiles {
        paper.line(2, 4, &[(Ink::Strong, &change.profile), (Ink::Plain, ": "), (Ink::Plain, &change.in_words())])?;
    }
    incidents(paper, 2, &device.incomplete)?;
    traits(paper, &device.traits)?;
    causes(paper, &device.causes)?;
    let (claims, families, rules) = (&device.claims, digest::families(device), digest::rules(device));
    for kind in ChangeKind::ALL {
        let rules: Vec<&RuleDigest<'_>> = rules.iter().filter(|one| one.change.kind == kind).collect();
        let families: Vec<&Family<'_>> = families.iter().filter(|family| family.kind == kind).collect();
        let claims = if kind == ChangeKind::Claim { &claims[..] } else { &[] };
        if !(rules.is_empty() && families.is_empty() && claims.is_empty()) {
            kind_heading(paper, kind)?;
        }
        rules.iter().take(most(kind)).try_for_each(|one| rule(paper, one))?;
        more(paper, rules.len(), most(kind), "rule")?;
        for change in claims.iter().take(SHOWN) {
            paper.line(
                2,
                4,
                &[(Ink::Plain, &change.field), (Ink::Plain, ": "), (Ink::Plain, &digest::field(change))],
            )?;
        }
        more(paper, claims.len(), SHOWN, "claim")?;
        families.iter().take(most(kind)).try_for_each(|family| self::family(paper, family))?;
        more(paper, families.len(), most(kind), "operation")?;
    }
    findings(paper, &device.findings)
}

fn traits(paper: &mut Paper, changes: &[FieldChange]) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    paper.gap()?;
    paper.line(0, 2, &[(Ink::Strong, digest::TRAITS)])?;
    for change in changes {
        paper.line(2, 4, &[(Ink::Plain, &change.field), (Ink::Plain, ": "), (Ink::Plain, &digest::field(change))])?;
    }
    Ok(())
}

fn causes(paper: &mut Paper, changes: &[CauseChange]) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    paper.gap()?;
    paper.line(0, 2, &[(Ink::Strong, digest::CAUSES)])?;
    for change in changes {
        let bad = change.presence == Presence::Appeared || change.is_worse();
        paper.line(2, 4, &[(if bad { Ink::Bad } else { Ink::Good }, &change.in_words())])?;
    }
    Ok(())
}

fn findings(paper: &mut Paper, findings: &[FindingChange]) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    paper.gap()?;
    paper.line(0, 2, &[(Ink::Strong, "Findings")])?;
    for change in findings.iter().take(SHOWN) {
        paper.line(2, 4, &[(Ink::Plain, &digest::finding(change))])?;
    }
    more(paper, findings.len(), SHOWN, "finding")
}

fn incidents(paper: &mut Paper, indent: usize, changes: &[IncidentChange]) -> io::Result<()> {
    for change in changes.iter().take(SHOWN) {
        paper.line(indent, indent + 2, &[(Ink::Doubt, "not measured, "), (Ink::Plain, &digest::incident(change))])?;
    }
    more(paper, changes.len(), SHOWN, "incident")
}

/// A rule whose verdict changed, and what shows that it is met no more.
fn rule(paper: &mut Paper, one: &RuleDigest<'_>) -> io::Result<()> {
    let change = one.change;
    let level = if change.level == Level::Required { String::new() } else { format!(", {}", change.level.name()) };
    let place = format!(" ({}{level})", one.profiles.join(", "));
    let head = [(Ink::Strong, &change.rule[..]), (Ink::Plain, " "), (Ink::Plain, &change.title), (Ink::Faint, &place)];
    paper.line(2, 4, &head)?;
    paper.line(4, 2, &[(Ink::Plain, &digest::verdicts(change))])?;
    digest::shown(change).map_or(Ok(()), |one| evidence(paper, one, ACCEPTED))
}

/// Kernels of one operation: the first lane of the first of them.
fn family(paper: &mut Paper, family: &Family<'_>) -> io::Result<()> {
    paper.line(2, 4, &[(Ink::Plain, &family.title())])?;
    let Some(group) = family.group().filter(|group| group.kind != ChangeKind::NanBits) else { return Ok(()) };
    paper.line(4, 2, &[(Ink::Faint, &digest::judged(group))])?;
    let kernel = &family.first().kernel;
    group
        .lanes
        .first()
        .map_or(Ok(()), |one| lane(paper, kernel, &digest::lines(kernel, one), &digest::command(kernel, one)))
}

fn kind_heading(paper: &mut Paper, kind: ChangeKind) -> io::Result<()> {
    let name = kind.name();
    let name = name[..1].to_uppercase() + &name[1..];
    paper.gap()?;
    paper.line(0, 2, &[(ink(kind), &name)])
}

fn more(paper: &mut Paper, count: usize, shown: usize, what: &str) -> io::Result<()> {
    if count <= shown {
        return Ok(());
    }
    let more = format!("{} more; --format json has everything", phrase::number(count - shown, what));
    paper.line(2, 2, &[(Ink::Faint, &more)])
}

/// Rules, and families of kernels, shown of a kind.
fn most(kind: ChangeKind) -> usize {
    match kind {
        ChangeKind::NewlyDeviating => 16,
        ChangeKind::NewlyAvoidable
        | ChangeKind::NewlyConforming
        | ChangeKind::AvoidedBefore
        | ChangeKind::DeviatesOtherwise => 8,
        _ => 4,
    }
}

fn ink(kind: ChangeKind) -> Ink {
    match kind {
        ChangeKind::NewlyDeviating | ChangeKind::NewlyAvoidable | ChangeKind::DeviatesOtherwise => Ink::Bad,
        ChangeKind::NewlyConforming | ChangeKind::AvoidedBefore => Ink::Good,
        ChangeKind::Permitted | ChangeKind::Unjudged | ChangeKind::Claim | ChangeKind::Appeared => Ink::Note,
        ChangeKind::Vanished | ChangeKind::Unmeasurable => Ink::Doubt,
        ChangeKind::NanBits => Ink::Faint,
    }
}
