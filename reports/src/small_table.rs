//! A few rows as one Parquet file: texts, numbers, truth values and times.

use std::sync::Arc;

use parquet::basic::{
    Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// Level of zstd.
const LEVEL: i32 = 3;

/// The values of a column, one for each row.
pub(crate) enum SmallColumn {
    /// UTF-8.
    Texts(Vec<String>),
    /// Unsigned, 32 bits.
    Numbers(Vec<u32>),
    /// Truth values.
    Truths(Vec<bool>),
    /// Microseconds since 1970, UTC.
    Times(Vec<i64>),
}

impl SmallColumn {
    fn described(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            SmallColumn::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            SmallColumn::Numbers(_) => (PhysicalType::INT32, Some(LogicalType::integer(32, false))),
            SmallColumn::Truths(_) => (PhysicalType::BOOLEAN, None),
            SmallColumn::Times(_) => {
                (PhysicalType::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS)))
            }
        };
        Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::REQUIRED)
            .build()
    }

    fn write(self, to: &mut SerializedColumnWriter<'_>) -> Result<usize, ParquetError> {
        match self {
            SmallColumn::Texts(texts) => {
                let texts: Vec<ByteArray> =
                    texts.into_iter().map(|text| text.into_bytes().into()).collect();
                to.typed::<ByteArrayType>().write_batch(&texts, None, None)
            }
            SmallColumn::Numbers(numbers) => {
                let numbers: Vec<i32> = numbers.into_iter().map(u32::cast_signed).collect();
                to.typed::<Int32Type>().write_batch(&numbers, None, None)
            }
            SmallColumn::Truths(truths) => to.typed::<BoolType>().write_batch(&truths, None, None),
            SmallColumn::Times(times) => to.typed::<Int64Type>().write_batch(&times, None, None),
        }
    }
}

/// The bytes of a file with these columns, all of one length.
pub(crate) fn written(
    name: &str,
    columns: Vec<(&str, SmallColumn)>,
) -> Result<Vec<u8>, ParquetError> {
    let described = columns.iter().map(|(name, column)| column.described(name).map(Arc::new));
    let described = described.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder(name).with_fields(described).build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("fpprobe {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for (_, values) in columns {
        let Some(mut column) = group.next_column()? else { break };
        values.write(&mut column)?;
        column.close()?;
    }
    group.close()?;
    file.into_inner()
}
