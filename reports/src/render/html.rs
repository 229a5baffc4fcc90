//! One self-contained page: nothing is loaded from elsewhere, it reads without scripts, prints, and
//! fits a phone.
//!
//! The page holds verdicts and evidence, not all observations: those are in the JSON report.
//! Escaping is the template's (every value that is not markup), and the finished page is cleared of
//! control characters. A content security policy lets nothing run but the page's own script, named
//! by its digest.

mod anchors;
mod causes;
mod claims;
mod device;
pub(crate) mod evidence;
pub(crate) mod frame;
pub(crate) mod overview;
pub(crate) mod pictures;
mod rules;
mod texels;
mod traits;

use std::collections::BTreeMap;
use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::anchors::Anchors;
use super::{Render, phrase};
use crate::broken_rules::broken_rules;
use crate::escape::visible_lines;
use crate::model::{Device, Outcome, Report, Verdict};

/// A self-contained HTML page.
#[derive(Clone, Copy, Debug)]
pub struct Html;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");
/// SHA-256 of [`SCRIPT`], base64; a test computes it again.
const SCRIPT_DIGEST: &str = "rX9XhTdEu0PbqBa+YLQvg4HT+ZvUAvg6fwCxGKcXlpQ=";

impl Render for Html {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(visible_lines(&page(report).into_string()).as_bytes())
    }
}

fn page(report: &Report) -> Markup {
    let (profiles, anchors) = (phrase::all_profiles(&report.devices), Anchors::default());
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_DIGEST}'; base-uri 'none'; form-action 'none'"
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ (report.program.name) " " (report.program.version) };
                title { "Floating-point conformance: " (phrase::number(report.devices.len(), "device")) ", " (day(&report.started)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                (masthead(report, &profiles))
                main #main {
                    section aria-labelledby="overview" {
                        h2.quiet #overview { "Devices by profile" }
                        (overview::matrix(report, &profiles))
                        (overview::legend())
                    }
                    (contents(report))
                    @if let Some(worst) = causes::worst(report) {
                        section aria-labelledby="causes" {
                            h2.quiet #causes { "Causes of deviations, the gravest first" }
                            (worst)
                        }
                    }
                    @if let Some(traits) = traits::matrix(report, &anchors) {
                        section aria-labelledby="traits" {
                            h2.quiet #traits { (what_is_done(report)) }
                            (traits)
                        }
                    }
                    @if !report.incomplete.is_empty() {
                        section.lost aria-labelledby="lost" {
                            h2.quiet #lost { "Drivers and devices that could not be measured" }
                            (device::incidents(&report.incomplete))
                        }
                    }
                    (filter(report, &profiles))
                    @for index in 0..report.devices.len() { (device::section(report, index, &profiles, &anchors)) }
                }
                (footer(report))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn masthead(report: &Report, profiles: &[&str]) -> Markup {
    let observations = || report.devices.iter().flat_map(|device| &device.observations);
    let ran = observations().filter(|observation| observation.outcome == Outcome::Ran).count();
    let rules = report
        .devices
        .iter()
        .flat_map(|device| &device.profiles)
        .flat_map(|profile| &profile.rules);
    let lanes = rules.fold(0, |sum: usize, rule| sum.saturating_add(rule.lanes));
    // Reports of earlier programs have no causes.
    let causes = |device: &Device| match device.causes.len() {
        0 => phrase::required(&broken_rules(device)),
        count => count,
    };
    let deviations: usize = report.devices.iter().map(causes).sum();
    html! {
        header.masthead {
            h1 { "Floating-point conformance" }
            p.lede {
                (phrase::number(report.devices.len(), "device")) " against " (phrase::number(profiles.len(), "profile")) ": "
                (phrase::number(ran, "kernel")) " ran, " (phrase::number(lanes, "lane")) " judged, "
                @match deviations {
                    0 => "no deviation.",
                    1 => "one cause of deviation.",
                    _ => { (deviations) " causes of deviation." }
                }
            }
            p.when {
                time datetime=(report.started) { (day(&report.started)) } ", "
                (clock(&report.started)) " to " (clock(&report.finished)) " UTC" (phrase::measured(report.run)) " · "
                (report.host.os) " · " (report.host.kernel)
            }
        }
    }
}

/// What the page has, and where.
fn contents(report: &Report) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul {
                li { a href="#overview" { "Devices by profile" } }
                @if report.devices.iter().any(|device| !device.causes.is_empty()) { li { a href="#causes" { "Causes" } } }
                @if report.devices.iter().any(|device| !device.traits.is_empty()) { li { a href="#traits" { (what_is_done(report)) } } }
                @for (index, device) in report.devices.iter().enumerate() {
                    li { a href={ "#d" (index) } { (phrase::label(report, device)) } }
                }
            }
        }
    }
}

/// Title of the traits.
fn what_is_done(report: &Report) -> &'static str {
    if report.devices.len() == 1 { "What the device does" } else { "What the devices do" }
}

/// Date of an RFC 3339 time.
pub(crate) fn day(time: &str) -> &str {
    time.split_once('T').map_or(time, |(day, _)| day)
}

/// Hours, minutes and seconds of an RFC 3339 time.
fn clock(time: &str) -> &str {
    time.split_once('T').map_or(time, |(_, clock)| clock.trim_end_matches('Z'))
}

/// Shown by the script, which makes it work.
fn filter(report: &Report, profiles: &[&str]) -> Markup {
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for rule in
        report.devices.iter().flat_map(|device| &device.profiles).flat_map(|profile| &profile.rules)
    {
        *counts.entry(rule.verdict).or_default() += 1;
    }
    html! {
        form #filter role="search" aria-label="Filter the rules" hidden {
            input type="search" name="text" aria-label="Rules, kernels or words" placeholder="Rule, kernel or word" autocomplete="off" spellcheck="false";
            select name="profile" aria-label="Profile" {
                option value="" { "every profile" }
                @for (index, id) in profiles.iter().enumerate() { option value=(index) { (id) } }
            }
            fieldset {
                legend.hidden { "Verdicts" }
                @for verdict in phrase::VERDICTS {
                    @if let Some(count) = counts.get(&verdict) {
                        label class={ "pill " (verdict.name()) } {
                            input type="checkbox" name="verdict" value=(verdict.name());
                            span { (verdict.name()) " " small { (count) } }
                        }
                    }
                }
            }
            output aria-live="polite" {}
        }
    }
}

fn footer(report: &Report) -> Markup {
    html! {
        footer {
            p {
                "Written by " (report.program.name) " " (report.program.version) " as " code { (report.schema) }
                ", host " code { (report.host.id) } ". Bits are hex of the format's width, most significant first. "
                "Every answer is in the JSON report; this page holds verdicts and their evidence."
            }
        }
    }
}
