//! `fpprobe inventory PATH...`

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use fpprobe_reports::host;
use fpprobe_reports::inventory::{Found, FoundError, INVENTORIES, Inventory, ReportFile};
use fpprobe_reports::{save, time};
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

use super::gate;
use crate::cli::InventoryArgs;
use crate::exit::Status;
use crate::output::Page;
use crate::remote::{self, Destination};
use crate::session::Session;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Reads the reports of many hosts and shows what they have in common.
pub fn main(session: &Session, args: &InventoryArgs) -> anyhow::Result<Status> {
    let page = Page::new(INVENTORIES, args.output.as_deref(), args.format.as_deref())?;
    let found = found(&args.places)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let oldest = now.saturating_sub(args.days.saturating_mul(DAY));
    let since = args.since.as_ref().and_then(|date| time::seconds(&format!("{date}T00:00:00Z")));
    let inventory = Inventory::of(host::program(), &found, oldest, since);
    page.write(session.style(), |form, style, out| form.render(&inventory, style, out))?;
    if let Some(file) = &args.consensus {
        consensus(&found, file)?;
    }
    match (inventory.reports, found.is_whole()) {
        (0, _) => {
            Err(usage_error("none of the files is a report that can be read; the list says why"))
        }
        (_, false) => Ok(Status::Incomplete),
        (_, true) => Ok(Status::Done),
    }
}

/// What is in these places, files, folders and addresses.
fn found(places: &[PathBuf]) -> anyhow::Result<Found> {
    let mut files = Vec::new();
    for place in places {
        match Destination::named(place)? {
            Some(from) => files.extend(remote::report_files(&from)?),
            None => {
                for place in expanded(place)? {
                    files.extend(ReportFile::in_place(&place).or_usage()?);
                }
            }
        }
    }
    Found::of(files).ok_or_else(|| FoundError::nothing(places)).or_usage()
}

/// The places that a pattern with `*`, `?` or `[` names; a shell passes on what is quoted, and
/// fails at a hundred thousand names. What is there under this very name is no pattern.
fn expanded(place: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let text = place.to_string_lossy();
    if place.exists() || !text.contains(['*', '?', '[']) {
        return Ok(vec![place.to_owned()]);
    }
    let named = glob::glob(&text).with_context(|| format!("{text} is no pattern")).or_usage()?;
    let named = named.collect::<Result<Vec<_>, _>>().or_usage()?;
    if named.is_empty() {
        return Err(usage_error(format!("no file or folder matches {text}")));
    }
    Ok(named)
}

/// Writes the results that most devices of a model give.
fn consensus(found: &Found, file: &Path) -> anyhow::Result<()> {
    let version = host::program().version;
    let expected = found.consensus(&version, &gate::items_of());
    if expected.devices.is_empty() {
        return Err(usage_error(format!(
            "no two devices of one model and driver agree on a kernel in reports of fpprobe {version}: {} is not written",
            file.display()
        )));
    }
    let text = serde_json::to_string_pretty(&expected)? + "\n";
    save::save(file, |out| out.write_all(text.as_bytes()))?;
    for device in &expected.devices {
        say(&format!("{}: {} kernels are expected", device.model.name, device.kernels.len()));
    }
    Ok(())
}
