//! An inventory as a page: minorities, then a table of models and drivers with the share of devices
//! in each class.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use maud::{Markup, html};

use super::text::{agreement, change, headline, results};
use super::{RenderInventory, Style};
use crate::escape::visible_lines;
use crate::inventory::{EqualDevices, Inventory, InventoryDevice, SharedBehaviour};
use crate::render::html::day;
use crate::render::html::frame::{Frame, scrolling};
use crate::render::phrase;
use crate::traits;

/// Kernels of one minority, and lines of one list; the others are counted.
const LINES: usize = 50;

/// A self-contained page.
pub(super) struct InventoryHtml;

impl RenderInventory for InventoryHtml {
    fn render(&self, inventory: &Inventory, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(visible_lines(&page(inventory).into_string()).as_bytes())
    }
}

fn page(inventory: &Inventory) -> Markup {
    let minorities = inventory.minorities().count();
    let frame = Frame {
        program: &inventory.program,
        title: "Devices of many hosts",
        headline: &headline(inventory),
        source: html! {
            @match minorities {
                0 => "no device differs from its equals",
                1 => "one minority among equals",
                _ => { (minorities) " minorities among equals" }
            }
        },
        subject: "devices",
        foot: html! { "Every device and difference is in the inventory as JSON, " code { (inventory.schema) } "." },
    };
    frame.page(&html! {
        @for (group, behaviour) in inventory.minorities() { (minority(group, behaviour)) }
        section { h2.quiet { "Models and drivers" } (scrolling("Models and drivers", &groups(inventory))) }
        @if let Some(traits) = differing_traits(inventory) { section { h2.quiet { "Traits that differ" } (scrolling("Traits by model and driver", &traits)) } }
        @for model in &inventory.updates {
            section {
                h2.quiet { (model.drivers.len()) " drivers of " (model.model) }
                ul {
                    @for (driver, count) in &model.drivers {
                        li {
                            (driver) ": " (phrase::number(*count, "device"))
                            @if let Some(few) = model.few.get(driver) { " (" (some(few)) ")" }
                        }
                    }
                }
            }
        }
        @if let Some(changed) = &inventory.changed {
            (list("Changed", changed.iter().map(|device| format!("{}: {}", device.host, change(device)))))
        }
        (list("Not measured for long", inventory.outdated.iter().map(|device| {
            format!("{}: {}, last on {}", device.host, device.model, day(&device.measured))
        })))
        (list("Unreadable", inventory.unreadable.iter().map(|file| file.error.clone())))
    })
}

fn minority(group: &EqualDevices, behaviour: &SharedBehaviour) -> Markup {
    let hosts: Vec<String> = behaviour.devices.iter().map(InventoryDevice::place).collect();
    let differ =
        if hosts.len() == 1 { "differs from its equals" } else { "differ from their equals" };
    html! {
        section {
            h2.quiet { (hosts.len()) " of " (group.devices) " " (differ) ": " (some(&hosts)) }
            p { (group.model) ", " (group.driver) }
            ul {
                @for difference in behaviour.differences.iter().take(LINES) {
                    li { code { (difference.kernel) (results(difference)) } }
                }
                (more(behaviour.differences.len()))
            }
        }
    }
}

/// The first names, and how many more.
fn some<S: AsRef<str>>(names: &[S]) -> String {
    let mut shown: Vec<String> =
        names.iter().take(LINES).map(|name| name.as_ref().to_owned()).collect();
    shown.extend((names.len() > LINES).then(|| format!("{} more", names.len() - LINES)));
    shown.join(", ")
}

fn more(count: usize) -> Markup {
    html! { @if count > LINES { li { (count - LINES) " more" } } }
}

fn groups(inventory: &Inventory) -> Markup {
    let profiles: BTreeSet<&String> =
        inventory.groups.iter().flat_map(|group| group.classes.keys()).collect();
    html! {
        table.outcomes {
            thead {
                tr {
                    @for head in ["Model and driver", "Devices", "Behaviours"] { th scope="col" { (head) } }
                    @for profile in &profiles { th scope="col" { (profile) } }
                }
            }
            tbody {
                @for group in &inventory.groups {
                    tr {
                        th scope="row" { (group.model) br; small { (group.driver) } }
                        td { (phrase::grouped(group.devices)) }
                        td { (agreement(group)) }
                        @for profile in &profiles { td { @if let Some(shares) = group.classes.get(*profile) { (shared(shares)) } } }
                    }
                }
            }
        }
    }
}

/// Traits of which groups have different values; none where there are none.
fn differing_traits(inventory: &Inventory) -> Option<Markup> {
    let groups: Vec<&EqualDevices> =
        inventory.groups.iter().filter(|group| !group.traits.is_empty()).collect();
    let ids: BTreeSet<&String> = groups.iter().flat_map(|group| group.traits.keys()).collect();
    let differs = |id: &&String| {
        let values: BTreeSet<String> =
            groups.iter().filter_map(|group| group.traits.get(*id)).map(shared).collect();
        values.len() > 1
    };
    let differing: Vec<&String> = ids.into_iter().filter(differs).collect();
    let table = html! {
        table.traits.stack role="table" style={ "--columns: " (groups.len()) } {
            thead role="rowgroup" {
                tr role="row" {
                    th scope="col" role="columnheader" { "Trait" }
                    @for group in &groups { th scope="col" role="columnheader" { (group.model) br; small { (group.driver) } } }
                }
            }
            tbody role="rowgroup" {
                @for id in &differing {
                    tr role="row" {
                        th scope="row" role="rowheader" {
                            (traits::find(id).map_or_else(String::new, |known| known.question())) " " small { code { (id) } }
                        }
                        @for group in &groups {
                            td role="cell" data-column={ (group.model) ", " (group.driver) } {
                                @match group.traits.get(*id) {
                                    Some(shares) => span { (shared(shares)) },
                                    None => span.faint { "not measured" },
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    (!differing.is_empty()).then_some(table)
}

/// `deviates`, or `conforms (310), deviates (2)`.
fn shared(shares: &BTreeMap<String, usize>) -> String {
    let words = |value: &String| value.replace('_', " ");
    match shares.len() {
        1 => shares.keys().map(words).collect(),
        _ => shares
            .iter()
            .map(|(value, count)| format!("{} ({count})", words(value)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn list(title: &str, lines: impl ExactSizeIterator<Item = String>) -> Markup {
    let count = lines.len();
    html! {
        @if count > 0 {
            section { h2.quiet { (title) } ul { @for line in lines.take(LINES) { li { (line) } } (more(count)) } }
        }
    }
}
