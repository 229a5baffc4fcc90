//! One cause in full.

use std::collections::BTreeSet;
use std::io::{self, Write};

use fpprobe_profiles::judge::Symptom;

use super::field::{field, some};
use super::paper::{Ink, Paper, Style};
use super::{lane, phrase, summary, text};
use crate::model::{Cause, Device, Report, Scope, Severity};
use crate::numbered::NumberedCause;

/// Kernels that are named.
const KERNELS: usize = 12;

/// Writes what a report holds of a cause: what the device does, where, which rules it breaks, and
/// lanes that show it.
pub fn cause(
    report: &Report,
    numbered: NumberedCause<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let NumberedCause { number, device, cause } = numbered;
    let paper = &mut Paper::new(out, style);
    let most = if paper.is_whole() { usize::MAX } else { KERNELS };
    paper.line(0, 2, &[(Ink::Strong, &format!("{number} ")), (Ink::Strong, &cause.headline)])?;
    let label = phrase::label(report, device);
    field(paper, "device", Ink::Plain, &format!("{label}; {}", phrase::driver(&device.identity)))?;
    field(paper, "id", Ink::Plain, &cause.id)?;
    field(paper, "severity", summary::severity_ink(cause.severity), cause.severity.name())?;
    field(paper, "scope", Ink::Plain, scope(cause.scope))?;
    let about = Symptom::find(&cause.symptom).map(Symptom::about).unwrap_or_default();
    field(
        paper,
        "symptom",
        Ink::Plain,
        format!("{}: {about}", cause.symptom).trim_end_matches(": "),
    )?;
    field(paper, "formats", Ink::Plain, &cause.formats.join(", "))?;
    field(paper, "operations", Ink::Plain, &some(&cause.operations, most))?;
    field(paper, "kernels", Ink::Plain, &some(&cause.kernels, most))?;
    field(paper, "lanes", Ink::Plain, &lanes(cause))?;
    field(paper, "fix", Ink::Note, &fix(device, cause))?;
    rules(paper, device, cause)?;
    for (title, evidence) in ["Simplest lane", "Worst lane"].into_iter().zip(&cause.evidence) {
        paper.gap()?;
        paper.line(0, 2, &[(Ink::Strong, title)])?;
        text::evidence(paper, evidence, lane::ACCEPTED)?;
    }
    beside(paper, cause)
}

/// What else is wrong with some of its lanes, each with one.
fn beside(paper: &mut Paper, cause: &Cause) -> io::Result<()> {
    if cause.beside.is_empty() {
        return Ok(());
    }
    paper.gap()?;
    paper.line(0, 2, &[(Ink::Strong, "Lanes of it that are wrong in another way")])?;
    for other in &cause.beside {
        let lanes = phrase::number(other.lanes, "lane");
        let title = format!("{}: {lanes} of {}", other.symptom, some(&other.operations, KERNELS));
        paper.line(2, 4, &[(Ink::Plain, &title)])?;
        if let Some(simplest) = &other.simplest {
            paper.line(4, 2, &[(Ink::Faint, &lane::sentence(simplest).to_string())])?;
        }
    }
    Ok(())
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::RunTime => "run time: operands from memory",
        Scope::Constants => {
            "constants only: literals and specialisation constants, which the compiler folds"
        }
    }
}

/// `12 at run time, 3 of constants`, how far the worst is off, and what is counted.
fn lanes(cause: &Cause) -> String {
    let run_time = cause.lanes.saturating_sub(cause.constants);
    let mut parts = Vec::new();
    parts.extend((run_time > 0).then(|| format!("{} at run time", phrase::grouped(run_time))));
    parts.extend(
        (cause.constants > 0).then(|| format!("{} of constants", phrase::grouped(cause.constants))),
    );
    // Between a number and a NaN, or a zero, there is no distance that says anything.
    let is_near = matches!(cause.severity, Severity::Inaccurate | Severity::LastBit);
    if cause.distance > 0 && is_near {
        let distance = usize::try_from(cause.distance).unwrap_or(usize::MAX);
        parts.push(format!("the worst is off by {}", phrase::number(distance, "encoding")));
    }
    parts.join(", ") + "; a lane counts for each rule of each profile that it breaks"
}

/// What makes it go away, as far as measured.
pub(crate) fn fix(device: &Device, cause: &Cause) -> String {
    if cause.fix.is_empty() {
        let modes = modes(device, cause);
        let modes =
            if modes.is_empty() { "no execution mode".to_owned() } else { phrase::needs(modes) };
        let eases: Vec<String> = cause
            .eases
            .iter()
            .map(|fix| {
                let helps = phrase::any_of(std::slice::from_ref(&fix.needs));
                let [helped, all] = [fix.lanes, cause.lanes].map(phrase::grouped);
                format!("{helps} for {helped} of {all} lanes")
            })
            .collect();
        return match &eases[..] {
            [] => format!("none known; its operations were measured under {modes}"),
            some => format!("none known for all of it; {}", some.join("; ")),
        };
    }
    format!("goes away with {}", phrase::any_of(&cause.fix))
}

/// Ids of the controls under which some operation of a cause ran.
fn modes<'a>(device: &'a Device, cause: &Cause) -> BTreeSet<&'a str> {
    let of_cause = |kernel: &str| {
        let operation = kernel
            .split(':')
            .next()
            .and_then(|stem| stem.split_once('.'))
            .map(|(_, operation)| operation);
        operation.is_some_and(|operation| cause.operations.iter().any(|one| one == operation))
    };
    let ran =
        device.observations.iter().filter(|one| one.outcome.answered() && of_cause(&one.kernel));
    let controls = ran.filter_map(|one| {
        one.kernel.split([':', ';']).find_map(|part| part.strip_prefix("controls="))
    });
    controls.flat_map(|controls| controls.split(',')).collect()
}

/// The rules that it breaks, each once, with the profiles that have it.
fn rules(paper: &mut Paper, device: &Device, cause: &Cause) -> io::Result<()> {
    paper.gap()?;
    paper.line(0, 2, &[(Ink::Strong, "Rules that it breaks")])?;
    for id in &cause.rules {
        let profiles =
            device.profiles.iter().filter(|profile| cause.profiles.contains(&profile.id));
        let found = profiles.filter_map(|profile| {
            Some((profile, profile.rules.iter().find(|rule| rule.id == *id)?))
        });
        let found: Vec<_> = found.filter(|(_, rule)| rule.failing > 0).collect();
        let Some((_, rule)) = found.first() else { continue };
        let profiles: Vec<&str> = found.iter().map(|(profile, _)| profile.id.as_str()).collect();
        paper.line(2, 4, &[(Ink::Bad, id), (Ink::Plain, " "), (Ink::Plain, &rule.title)])?;
        let place = format!("{} in {}; {}", rule.level.name(), profiles.join(", "), rule.citation);
        paper.line(4, 2, &[(Ink::Faint, &place)])?;
    }
    Ok(())
}
