//! `fpprobe history list`

use std::collections::BTreeMap;
use std::io::{self, Write};

use fpprobe_reports::escape::{visible, visible_json};
use fpprobe_reports::store::{Entry, Store, StoredReport};
use serde::Serialize;

use crate::exit::Status;
use crate::{keep, output};
use fpprobe_system::usage::{OrUsage as _, say};

/// The document of `history list --json`.
#[derive(Serialize)]
struct HistoryDocument<'a> {
    schema: &'static str,
    /// The folder.
    store: String,
    /// The report stored last comes first.
    reports: Vec<ReportRow<'a>>,
    damaged: Vec<DamagedReport>,
}

#[derive(Serialize)]
struct ReportRow<'a> {
    id: &'a str,
    /// Bytes of the file.
    size: u64,
    tainted: bool,
    #[serde(flatten)]
    entry: &'a Entry,
}

#[derive(Serialize)]
struct DamagedReport {
    file: String,
    problem: String,
}

/// Lists what is in the store.
pub fn main(
    store: &Store,
    json: bool,
    devices: &[String],
    limit: Option<usize>,
) -> anyhow::Result<Status> {
    let listing = store.list().or_usage()?;
    let is_selected = |stored: &&StoredReport| {
        devices.is_empty() || devices.iter().any(|text| stored.entry.has_device(text))
    };
    let reports: Vec<&StoredReport> = listing
        .reports
        .iter()
        .rev()
        .filter(is_selected)
        .take(limit.unwrap_or(usize::MAX))
        .collect();
    let mut out = output::stdout();
    if json {
        let rows = reports.iter().map(|stored| ReportRow {
            id: stored.entry.id(),
            size: stored.size,
            tainted: stored.entry.tainted(),
            entry: &stored.entry,
        });
        let damaged = listing.damaged.iter();
        let document = HistoryDocument {
            schema: "fpprobe-history/1",
            store: store.folder().display().to_string(),
            reports: rows.collect(),
            damaged: damaged
                .map(|(file, damage)| DamagedReport {
                    file: file.clone(),
                    problem: damage.to_string(),
                })
                .collect(),
        };
        writeln!(out, "{}", visible_json(&serde_json::to_string_pretty(&document)?))?;
    } else {
        reports.iter().try_for_each(|stored| line(stored, &mut out))?;
    }
    out.flush()?;
    for (name, damage) in &listing.damaged {
        say(&format!(
            "warning: {name} cannot be read: {damage} (`fpprobe history verify` looks at all of them)"
        ));
    }
    keep::warn_of_future(&listing);
    if listing.reports.is_empty() {
        let place = store.folder().display();
        say(&format!(
            "no report in {place}: `fpprobe run` and `fpprobe history add FILE` put some there"
        ));
    } else if reports.is_empty() && limit != Some(0) {
        say("no report of such a device");
    }
    Ok(Status::Done)
}

/// One report, and a line for each of its devices.
pub fn line(stored: &StoredReport, out: &mut impl Write) -> io::Result<()> {
    let StoredReport { size, entry } = stored;
    let (id, size) = (visible(entry.id()), self::size(*size));
    let host = if entry.label.is_empty() { &entry.host } else { &entry.label };
    writeln!(out, "{id}  {}  host {}  {size}", visible(&entry.finished), visible(host))?;
    for device in &entry.devices {
        let version = if device.driver_info.is_empty() {
            &device.driver_version
        } else {
            &device.driver_info
        };
        let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (profile, class) in &device.classes {
            classes.entry(class.name()).or_default().push(profile);
        }
        let classes: Vec<String> = classes
            .iter()
            .map(|(class, profiles)| format!("{class}: {}", profiles.join(", ")))
            .collect();
        let classes = if classes.is_empty() { "not judged".to_owned() } else { classes.join("; ") };
        let tainted = if device.taint.is_empty() { "" } else { "; tainted" };
        let (name, driver) = (visible(&device.name), visible(&device.driver));
        writeln!(out, "    {name}, {driver} {}: {}{tainted}", visible(version), visible(&classes))?;
    }
    Ok(())
}

/// Bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.2} MB", bytes as f64 / 1e6),
    }
}
