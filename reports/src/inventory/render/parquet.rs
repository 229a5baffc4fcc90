//! The rows of the CSV as a table for programs that query in SQL.

use std::io::{self, Write};

use super::{RenderInventory, Style, csv};
use crate::inventory::Inventory;
use crate::small_table::{SmallColumn, written};

/// Apache Parquet: every column a text, as in the CSV.
pub(super) struct InventoryParquet;

impl RenderInventory for InventoryParquet {
    fn render(&self, inventory: &Inventory, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        let (header, rows) = csv::table(inventory);
        let column = |(index, name)| {
            let texts = rows.iter().filter_map(|row| row.get(index)).map(ToString::to_string);
            (name, SmallColumn::Texts(texts.collect()))
        };
        let columns = header.into_iter().enumerate().map(column).collect();
        out.write_all(&written("devices", columns)?)
    }
}
