//! Devices by profile: which class each has now and had before, and what became of the rules.

use maud::{Markup, html};

use super::{chip, scrolling};
use crate::diff::{ChangeKind, ClassStatus, DeviceDiff, Diff, Presence, ProfileChange};
use crate::render::html::overview::class_chip;
use crate::render::phrase;

/// The matrix; `None` where no class and no verdict changed on any device.
pub(super) fn matrix(diff: &Diff) -> Option<Markup> {
    let mut profiles: Vec<&str> = Vec::new();
    for device in &diff.devices {
        let classes = device.profiles.iter().map(|change| change.profile.as_str());
        for id in classes.chain(device.rules.iter().map(|change| change.profile.as_str())) {
            if !profiles.contains(&id) {
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
    let inputs: usize = device.kernels.iter().map(|change| change.changed).sum();
    html! {
        @if device.is_empty() { (device.name) } @else { a href={ "#d" (index) } { (device.name) } }
        small {
            @match device.presence {
                Presence::Appeared => "is new",
                Presence::Vanished => "is gone",
                Presence::Both if device.is_empty() => "nothing changed",
                Presence::Both => { (phrase::number(inputs, "input")) " changed" }
            }
        }
    }
}

fn cell(device: &DeviceDiff, id: &str) -> Markup {
    let class = device.profiles.iter().find(|change| change.profile == id);
    let rules = device.rules.iter().filter(|change| change.profile == id);
    let rules: Vec<ChangeKind> = rules.map(|change| change.kind).collect();
    let counts = ChangeKind::ALL.map(|kind| (kind, rules.iter().filter(|one| **one == kind).count()));
    html! {
        @match class {
            None if rules.is_empty() => span.absent { "as before" },
            None => span.absent { "class as before" },
            Some(ProfileChange { old: Some(old), new: Some(new), .. }) if old.class == new.class => {
                (class_chip(new.class)) small { "as before, on other conditions" }
            }
            Some(ProfileChange { old, new, .. }) => { (standing(old.as_ref())) " → " (standing(new.as_ref())) }
        }
        @for (kind, count) in counts { @if count > 0 { small { (chip(kind)) " " (phrase::number(count, "rule")) } } }
    }
}

fn standing(standing: Option<&ClassStatus>) -> Markup {
    html! {
        @match standing {
            Some(standing) => (class_chip(standing.class)),
            None => span.absent { "not judged" },
        }
    }
}
