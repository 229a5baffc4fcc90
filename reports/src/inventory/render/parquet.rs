//! The rows of the CSV as a table for programs that query in SQL.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{RenderInventory, Style, csv};
use crate::inventory::Inventory;

/// Level of zstd.
const LEVEL: i32 = 3;

/// Apache Parquet: every column a text, as in the CSV.
pub(super) struct InventoryParquet;

impl RenderInventory for InventoryParquet {
    fn render(&self, inventory: &Inventory, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        let (header, rows) = csv::table(inventory);
        out.write_all(&written(&header, &rows)?)
    }
}

fn written(header: &[&str], rows: &[Vec<Cow<'_, str>>]) -> Result<Vec<u8>, ParquetError> {
    let column = |name: &&str| {
        let text = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .with_repetition(Repetition::REQUIRED);
        text.build().map(Arc::new)
    };
    let columns = header.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("devices").with_fields(columns).build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("fpprobe {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for index in 0..header.len() {
        let texts = rows.iter().filter_map(|row| row.get(index));
        let values: Vec<ByteArray> =
            texts.map(|text| ByteArray::from(text.as_bytes().to_vec())).collect();
        let Some(mut column) = group.next_column()? else { break };
        column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    group.close()?;
    file.into_inner()
}
