//! Devices by profile, and the marks that the page uses throughout.

use fpprobe_spirv::layout::F11;
use maud::{Markup, html};

use super::evidence::strip;
use crate::model::{Class, Device, ProfileResult, Report, Verdict};
use crate::render::phrase;
use crate::scoreboard::{CauseCount, Score, Scoreboard};

/// Optional groups that are named.
const FEW: usize = 1;

pub fn matrix(report: &Report, profiles: &[&str]) -> Markup {
    if report.devices.is_empty() {
        return html! { p { "No device could be measured." } };
    }
    let boards: Vec<Option<Scoreboard>> = report.devices.iter().map(Scoreboard::of).collect();
    html! {
        div.scroll tabindex="0" role="group" aria-labelledby="overview" {
            table.matrix.stack role="table" {
                thead role="rowgroup" { tr role="row" {
                    th scope="col" role="columnheader" { "Device" }
                    @for id in profiles { th scope="col" role="columnheader" { (id) } }
                } }
                tbody role="rowgroup" {
                    @for (index, device) in report.devices.iter().enumerate() {
                        tr role="row" {
                            th scope="row" role="rowheader" {
                                a href={ "#d" (index) } { (device.identity.name) }
                                small { (phrase::driver(&device.identity)) }
                            }
                            @for id in profiles { (cell(index, device, boards[index].as_ref(), id)) }
                        }
                    }
                }
            }
        }
    }
}

/// The id of the profile is repeated where a narrow screen has no columns.
fn cell(number: usize, device: &Device, board: Option<&Scoreboard>, id: &str) -> Markup {
    let Some((index, profile)) =
        device.profiles.iter().enumerate().find(|(_, profile)| profile.id == id)
    else {
        return html! { td.none role="cell" data-column=(id) { "not judged" } };
    };
    html! {
        td role="cell" data-column=(id) {
            a.class href={ "#d" (number) "-p" (index) } { (class_chip(profile.class)) }
            (bar(profile))
            @if let Some(causes) = board.and_then(|board| board.causes.get(index)) {
                @if causes.run_time.all > 0 { small { (phrase::number(causes.run_time.all, "cause")) " at run time" (phrase::broken(causes.run_time)) } }
                @if causes.constants.all > 0 { small { (causes.constants.all) " of constants only" (phrase::broken(causes.constants)) } }
            }
            (conditions(profile))
        }
    }
}

/// Areas by profiles.
pub fn board(device: &Device, board: &Scoreboard) -> Markup {
    let names = phrase::short_names(device);
    let names: Vec<&str> =
        device.profiles.iter().map(|profile| names[profile.id.as_str()]).collect();
    let count = |of: CauseCount| {
        if of.all == 0 {
            "ok".to_owned()
        } else {
            phrase::number(of.all, "cause") + &phrase::broken(of)
        }
    };
    let style = |score: Score| match score {
        Score::Ok => "conforms",
        Score::Causes(_) => "deviates",
        Score::Constants => "permitted",
        Score::NotMeasured => "incomplete",
        Score::Empty | Score::NotOffered => "unsupported",
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="Areas by profiles" {
            table.board {
                thead { tr { th scope="col" { "Area" } @for name in &names { th scope="col" { (name) } } } }
                tbody {
                    tr { th scope="row" { "at run time" } @for causes in &board.causes { td { b { (count(causes.run_time)) } } } }
                    tr { th scope="row" { "constants only" } @for causes in &board.causes { td { b { (count(causes.constants)) } } } }
                    @for (area, scores) in &board.rows {
                        tr { th scope="row" { (area.name()) } @for score in scores { td class=(style(*score)) { (score.text()) } } }
                    }
                }
            }
        }
    }
}

/// Share of each verdict among the required rules.
pub fn bar(profile: &ProfileResult) -> Markup {
    html! {
        span.bar role="img" aria-label=(phrase::counts(&profile.counts)) title=(phrase::counts(&profile.counts)) {
            @for verdict in phrase::VERDICTS.iter().rev() {
                @let count = phrase::count_of(&profile.counts, *verdict);
                @if count > 0 { i class=(verdict.name()) style={ "flex-grow:" (count) } {} }
            }
        }
    }
}

/// The recipe and the missing groups.
pub fn conditions(profile: &ProfileResult) -> Markup {
    html! {
        @if profile.class == Class::ConformsWith {
            small.needs { @for need in &profile.needs { code { (need) } " " } }
        }
        @if profile.without.len() > FEW {
            small title=(profile.without.join(", ")) { "without " (profile.without[..FEW].join(", ")) " and " (profile.without.len() - FEW) " more" }
        } @else if !profile.without.is_empty() { small { "without " (profile.without.join(", ")) } }
    }
}

pub fn class_chip(class: Class) -> Markup {
    let (style, sign) = match class {
        Class::Conforms => ("conforms", "●"),
        Class::ConformsWith => ("permitted", "◐"),
        Class::Deviates => ("deviates", "✕"),
        Class::Incomplete => ("incomplete", "?"),
    };
    html! { span class={ "chip " (style) } { b aria-hidden="true" { (sign) } (class.name()) } }
}

pub fn verdict_chip(verdict: Verdict) -> Markup {
    html! { span class={ "chip " (verdict.name()) } { b aria-hidden="true" { (verdict_sign(verdict)) } (verdict.name()) } }
}

/// A sign beside the colour, for those who do not see it.
pub fn verdict_sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Conforms => "●",
        Verdict::Permitted => "◐",
        Verdict::Depends => "↳",
        Verdict::Deviates => "✕",
        Verdict::Unsupported => "–",
        Verdict::Incomplete => "?",
    }
}

pub fn legend() -> Markup {
    let meaning = |verdict| match verdict {
        Verdict::Conforms => "as the text demands, no choice left",
        Verdict::Permitted => "accepted, the text leaves a choice",
        Verdict::Depends => "fails only through another rule",
        Verdict::Deviates => "some answer is not accepted",
        Verdict::Unsupported => "the device lacks what it is about",
        Verdict::Incomplete => "could not be judged",
    };
    html! {
        details.legend {
            summary { "What the words mean" }
            dl {
                @for verdict in phrase::VERDICTS.iter().rev() { div { dt { (verdict_chip(*verdict)) } dd { (meaning(*verdict)) } } }
                div { dt { (strip(F11, 0x3c0)) } dd { "fields of an encoding: sign where there is one, exponent, fraction" } }
                div { dt { (class_chip(Class::ConformsWith)) } dd { "meets every required rule when the named controls and lowerings are used" } }
            }
        }
    }
}
