//! A report as two files: the document, and beside it the table of its results.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::{Report, ResultFile, SCHEMA};
use crate::render::json::document;
use crate::save::{SaveError, save};
use crate::sum::digest;
use crate::table;

/// Name of the document in the folder of a report.
pub const DOCUMENT: &str = "report.json";
/// Name of the table in it.
const RESULTS: &str = "observations.parquet";
/// How the name of a table ends.
const ENDING: &str = "parquet";

/// Where the results of a report lie whose document is at this path: `observations.parquet` beside
/// the `report.json` of a folder, else `FILE.parquet` beside `FILE.json`.
fn results(path: &Path, in_folder: bool) -> PathBuf {
    if in_folder {
        return path.with_file_name(RESULTS);
    }
    // Another ending may be a part of a name, such as a host's.
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return path.with_extension(ENDING);
    }
    let mut name = path.file_name().map(OsStr::to_owned).unwrap_or_default();
    name.push(".");
    name.push(ENDING);
    path.with_file_name(name)
}

/// Writes a report: the table first, so that a document never names what is not there.
pub fn write(report: &Report, path: &Path, in_folder: bool) -> Result<(), SaveError> {
    let place = results(path, in_folder);
    let (bytes, text) =
        pair(report, &place).map_err(|cause| SaveError { path: path.to_owned(), cause })?;
    save(&place, |out| out.write_all(&bytes))?;
    save(path, |out| out.write_all(&text))
}

/// The table, and the document that names it.
fn pair(report: &Report, place: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (bytes, head) =
        parts(report, |_| place.file_name().unwrap_or_default().to_string_lossy().into_owned())?;
    let mut text = Vec::new();
    document(&head, &mut text)?;
    Ok((bytes, text))
}

/// The table, and the document, in which its file has the name that `name` makes of its SHA-256.
pub(crate) fn parts(
    report: &Report,
    name: impl FnOnce(&str) -> String,
) -> io::Result<(Vec<u8>, Value)> {
    let mut keys = HashSet::new();
    if let Some(device) = report.devices.iter().find(|device| !keys.insert(&device.identity.key)) {
        let problem = format!("two devices have the key {}", device.identity.key);
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    let (bytes, rows) = table::write(report)?;
    let sha256 = digest(&bytes);
    let head = head(report, &ResultFile { file: name(&sha256), sha256, rows })?;
    Ok((bytes, head))
}

/// A report without inputs and results, which are in this file.
fn head(report: &Report, named: &ResultFile) -> io::Result<Value> {
    let mut reduced =
        Report { schema: SCHEMA.to_owned(), observations: Some(named.clone()), ..report.clone() };
    reduced.inputs.clear();
    reduced.devices.iter_mut().for_each(|device| device.observations.clear());
    let mut head = serde_json::to_value(reduced)?;
    if let Some(members) = head.as_object_mut() {
        members.shift_remove("inputs");
    }
    for device in
        head["devices"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut)
    {
        device.shift_remove("observations");
    }
    Ok(head)
}
