//! A row group of the table, unpacked, and the kernels in it.

use fpprobe_profiles::Outcome;
use parquet::file::metadata::RowGroupMetaData;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

use super::encoding::runs;
use super::error::{TableError, wrong};
use super::lanes::LaneReader;
use super::page::{REPEATED, SPLIT, pages};
use crate::model::{Inputs, Outputs, Pattern, StoredObservation, Values};

/// The columns that are read.
pub(super) const NAMES: [&str; 11] = [
    "device", "kernel", "outcome", "detail", "inputs", "form", "position", "isolated", "operands",
    "result", "second",
];

/// A kernel of the table.
pub(super) struct StoredKernel {
    pub device: String,
    pub position: u32,
    pub entry: StoredObservation,
    /// Form and digest of its results.
    pub digest: Option<(Pattern, u128)>,
    /// The inputs, where its list has not been in its group before.
    pub cases: Option<Values>,
}

/// The columns of a row group, unpacked.
pub(super) struct ResultGroup {
    rows: usize,
    texts: [RepeatedColumn<String>; 6],
    numbers: [RepeatedColumn<u32>; 2],
    operands: Vec<u8>,
    result: Vec<u8>,
    second: Vec<u8>,
    levels: Vec<(u32, usize)>,
}

/// A column that has one value in all rows of a kernel: for each kernel, and how many rows it has.
struct RepeatedColumn<T> {
    values: Vec<T>,
    runs: Vec<(u32, usize)>,
}

impl<T> RepeatedColumn<T> {
    fn new(
        (dictionary, count): (Vec<u8>, usize),
        data: &[u8],
        value: fn(&mut &[u8]) -> Option<T>,
    ) -> Option<Self> {
        let (bits, data) = data.split_first()?;
        let width = (1..=32).contains(bits).then_some(usize::from(bits.div_ceil(8)))?;
        let mut rest = &dictionary[..];
        let mut values = Vec::new();
        while !rest.is_empty() {
            values.push(value(&mut rest)?);
        }
        let runs = runs(data, width)?;
        let is_whole =
            values.len() == count && runs.iter().all(|(place, _)| (*place as usize) < count);
        is_whole.then_some(RepeatedColumn { values, runs })
    }

    fn of(&self, kernel: usize) -> &T {
        &self.values[self.runs[kernel].0 as usize]
    }
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let (length, after) = rest.split_first_chunk()?;
    let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = after;
    std::str::from_utf8(text).ok().map(str::to_owned)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

/// Takes levels off the beginning of a page.
fn levels(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

impl ResultGroup {
    pub(super) fn read(
        bytes: &[u8],
        group: &RowGroupMetaData,
        places: &[usize; NAMES.len()],
    ) -> Result<ResultGroup, TableError> {
        let damaged =
            |column: usize| wrong(&format!("its column `{}` cannot be unpacked", NAMES[column]));
        let unpacked = |column: usize, encoding| {
            let chunk = group.columns().get(places[column]);
            chunk.and_then(|chunk| pages(bytes, chunk, encoding)).ok_or_else(|| damaged(column))
        };
        let repeated = |column| {
            let pages = unpacked(column, REPEATED)?;
            Ok((pages.dictionary.ok_or_else(|| damaged(column))?, pages.data))
        };
        let text = |column| {
            let (dictionary, data) = repeated(column)?;
            RepeatedColumn::new(dictionary, &data, text).ok_or_else(|| damaged(column))
        };
        let number = |column| {
            let (dictionary, data) = repeated(column)?;
            RepeatedColumn::new(dictionary, &data, number).ok_or_else(|| damaged(column))
        };
        let split = |column, skipped| {
            let data = unpacked(column, SPLIT)?.data;
            let values = (0..skipped).try_fold(&data[..], |rest, _| Some(levels(rest)?.1));
            values.map(<[u8]>::to_vec).ok_or_else(|| damaged(column))
        };
        let second = unpacked(10, SPLIT)?.data;
        let (differing, second) = levels(&second).ok_or_else(|| damaged(10))?;
        Ok(ResultGroup {
            rows: usize::try_from(group.num_rows())
                .map_err(|_| wrong("its rows have no number"))?,
            texts: [text(0)?, text(1)?, text(2)?, text(3)?, text(4)?, text(5)?],
            numbers: [number(6)?, number(7)?],
            operands: split(8, 2)?,
            result: split(9, 1)?,
            levels: runs(differing, 1).ok_or_else(|| damaged(10))?,
            second: second.to_vec(),
        })
    }

    /// The kernels of the group.
    pub(super) fn kernels(&self) -> Result<Vec<StoredKernel>, TableError> {
        let [device, kernel, outcome, detail, inputs, form] = &self.texts;
        let [position, isolated] = &self.numbers;
        let rows: Vec<usize> = device.runs.iter().map(|(_, count)| *count).collect();
        let sum = rows.iter().try_fold(0, |sum: usize, count| sum.checked_add(*count));
        let mut all = self
            .texts
            .iter()
            .map(|column| &column.runs)
            .chain(self.numbers.iter().map(|column| &column.runs));
        if sum != Some(self.rows)
            || !all.all(|runs| {
                runs.len() == rows.len()
                    && runs.iter().zip(&rows).all(|(run, count)| run.1 == *count)
            })
        {
            return Err(wrong("its columns have other rows"));
        }
        let mut lanes = LaneReader::new([&self.operands, &self.result, &self.second], &self.levels);
        let mut kernels = Vec::with_capacity(rows.len());
        for (index, rows) in rows.into_iter().enumerate() {
            let outcome = outcome_named(outcome.of(index))
                .ok_or_else(|| wrong("it has an unknown outcome"))?;
            let read = lanes.kernel(rows, outcome, form.of(index), inputs.of(index));
            let read = read.ok_or_else(|| {
                wrong(&format!("kernel {:.200} does not have its rows", kernel.of(index)))
            })?;
            let name = inputs.of(index);
            let (inputs, cases) = if name.is_empty() {
                (Inputs::Cases(read.cases.unwrap_or_default()), None)
            } else {
                (Inputs::Table(name.clone()), read.cases)
            };
            let entry = StoredObservation {
                kernel: kernel.of(index).clone(),
                inputs,
                out: read.out.map(Outputs::Values),
                outcome,
                detail: detail.of(index).clone(),
                isolated: *isolated.of(index) != 0,
                second: read.second,
            };
            let (device, position) = (device.of(index).clone(), *position.of(index));
            kernels.push(StoredKernel { device, position, entry, digest: read.digest, cases });
        }
        if lanes.is_at_end() { Ok(kernels) } else { Err(wrong("it has results of no kernel")) }
    }
}

fn outcome_named(name: &str) -> Option<Outcome> {
    let name: StrDeserializer<Error> = name.into_deserializer();
    Outcome::deserialize(name).ok()
}
