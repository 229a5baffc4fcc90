//! What the devices do: traits by devices, whether or not a profile cares.

use std::collections::{BTreeMap, HashSet};

use fpprobe_spirv::Format;
use maud::{Markup, PreEscaped, html};

use super::anchors::Anchors;
use super::causes;
use crate::model::{DeviceTrait, NOT_OFFERED, Report, TraitValue};
use crate::render::phrase;
use crate::traits::{self, TraitDefinition};

/// Traits of one format.
struct Group<'a> {
    format: &'a str,
    /// Those that some device offers.
    rows: Vec<Row<'a>>,
    /// Ids of the others.
    lacking: Vec<&'a str>,
}

/// A trait, with those of other modes that have its values.
struct Row<'a> {
    id: &'a str,
    definition: Option<TraitDefinition>,
    /// The operations that it looks at, `f32.fmin`, to which links lead: those that no cause has.
    stems: Vec<String>,
    /// The value of each device that has one.
    cells: Vec<Option<String>>,
    /// Ids and modes of the traits that differ in nothing but the mode.
    same_under: Vec<(&'a str, &'static str)>,
}

impl Row<'_> {
    /// Whether all devices that have a value have the same one.
    fn is_common(&self) -> bool {
        let mut values = self.cells.iter().flatten();
        values.next().is_none_or(|first| values.all(|value| value == first))
    }

    /// The values: of every device, or the one that they have in common.
    fn shown(&self, columns: usize) -> impl Iterator<Item = Option<&str>> {
        let common = self.cells.iter().flatten().next().map(String::as_str);
        (0..columns).map(move |column| match columns {
            1 => common,
            _ => self.cells[column].as_deref(),
        })
    }
}

/// A part for each format. The first, of single precision, is unfolded. `None` where no device has
/// traits.
pub fn matrix(report: &Report, anchors: &Anchors) -> Option<Markup> {
    let groups = groups(report);
    let names: Vec<String> =
        report.devices.iter().map(|device| phrase::label(report, device)).collect();
    let (offered, lacking): (Vec<&Group<'_>>, Vec<&Group<'_>>) =
        groups.iter().partition(|group| !group.rows.is_empty());
    (!groups.is_empty()).then(|| {
        html! {
            @for (place, group) in offered.iter().enumerate() {
                details.part open[place == 0] {
                    summary { h3 { (group.format) } " " span.faint { (phrase::number(group.traits(), "trait")) } }
                    (values(group, &names, anchors))
                    @if !group.lacking.is_empty() {
                        details {
                            summary { (phrase::grouped(group.lacking.len())) " more that no device offers" }
                            p { (ids(&group.lacking, anchors)) }
                        }
                    }
                }
            }
            @if !lacking.is_empty() {
                details.part {
                    summary { h3 { "Formats that no device offers" } " " span.faint { (list(lacking.iter().map(|group| group.format))) } }
                    @for group in &lacking { p { (ids(&group.lacking, anchors)) } }
                }
            }
        }
    })
}

/// Traits in which the devices differ, with a column for each; the others with one for all.
fn values(group: &Group<'_>, names: &[String], anchors: &Anchors) -> Markup {
    let (common, differing): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
        group.rows.iter().partition(|row| row.is_common());
    let table = |rows: &[&Row<'_>], names: &[String]| table(group.format, rows, names, anchors);
    html! {
        @if !differing.is_empty() { (table(&differing, names)) }
        @if let [name] = names { (table(&common, std::slice::from_ref(name))) }
        @else if !common.is_empty() {
            details {
                summary { (phrase::grouped(common.len())) " in which the devices agree" }
                (table(&common, &["every device with a value".to_owned()]))
            }
        }
    }
}

fn table(format: &str, rows: &[&Row<'_>], names: &[String], anchors: &Anchors) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label={ "Traits of " (format) ", " (list(names.iter().map(String::as_str))) } {
            table.traits.stack.single[names.len() == 1] role="table" style={ "--columns: " (names.len()) } {
                thead role="rowgroup" { tr role="row" {
                    th scope="col" role="columnheader" { "Trait" }
                    @for name in names { th scope="col" role="columnheader" { (name) } }
                } }
                tbody role="rowgroup" {
                    @for row in rows {
                        tr role="row" id=[anchors.place(row.id)] {
                            th scope="row" role="rowheader" {
                                (row.definition.map_or_else(String::new, |known| known.question())) " "
                                small { code { (row.id) } }
                                @for stem in row.stems.iter().filter_map(|stem| anchors.place(stem)) { span id=(stem) {} }
                                @if !row.same_under.is_empty() {
                                    small.modes {
                                        "the same under "
                                        @for (place, (id, mode)) in row.same_under.iter().enumerate() {
                                            @if place > 0 { ", " }
                                            span id=[anchors.place(id)] { (mode) }
                                        }
                                    }
                                }
                            }
                            @for (value, name) in row.shown(names.len()).zip(names) {
                                td role="cell" data-column=(name) { span { @match value {
                                    Some(value) => (PreEscaped(value)),
                                    None => span.faint { "not measured" },
                                } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn groups(report: &Report) -> Vec<Group<'_>> {
    let by_device: Vec<BTreeMap<&str, &DeviceTrait>> = report
        .devices
        .iter()
        .map(|device| device.traits.iter().map(|one| (one.id.as_str(), one)).collect())
        .collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for id in report.devices.iter().flat_map(|device| &device.traits).map(|one| one.id.as_str()) {
        let format = id.split_once('.').map_or("every format", |(format, _)| format);
        let place = groups.iter().position(|group| group.format == format);
        let place = place.unwrap_or_else(|| {
            groups.push(Group { format, rows: Vec::new(), lacking: Vec::new() });
            groups.len() - 1
        });
        groups[place].add(id, &by_device);
    }
    // Single precision is what most programs use.
    groups.sort_by_key(|group| group.format != Format::F32.name());
    let causes = report.devices.iter().flat_map(|device| &device.causes);
    let of_causes: HashSet<String> = causes.flat_map(causes::stems).collect();
    for row in groups.iter_mut().flat_map(|group| &mut group.rows) {
        let stems = row.definition.iter().flat_map(TraitDefinition::stems);
        row.stems = stems.filter(|stem| !of_causes.contains(stem)).collect();
    }
    groups
}

impl<'a> Group<'a> {
    /// Adds a trait, unless it is there.
    fn add(&mut self, id: &'a str, by_device: &[BTreeMap<&str, &DeviceTrait>]) {
        let is_known =
            |row: &Row<'_>| row.id == id || row.same_under.iter().any(|(other, _)| *other == id);
        if self.lacking.contains(&id) || self.rows.iter().any(is_known) {
            return;
        }
        if !by_device.iter().filter_map(|device| device.get(id)).any(|one| is_offered(one)) {
            self.lacking.push(id);
            return;
        }
        let cells: Vec<Option<String>> =
            by_device.iter().map(|device| cell(device.get(id)?)).collect();
        let definition = traits::find(id);
        let plain = definition.and_then(|known| Some(known.by_default()?.id()));
        let alike = |row: &&mut Row<'_>| plain.as_deref() == Some(row.id) && row.cells == cells;
        match (self.rows.iter_mut().find(alike), definition) {
            (Some(row), Some(known)) => row.same_under.push((id, known.mode())),
            _ => self.rows.push(Row {
                id,
                definition,
                cells,
                stems: Vec::new(),
                same_under: Vec::new(),
            }),
        }
    }

    /// Number of those that some device offers.
    fn traits(&self) -> usize {
        self.rows.iter().map(|row| 1 + row.same_under.len()).sum()
    }
}

fn ids(ids: &[&str], anchors: &Anchors) -> Markup {
    html! { @for id in ids { code id=[anchors.place(id)] { (id) } " " } }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Whether a device has what a trait takes, in any scope.
fn is_offered(one: &DeviceTrait) -> bool {
    one.scopes().into_iter().any(|(_, value)| value.is_some_and(|value| value.value != NOT_OFFERED))
}

/// The value at run time as markup, with that of constants where it is another.
fn cell(one: &DeviceTrait) -> Option<String> {
    let [run_time, constants] =
        [&one.run_time, &one.constants].map(|value| value.as_ref().map(TraitValue::describe));
    let shown = match (run_time, constants) {
        (None, None) => return None,
        (None, Some(value)) => html! { "constants: " (value) },
        (Some(value), Some(other)) if value != other => {
            html! { (value) small { "constants: " (other) } }
        }
        (Some(value), _) => html! { (value) },
    };
    Some(shown.into_string())
}
