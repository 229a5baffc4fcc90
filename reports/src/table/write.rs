//! A report's results into a table.

use std::collections::HashMap;
use std::io;
use std::iter::repeat_n;
use std::sync::Arc;

use bytes::Bytes;
use fpprobe_profiles::parallel;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::columns::{COLUMNS, ColumnContent, schema};
use super::encoding::{repetition, run, split};
use super::rows::{KernelRows, of_report};
use super::{GROUP, KERNEL_PAGE, KERNELS, PAGE};
use crate::model::Report;

/// Level of zstd.
const LEVEL: i32 = 3;

/// The table of a report, and how many rows it has. A report whose results contradict themselves is
/// an error.
pub fn write(report: &Report) -> io::Result<(Vec<u8>, u64)> {
    let rows = of_report(report)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("fpprobe {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema()?), Arc::new(properties.build()))?;
    let descriptions = file.schema_descr().columns().to_vec();
    let groups: Vec<&[KernelRows]> = groups(&rows).collect();
    let column = |group| {
        COLUMNS.iter().zip(&descriptions).map(move |(own, description)| (group, own, description))
    };
    let chunks: Vec<_> = groups.iter().copied().flat_map(column).collect();
    let written = parallel::map(&chunks, |(group, column, description)| {
        let count = group.iter().map(KernelRows::count).sum();
        EncodedColumn::new(&column.content, group, count).chunk(description, count as u64)
    });
    let mut written = written.into_iter();
    for _ in &groups {
        let mut group = file.next_row_group()?;
        for chunk in written.by_ref().take(COLUMNS.len()) {
            let (bytes, closed) = chunk?;
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
    }
    let count = rows.iter().map(|rows| rows.count() as u64).sum();
    Ok((file.into_inner()?, count))
}

/// Consecutive kernels whose largest column has about [`GROUP`] values.
fn groups<'a, 'r>(rows: &'a [KernelRows<'r>]) -> impl Iterator<Item = &'a [KernelRows<'r>]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let mut values = 0;
        let is_full = |one: &KernelRows| {
            values += one.count() * one.operands().max(1);
            values > GROUP
        };
        let most = rest.len().min(KERNELS);
        let end = rest[..most].iter().position(is_full).map_or(most, |end| end.max(1));
        let (group, others) = rest.split_at(end);
        rest = others;
        (!group.is_empty()).then_some(group)
    })
}

/// A column of a group before compression.
struct EncodedColumn {
    /// Distinct values, and how many there are.
    dictionary: Option<(Vec<u8>, usize)>,
    data: Vec<u8>,
    /// Values of the data page, null or not.
    values: usize,
    encoding: Encoding,
    statistics: Option<Statistics>,
}

impl EncodedColumn {
    /// Of all values, null or not, by their levels; `number` of them are numbers.
    fn of(
        values: usize,
        levels: &[&[u8]],
        number: usize,
        bytes: usize,
        numbers: impl IntoIterator<Item = u64>,
    ) -> EncodedColumn {
        let mut data = Vec::new();
        for levels in levels {
            data.extend((levels.len() as u32).to_le_bytes());
            data.extend(*levels);
        }
        split(&mut data, number, bytes, numbers);
        let encoding = Encoding::BYTE_STREAM_SPLIT;
        EncodedColumn { dictionary: None, data, values, encoding, statistics: None }
    }

    fn new<'r>(
        content: &ColumnContent,
        group: &'r [KernelRows<'_>],
        count: usize,
    ) -> EncodedColumn {
        match content {
            ColumnContent::Text(text) => {
                let texts: Vec<_> = group.iter().map(text).collect();
                let bytes = |text: &&str, out: &mut Vec<u8>| {
                    out.extend((text.len() as u32).to_le_bytes());
                    out.extend(text.as_bytes());
                };
                let array =
                    |text: Option<&str>| text.map(|text| ByteArray::from(text.as_bytes().to_vec()));
                let all = || texts.iter().map(|text| &**text);
                let (least, greatest) = (array(all().min()), array(all().max()));
                let statistics = Statistics::byte_array(least, greatest, None, Some(0), false);
                let column = repeated(group, count, all(), bytes);
                EncodedColumn { statistics: Some(statistics), ..column }
            }
            ColumnContent::Number(_, number) => {
                let bytes = |number: &u32, out: &mut Vec<u8>| out.extend(number.to_le_bytes());
                repeated(group, count, group.iter().map(number), bytes)
            }
            ColumnContent::Case => {
                let has_cases = |rows: &KernelRows<'_>| rows.cases() > 0;
                nullable(group, 4, has_cases, |rows| {
                    let each = rows.of_case();
                    (0..rows.cases() as u64).flat_map(move |case| repeat_n(case, each))
                })
            }
            ColumnContent::Component => {
                let has_results = |rows: &KernelRows<'_>| rows.out.is_some() && rows.cases() > 0;
                nullable(group, 4, has_results, |rows| {
                    let each = rows.of_case() as u64;
                    (0..rows.cases()).flat_map(move |_| 0..each)
                })
            }
            ColumnContent::Result => {
                let results = |rows: &'r KernelRows<'_>| rows.out.as_deref().unwrap_or_default();
                let has_results = |rows: &'r KernelRows<'_>| !results(rows).is_empty();
                nullable(group, 8, has_results, |rows| results(rows).iter().copied())
            }
            ColumnContent::Second => second(group),
            ColumnContent::Operands => operands(group),
        }
    }

    /// The column as it stands in a file.
    fn chunk(
        self,
        description: &ColumnDescPtr,
        count: u64,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.long_distance_matching(true)?;
        let most = if self.dictionary.is_some() { KERNEL_PAGE } else { PAGE };
        let mut compress = |bytes: &[u8]| -> Result<Bytes, ParquetError> {
            if bytes.len() > most {
                return Err(ParquetError::General(format!(
                    "{} bytes of one kernel are too many",
                    bytes.len()
                )));
            }
            Ok(compressor.compress(bytes)?.into())
        };
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let mut unpacked = 0;
        let mut data = 0;
        if let Some((dictionary, values)) = &self.dictionary {
            let buf = compress(dictionary)?;
            let page = Page::DictionaryPage {
                buf,
                num_values: *values as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = pages.write_page(CompressedPage::new(page, dictionary.len()))?;
            unpacked += written.uncompressed_size;
            data = written.bytes_written as i64;
        }
        let page = Page::DataPage {
            buf: compress(&self.data)?,
            num_values: self.values as u32,
            encoding: self.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        unpacked += pages.write_page(CompressedPage::new(page, self.data.len()))?.uncompressed_size;
        let bytes: Bytes = sink.into_inner()?.into();
        let mut metadata = ColumnChunkMetaData::builder(Arc::clone(description))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, self.encoding])
            .set_num_values(self.values as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(unpacked as i64)
            .set_data_page_offset(data)
            .set_dictionary_page_offset(self.dictionary.is_some().then_some(0));
        if let Some(statistics) = self.statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let closed = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: count,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, closed))
    }
}

/// What is the same in all rows of a kernel: distinct values, and a run for each kernel.
fn repeated<T: std::hash::Hash + Eq>(
    group: &[KernelRows<'_>],
    count: usize,
    values: impl Iterator<Item = T>,
    bytes: impl Fn(&T, &mut Vec<u8>),
) -> EncodedColumn {
    let (mut dictionary, mut places) = (Vec::new(), HashMap::new());
    let mut numbers = Vec::with_capacity(group.len());
    for value in values {
        let next = places.len() as u32;
        numbers.push(*places.entry(value).or_insert_with_key(|value| {
            bytes(value, &mut dictionary);
            next
        }));
    }
    let bits = (usize::BITS - (places.len() - 1).leading_zeros()).max(1);
    let mut data = vec![bits as u8];
    for (rows, number) in group.iter().zip(numbers) {
        run(&mut data, rows.count(), number, bits.div_ceil(8) as usize);
    }
    let dictionary = Some((dictionary, places.len()));
    EncodedColumn {
        dictionary,
        data,
        values: count,
        encoding: Encoding::RLE_DICTIONARY,
        statistics: None,
    }
}

/// What every row of a kernel has, or none.
fn nullable<'r, V: Iterator<Item = u64>>(
    group: &'r [KernelRows<'_>],
    bytes: usize,
    is_there: impl Fn(&'r KernelRows<'_>) -> bool,
    values: impl Fn(&'r KernelRows<'_>) -> V,
) -> EncodedColumn {
    let mut present = Vec::new();
    let (mut count, mut defined) = (0, 0);
    for rows in group {
        let own = rows.count();
        run(&mut present, own, is_there(rows).into(), 1);
        count += own;
        defined += if is_there(rows) { own } else { 0 };
    }
    let values = group.iter().filter(|rows| is_there(rows)).flat_map(values);
    EncodedColumn::of(count, &[&present], defined, bytes, values)
}

fn second(group: &[KernelRows<'_>]) -> EncodedColumn {
    let (mut present, mut values, mut count) = (Vec::new(), Vec::new(), 0);
    for rows in group {
        count += rows.count();
        let (Some(out), Some(second)) = (&rows.out, &rows.second) else {
            run(&mut present, rows.count(), 0, 1);
            continue;
        };
        let pairs: Vec<(u64, u64)> = out.iter().copied().zip(second.iter().copied()).collect();
        for alike in pairs.chunk_by(|one, other| (one.0 == one.1) == (other.0 == other.1)) {
            let differs = alike[0].0 != alike[0].1;
            run(&mut present, alike.len(), differs.into(), 1);
            values.extend(alike.iter().filter(|_| differs).map(|(_, second)| *second));
        }
    }
    EncodedColumn::of(count, &[&present], values.len(), 8, values)
}

/// The operands of each row. Levels: 0 no list, 2 an operand; repeated within a list.
fn operands(group: &[KernelRows<'_>]) -> EncodedColumn {
    let (mut repeated, mut defined) = (Vec::new(), Vec::new());
    let (mut count, mut number) = (0, 0);
    for rows in group {
        let each = rows.operands();
        let own = rows.count() * each.max(1);
        repetition(&mut repeated, rows.count(), each);
        run(&mut defined, own, if each == 0 { 0 } else { 2 }, 1);
        count += own;
        number += rows.count() * each;
    }
    let formed = group.iter().filter_map(|rows| Some((rows, rows.form.as_ref()?)));
    let values = formed.flat_map(|(rows, form)| {
        let (of_case, width) = (rows.of_case(), form.width(rows.out.is_some()));
        rows.cases.chunks_exact(form.case.numbers()).flat_map(move |case| {
            (0..of_case).flat_map(move |component| {
                // Of an operation on components, those of one; else all.
                let (first, step) = width.map_or((0, 1), |width| (component % width, width));
                case.iter().copied().skip(first).step_by(step)
            })
        })
    });
    EncodedColumn::of(count, &[&repeated, &defined], number, 8, values)
}
