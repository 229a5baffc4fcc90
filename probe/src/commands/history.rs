//! `fpprobe history`

mod list;

use std::io::Write as _;
use std::path::Path;

use fpprobe_reports::escape::visible;
use fpprobe_reports::load;
use fpprobe_reports::record::read_device;
use fpprobe_reports::render::ReportPlace;
use fpprobe_reports::store::{Checks, RetentionLimits, Store, StoredReport, freed};

use crate::cli::{HistoryArgs, HistoryCommand};
use crate::commands::diff;
use crate::exit::Status;
use crate::keep;
use crate::output::{self, Output};
use crate::session::Session;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Works on the store.
pub fn main(session: &Session, args: &HistoryArgs) -> anyhow::Result<Status> {
    let store = keep::store(&session.config, &args.place)?;
    match &args.command {
        HistoryCommand::List { json, device, limit } => list::main(&store, *json, device, *limit),
        HistoryCommand::Show { id, format, output } => {
            let output = Output::new(output.as_deref(), format.as_deref(), &session.config.format)?;
            let stored = find(&store, id)?;
            let report = store.report(&stored).or_usage()?;
            output.save(&report)?;
            let place = ReportPlace::Argument(stored.entry.id().to_owned());
            output.show(&report, &place, session.style())?;
            Ok(Status::Done)
        }
        HistoryCommand::Compare { old, new, comparing } => {
            diff::stored(session, &store, [old, new], comparing)
        }
        HistoryCommand::Add { reports, allow_tainted } => {
            reports.iter().try_for_each(|path| add(&store, path, *allow_tainted))?;
            keep::let_go(&store, &keep::limits(&session.config), true)?;
            Ok(Status::Done)
        }
        HistoryCommand::Prune { keep_count, keep_days, keep_bytes, dry_run } => {
            let default = keep::limits(&session.config);
            let limits = RetentionLimits {
                count: keep_count.unwrap_or(default.count),
                days: keep_days.unwrap_or(default.days),
                bytes: keep_bytes.unwrap_or(default.bytes),
            };
            prune(&store, &limits, *dry_run)
        }
        HistoryCommand::Migrate => migrate(&store),
        HistoryCommand::Verify { rebuild, set_aside } => {
            verify(&store, Checks { rebuild: *rebuild, set_aside: *set_aside })
        }
    }
}

/// The report that a text means.
fn find(store: &Store, id: &str) -> anyhow::Result<StoredReport> {
    let listing = store.list().or_usage()?;
    store.find(&listing, id).or_usage()
}

/// Stores the report of a file or a folder.
fn add(store: &Store, path: &Path, allow_tainted: bool) -> anyhow::Result<()> {
    let report = load::one(path).or_usage()?;
    for device in &report.devices {
        // What cannot be judged or compared later is refused now.
        read_device(&device.observations, &report.inputs)
            .map_err(|error| usage_error(format!("failed to store {}: {error}", path.display())))?;
    }
    keep::put(store, &report, allow_tainted).map(drop)
}

/// Stores anew what an earlier version stored.
fn migrate(store: &Store) -> anyhow::Result<Status> {
    let (mut before, mut after, mut count, mut failed) = (0, 0, 0, 0);
    let done = store.migrate(|stored, written| match written {
        Ok(now) => {
            count += 1;
            before += stored.size;
            after += now.size;
        }
        Err(error) => {
            failed += 1;
            say(&format!("{} stays as it is: {error}", stored.entry.id()));
        }
    });
    let reports = if count == 1 { "report" } else { "reports" };
    let sizes =
        format!("{} before, {} now, and what they share", list::size(before), list::size(after));
    say(&format!("{count} {reports} stored anew: {sizes}"));
    done.or_usage()?;
    Ok(Status::Usage.when(failed > 0))
}

fn prune(store: &Store, limits: &RetentionLimits, dry: bool) -> anyhow::Result<Status> {
    if limits.none() {
        let message = "nothing to prune by: give --keep-count, --keep-days or --keep-bytes, or set them in [store] of \
            config.toml";
        return Err(usage_error(message));
    }
    let listing = store.list().or_usage()?;
    let removed =
        if dry { store.would_prune(limits, keep::now()) } else { store.prune(limits, keep::now()) }
            .or_usage()?;
    let mut out = output::stdout();
    for stored in &removed {
        list::line(stored, &mut out)?;
    }
    out.flush()?;
    let bytes = freed(&listing, &removed);
    let what = if dry { "would go" } else { "removed" };
    let reports = if removed.len() == 1 { "report" } else { "reports" };
    say(&format!("{} {reports}, {} {what}", removed.len(), list::size(bytes)));
    Ok(Status::Done)
}

fn verify(store: &Store, checks: Checks) -> anyhow::Result<Status> {
    let found = store.verify(checks).or_usage()?;
    let mut out = output::stdout();
    writeln!(out, "as stored: {}", found.sound)?;
    for (name, damage) in &found.damaged {
        let is_moved = checks.set_aside && !damage.is_newer();
        let aside = if is_moved { "; moved into the folder `damaged`" } else { "" };
        let what = if damage.is_newer() { "not read" } else { "damaged" };
        writeln!(out, "{what}: {}: {}{aside}", visible(name), visible(&damage.to_string()))?;
    }
    for name in &found.foreign {
        writeln!(out, "not the store's: {}", visible(name))?;
    }
    for name in &found.lost {
        writeln!(
            out,
            "lost: {}: it was stored, and no command of fpprobe removed it",
            visible(name)
        )?;
    }
    let later = |done: &'static str, todo: &'static str| if checks.rebuild { done } else { todo };
    match found.log {
        Some(0) => {}
        Some(lines) => {
            let noted = later("acknowledged", "--rebuild acknowledges that");
            writeln!(
                out,
                "lines of the log that are damaged or missing: {lines} ({noted}); loss may be hidden"
            )?;
        }
        None => {
            let begun = later("is created now", "the next report, or --rebuild, creates one");
            writeln!(
                out,
                "there is no log: an earlier version stored the reports, or it was removed; one {begun}"
            )?;
        }
    }
    if found.unindexed > 0 {
        let rebuilt = later("it was written anew", "--rebuild writes it anew");
        writeln!(
            out,
            "lines of the index that are missing, stale or wrong: {} ({rebuilt})",
            found.unindexed
        )?;
    }
    out.flush()?;
    keep::warn_of_future(&found.listing);
    Ok(Status::Usage.when(!found.is_whole()))
}
