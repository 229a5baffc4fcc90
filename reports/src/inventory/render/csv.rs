//! A row for each device, RFC 4180, safe to open in a spreadsheet.

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

impl RenderInventory for InventoryCsv {
    fn render(&self, inventory: &Inventory, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        let profiles: BTreeSet<&str> = inventory
            .groups
            .iter()
            .flat_map(|group| group.classes.keys())
            .map(String::as_str)
            .collect();
        let header: Vec<&str> = HEADER.into_iter().chain(profiles.iter().copied()).collect();
        row(out, &header)?;
        for group in &inventory.groups {
            for (number, behaviour) in (1..).zip(&group.behaviours) {
                let kernels: Vec<&str> =
                    behaviour.differences.iter().map(|one| &*one.kernel).collect();
                for device in &behaviour.devices {
                    let tags: Vec<String> =
                        device.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    let (tags, number, kernels) =
                        (tags.join(" "), number.to_string(), kernels.join(" "));
                    let minority = if behaviour.minority { "yes" } else { "no" };
                    let fields = [
                        &*device.host,
                        &*tags,
                        &*device.slot,
                        &*group.model,
                        &*group.driver,
                        &*device.measured,
                        &*number,
                        minority,
                        &*kernels,
                    ];
                    let class = |id: &&str| {
                        device.classes.get(*id).map_or("", |class: &Class| class.name())
                    };
                    let all: Vec<&str> =
                        fields.into_iter().chain(profiles.iter().map(class)).collect();
                    row(out, &all)?;
                }
            }
        }
        Ok(())
    }
}
