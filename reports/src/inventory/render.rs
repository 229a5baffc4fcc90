//! Forms in which an inventory can be written.

mod csv;
mod html;
mod parquet;
mod text;

use std::io::{self, Write};

use super::Inventory;
use crate::render::paper::Style;
use crate::render::{FormatEntry, json};

/// A form in which an inventory can be written.
pub trait RenderInventory {
    /// Writes it; `style` is of a terminal, for forms that are for one.
    fn render(&self, inventory: &Inventory, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// An output format of inventories.
pub type InventoryFormat = FormatEntry<dyn RenderInventory + Sync>;

/// Every form, in the order of help texts.
pub static INVENTORIES: &[InventoryFormat] = &[
    InventoryFormat {
        name: "text",
        extensions: &["txt"],
        about: "who differs from equals, then each model and driver, for the terminal",
        renderer: &text::InventoryText,
    },
    InventoryFormat {
        name: "json",
        extensions: &["json"],
        about: "every group, difference and device, one document",
        renderer: &InventoryJson,
    },
    InventoryFormat {
        name: "html",
        extensions: &["html", "htm"],
        about: "one self-contained page to read and print",
        renderer: &html::InventoryHtml,
    },
    InventoryFormat {
        name: "csv",
        extensions: &["csv"],
        about: "a row for each device: host, model, driver, behaviour, classes",
        renderer: &csv::InventoryCsv,
    },
    InventoryFormat {
        name: "parquet",
        extensions: &["parquet"],
        about: "the same rows as a table for SQL",
        renderer: &parquet::InventoryParquet,
    },
];

/// The document itself.
struct InventoryJson;

impl RenderInventory for InventoryJson {
    fn render(&self, inventory: &Inventory, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(inventory, out)
    }
}
