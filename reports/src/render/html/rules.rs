//! Verdicts: the deviations, one card per cause, and every rule of every profile.

use maud::{Markup, html};

use super::anchors::Anchors;
use super::evidence;
use super::overview::{bar, class_chip, conditions, verdict_chip, verdict_sign};
use crate::broken_rules::BrokenRule;
use crate::model::{ProfileResult, RuleResult, Verdict};
use crate::render::lane::ACCEPTED;
use crate::render::phrase;

/// Recipes listed per profile.
const RECIPES: usize = 24;

/// Numbers of these profiles in the page's list, for the filter.
fn numbers(profiles: &[&ProfileResult], all: &[&str]) -> String {
    let numbers = profiles.iter().filter_map(|profile| all.iter().position(|id| *id == profile.id));
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// Card of one cause.
pub fn cause(device: usize, index: usize, cause: &BrokenRule, all: &[&str]) -> Markup {
    let rule = cause.rule;
    html! {
        article class={ "cause " (rule.verdict.name()) } id={ "d" (device) "-c" (index) }
            data-verdict=(rule.verdict.name()) data-profiles=(numbers(&cause.profiles, all)) {
            header {
                h4 { b.sign aria-hidden="true" { (verdict_sign(rule.verdict)) } span.id { (rule.id) } " " (rule.title) }
                p {
                    (rule.level.name()) " in " (phrase::profile_ids(&cause.profiles)) " · " (phrase::lanes(cause.rule)) " · "
                    cite { (rule.citation) }
                }
            }
            @if !rule.behaviour.is_empty() {
                p { @if rule.verdict == Verdict::Depends { "Depends on " } @else { "Seen: " } (rule.behaviour) }
            }
            @if let Some(modes) = phrase::fixed_by(rule) { p { "It " (modes) "." } }
            div.evidences { @for lane in &cause.evidence { (evidence::evidence(lane, ACCEPTED)) } }
            @if !cause.dependents.is_empty() {
                div.dependents {
                    p { "Also fail because of it" }
                    ul {
                        @for dependent in &cause.dependents {
                            li {
                                span.id { (dependent.rule.id) } " " (dependent.rule.title) " "
                                span.faint { (phrase::profile_ids(&dependent.profiles)) }
                                (evidence::some(&dependent.rule.evidence, ACCEPTED))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Every rule of one profile. `causes` are the device's, whose cards hold the evidence of
/// deviations.
pub fn profile(
    device: usize,
    index: usize,
    profile: &ProfileResult,
    causes: &[BrokenRule],
    all: &[&str],
    anchors: &Anchors,
) -> Markup {
    html! {
        details.profile #{ "d" (device) "-p" (index) } data-group {
            summary {
                h4 { (profile.id) " " span.title { (profile.title) } }
                (class_chip(profile.class))
                (bar(profile))
                span.counts { (phrase::counts(&profile.counts)) }
                (conditions(profile))
            }
            table.rules role="table" {
                caption.hidden { "Rules of " (profile.id) " version " (profile.version) }
                thead role="rowgroup" { tr role="row" {
                    @for head in ["Verdict", "Rule", "What it says", "Where", "What was seen", "Lanes"] { th scope="col" role="columnheader" { (head) } }
                } }
                tbody role="rowgroup" {
                    @for rule in &profile.rules { (row(device, profile, rule, causes, all, anchors)) }
                }
            }
            (recipes(profile))
        }
    }
}

fn row(
    device: usize,
    profile: &ProfileResult,
    rule: &RuleResult,
    causes: &[BrokenRule],
    all: &[&str],
    anchors: &Anchors,
) -> Markup {
    // Evidence stands once, in the card of its cause, whatever the number of profiles.
    let holds = |cause: &BrokenRule| {
        cause.rule.id == rule.id && cause.rule.verdict == rule.verdict
            || rule.verdict == Verdict::Depends
                && cause.dependents.iter().any(|dependent| dependent.rule.id == rule.id)
    };
    let card = causes.iter().position(holds);
    html! {
        tr role="row" id=[anchors.place(&rule.id)] data-verdict=(rule.verdict.name()) data-profiles=(numbers(&[profile], all)) {
            td role="cell" { (verdict_chip(rule.verdict)) @if !rule.label.is_empty() { " " span.label { (rule.label) } } }
            th scope="row" role="rowheader" { (rule.id) @if rule.level.name() != "required" { small { (rule.level.name()) } } }
            td role="cell" { (rule.title) }
            td.faint role="cell" { cite { (rule.citation) } }
            td role="cell" {
                @if !rule.behaviour.is_empty() {
                    @if rule.verdict == Verdict::Depends { "depends on " }
                    (rule.behaviour)
                }
                @if let Some(card) = card {
                    " " a href={ "#d" (device) "-c" (card) } { "evidence" }
                } @else {
                    (evidence::some(&rule.evidence, ACCEPTED))
                }
            }
            td.number role="cell" { @if rule.failing > 0 { (phrase::grouped(rule.failing)) " of " } (phrase::grouped(rule.lanes)) }
        }
    }
}

/// The recipes that were tried, where more than the empty one was.
fn recipes(profile: &ProfileResult) -> Markup {
    html! {
        @if profile.recipes.len() > 1 {
            details.recipes {
                summary { (profile.recipes.len()) " recipes tried" }
                ol {
                    @for recipe in profile.recipes.iter().take(RECIPES) {
                        li {
                            @if recipe.needs.is_empty() { "no controls, default lowerings" }
                            @for need in &recipe.needs { code { (need) } " " }
                            ": "
                            @if !recipe.failing.is_empty() { span.faint { "fails " (recipe.failing.join(", ")) } }
                            @else if recipe.unmeasured.is_empty() { "every required rule is met" }
                            @if !recipe.unmeasured.is_empty() {
                                span.faint {
                                    @if !recipe.failing.is_empty() { "; " }
                                    "not measured: " (recipe.unmeasured.join(", "))
                                }
                            }
                        }
                    }
                }
                @if profile.recipes.len() > RECIPES { p { "The others are in the JSON report." } }
                @if !profile.without_shaders.is_empty() {
                    p.faint {
                        "Clears, blits and copies run no shader, so modes do not reach them: their results count under every recipe ("
                        (profile.without_shaders.join(", ")) ")."
                    }
                }
            }
        }
    }
}
