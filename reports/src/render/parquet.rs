//! Observations as a table for programs that query in SQL: Apache Parquet, a row for each lane.
//!
//! Rows are sorted by device, kernel, case and component. Bits are unsigned integers of the format's width. A kernel without
//! results has one row, in which case, component, operands and result are null. `docs/formats.md` describes the columns.

use std::io::{self, Write};
use std::sync::Arc;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Kernel, Shape};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::Render;
use crate::model::Report;
use crate::record::read_device;

/// Rows of a group: what a reader that looks for one kernel has to unpack.
const GROUP: usize = 1 << 20;
/// Bytes of a page before compression: kernels that give the same share one.
const PAGE: usize = 4 << 20;

/// The observations of a report, as a table.
#[derive(Clone, Copy, Debug)]
pub struct Parquet;

/// A column of the table.
struct Column {
    name: &'static str,
    values: ColumnValues,
}

/// How a column is filled.
enum ColumnValues {
    /// Of the device.
    Device,
    /// Of a kernel.
    Text(fn(&Observation) -> String),
    /// Components of the operands' vectors.
    Width,
    /// Of a lane, in this many bits.
    Number(i8, fn(&LaneRow<'_>) -> Option<u64>),
    /// All operands of a lane.
    Operands,
}

/// One component of one case.
struct LaneRow<'a> {
    observation: &'a Observation,
    case: usize,
    component: usize,
}

/// The table: one row a column.
const COLUMNS: [Column; 14] = [
    Column { name: "device", values: ColumnValues::Device },
    Column { name: "kernel", values: ColumnValues::Text(|one| one.kernel.to_string()) },
    Column { name: "format", values: ColumnValues::Text(|one| one.kernel.format.to_string()) },
    Column { name: "op", values: ColumnValues::Text(|one| one.kernel.op.name.to_owned()) },
    Column { name: "controls", values: ColumnValues::Text(|one| one.kernel.controls.to_string()) },
    Column { name: "route", values: ColumnValues::Text(|one| one.kernel.route.to_string()) },
    Column { name: "stage", values: ColumnValues::Text(|one| one.kernel.stage.name().to_owned()) },
    Column { name: "width", values: ColumnValues::Width },
    Column { name: "outcome", values: ColumnValues::Text(|one| outcome(one.outcome)) },
    Column { name: "case", values: ColumnValues::Number(32, |lane| Some(lane.case as u64)) },
    Column { name: "component", values: ColumnValues::Number(8, |lane| Some(lane.component as u64)) },
    Column { name: "operands", values: ColumnValues::Operands },
    Column { name: "result", values: ColumnValues::Number(64, |lane| Some(lane.of(&lane.observation.out))) },
    Column { name: "second", values: ColumnValues::Number(64, second) },
];

impl Render for Parquet {
    fn is_text(&self) -> bool {
        false
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        // The library's writer goes to another thread, which what is handed in may not.
        let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema()?), Arc::new(properties()?))?;
        let mut devices: Vec<_> = report.devices.iter().collect();
        devices.sort_by_key(|device| &device.identity.key);
        for device in devices {
            let read = read_device(&device.observations, &report.inputs);
            let mut observations =
                read.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?.observations;
            observations.sort_by_cached_key(|one| one.kernel.to_string());
            for group in groups(&observations) {
                let mut writer = file.next_row_group()?;
                for Column { values, .. } in &COLUMNS {
                    let Some(mut column) = writer.next_column()? else { break };
                    values.write(&device.identity.key, group, &mut column)?;
                    column.close()?;
                }
                writer.close()?;
            }
        }
        out.write_all(&file.into_inner()?)
    }
}

/// Consecutive observations with about [`GROUP`] rows.
fn groups(observations: &[Observation]) -> impl Iterator<Item = &[Observation]> {
    let mut rest = observations;
    std::iter::from_fn(move || {
        let mut rows = 0;
        let full = |one: &Observation| {
            rows += self::rows(one);
            rows > GROUP
        };
        let end = rest.iter().position(full).map_or(rest.len(), |end| end.max(1));
        let (group, others) = rest.split_at(end);
        rest = others;
        (!group.is_empty()).then_some(group)
    })
}

/// The name of an outcome in a report.
fn outcome(outcome: Outcome) -> String {
    serde_json::to_value(outcome).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Rows of a kernel.
fn rows(observation: &Observation) -> usize {
    observation.out.len().max(1)
}

/// The lanes of a kernel, in order.
fn lanes(observation: &Observation) -> impl Iterator<Item = LaneRow<'_>> {
    let width = observation.kernel.outputs();
    let lane = move |place| LaneRow { observation, case: place / width, component: place % width };
    (0..observation.out.len()).map(lane)
}

impl LaneRow<'_> {
    /// Its bits among the results of a run.
    fn of(&self, results: &[u64]) -> u64 {
        results[self.case * self.observation.kernel.outputs() + self.component]
    }

    /// What its result is of: the components of its own place where an operation works on each by itself (`each` is
    /// how many there are), else all.
    fn operands(&self, params: &[Shape], each: Option<usize>, into: &mut Vec<i64>) {
        let case = self.observation.cases.case(self.case);
        match each {
            Some(width) => {
                let own = self.component % width;
                into.extend(Shape::split(params, case).map(|(_, values)| values[own].cast_signed()));
            }
            None => into.extend(case.iter().map(|bits| bits.cast_signed())),
        }
    }
}

/// The second run's result where it differs.
fn second(lane: &LaneRow<'_>) -> Option<u64> {
    let second = lane.of(lane.observation.second.as_deref()?);
    (second != lane.of(&lane.observation.out)).then_some(second)
}

impl ColumnValues {
    fn write(
        &self,
        device: &str,
        group: &[Observation],
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        match self {
            ColumnValues::Device => texts(group, |_| device.to_owned(), column),
            ColumnValues::Text(text) => texts(group, text, column),
            ColumnValues::Width => {
                let widths = group.iter().flat_map(|one| vec![one.kernel.width as i32; rows(one)]);
                column.typed::<Int32Type>().write_batch(&widths.collect::<Vec<_>>(), None, None).map(drop)
            }
            ColumnValues::Number(64, number) => numbers::<Int64Type>(group, *number, u64::cast_signed, column),
            ColumnValues::Number(_, number) => {
                numbers::<Int32Type>(group, *number, |bits| (bits as u32).cast_signed(), column)
            }
            ColumnValues::Operands => operands(group, column),
        }
    }

    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        let unsigned = |name: &str, bits: i8, repetition| {
            let physical = if bits == 64 { PhysicalType::INT64 } else { PhysicalType::INT32 };
            let logical = LogicalType::integer(bits, false);
            Type::primitive_type_builder(name, physical)
                .with_repetition(repetition)
                .with_logical_type(Some(logical))
                .build()
        };
        match self {
            ColumnValues::Device | ColumnValues::Text(_) => {
                Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                    .with_repetition(Repetition::REQUIRED)
                    .with_logical_type(Some(LogicalType::String))
                    .build()
            }
            ColumnValues::Width => unsigned(name, 8, Repetition::REQUIRED),
            ColumnValues::Number(bits, _) => unsigned(name, *bits, Repetition::OPTIONAL),
            ColumnValues::Operands => {
                let element = unsigned("element", 64, Repetition::REQUIRED)?;
                let list = Type::group_type_builder("list")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![Arc::new(element)])
                    .build()?;
                Type::group_type_builder(name)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_logical_type(Some(LogicalType::List))
                    .with_fields(vec![Arc::new(list)])
                    .build()
            }
        }
    }
}

fn schema() -> Result<Type, ParquetError> {
    let fields = COLUMNS.iter().map(|column| column.values.schema(column.name).map(Arc::new));
    Type::group_type_builder("observations").with_fields(fields.collect::<Result<_, _>>()?).build()
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let builder = WriterProperties::builder()
        .set_created_by(format!("fpprobe {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_data_page_size_limit(PAGE)
        .set_data_page_row_count_limit(GROUP);
    Ok(builder.build())
}

/// A text of each kernel, on every row of it.
fn texts(
    group: &[Observation],
    text: impl Fn(&Observation) -> String,
    column: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let writer = column.typed::<ByteArrayType>();
    for one in group {
        let value = ByteArray::from(text(one).into_bytes());
        writer.write_batch(&vec![value; rows(one)], None, None)?;
    }
    Ok(())
}

/// A number of each lane.
fn numbers<T: DataType>(
    group: &[Observation],
    number: fn(&LaneRow<'_>) -> Option<u64>,
    of: impl Fn(u64) -> T::T,
    column: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for one in group {
        for value in lanes(one).map(|lane| number(&lane)).chain(one.out.is_empty().then_some(None)) {
            levels.push(i16::from(value.is_some()));
            values.extend(value.map(&of));
        }
    }
    column.typed::<T>().write_batch(&values, Some(&levels), None).map(drop)
}

/// How many components the operands have of an operation that works on each by itself.
fn components(kernel: &Kernel, params: &[Shape]) -> Option<usize> {
    let width = params.first()?.width;
    let is_each = !kernel.op.is_geometric() && !kernel.has_matrices();
    let alike = params.iter().all(|param| param.width == width) && kernel.outputs().is_multiple_of(width as usize);
    (is_each && alike).then_some(width as usize)
}

/// The operands of each lane. Levels: 0 no list, 1 an empty one, 2 an operand; repeated within a list.
fn operands(group: &[Observation], column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    let (mut values, mut levels, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for one in group {
        let (kernel, params) = (&one.kernel, one.kernel.params());
        let each = components(kernel, &params);
        for lane in lanes(one) {
            let before = values.len();
            lane.operands(&params, each, &mut values);
            let count = values.len() - before;
            levels.extend(std::iter::repeat_n(if count == 0 { 1 } else { 2 }, count.max(1)));
            repeated.extend((0..count.max(1)).map(|place| i16::from(place > 0)));
        }
        if one.out.is_empty() {
            levels.push(0);
            repeated.push(0);
        }
    }
    column.typed::<Int64Type>().write_batch(&values, Some(&levels), Some(&repeated)).map(drop)
}
