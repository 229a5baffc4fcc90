//! The columns of the table: one row of [`COLUMNS`] each.

use std::borrow::Cow;
use std::sync::Arc;

use fpprobe_spirv::Kernel;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;

use super::rows::KernelRows;

/// A column of the table.
pub(super) struct TableColumn {
    pub name: &'static str,
    pub content: ColumnContent,
}

/// What a column holds.
pub(super) enum ColumnContent {
    /// A text, the same in all rows of a kernel.
    Text(for<'r> fn(&'r KernelRows<'_>) -> Cow<'r, str>),
    /// A number of this many bits, the same in all rows of a kernel.
    Number(i8, fn(&KernelRows<'_>) -> u32),
    /// Number of the case.
    Case,
    /// Number of the component.
    Component,
    /// Operands of the row.
    Operands,
    /// Result of the first run.
    Result,
    /// Result of the second run where it differs.
    Second,
}

/// The table.
pub(super) const COLUMNS: [TableColumn; 19] = [
    TableColumn { name: "device", content: ColumnContent::Text(|rows| rows.device.into()) },
    TableColumn {
        name: "kernel",
        content: ColumnContent::Text(|rows| (&*rows.entry.kernel).into()),
    },
    TableColumn {
        name: "format",
        content: ColumnContent::Text(|rows| part(rows, |own| own.format.to_string())),
    },
    TableColumn {
        name: "op",
        content: ColumnContent::Text(|rows| part(rows, |own| own.op.name.to_owned())),
    },
    TableColumn {
        name: "controls",
        content: ColumnContent::Text(|rows| part(rows, |own| own.controls.to_string())),
    },
    TableColumn {
        name: "route",
        content: ColumnContent::Text(|rows| part(rows, |own| own.route.to_string())),
    },
    TableColumn {
        name: "stage",
        content: ColumnContent::Text(|rows| part(rows, |own| own.stage.name().to_owned())),
    },
    TableColumn {
        name: "width",
        content: ColumnContent::Number(8, |rows| rows.kernel.map_or(0, |own| own.width)),
    },
    TableColumn {
        name: "outcome",
        content: ColumnContent::Text(|rows| rows.entry.outcome.to_string().into()),
    },
    TableColumn { name: "case", content: ColumnContent::Case },
    TableColumn { name: "component", content: ColumnContent::Component },
    TableColumn { name: "operands", content: ColumnContent::Operands },
    TableColumn { name: "result", content: ColumnContent::Result },
    TableColumn { name: "second", content: ColumnContent::Second },
    TableColumn {
        name: "detail",
        content: ColumnContent::Text(|rows| (&*rows.entry.detail).into()),
    },
    TableColumn {
        name: "isolated",
        content: ColumnContent::Number(8, |rows| rows.entry.isolated.into()),
    },
    TableColumn { name: "inputs", content: ColumnContent::Text(|rows| rows.inputs().into()) },
    TableColumn { name: "form", content: ColumnContent::Text(form) },
    TableColumn { name: "position", content: ColumnContent::Number(32, |rows| rows.position) },
];

fn form<'r>(rows: &'r KernelRows<'_>) -> Cow<'r, str> {
    rows.form.as_ref().map_or(Cow::Borrowed(""), |form| form.to_string().into())
}

/// A part of a kernel id; empty where this version does not know the kernel.
fn part<'r>(rows: &'r KernelRows<'_>, part: fn(&Kernel) -> String) -> Cow<'r, str> {
    rows.kernel.as_ref().map(part).unwrap_or_default().into()
}

impl ColumnContent {
    /// The type of a column.
    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        match self {
            ColumnContent::Text(_) => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::String))
                .build(),
            ColumnContent::Number(bits, _) => unsigned(name, *bits, Repetition::REQUIRED),
            ColumnContent::Case => unsigned(name, 32, Repetition::OPTIONAL),
            ColumnContent::Component => unsigned(name, 8, Repetition::OPTIONAL),
            ColumnContent::Result | ColumnContent::Second => {
                unsigned(name, 64, Repetition::OPTIONAL)
            }
            ColumnContent::Operands => {
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

fn unsigned(name: &str, bits: i8, repetition: Repetition) -> Result<Type, ParquetError> {
    let physical = if bits == 64 { PhysicalType::INT64 } else { PhysicalType::INT32 };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(Some(LogicalType::integer(bits, false)))
        .build()
}

/// The type of the table.
pub(super) fn schema() -> Result<Type, ParquetError> {
    let fields = COLUMNS.iter().map(|column| column.content.schema(column.name).map(Arc::new));
    Type::group_type_builder("observations").with_fields(fields.collect::<Result<_, _>>()?).build()
}
