//! What the driver claims beside what was seen, and what the device chose where the texts leave a
//! choice.

use maud::{Markup, html};

use fpprobe_spirv::Control;

use crate::claims::{ClaimStatus, MODES, WIDTHS};
use crate::model::{Device, Verdict};
use crate::render::phrase;
use crate::verified::{ModeProof, Modes};

pub fn claims(device: &Device) -> Markup {
    let modes = Modes::of(device);
    let float_controls: Vec<&str> = MODES
        .iter()
        .flat_map(|(_, control)| WIDTHS.map(|width| control(width).claim()))
        .flatten()
        .collect();
    let others = device.claims.flags.keys().filter(|name| !float_controls.contains(&name.as_str()));
    let (mut yes, mut no): (Vec<&String>, Vec<&String>) =
        others.partition(|name| device.claims.flags.get(*name) == Some(&true));
    let mut message: Vec<(&String, Markup)> = Vec::new();
    for list in [&mut yes, &mut no] {
        list.retain(|name| {
            let claim = modes.flag(name);
            let is_reported =
                matches!(claim, ClaimStatus::Contradicted(_) | ClaimStatus::Confirmed(_));
            if is_reported {
                let control = Control::all().find(|control| control.claim() == Some(name.as_str()));
                let shown = control.map(|control| modes.shown(control));
                message.push((name, standing(claim, shown)));
            }
            !is_reported
        });
    }
    html! {
        div.scroll tabindex="0" role="group" aria-label="Claims beside behaviour" {
            table.claims.stack role="table" {
                thead role="rowgroup" { tr role="row" {
                    th scope="col" role="columnheader" { "Mode claimed" }
                    @for width in WIDTHS { th scope="col" role="columnheader" { (width) "-bit" } }
                } }
                tbody role="rowgroup" {
                    @for (name, control) in MODES {
                        tr role="row" {
                            th scope="row" role="rowheader" { (name) }
                            @for width in WIDTHS {
                                td role="cell" data-column={ (width) "-bit" } {
                                    (standing(modes.claim(control(width)), Some(modes.shown(control(width)))))
                                }
                            }
                        }
                    }
                    @for (name, seen) in message { tr role="row" { th scope="row" role="rowheader" { (name) } td role="cell" colspan="3" data-column="" { (seen) } } }
                }
            }
        }
        p.flags {
            "Independence of widths: denormals " b { (or_unknown(&device.claims.denorm_behavior_independence)) }
            ", rounding " b { (or_unknown(&device.claims.rounding_mode_independence)) } "."
        }
        (features("Also claimed", &yes))
        (features("Not claimed", &no))
    }
}

/// Names of features; those of a format beside it.
fn features(title: &str, names: &[&String]) -> Markup {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in names {
        let of_format = name.split_once(' ').filter(|(subject, _)| is_format(subject));
        let (subject, feature) = of_format.unwrap_or(("", name));
        match groups.iter_mut().find(|(seen, _)| *seen == subject) {
            Some((_, features)) => features.push(feature),
            None => groups.push((subject, vec![feature])),
        }
    }
    html! {
        @if !names.is_empty() {
            details.flags {
                summary { (title) ": " (phrase::number(names.len(), "feature")) }
                dl { @for (subject, features) in groups {
                    div { dt { @if subject.is_empty() { "of the device" } @else { code { (subject) } } } dd { (list(&features)) } }
                } }
            }
        }
    }
}

/// Whether it is a format's name in Vulkan without the prefix, `R16_UNORM`.
fn is_format(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn list(names: &[&str]) -> Markup {
    html! { @for (index, name) in names.iter().enumerate() { @if index > 0 { ", " } code { (name) } } }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "not told" } else { text }
}

/// A claim, and of a mode what the rules that speak of it say.
fn standing(claim: ClaimStatus, shown: Option<ModeProof>) -> Markup {
    let against = |why: &str| html! { span.chip.deviates { b aria-hidden="true" { "✕" } "contradicted" } small { (why) } };
    html! {
        @match (claim, shown) {
            (ClaimStatus::Contradicted(finding), _) => (against(&finding.text)),
            (ClaimStatus::Confirmed(_), Some(ModeProof::Disproven(why))) => (against(&why)),
            (ClaimStatus::Confirmed(_), Some(ModeProof::Unknown(why))) => {
                span.chip.incomplete { b aria-hidden="true" { "?" } "claimed" } small { "not known: " (why) }
            }
            (ClaimStatus::Confirmed(kernels), _) => {
                span.chip.conforms { b aria-hidden="true" { "●" } "claimed" }
                small { "nothing against it in " (phrase::number(kernels, "kernel")) }
            }
            (ClaimStatus::Untried, _) => { span.chip.unsupported { b aria-hidden="true" { "○" } "claimed" } small { "not tried" } }
            (ClaimStatus::Absent, _) => { span.absent { "not claimed" } }
            (ClaimStatus::Unknown, _) => { span.absent { "not told" } }
        }
    }
}

/// What the device chose: each choice once, with the rules that leave it, over all profiles.
pub fn choices(device: &Device) -> Option<Markup> {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for rule in device.profiles.iter().flat_map(|profile| &profile.rules) {
        let choices = rule.behaviour.split("; ").filter(|choice| !choice.is_empty());
        for choice in choices.filter(|_| rule.verdict == Verdict::Permitted) {
            match rows.iter_mut().find(|(seen, _)| *seen == choice) {
                Some((_, rules)) if rules.contains(&rule.id.as_str()) => {}
                Some((_, rules)) => rules.push(&rule.id),
                None => rows.push((choice, vec![&rule.id])),
            }
        }
    }
    (!rows.is_empty()).then(|| {
        html! {
            table.choices {
                thead { tr { th scope="col" { "Chosen" } th scope="col" { "In rules" } } }
                tbody {
                    @for (choice, rules) in rows {
                        tr {
                            th scope="row" { (choice) }
                            td { @for rule in rules { span.id { (rule) } " " } }
                        }
                    }
                }
            }
        }
    })
}
