//! Reports as people name them: a file, a folder, or a report of the store, as `last`, `last-1` or
//! by its id.

use std::path::{Path, PathBuf};

use fpprobe_reports::Report;
use fpprobe_reports::files::DOCUMENT;
use fpprobe_reports::load;
use fpprobe_reports::store::{Store, place_before};

use crate::cli::StoreArgs;
use crate::config::Config;
use crate::keep;
use fpprobe_system::usage::OrUsage as _;

/// Digits of an id at least, so that it is no word.
const ID: usize = 6;

/// Whether a text may name a report: something that exists, a path, `last` or `last-1`, or the
/// digits of an id.
pub fn is_report(text: &str) -> bool {
    is_only_report(text) || Path::new(text).exists() || is_stored(text)
}

/// Whether a text can name nothing else: the path of a file, `last` or `last-1`.
pub fn is_only_report(text: &str) -> bool {
    let path = Path::new(text);
    let is_file = path.extension().is_some_and(|end| end == "json" || end == "fpreport");
    is_file || text.len() > 1 && text.contains('/') || place_before(text).is_some()
}

/// Whether a text names the folder of a report.
pub fn is_folder(text: &str) -> bool {
    Path::new(text).join(DOCUMENT).is_file()
}

/// Whether a text names a report of the store.
fn is_stored(text: &str) -> bool {
    place_before(text).is_some()
        || text.len() >= ID && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The file of a report that is named; files and folders go before reports of the store.
pub fn path(config: &Config, place: &StoreArgs, name: &Path) -> anyhow::Result<PathBuf> {
    match name.to_str().filter(|text| is_stored(text) && !name.exists()) {
        Some(text) => in_store(&keep::store(config, place)?, text),
        None => Ok(name.to_owned()),
    }
}

/// The file of a report of the store.
pub fn in_store(store: &Store, id: &str) -> anyhow::Result<PathBuf> {
    let stored = store.find(&store.list().or_usage()?, id).or_usage()?;
    Ok(store.folder().join(stored.entry.file))
}

/// Reads the report of this name.
pub fn read(config: &Config, place: &StoreArgs, name: &Path) -> anyhow::Result<Report> {
    load::one(&path(config, place, name)?).or_usage()
}

/// Reads the last report of the store, if it holds one.
pub fn last(config: &Config, place: &StoreArgs) -> anyhow::Result<Option<Report>> {
    let Ok(store) = keep::store(config, place) else { return Ok(None) };
    let Some(last) = store.list().or_usage()?.reports.pop() else { return Ok(None) };
    store.report(&last).or_usage().map(Some)
}
