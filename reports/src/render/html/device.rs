//! One device: who it is, deviations, claims, choices, verdicts, findings, observations, what is missing.

use std::collections::HashMap;

use maud::{Markup, html};

use super::{claims, evidence, pictures, rules, texels};
use crate::broken_rules::broken_rules;
use crate::model::{Cause, Device, DeviceTrait, Identity, Incident, Outcome, Tables, TraitValue};
use crate::record;
use crate::render::answers::lane as lane_of;
use crate::render::{lane, phrase};

/// `label` is unlike that of any other device of the page.
pub fn section(index: usize, device: &Device, inputs: &Tables, label: &str, profiles: &[&str]) -> Markup {
    let causes = broken_rules(device);
    // A report whose answers cannot be read has verdicts all the same.
    let read = record::read_device(&device.observations, inputs).map(|recorded| recorded.observations);
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
            @if !device.causes.is_empty() {
                section { h3 { "Causes, the gravest first" } (self::causes(index, &device.causes)) }
            }
            @if !device.traits.is_empty() {
                section { h3 { "What it does" } (traits(index, &device.traits)) }
            }
            @if !causes.is_empty() {
                section data-group {
                    h3 { "Rules that are not met" }
                    @for (number, cause) in causes.iter().enumerate() { (rules::cause(index, number, cause, profiles)) }
                }
            }
            section {
                h3 { "Verdicts, rule by rule" }
                @for (number, profile) in device.profiles.iter().enumerate() {
                    (rules::profile(index, number, profile, &causes, profiles))
                }
                @if device.profiles.is_empty() { p { "Not judged by any profile." } }
            }
            section { h3 { "Claims beside behaviour" } (claims::claims(device)) }
            @if let Some(choices) = claims::choices(device) {
                section { h3 { "What the device chose where the text leaves a choice" } (choices) }
            }
            @if let Some(texels) = texels::table(device) {
                section { h3 { "Texels, format by format and path by path" } (texels) }
            }
            @if let Some(stairs) = pictures::stairs(&observations) {
                section { h3 { "What small floats make of numbers" } (stairs) }
            }
            @if let Some(errors) = pictures::errors(&observations) {
                section { h3 { "How far functions are off" } (errors) }
            }
            @if let Some(maps) = pictures::maps(&observations) {
                section { h3 { "What pairs of operands give" } (maps) }
            }
            (findings(device))
            (answers(device))
            section { h3 { "Observations" } (outcomes(device)) }
            @if !device.incomplete.is_empty() {
                section { h3 { "Not measured" } (incidents(&device.incomplete)) }
            }
        }
    }
}

/// What is wrong with the device: a row for each cause, its lanes folded up.
fn causes(index: usize, causes: &[Cause]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Causes" {
            table.causes {
                thead { tr { th { "Severity" } th { "What the device does" } th { "Breaks" } th { "Lanes" } th { "Goes away under" } } }
                tbody {
                    @for cause in causes {
                        tr #{ "d" (index) "-cause-" (cause.id) } {
                            td { (cause.severity.name()) }
                            td { (cause.headline) (evidence::some(&cause.evidence, lane::ACCEPTED)) }
                            td { (cause.profiles.join(", ")) ": " (cause.rules.join(", ")) }
                            td { (phrase::grouped(cause.lanes)) }
                            td { (cause.fix.join(" or ")) }
                        }
                    }
                }
            }
        }
    }
}

/// What the device does, whether or not a profile cares: a row for each trait.
fn traits(index: usize, traits: &[DeviceTrait]) -> Markup {
    let value = |value: Option<&TraitValue>| value.map_or_else(|| "-".to_owned(), TraitValue::describe);
    html! {
        div.scroll tabindex="0" role="group" aria-label="Traits" {
            table.traits {
                thead { tr { th { "Trait" } th { "At run time" } th { "Constants" } } }
                tbody {
                    @for one in traits {
                        tr #{ "d" (index) "-trait-" (one.id) } {
                            td { (crate::traits::find(&one.id).map_or("", |known| known.row.question)) " " code.faint { (one.id) } }
                            td { (value(one.run_time.as_ref())) }
                            td { (value(one.constants.as_ref())) }
                        }
                    }
                }
            }
        }
    }
}

fn identity(device: &Device) -> Markup {
    let Identity { key, slot, vendor_id, device_id, device_uuid, driver, cpu, .. } = &device.identity;
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

fn findings(device: &Device) -> Markup {
    html! {
        @if !device.findings.is_empty() {
            section {
                h3 { "Findings" }
                ul.findings {
                    @for finding in &device.findings {
                        li {
                            span.chip.incomplete { (finding.kind) } " " (finding.text)
                            (evidence::some(&finding.evidence, lane::against(finding)))
                        }
                    }
                }
            }
        }
    }
}

/// What people want to know of every device.
fn answers(device: &Device) -> Markup {
    html! {
        @if !device.answers.is_empty() {
            section {
                h3 { "Answers" }
                dl.answers {
                    @for answer in &device.answers {
                        dt { b { (answer.id) } " " (answer.question) }
                        dd {
                            (answer.answer)
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
                                td {
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
