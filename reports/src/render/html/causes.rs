//! Why lanes fail: a list over all devices, and each device's causes in full.

use fpprobe_spirv::Kernel;
use maud::{Markup, html};

use super::anchors::Anchors;
use super::evidence;
use crate::model::{Cause, Device, ProfileResult, Report};
use crate::numbered::first_number;
use crate::render::{lane, phrase};
use crate::scoreboard::NearestRecipe;

/// Causes of a device on the first screen, where there are few devices and where there are many.
const WORST: usize = 6;
const WORST_OF_MANY: usize = 3;
/// As many devices are few.
const FEW: usize = 3;

const LANES: &str = "Lanes";
const COLUMNS: [&str; 6] = ["No.", "Severity", "What the device does", "Breaks", LANES, "Fix"];

/// The gravest causes of every device, with links to all of it; `None` where there are none.
pub fn worst(report: &Report) -> Option<Markup> {
    let causing =
        || report.devices.iter().enumerate().filter(|(_, device)| !device.causes.is_empty());
    causing().next()?;
    let shown = if report.devices.len() > FEW { WORST_OF_MANY } else { WORST };
    Some(html! {
        @for (number, device) in causing() {
            @if report.devices.len() > 1 { h3 { (phrase::label(report, device)) } }
            ol.worst start=(first_number(report, number)) {
                @for (place, cause) in device.causes.iter().take(shown).enumerate() {
                    li {
                        span class={ "severity " (style(cause)) } { (cause.severity.name()) } " "
                        a href={ "#" (row_id(number, place)) } { (cause.headline) } " "
                        span.faint { (breaks(device, cause)) }
                    }
                }
            }
            @if device.causes.len() > shown {
                p.faint { a href={ "#d" (number) "-causes" } { (device.causes.len() - shown) " more" } }
            }
        }
    })
}

/// All causes of a device, numbered from `first` on as on a terminal: a row for each, its lanes
/// folded up.
pub fn all(index: usize, first: usize, device: &Device, anchors: &Anchors) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Causes" {
            table.causes role="table" {
                thead role="rowgroup" { tr role="row" {
                    @for name in COLUMNS { th.number[name == LANES] scope="col" role="columnheader" { (name) } }
                } }
                tbody role="rowgroup" {
                    @for (place, cause) in device.causes.iter().enumerate() {
                        tr role="row" id=(row_id(index, place)) {
                            td.number role="cell" { (first + place) }
                            td role="cell" { span class={ "severity " (style(cause)) } { (cause.severity.name()) } }
                            td role="cell" {
                                span id=[anchors.place(&format!("cause-{}", cause.id))] { (cause.headline) }
                                // A link to an operation leads to its worst cause.
                                @for stem in stems(cause).filter_map(|stem| anchors.place(&stem)) { span id=(stem) {} }
                                (evidence::some(&cause.evidence, lane::ACCEPTED))
                            }
                            td role="cell" data-column="Breaks" { (breaks(device, cause)) small { (cause.rules.join(", ")) } }
                            td.number role="cell" data-column=(LANES) {
                                (phrase::grouped(cause.lanes))
                                @if cause.constants > 0 { small { (phrase::grouped(cause.constants)) " of constants" } }
                            }
                            td role="cell" data-column="Fix" { @if cause.fix.is_empty() { span.faint { "none known" } } @else { (phrase::any_of(&cause.fix)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The recipes that come nearest to profiles which none satisfies, with links to the causes that
/// remain.
pub fn nearest(index: usize, first: usize, device: &Device) -> Option<Markup> {
    let names = phrase::short_names(device);
    let found = device
        .profiles
        .iter()
        .filter_map(|profile| Some((profile, NearestRecipe::of(device, profile)?)));
    let found: Vec<(&ProfileResult, NearestRecipe<'_>)> = found.collect();
    (!found.is_empty()).then(|| {
        html! {
            ul {
                @for (profile, recipe) in &found {
                    li {
                        (names[profile.id.as_str()]) " under " @for need in recipe.needs { code { (need) } " " }
                        ": " (phrase::remaining(recipe))
                        @for place in &recipe.remaining { " " a href={ "#" (row_id(index, *place)) } { (first + place) } }
                    }
                }
            }
        }
    })
}

/// The operations of a cause with their formats, `f32.fmin`.
pub fn stems(cause: &Cause) -> impl Iterator<Item = String> {
    let kernels = cause.kernels.iter().filter_map(|kernel| kernel.parse::<Kernel>().ok());
    kernels.map(|kernel| format!("{}.{}", kernel.format, kernel.op.name))
}

fn row_id(device: usize, place: usize) -> String {
    format!("d{device}-cause{place}")
}

fn breaks(device: &Device, cause: &Cause) -> String {
    let profiles = phrase::broken_profiles(device, cause);
    let only = if cause.recommended { " (recommended)" } else { "" };
    format!("{}{only}", profiles.join(" "))
}

fn style(cause: &Cause) -> &'static str {
    use crate::model::Severity;
    match cause.severity {
        Severity::Broken | Severity::Special => "deviates",
        Severity::Inaccurate => "incomplete",
        Severity::LastBit | Severity::SameValue => "permitted",
    }
}
