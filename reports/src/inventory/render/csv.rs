//! A row for each device; as CSV by RFC 4180, safe to open in a spreadsheet.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{RenderInventory, Style};
use crate::inventory::Inventory;
use crate::model::Class;
use crate::render::csv::row;

/// CSV with a header line; a column for each profile at the end.
pub(super) struct InventoryCsv;

const HEADER: [&str; 9] = [
    "host",
    "tags",
    "slot",
    "model",
    "driver",
    "measured",
    "behaviour",
    "minority",
    "differing_kernels",
];

/// Names of the columns, and the fields of each device.
pub(super) fn table(inventory: &Inventory) -> (Vec<&str>, Vec<Vec<Cow<'_, str>>>) {
    let profiles: BTreeSet<&str> = inventory
        .groups
        .iter()
        .flat_map(|group| group.classes.keys())
        .map(String::as_str)
        .collect();
    let mut rows = Vec::with_capacity(inventory.devices);
    for group in &inventory.groups {
        for (number, behaviour) in (1..).zip(&group.behaviours) {
            let kernels: Vec<&str> = behaviour.differences.iter().map(|one| &*one.kernel).collect();
            let kernels = kernels.join(" ");
            for device in &behaviour.devices {
                let tags: Vec<String> =
                    device.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let mut row: Vec<Cow<'_, str>> = vec![
                    (&*device.host).into(),
                    tags.join(" ").into(),
                    (&*device.slot).into(),
                    (&*group.model).into(),
                    (&*group.driver).into(),
                    (&*device.measured).into(),
                    number.to_string().into(),
                    if behaviour.minority { "yes" } else { "no" }.into(),
                    kernels.clone().into(),
                ];
                let class =
                    |id: &&str| device.classes.get(*id).map_or("", |class: &Class| class.name());
                row.extend(profiles.iter().map(class).map(Cow::from));
                rows.push(row);
            }
        }
    }
    (HEADER.into_iter().chain(profiles).collect(), rows)
}

impl RenderInventory for InventoryCsv {
    fn render(&self, inventory: &Inventory, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        let (header, rows) = table(inventory);
        row(out, &header)?;
        for fields in rows {
            row(out, &fields.iter().map(|field| &**field).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
