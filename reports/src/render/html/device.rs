//! One device: who it is, deviations, claims, choices, verdicts, findings, observations, what is
//! missing.

use std::collections::HashMap;

use maud::{Markup, html};

use super::anchors::Anchors;
use super::{causes, claims, evidence, overview, pictures, rules, texels};
use crate::broken_rules::broken_rules;
use crate::model::{Device, Finding, Identity, Incident, Outcome, Report};
use crate::numbered::first_number;
use crate::record;
use crate::render::answers::lane as lane_of;
use crate::render::{lane, phrase};
use crate::scoreboard::Scoreboard;

/// Findings of each kind that the page has, and those of them with evidence.
const NAMED: usize = 60;
const SHOWN: usize = 8;

pub fn section(report: &Report, index: usize, profiles: &[&str], anchors: &Anchors) -> Markup {
    let device = &report.devices[index];
    let (label, first_cause) = (phrase::label(report, device), first_number(report, index));
    let broken = broken_rules(device);
    // A report whose answers cannot be read has verdicts all the same.
    let read = record::read_device(&device.observations, &report.inputs)
        .map(|recorded| recorded.observations);
    let observations = read.unwrap_or_default();
    html! {
        section.device #{ "d" (index) } aria-label=(label) {
            header {
                h2 { (device.identity.name) }
                p { (phrase::driver(&device.identity)) " · " (device.identity.kind) }
                @if !device.taint.is_empty() {
                    p.taint { b { "Tainted, not fit as a reference: " } (device.taint.join("; ")) }
                }
            }
            (identity(device))
            @if let Some(board) = Scoreboard::of(device) {
                section { h3 { "Areas by profiles" } (overview::board(device, &board)) }
            }
            @if let Some(recipes) = causes::nearest(index, first_cause, device) {
                section { h3 { "Nearest recipes" } (recipes) }
            }
            @if !device.causes.is_empty() {
                section { h3 id={ "d" (index) "-causes" } { "Causes, the gravest first" } (causes::all(index, first_cause, device, anchors)) }
            }
            (part("Rules that are not met", !broken.is_empty(), &html! {
                div data-group { @for (number, cause) in broken.iter().enumerate() { (rules::cause(index, number, cause, profiles)) } }
            }))
            (part("Verdicts, rule by rule", true, &html! {
                @for (number, profile) in device.profiles.iter().enumerate() {
                    (rules::profile(index, number, profile, &broken, profiles, anchors))
                }
                @if device.profiles.is_empty() { p { "Not judged by any profile." } }
            }))
            (part("Claims beside behaviour", true, &claims::claims(device)))
            (optional("What the device chose where the text leaves a choice", claims::choices(device)))
            (optional("Texels, paths by formats", texels::table(device)))
            (optional("What small floats make of numbers", pictures::stairs(&observations)))
            (optional("How far functions are off", pictures::errors(&observations)))
            (optional("What pairs of operands give", pictures::maps(&observations)))
            (optional("In which order matrix units add", pictures::trees(&observations)))
            (part("Findings", !device.findings.is_empty(), &findings(device)))
            (part("Answers", !device.answers.is_empty(), &answers(device)))
            (part("Observations", true, &outcomes(device)))
            @if !device.incomplete.is_empty() {
                section { h3 { "Not measured" } (incidents(&device.incomplete)) }
            }
        }
    }
}

/// A part of the section that is opened by whoever wants it, if there is anything in it.
fn part(title: &str, shown: bool, body: &Markup) -> Markup {
    html! { @if shown { details.part { summary { h3 { (title) } } (body) } } }
}

fn optional(title: &str, body: Option<Markup>) -> Markup {
    body.map_or_else(Markup::default, |body| part(title, true, &body))
}

fn identity(device: &Device) -> Markup {
    let Identity { key, slot, vendor_id, device_id, device_uuid, driver, cpu, .. } =
        &device.identity;
    let row = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    html! {
        details.identity {
            summary { "Identity " code { (slot) } }
            dl {
                (row("Key", html! { code { (key) } }))
                (row("Vendor, device", html! { code { (format!("{vendor_id:04x}:{device_id:04x}")) } }))
                (row("Device UUID", html! { code { (device_uuid) } }))
                (row("Driver UUID", html! { code { (driver.uuid) } }))
                (row("Pipeline cache UUID", html! { code { (driver.pipeline_cache_uuid) } }))
                (row("Driver id", html! { (driver.id) }))
                (row("Library", html! { code { (driver.library) } }))
                (row("Build id", html! { code { (driver.build_id) } }))
                (row("Manifest", html! { code { (driver.manifest) } }))
                @if let Some(cpu) = cpu { (row("Processor", html! { (cpu) })) }
                @if !device.application.is_empty() { (row("Application name", html! { (device.application) })) }
                @if !device.caches_off.is_empty() { (row("Caches switched off", html! { code { (device.caches_off.join(" ")) } })) }
            }
        }
    }
}

/// Findings by kind: the first few with evidence, some more by name; the report has all.
fn findings(device: &Device) -> Markup {
    let mut kinds: Vec<(&str, Vec<&Finding>)> = Vec::new();
    for finding in &device.findings {
        match kinds.iter_mut().find(|(kind, _)| *kind == finding.kind) {
            Some((_, list)) => list.push(finding),
            None => kinds.push((&finding.kind, vec![finding])),
        }
    }
    html! {
        @for (kind, list) in kinds {
            h4 { (kind) " " span.faint { (phrase::grouped(list.len())) } }
            ul.findings {
                @for (place, finding) in list.iter().take(NAMED).enumerate() {
                    li {
                        (finding.text)
                        @if place < SHOWN { (evidence::some(&finding.evidence, lane::against(finding))) }
                    }
                }
                @if list.len() > NAMED { li.faint { (phrase::grouped(list.len() - NAMED)) " more are in the JSON report." } }
            }
        }
    }
}

/// What people want to know of every device.
fn answers(device: &Device) -> Markup {
    html! {
        dl.answers {
            @for answer in &device.answers {
                dt { b { (answer.id) } " " (answer.question) }
                dd {
                    ul { @for part in answer.answer.split("; ") { li { (part) } } }
                    @if !answer.evidence.is_empty() {
                        details.lanes {
                            summary { "evidence" }
                            ul { @for shown in &answer.evidence { li { code { (lane_of(shown)) } } } }
                        }
                    }
                }
            }
        }
    }
}

/// Counts by outcome and reason, the most frequent first within an outcome.
fn outcomes(device: &Device) -> Markup {
    let mut groups: Vec<(Outcome, &str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<(Outcome, &str), usize> = HashMap::new();
    for observation in &device.observations {
        let (outcome, detail) = (observation.outcome, observation.detail.as_str());
        let place = *places.entry((outcome, detail)).or_insert_with(|| {
            groups.push((outcome, detail, Vec::new()));
            groups.len() - 1
        });
        groups[place].2.push(&observation.kernel);
    }
    groups.sort_by_key(|(outcome, _, kernels)| (*outcome, std::cmp::Reverse(kernels.len())));
    html! {
        @if groups.is_empty() { p { "None." } } @else {
            div.scroll tabindex="0" role="group" aria-label="Observations by outcome" {
                table.outcomes {
                    thead { tr { th scope="col" { "Outcome" } th.number scope="col" { "Kernels" } th scope="col" { "Which, and why" } } }
                    tbody {
                        @for (outcome, detail, kernels) in groups {
                            tr {
                                th scope="row" { (phrase::outcome(outcome)) }
                                td.number { (kernels.len()) }
                                td.why {
                                    @if !detail.is_empty() { (detail) " " }
                                    @if outcome != Outcome::Ran {
                                        span.faint {
                                            @for (index, kernel) in kernels.iter().take(3).enumerate() { @if index > 0 { ", " } code { (kernel) } }
                                            @if kernels.len() > 3 { " and " (kernels.len() - 3) " more" }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub fn incidents(incidents: &[Incident]) -> Markup {
    html! {
        ul.incidents {
            @for incident in phrase::gathered(incidents) {
                li {
                    span.chip.incomplete { (phrase::incident(incident.outcome)) } " "
                    @if incident.subject == "-" { "the device" } @else { code { (incident.subject) } }
                    @if !incident.detail.is_empty() { ": " (incident.detail) }
                }
            }
        }
    }
}
