//! `fpprobe show [CAUSE|RULE|KERNEL|WORDS] [REPORT]`: one of them in full, with the evidence of a
//! report; `fpprobe show REPORT REPORT...`: their devices side by side.

mod description;
pub mod lookup;
mod words;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use fpprobe_profiles::Profile;
use fpprobe_profiles::catalogue::Catalogue;
use fpprobe_reports::Report;
use fpprobe_reports::model::DeviceTrait;
use fpprobe_reports::render::{
    Ink, Paper, Render as _, ReportPlace, Style, Text, cause, matrix, side_by_side, some, subject,
};
use fpprobe_reports::traits::{self, TraitDefinition};

use self::lookup::{Candidate, ShownSubject, SubjectFinder};
use crate::cli::ShowArgs;
use crate::exit::Status;
use crate::output::{self, quoted};
use crate::session::Session;
use crate::{named_report, profiles};
use fpprobe_system::usage::{say, usage_error};

/// Subjects that are listed where several match.
const LISTED: usize = 24;
/// Traits that are named of those that a report lacks.
const NAMED: usize = 4;

/// Shows what the words name, or the causes of the report.
pub fn main(session: &Session, args: &ShowArgs) -> anyhow::Result<Status> {
    if let [_, _, ..] = &args.what[..]
        && args.what.iter().all(|name| names_report(name))
    {
        return several(session, args);
    }
    let (words, name) = parts(&args.what);
    if let [_, .., other] = words
        && names_report(other)
    {
        return Err(usage_error(format!(
            "`{other}` is a report, and another one follows: of several reports `fpprobe show` shows the devices side by side, without other words"
        )));
    }
    let report = match name {
        Some(name) => Some(named_report::read(&session.config, &args.place, Path::new(name))?),
        None => last(session, args),
    };
    let mut out = output::stdout();
    let place = args
        .place
        .store_path
        .iter()
        .map(|path| format!(" --store-path {}", quoted(&path.to_string_lossy())));
    let argument = name.map_or(String::new(), |name| format!(" {}", quoted(name)))
        + &place.collect::<String>();
    if words.is_empty() {
        let report = report
            .ok_or_else(|| usage_error("there is no last report: `fpprobe run` keeps one"))?;
        let place = match argument.trim() {
            "" => ReportPlace::Last,
            argument => ReportPlace::Argument(argument.to_owned()),
        };
        let text = Text { style: session.style() };
        text.show(&report, session.style(), &mut out)?;
        text.foot(&report, &place, session.style(), &mut out)?;
    } else {
        let (profiles, catalogue) = (profiles::profiles(&[])?, Catalogue::built_in()?);
        let lookup =
            SubjectFinder { report: report.as_ref(), profiles: &profiles, catalogue: &catalogue };
        let found = lookup.find(&words.join(" "))?;
        match &found[..] {
            [one] => {
                let shown = ShownReport {
                    report: report.as_ref(),
                    argument: &argument,
                    style: session.style(),
                };
                shown.write(&one.subject, &profiles, &catalogue, &mut out)?;
            }
            several => list(several, &argument, &mut Paper::new(&mut out, session.style()))?,
        }
    }
    out.flush()?;
    Ok(Status::Done)
}

/// Whether this names a report and nothing else.
fn names_report(name: &str) -> bool {
    named_report::is_only_report(name) || named_report::is_folder(name)
}

/// Shows the devices of several reports side by side, then each report.
fn several(session: &Session, args: &ShowArgs) -> anyhow::Result<Status> {
    let read = |name: &String| {
        let report = named_report::read(&session.config, &args.place, Path::new(name))?;
        Ok((name.clone(), report))
    };
    let reports = args.what.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    let mut out = output::stdout();
    side_by_side(&reports, session.style(), &mut out)?;
    let text = Text { style: session.style() };
    for (name, report) in &reports {
        writeln!(out)?;
        text.show(report, session.style(), &mut out)?;
        let place = ReportPlace::Argument(quoted(name));
        text.foot(report, &place, session.style(), &mut out)?;
    }
    out.flush()?;
    Ok(Status::Done)
}

/// The words, and the report behind them. One word alone names a report only if it can be nothing
/// else.
fn parts(what: &[String]) -> (&[String], Option<&str>) {
    match what {
        [one] if names_report(one) => (&[], Some(one)),
        [words @ .., name] if !words.is_empty() && named_report::is_report(name) => {
            (words, Some(name))
        }
        words => (words, None),
    }
}

/// The last report of the store. What is known without it is shown in any case.
fn last(session: &Session, args: &ShowArgs) -> Option<Report> {
    named_report::last(&session.config, &args.place)
        .inspect_err(|error| say(&format!("warning: the last report cannot be read: {error:#}")))
        .ok()
        .flatten()
}

/// Subjects that match equally well, and the command that shows one of them.
fn list(found: &[Candidate<'_>], argument: &str, paper: &mut Paper<'_>) -> std::io::Result<()> {
    let title = format!("`fpprobe show NAME{argument}` shows one of these:");
    paper.line(0, 2, &[(Ink::Plain, &title)])?;
    for Candidate { argument: own, about, .. } in found.iter().take(LISTED) {
        paper.line(2, 4, &[(Ink::Strong, own), (Ink::Plain, "  "), (Ink::Plain, about)])?;
    }
    let more = found.len().saturating_sub(LISTED);
    if more > 0 {
        paper.line(0, 2, &[(Ink::Faint, &format!("{more} more; add words"))])?;
    }
    Ok(())
}

/// The report that evidence comes from, and how it is shown.
struct ShownReport<'a> {
    report: Option<&'a Report>,
    /// How commands name the report.
    argument: &'a str,
    style: Style,
}

impl ShownReport<'_> {
    fn traits(&self, ids: &[String], out: &mut impl Write) -> std::io::Result<()> {
        self.report.map_or(Ok(()), |report| subject::traits(report, ids, self.style, out))
    }

    /// Says which of these traits no device of the report has.
    fn unmeasured(
        &self,
        traits: impl Iterator<Item = TraitDefinition>,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let Some(report) = self.report else { return Ok(()) };
        let devices = || report.devices.iter().flat_map(|device| &device.traits);
        let ids = traits.filter(TraitDefinition::is_default).map(|one| one.id());
        let lacking: Vec<String> =
            ids.filter(|id| !devices().any(|known| known.id == *id)).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let names = some(&lacking, NAMED);
        let text = format!("not measured here: {names}; `fpprobe run` without --quick does");
        Paper::new(out, self.style).line(2, 4, &[(Ink::Doubt, &text)])
    }

    /// The traits that lanes of some kernels show, by their ids.
    fn traits_of(&self, is_of: &dyn Fn(&str) -> bool) -> Vec<String> {
        let devices = self.report.into_iter().flat_map(|report| &report.devices);
        let shown = |one: &&DeviceTrait| {
            let mut evidence = one.run_time.iter().flat_map(|value| &value.evidence);
            evidence.any(|lane| is_of(&lane.kernel))
        };
        let ids: BTreeSet<&str> = devices
            .flat_map(|device| device.traits.iter().filter(shown))
            .map(|one| &*one.id)
            .collect();
        ids.into_iter().map(str::to_owned).collect()
    }

    fn write(
        &self,
        shown: &ShownSubject<'_>,
        profiles: &[Profile],
        catalogue: &Catalogue,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        match shown {
            ShownSubject::Cause(causes) => {
                let Some(report) = self.report else { return Ok(()) };
                for (place, one) in causes.iter().enumerate() {
                    if place > 0 {
                        writeln!(out)?;
                    }
                    cause(report, *one, self.style, out)?;
                    writeln!(out, "      fpprobe repro {}{}", one.number, self.argument)?;
                }
                Ok(())
            }
            ShownSubject::Causes(profile) => match self.report {
                Some(report) => subject::all_causes(report, *profile, self.style, out),
                None => writeln!(out, "There is no last report: `fpprobe run` keeps one."),
            },
            ShownSubject::Entry(section, one) => {
                description::entry(section, one, profiles, &mut Paper::new(out, self.style))
            }
            ShownSubject::Rule(id) => {
                description::rule(id, profiles, &mut Paper::new(out, self.style))?;
                self.report.map_or(Ok(()), |report| subject::rule(report, id, self.style, out))
            }
            ShownSubject::Trait(one) => {
                let paper = &mut Paper::new(out, self.style);
                description::title(paper, &one.id(), &one.question())?;
                paper.line(2, 0, &[(Ink::Plain, one.row.why)])?;
                self.traits(&[one.id()], out)?;
                self.unmeasured(std::iter::once(*one), out)
            }
            ShownSubject::Traits => {
                if self.report.is_none() {
                    traits::definitions()
                        .try_for_each(|one| writeln!(out, "{:<40} {}", one.id(), one.question()))?;
                }
                self.traits(&traits::definitions().map(|one| one.id()).collect::<Vec<_>>(), out)
            }
            ShownSubject::Matrix => match self.report {
                Some(report) => matrix(report, self.style, out),
                None => writeln!(out, "There is no last report: `fpprobe run` keeps one."),
            },
            ShownSubject::Kernel(kernel) => {
                let paper = &mut Paper::new(out, self.style);
                description::kernel(kernel, profiles, catalogue, paper)?;
                let own = kernel.to_string();
                let traits = traits::definitions().filter(|one| one.looks_at(kernel));
                self.traits(&traits.map(|one| one.id()).collect::<Vec<_>>(), out)?;
                self.report.map_or(Ok(()), |report| {
                    subject::kernels(report, &|id| id == own, self.style, out)
                })
            }
            ShownSubject::Operation(op) => {
                description::operation(op, profiles, &mut Paper::new(out, self.style))?;
                let is_of = |id: &str| id.split([':', '.']).nth(1) == Some(op.name);
                self.traits(&self.traits_of(&is_of), out)?;
                let of_operation = traits::definitions()
                    .filter(|one| one.operations().any(|name| name == op.name));
                self.unmeasured(of_operation, out)?;
                self.report
                    .map_or(Ok(()), |report| subject::kernels(report, &is_of, self.style, out))
            }
        }
    }
}
