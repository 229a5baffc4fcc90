//! A table into a report: each list of results is decoded once, however many kernels gave it, and
//! each list of inputs once for all kernels that share it.

use std::collections::HashMap;

use fpprobe_profiles::parallel;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::columns::schema;
use super::error::{TableError, wrong};
use super::group::{NAMES, ResultGroup, StoredKernel};
use crate::model::{Device, Inputs, Outputs, Pattern, StoredObservation, Tables};

/// How a Parquet file begins and ends.
const MAGIC: &[u8] = b"PAR1";
/// Most bytes of what a file says of its columns.
const FOOTER: usize = 1 << 26;
/// Most rows: an exhaustive run of lavapipe has 84 million.
const ROWS: u64 = 1 << 28;
/// Most operands of all cases together, each list counted once.
const OPERANDS: usize = 1 << 28;

/// Number of rows that a table says it has.
pub fn rows(bytes: &[u8]) -> Result<u64, TableError> {
    footer(bytes).map(|footer| rows_of(&footer))
}

fn rows_of(footer: &ParquetMetaData) -> u64 {
    footer.file_metadata().num_rows().max(0).cast_unsigned()
}

/// Puts the results of a table into the devices that gave them; also the lists of inputs, by name,
/// and the number of rows.
pub fn read(bytes: &[u8], devices: &mut [Device]) -> Result<(Tables, u64), TableError> {
    let footer = footer(bytes)?;
    let counts = footer.row_groups().iter().map(|group| group.num_rows().max(0).cast_unsigned());
    let sum = counts.fold(0, u64::saturating_add);
    if sum > ROWS {
        return Err(TableError::TooMany("rows"));
    } else if sum != rows_of(&footer) {
        return Err(wrong("its parts have other rows"));
    }
    let places = columns(&footer)?;
    let groups = parallel::map(footer.row_groups(), |group| {
        ResultGroup::read(bytes, group, &places)?.kernels()
    });
    let (mut tables, mut own, mut operands) =
        (Tables::new(), HashMap::<String, Vec<StoredKernel>>::new(), 0);
    for kernel in groups.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        if let (Inputs::Table(name), Some(cases)) = (&kernel.entry.inputs, &kernel.cases)
            && !tables.contains_key(name)
        {
            operands += cases.len();
            tables.insert(name.clone(), cases.clone());
        } else if let Inputs::Cases(cases) = &kernel.entry.inputs {
            operands += cases.len();
        }
        own.entry(kernel.device.clone()).or_default().push(kernel);
    }
    if operands > OPERANDS {
        return Err(TableError::TooMany("cases"));
    }
    for device in devices {
        if let Some(kernels) = own.remove(&device.identity.key) {
            device.observations = observations(kernels);
        }
    }
    match own.keys().min() {
        Some(device) => {
            Err(wrong(&format!("the report has no device {device:.100}, which it names")))
        }
        None => Ok((tables, sum)),
    }
}

/// What the end of a file says of it.
fn footer(bytes: &[u8]) -> Result<ParquetMetaData, TableError> {
    if !bytes.starts_with(MAGIC) {
        return Err(TableError::NotParquet);
    }
    let Some((rest, length)) =
        bytes[MAGIC.len()..].strip_suffix(MAGIC).and_then(<[u8]>::split_last_chunk)
    else {
        return Err(TableError::Truncated);
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > rest.len().min(FOOTER) {
        return Err(TableError::Truncated);
    }
    let footer = ParquetMetaDataReader::decode_metadata(&rest[rest.len() - length..]);
    footer.map_err(|error| wrong(&error.to_string()))
}

/// Where the columns that are read are in a file: each has the type that it is written with.
fn columns(footer: &ParquetMetaData) -> Result<[usize; NAMES.len()], TableError> {
    let own = schema().map_err(|error| wrong(&error.to_string()))?;
    let fields = footer.file_metadata().schema().get_fields();
    let described = footer.file_metadata().schema_descr();
    let mut places = [0; NAMES.len()];
    for (place, name) in places.iter_mut().zip(NAMES) {
        let expected = own.get_fields().iter().find(|field| field.name() == name);
        let index = fields.iter().position(|field| field.name() == name);
        let is_same = index.is_some_and(|index| Some(&fields[index]) == expected);
        let column = (0..described.num_columns())
            .find(|column| Some(described.get_column_root_idx(*column)) == index);
        *place = column
            .filter(|_| is_same)
            .ok_or_else(|| wrong(&format!("its column `{name}` is missing or another")))?;
    }
    Ok(places)
}

/// The observations of a device, in the order of the report. Equal results of kernels with the same
/// inputs are there once.
fn observations(mut kernels: Vec<StoredKernel>) -> Vec<StoredObservation> {
    kernels.sort_by_key(|kernel| kernel.position);
    let mut known: HashMap<(String, (Pattern, u128)), String> = HashMap::new();
    let of = |StoredKernel { mut entry, digest, .. }| {
        if let (Inputs::Table(name), Some(digest)) = (&entry.inputs, digest) {
            let same = known.entry((name.clone(), digest)).or_insert_with(|| entry.kernel.clone());
            if *same != entry.kernel {
                entry.out = Some(Outputs::SameAs { same_as: same.clone() });
            }
        }
        entry
    };
    kernels.into_iter().map(of).collect()
}
