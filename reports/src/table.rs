//! The results of a report as an Apache Parquet table: a row for each lane. The file beside
//! `report.json`, and what programs query in SQL.
//!
//! Rows are sorted by device, kernel, case and component. Bits are unsigned integers of the
//! format's width. `docs/formats.md` describes the columns. What is the same for all rows of a
//! kernel is written as one run each, and bits by bytes: all lowest bytes, then all second ones,
//! and so on. So equal lists of neighbouring kernels compress to nearly nothing, and reading
//! decodes each list once. Every column chunk has one data page.

mod columns;
mod encoding;
mod error;
mod form;
mod group;
mod lanes;
mod page;
mod read;
mod rows;
mod write;

pub use self::error::TableError;
pub use self::read::{read, rows};
pub use self::write::write;

/// Values of the largest column of a row group, about: what a reader that looks for one kernel
/// unpacks.
const GROUP: usize = 1 << 21;
/// Most kernels of a row group.
const KERNELS: usize = 1 << 14;
/// Most bytes of a page before compression: more than any kernel has.
const PAGE: usize = 1 << 29;
/// Most bytes of one with a value for each kernel.
const KERNEL_PAGE: usize = 1 << 26;
