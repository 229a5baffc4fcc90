//! Devices by profile: which class each has now and had before, and what became of the rules.

use maud::{Markup, html};

use super::scrolling;
use crate::change::{Change, ChangeKind, Subject, chip};
use crate::diff::{DeviceDiff, Diff};
use crate::render::phrase;

/// The matrix; `None` where no class and no verdict changed on any device.
pub(super) fn matrix(diff: &Diff) -> Option<Markup> {
    let mut profiles: Vec<&str> = Vec::new();
    for device in &diff.devices {
        let classes = device.of(Subject::Class).map(|change| &change.id);
        for id in classes.chain(device.of(Subject::Rule).flat_map(|change| &change.profiles)) {
            if !profiles.contains(&&**id) {
                profiles.push(id);
            }
        }
    }
    let table = || {
        html! {
            table.matrix.stack role="table" {
                thead role="rowgroup" { tr role="row" {
                    th scope="col" role="columnheader" { "Device" }
                    @for id in &profiles { th scope="col" role="columnheader" { (id) } }
                } }
                tbody role="rowgroup" {
                    @for (index, device) in diff.devices.iter().enumerate() {
                        tr role="row" {
                            th scope="row" role="rowheader" { (named(index, device)) }
                            @for id in &profiles { td role="cell" data-column=(id) { div { (cell(device, id)) } } }
                        }
                    }
                }
            }
        }
    };
    (!profiles.is_empty()).then(|| scrolling("Devices by profile", &table()))
}

/// The name of a device, which leads to what changed on it.
fn named(index: usize, device: &DeviceDiff) -> Markup {
    let inputs: usize = device.of(Subject::Kernel).map(|change| change.changed().len()).sum();
    html! {
        @if device.is_empty() { (device.name) } @else { a href={ "#d" (index) } { (device.name) } }
        small {
            @match device.presence() {
                Some(kind) => (kind.name()),
                None if device.is_empty() => "nothing changed",
                None => { (phrase::number(inputs, "input")) " changed" }
            }
        }
    }
}

fn cell(device: &DeviceDiff, id: &str) -> Markup {
    let class = device.of(Subject::Class).find(|change| change.id == id);
    let rules: Vec<&Change> = device
        .of(Subject::Rule)
        .filter(|change| change.profiles.iter().any(|one| one == id))
        .collect();
    let counts =
        ChangeKind::ALL.map(|kind| (kind, rules.iter().filter(|one| one.kind == kind).count()));
    html! {
        @match class {
            None if rules.is_empty() => span.absent { "as before" },
            None => span.absent { "class as before" },
            Some(change) => (change.values()),
        }
        @for (kind, count) in counts { @if count > 0 { small { (chip(kind)) " " (phrase::number(count, "rule")) } } }
    }
}
