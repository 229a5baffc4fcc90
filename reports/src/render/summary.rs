//! A report on one screen: classes, and why lanes fail, the gravest cause first.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use fpprobe_spirv::Kernel;

use super::board;
use super::lane;
use super::paper::{Detail, Ink, Paper, Style, pad};
use super::phrase;
use super::unrun::unrun;
use crate::escape::visible;
use crate::model::{Cause, Class, Device, Level, MEMORY, ProfileResult, Report, Severity};
use crate::numbered::first_number;
use crate::scoreboard::{NearestRecipe, Scoreboard};

/// Causes on a screen; half as many of a device of which little was measured.
const CAUSES: usize = 8;
/// Causes whose simplest lane is shown.
const LANES: usize = 2;
/// Optional groups that a device lacks, by name.
const FEW: usize = 1;
/// Causes of a run that measured too little for a class.
const PARTIAL: usize = 4;
/// How a line begins of what was not measured.
const MISSING: &str = "not measured";
/// Columns that a headline has at least, however narrow the terminal is.
const ROOM: usize = 24;
/// Columns of a severity.
const SEVERITY: usize = 12;

/// Writes every device: where there are several, first one line for each.
pub(super) fn write(paper: &mut Paper, report: &Report) -> io::Result<()> {
    if report.devices.len() > 1 {
        let labelled = |device| (phrase::label(report, device), device);
        board::devices(paper, &report.devices.iter().map(labelled).collect::<Vec<_>>())?;
    }
    for (number, device) in report.devices.iter().enumerate() {
        if number > 0 || report.devices.len() > 1 {
            paper.gap()?;
        }
        self::device(paper, report, number, device)?;
    }
    for incident in phrase::gathered(&report.incomplete) {
        let text = format!("{}: {}", incident.subject, incident.detail);
        paper.line(0, 2, &[(Ink::Doubt, "not measured "), (Ink::Plain, &text)])?;
    }
    Ok(())
}

/// Writes one line for each device of several reports, each with its report's name.
pub fn side_by_side(
    reports: &[(String, Report)],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of_all =
        reports.iter().flat_map(|one| one.1.devices.iter().map(move |device| (one, device)));
    let labelled = of_all.map(|((name, _), device)| {
        // Devices of several reports differ in the driver more often than in the name.
        let own = device.identity.name.split(" (").next().unwrap_or_default();
        (format!("{name}: {own}, {}", phrase::short_driver(&device.identity)), device)
    });
    board::devices(&mut Paper::new(out, style), &labelled.collect::<Vec<_>>())
}

/// What is known of a device when its first kernels are judged, without colours: the areas that
/// they are about, and causes. `all` kernels are being measured.
pub fn first_verdicts(device: &Device, all: usize, out: &mut dyn Write) -> io::Result<()> {
    let paper = &mut Paper::new(out, Style { detail: Detail::Screen, ..Style::PLAIN });
    let ran = device.observations.iter().filter(|one| one.outcome.answered()).count();
    let title = format!(
        "{}: first verdicts, by {} of {}",
        visible(&device.identity.name),
        phrase::grouped(ran),
        phrase::number(all, "kernel"),
    );
    paper.line(0, 2, &[(Ink::Plain, &title)])?;
    profiles(paper, device)?;
    let more = causes(paper, device, 1, " so far")?;
    more_causes(paper, more, "")
}

fn device(paper: &mut Paper, report: &Report, place: usize, device: &Device) -> io::Result<()> {
    let ran = device.observations.iter().filter(|one| one.outcome.answered()).count();
    let about = format!(
        " · {} · {}{}",
        phrase::short_driver(&device.identity),
        phrase::number(ran, "kernel"),
        phrase::measured(report.run)
    );
    // What llvmpipe has in brackets, its driver has as well.
    let name = &device.identity.name;
    let is_long = name.chars().count() + about.chars().count() > paper.width();
    let name = if is_long { name.split_once(" (").map_or(&**name, |(name, _)| name) } else { name };
    paper.line(0, 2, &[(Ink::Strong, name), (Ink::Faint, &about)])?;
    for taint in &device.taint {
        paper.line(2, 2, &[(Ink::Doubt, "tainted: "), (Ink::Plain, taint)])?;
    }
    profiles(paper, device)?;
    if device.profiles.is_empty() {
        paper.line(2, 2, &[(Ink::Doubt, "not judged by any profile")])?;
    }
    let more = causes(paper, device, first_number(report, place), "")?;
    more_causes(paper, more, "; `--verbose` shows all")?;
    rest(paper, device)
}

/// Whether too little was measured for any profile, as by a quick run.
fn is_partial(device: &Device) -> bool {
    device.profiles.iter().all(|profile| profile.class == Class::Incomplete)
}

/// Classes and scores of every profile.
pub(super) fn profiles(paper: &mut Paper, device: &Device) -> io::Result<()> {
    let names = phrase::short_names(device);
    let board = Scoreboard::of(device).filter(|_| board::width(device) <= paper.width());
    match board {
        Some(board) => board::write(paper, device, &board)?,
        None => classes(paper, device)?,
    }
    let recipes: Vec<(&str, NearestRecipe<'_>)> = device
        .profiles
        .iter()
        .filter_map(|profile| Some((names[&*profile.id], NearestRecipe::of(device, profile)?)))
        .collect();
    if paper.is_whole() || recipes.len() == 1 {
        for (name, recipe) in &recipes {
            let needs = phrase::needs(recipe.needs.iter().map(String::as_str));
            let text = format!("{name} under {needs}: {}", phrase::remaining(recipe));
            nearest(paper, Ink::Note, &text)?;
        }
    } else if !recipes.is_empty() {
        let left = |(name, recipe): &(&str, NearestRecipe<'_>)| {
            format!("{} of {} in {name}", recipe.remain(), recipe.of)
        };
        let left: Vec<String> = recipes.iter().map(left).collect();
        let text = format!("leaves causes: {} (`-v`)", left.join(", "));
        nearest(paper, Ink::Note, &text)?;
    }
    let is_vain = |profile: &&ProfileResult| {
        profile.class == Class::Deviates
            && profile.recipes.len() > 1
            && NearestRecipe::of(device, profile).is_none()
    };
    let vain: Vec<&str> =
        device.profiles.iter().filter(is_vain).map(|profile| names[&*profile.id]).collect();
    if !vain.is_empty() {
        let text = format!("none leaves fewer causes of {}", vain.join(", "));
        nearest(paper, Ink::Faint, &text)?;
    }
    Ok(())
}

fn nearest(paper: &mut Paper, ink: Ink, text: &str) -> io::Result<()> {
    let name = pad("nearest recipe", board::NAMES - 2);
    paper.line(2, board::NAMES, &[(Ink::Plain, &name), (ink, text)])
}

/// A line for each profile.
fn classes(paper: &mut Paper, device: &Device) -> io::Result<()> {
    let column = device.profiles.iter().map(|profile| profile.id.len()).max().unwrap_or(0) + 2;
    for profile in &device.profiles {
        let short = ProfileResult { without: few(&profile.without), ..profile.clone() };
        let conditions = phrase::conditions(&short);
        let conditions =
            if conditions.is_empty() { String::new() } else { format!("; {conditions}") };
        paper.line(
            2,
            column + 2,
            &[
                (Ink::Plain, &pad(&profile.id, column)),
                (Ink::of_class(profile.class), &phrase::class_in_words(&device.causes, profile)),
                (Ink::Faint, &conditions),
            ],
        )?;
    }
    Ok(())
}

/// A few of many, and how many more.
fn few(names: &[String]) -> Vec<String> {
    let (first, more) = names.split_at(names.len().min(FEW));
    let more = (!more.is_empty()).then(|| format!("{} more", phrase::grouped(more.len())));
    first.iter().cloned().chain(more).collect()
}

/// Causes, the gravest first, under a title that `name` ends: all of them with their simplest
/// lanes, or what fits a screen; numbered from `first` on. Returns how many it leaves out.
pub(super) fn causes(
    paper: &mut Paper,
    device: &Device,
    first: usize,
    name: &str,
) -> io::Result<usize> {
    if device.causes.is_empty() {
        let fails = |profile: &ProfileResult| {
            profile.rules.iter().any(|rule| rule.failing > 0 && rule.level != Level::Informative)
        };
        if device.profiles.iter().any(fails) {
            paper.gap()?;
            let text = "This report has no causes: an earlier program wrote it; `fpprobe judge REPORT` finds them";
            paper.line(0, 2, &[(Ink::Doubt, text)])?;
        }
        return Ok(0);
    }
    let (most, lanes) = match (paper.is_whole(), is_partial(device)) {
        (true, _) => (usize::MAX, usize::MAX),
        (false, true) => (PARTIAL, 0),
        (false, false) => (CAUSES, LANES),
    };
    let fitted = |paper: &Paper, text: &str, room: usize| {
        if paper.is_whole() { text.to_owned() } else { phrase::shortened(text, room.max(ROOM)) }
    };
    if paper.is_whole() || !is_partial(device) {
        paper.gap()?;
    }
    paper.line(
        0,
        2,
        &[
            (Ink::Strong, "Causes"),
            (Ink::Faint, name),
            (Ink::Faint, ", the gravest first, and the profiles that they break"),
        ],
    )?;
    for (number, cause) in device.causes.iter().enumerate().take(most) {
        if paper.is_whole()
            && cause.recommended
            && !device.causes[..number].iter().any(|before| before.recommended)
        {
            paper.line(0, 2, &[(Ink::Strong, "Causes that break recommended rules alone")])?;
        }
        let place = format!("{:>2} ", first + number);
        // That of constants alone stands in the headline.
        let fix = match &cause.fix[..] {
            [] => String::new(),
            [only] if only == MEMORY => String::new(),
            fix => format!("; fix: {}", phrase::any_of(fix)),
        };
        let room = paper.width().saturating_sub(place.len() + SEVERITY + fix.len());
        let profiles = breaks(device, cause, room.saturating_sub(cause.headline.len()));
        let room = room.saturating_sub(profiles.len());
        paper.line(
            0,
            place.len() + SEVERITY,
            &[
                (Ink::Faint, &place),
                (severity_ink(cause.severity), &pad(cause.severity.name(), SEVERITY)),
                (Ink::Plain, &fitted(paper, &cause.headline, room)),
                (Ink::Note, &fix),
                (Ink::Faint, &profiles),
            ],
        )?;
        if number < lanes
            && let Some(evidence) = cause.evidence.first()
        {
            let (indent, simplest) = (place.len() + SEVERITY, lane::sentence(evidence));
            let text = if paper.is_whole() {
                simplest.to_string()
            } else {
                simplest.within(paper.width().saturating_sub(indent))
            };
            paper.line(indent, 0, &[(Ink::Faint, &text)])?;
        }
    }
    Ok(device.causes.len().saturating_sub(most))
}

/// How many causes more there are, and where.
fn more_causes(paper: &mut Paper, more: usize, place: &str) -> io::Result<()> {
    if more == 0 {
        return Ok(());
    }
    let text = format!("{} more{place}", phrase::number(more, "cause"));
    paper.line(0, 2, &[(Ink::Faint, &text)])
}

/// The profiles that a cause breaks: their names, or how many they are where those have no room.
fn breaks(device: &Device, cause: &Cause, room: usize) -> String {
    let only = if cause.recommended { " recommended" } else { "" };
    let names = phrase::broken_profiles(device, cause);
    let all = format!(" [{}{only}]", names.join(" "));
    let number = format!(" [{}{only}]", phrase::number(names.len(), "profile"));
    if all.len() <= room || all.len() <= number.len() { all } else { number }
}

/// What else there is: in numbers.
fn rest(paper: &mut Paper, device: &Device) -> io::Result<()> {
    if paper.is_whole() || !is_partial(device) {
        paper.gap()?;
    }
    for unrun in unrun(device) {
        paper.line(0, 2, &[(Ink::Doubt, "claimed and not run: "), (Ink::Plain, &unrun)])?;
    }
    if Scoreboard::of(device).is_some()
        && let Some(missing) = missing(device)
    {
        paper.line(0, 2, &[(Ink::Faint, "Not offered: "), (Ink::Plain, &missing)])?;
    }
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for one in device.observations.iter().filter(|one| !one.outcome.answered()) {
        *outcomes.entry(phrase::outcome(one.outcome)).or_default() += 1;
    }
    let mut findings: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &device.findings {
        *findings.entry(&finding.kind).or_default() += 1;
    }
    let mut pieces: Vec<(Ink, String)> = Vec::new();
    for (title, counts) in [("Kernels without results: ", outcomes), ("Findings: ", findings)] {
        let counts: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{} {name}", phrase::grouped(*count)))
            .collect();
        if !counts.is_empty() {
            let gap = if pieces.is_empty() { "" } else { " · " };
            pieces.extend([(Ink::Faint, format!("{gap}{title}")), (Ink::Plain, counts.join(", "))]);
        }
    }
    if !pieces.is_empty() {
        let pieces: Vec<(Ink, &str)> =
            pieces.iter().map(|(ink, text)| (*ink, text.as_str())).collect();
        paper.line(0, 2, &pieces)?;
    }
    let incidents = phrase::gathered(&device.incomplete);
    for incident in incidents.iter().take(LANES) {
        // Of a device as a whole.
        let subject =
            if incident.subject == "-" { String::new() } else { format!(" {}", incident.subject) };
        let text = format!("{subject}: {}", incident.detail);
        let room =
            if paper.is_whole() { usize::MAX } else { paper.width().saturating_sub(MISSING.len()) };
        paper.line(
            0,
            2,
            &[(Ink::Doubt, MISSING), (Ink::Plain, &phrase::shortened(&text, room))],
        )?;
    }
    let more = incidents.len().saturating_sub(LANES);
    if more > 0 {
        paper.line(
            0,
            2,
            &[(Ink::Doubt, "not measured "), (Ink::Plain, &format!("{more} more"))],
        )?;
    }
    Ok(())
}

/// What the device lacks of optional groups: controls and formats by name, and the numbers of paths
/// of texels and of atomic operations.
fn missing(device: &Device) -> Option<String> {
    let ids: BTreeSet<&str> =
        device.profiles.iter().flat_map(|profile| &profile.without).map(String::as_str).collect();
    let (paths, named): (Vec<&str>, Vec<&str>) = ids.into_iter().partition(|id| id.contains('.'));
    let mut parts: Vec<String> =
        (!named.is_empty()).then(|| phrase::needs(named)).into_iter().collect();
    let of_texels =
        |id: &&str| id.parse::<Kernel>().is_ok_and(|kernel| kernel.op.code.is_of_texels());
    let (paths, atomic): (Vec<&str>, Vec<&str>) = paths.into_iter().partition(of_texels);
    for (own, what) in [(paths, "texel path"), (atomic, "atomic operation")] {
        parts.extend((!own.is_empty()).then(|| phrase::number(own.len(), what)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub(super) fn severity_ink(severity: Severity) -> Ink {
    match severity {
        Severity::Broken | Severity::Special => Ink::Bad,
        Severity::Inaccurate => Ink::Doubt,
        Severity::LastBit | Severity::SameValue => Ink::Note,
    }
}
