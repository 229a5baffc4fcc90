//! An inventory for a terminal: what needs a person first, then everything by number.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{RenderInventory, Style};
use crate::inventory::{
    ChangedDevice, EqualDevices, Inventory, InventoryDevice, KernelDifference, ModelDrivers,
    SharedBehaviour,
};
use crate::render::html::day;
use crate::render::paper::{Ink, Paper};
use crate::render::phrase;
use crate::values::argument;

/// Names in one list; the others are counted.
const NAMES: usize = 8;
/// Kernels of one minority, devices or files of one list.
const LINES: usize = 20;

/// For people at a terminal.
pub(super) struct InventoryText;

impl RenderInventory for InventoryText {
    fn render(&self, inventory: &Inventory, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        paper.line(0, 2, &[(Ink::Strong, "Inventory  "), (Ink::Plain, &headline(inventory))])?;
        for (group, behaviour) in inventory.minorities() {
            minority(paper, group, behaviour)?;
        }
        inventory.updates.iter().try_for_each(|model| update(paper, model))?;
        paper.gap()?;
        inventory.groups.iter().try_for_each(|group| equals(paper, group))?;
        if let Some(changed) = &inventory.changed {
            let title = format!("{} changed", phrase::number(changed.len(), "device"));
            list(paper, &title, changed, |device| (device.host.clone(), change(device)))?;
        }
        if !inventory.outdated.is_empty() {
            let title = format!(
                "{} not measured for long",
                phrase::number(inventory.outdated.len(), "device")
            );
            list(paper, &title, &inventory.outdated, |device| {
                (
                    device.host.clone(),
                    format!("{}, last on {}", device.model, day(&device.measured)),
                )
            })?;
        }
        if !inventory.unreadable.is_empty() {
            let title =
                format!("{} unreadable", phrase::number(inventory.unreadable.len(), "file"));
            list(paper, &title, &inventory.unreadable, |one| (String::new(), brief(&one.error)))?;
        }
        Ok(())
    }
}

/// How much was found.
pub(super) fn headline(inventory: &Inventory) -> String {
    let [hosts, devices] = [(inventory.hosts, "host"), (inventory.devices, "device")]
        .map(|(count, what)| phrase::number(count, what));
    format!("{hosts} with {devices}, {} read", phrase::number(inventory.reports, "report"))
}

/// An error without what to do about it, which is the same for many files.
fn brief(error: &str) -> String {
    error.split("; ").next().unwrap_or_default().to_owned()
}

/// The first names, and how many more.
fn names(all: impl ExactSizeIterator<Item: Into<String>>) -> String {
    let count = all.len();
    let mut names: Vec<String> = all.take(NAMES).map(Into::into).collect();
    names.extend((count > NAMES).then(|| format!("{} more", count - NAMES)));
    names.join(", ")
}

fn hosts(behaviour: &SharedBehaviour) -> String {
    names(behaviour.devices.iter().map(InventoryDevice::place))
}

fn minority(
    paper: &mut Paper,
    group: &EqualDevices,
    behaviour: &SharedBehaviour,
) -> io::Result<()> {
    paper.gap()?;
    let few = behaviour.devices.len();
    let verb = if few == 1 { "differs from its equals: " } else { "differ from their equals: " };
    let title = format!("{few} of {} {verb}", group.devices);
    let model = format!("  {}, {}", group.model, group.driver);
    paper.line(
        0,
        2,
        &[(Ink::Bad, &title), (Ink::Strong, &hosts(behaviour)), (Ink::Faint, &model)],
    )?;
    let (shown, more) = behaviour.differences.split_at(behaviour.differences.len().min(LINES));
    for difference in shown {
        paper.line(
            2,
            4,
            &[(Ink::Plain, &difference.kernel), (Ink::Plain, &results(difference))],
        )?;
    }
    if more.is_empty() { Ok(()) } else { left_out(paper, more.len(), "kernel") }
}

/// `(3f800000 3f800000) = 40000001, on 199 devices 40000000; 1 case differs`.
pub(super) fn results(difference: &KernelDifference) -> String {
    let most = format!("on {}", phrase::number(difference.most, "device"));
    match (&difference.lane, &difference.outcomes) {
        (Some(lane), _) => {
            let inputs: Vec<String> = lane.inputs.iter().map(argument).collect();
            let (out, others) = (argument(&lane.out), argument(&lane.most));
            let cases = if lane.cases == 1 {
                "1 case differs".into()
            } else {
                format!("{} cases differ", lane.cases)
            };
            format!("({}) = {out}, {most} {others}; {cases}", inputs.join(" "))
        }
        (None, Some([here, others])) => format!(": {here}, {most} {others}"),
        (None, None) => format!(": other results {most}"),
    }
}

fn update(paper: &mut Paper, model: &ModelDrivers) -> io::Result<()> {
    paper.gap()?;
    let title = format!("{} drivers of one model  ", model.drivers.len());
    paper.line(0, 2, &[(Ink::Note, &title), (Ink::Strong, &model.model)])?;
    for (driver, count) in &model.drivers {
        let few = model.few.get(driver).map(|hosts| format!(": {}", names(hosts.iter().cloned())));
        let devices = format!("{}{}", phrase::number(*count, "device"), few.unwrap_or_default());
        paper.line(2, 4, &[(Ink::Plain, driver), (Ink::Plain, "  "), (Ink::Plain, &devices)])?;
    }
    Ok(())
}

fn equals(paper: &mut Paper, group: &EqualDevices) -> io::Result<()> {
    let driver = format!("  {}", group.driver);
    paper.line(0, 2, &[(Ink::Strong, &group.model), (Ink::Faint, &driver)])?;
    let alike = agreement(group);
    let devices = format!("{}, ", phrase::number(group.devices, "device"));
    let ink = if group.behaviours.len() > 1 { Ink::Bad } else { Ink::Plain };
    paper.line(2, 4, &[(Ink::Plain, &devices), (ink, &alike)])?;
    if group.nan_bits > 0 {
        let text = format!("bits of NaNs differ in {}", phrase::number(group.nan_bits, "kernel"));
        paper.line(2, 4, &[(Ink::Faint, &text)])?;
    }
    let classes: Vec<String> =
        group.classes.iter().map(|(profile, counts)| shares(profile, counts)).collect();
    if classes.is_empty() { Ok(()) } else { paper.line(2, 4, &[(Ink::Plain, &classes.join("; "))]) }
}

/// Whether the devices have equal results, and over how much.
pub(super) fn agreement(group: &EqualDevices) -> String {
    match (group.devices, group.behaviours.len(), group.compared) {
        (1, ..) => "nothing to compare with".to_owned(),
        (_, _, 0) => "no two ran a kernel by the same cases".to_owned(),
        (_, 1, compared) => format!("equal results of {}", phrase::number(compared, "kernel")),
        (_, several, compared) => {
            format!("{several} behaviours over {}", phrase::number(compared, "kernel"))
        }
    }
}

/// `d3d11 deviates`, or `d3d11 deviates (2), conforms (310)`.
fn shares(profile: &str, counts: &BTreeMap<String, usize>) -> String {
    if let (Some((only, _)), 1) = (counts.first_key_value(), counts.len()) {
        return format!("{profile} {only}");
    }
    let shares: Vec<String> =
        counts.iter().map(|(class, count)| format!("{class} ({count})")).collect();
    format!("{profile} {}", shares.join(", "))
}

pub(super) fn change(device: &ChangedDevice) -> String {
    let [old, new] = &device.drivers;
    let driver = if old == new { new.clone() } else { format!("{old} → {new}") };
    let kernels = match &device.kernels[..] {
        [] => "equal results".to_owned(),
        kernels => format!("other results of {}", names(kernels.iter().cloned())),
    };
    format!("{}, {driver}: {kernels}", device.model)
}

fn list<T>(
    paper: &mut Paper,
    title: &str,
    all: &[T],
    line: impl Fn(&T) -> (String, String),
) -> io::Result<()> {
    paper.gap()?;
    paper.line(0, 2, &[(Ink::Note, title)])?;
    for one in all.iter().take(LINES) {
        let (name, rest) = line(one);
        let name = if name.is_empty() { name } else { format!("{name}  ") };
        paper.line(2, 4, &[(Ink::Strong, &name), (Ink::Plain, &rest)])?;
    }
    if all.len() > LINES { left_out(paper, all.len() - LINES, "line") } else { Ok(()) }
}

fn left_out(paper: &mut Paper, count: usize, what: &str) -> io::Result<()> {
    let text = format!("{} more; `--format json` has all", phrase::number(count, what));
    paper.line(2, 4, &[(Ink::Faint, &text)])
}
