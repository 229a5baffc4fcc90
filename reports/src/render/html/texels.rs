//! What becomes of numbers and texels: a grid of paths by formats, whose numbers name what each
//! path does, and the list of these.

use maud::{Markup, html};

use crate::model::{Device, Outcome, TexelPath};
use crate::render::phrase;

/// The parts of a path's kernel: the format, and what is done by which route.
fn parts(path: &TexelPath) -> (&str, &str) {
    path.kernel.split_once('.').unwrap_or((&path.kernel, ""))
}

/// The values of a list, each once, in their order.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The grid and its list; `None` where no texel was measured.
pub fn table(device: &Device) -> Option<Markup> {
    let does = |path: &TexelPath| (path.outcome, path.behaviour.clone(), path.deviates.join(", "));
    let formats = distinct(device.texels.iter().map(|path| parts(path).0));
    let paths = distinct(device.texels.iter().map(|path| parts(path).1));
    let offered = device.texels.iter().filter(|path| path.outcome != Outcome::Unsupported);
    let behaviours = distinct(offered.map(does));
    let cell = |format: &str, path: &str| {
        let found = device.texels.iter().find(|one| parts(one) == (format, path));
        let Some(found) = found else { return html! { td {} } };
        match behaviours.iter().position(|one| *one == does(found)) {
            None => html! { td.absent { "–" } },
            Some(place) if found.deviates.is_empty() => html! { td { (place + 1) } },
            Some(place) => html! { td.deviates { "✕ " (place + 1) } },
        }
    };
    (!device.texels.is_empty()).then(|| {
        html! {
            p.faint {
                "The number of what each path does, with " code { "✕" } " where a rule is not met; " code { "–" }
                ": not offered by the device."
            }
            div.scroll tabindex="0" role="group" aria-label="Texels, paths by formats" {
                table.texels {
                    thead { tr { th scope="col" { "Path" } @for format in &formats { th scope="col" { span { (format) } } } } }
                    tbody {
                        @for path in &paths {
                            tr { th scope="row" { code { (path) } } @for format in &formats { (cell(format, path)) } }
                        }
                    }
                }
            }
            ol.texels {
                @for (outcome, behaviour, deviates) in &behaviours {
                    li {
                        @if *outcome != Outcome::Ran { span.chip.incomplete { (phrase::outcome(*outcome)) } " " }
                        @if behaviour.is_empty() { "has no choice" } @else { (behaviour) }
                        @if !deviates.is_empty() { small.deviates { "does not meet " (deviates) } }
                    }
                }
            }
        }
    })
}
