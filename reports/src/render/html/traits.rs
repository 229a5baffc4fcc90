//! What the devices do: traits by devices, whether or not a profile cares.

use std::collections::BTreeMap;

use fpprobe_spirv::Format;
use maud::{Markup, html};

use super::anchors::Anchors;
use crate::model::{DeviceTrait, NOT_OFFERED, Report, TraitValue};
use crate::render::phrase;
use crate::traits;

/// A table for each format, a row for each trait that some device offers, below it the names of the
/// others; the first, of single precision, is unfolded. `None` where no device has traits.
pub fn matrix(report: &Report, anchors: &Anchors) -> Option<Markup> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    let all = report.devices.iter().flat_map(|device| &device.traits);
    for id in all.map(|one| one.id.as_str()) {
        let group = id.split_once('.').map_or("every format", |(format, _)| format);
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, ids)) if ids.contains(&id) => {}
            Some((_, ids)) => ids.push(id),
            None => groups.push((group, vec![id])),
        }
    }
    // Single precision is what most programs use.
    groups.sort_by_key(|(group, _)| *group != Format::F32.name());
    let by_device: Vec<BTreeMap<&str, &DeviceTrait>> = report
        .devices
        .iter()
        .map(|device| device.traits.iter().map(|one| (one.id.as_str(), one)).collect())
        .collect();
    let is_offered =
        |id: &&str| by_device.iter().filter_map(|device| device.get(id)).any(|one| is_offered(one));
    let groups = groups.into_iter().map(|(group, ids)| {
        let (offered, lacking): (Vec<&str>, Vec<&str>) = ids.into_iter().partition(is_offered);
        (group, offered, lacking)
    });
    let groups: Vec<_> = groups.collect();
    let names: Vec<String> =
        report.devices.iter().map(|device| phrase::label(report, device)).collect();
    (!groups.is_empty()).then(|| {
        html! {
            @for (place, (group, offered, lacking)) in groups.iter().enumerate() {
                details.part open[place == 0] {
                    summary { h3 { (group) } " " span.faint { (phrase::number(offered.len(), "trait")) } }
                    @if !offered.is_empty() {
                        div.scroll tabindex="0" role="group" aria-label={ "Traits of " (group) } {
                            table.traits.stack role="table" {
                                thead role="rowgroup" { tr role="row" {
                                    th scope="col" role="columnheader" { "Trait" }
                                    @for name in &names { th scope="col" role="columnheader" { (name) } }
                                } }
                                tbody role="rowgroup" {
                                    @for id in offered {
                                        tr role="row" id=[anchors.place(id)] {
                                            th scope="row" role="rowheader" {
                                                (traits::find(id).map_or_else(String::new, |known| known.question()))
                                                small { code { (id) } }
                                            }
                                            @for (device, name) in by_device.iter().zip(&names) {
                                                td role="cell" data-column=(name) { (cell(device.get(id).copied())) }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                    @if !lacking.is_empty() {
                        details {
                            summary { (phrase::grouped(lacking.len())) " more that no device offers" }
                            p { @for id in lacking { code id=[anchors.place(id)] { (id) } " " } }
                        }
                    }
                }
            }
        }
    })
}

/// Whether a device has what a trait takes, in any scope.
fn is_offered(one: &DeviceTrait) -> bool {
    one.scopes().into_iter().any(|(_, value)| value.is_some_and(|value| value.value != NOT_OFFERED))
}

/// The value at run time; that of constants where it is another.
fn cell(one: Option<&DeviceTrait>) -> Markup {
    let (run_time, constants) =
        one.map_or((None, None), |one| (one.run_time.as_ref(), one.constants.as_ref()));
    let [run_time, constants] = [run_time, constants].map(|value| value.map(TraitValue::describe));
    html! {
        span {
            @match (&run_time, &constants) {
                (None, None) => { span.faint { "not measured" } }
                (Some(value), None) => { (value) }
                (None, Some(value)) => { "constants: " (value) }
                (Some(value), Some(other)) => {
                    (value)
                    @if value != other { small { "constants: " (other) } }
                }
            }
        }
    }
}
