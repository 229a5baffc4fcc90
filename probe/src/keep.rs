//! Which store, how much it keeps, and whether a run's report goes there.

use std::env;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fpprobe_reports::Report;
use fpprobe_reports::escape::visible;
use fpprobe_reports::render::{Json, Render as _, ReportPlace};
use fpprobe_reports::store::{Listing, Put, RetentionLimits, Store};

use crate::cli::{KeepArgs, StoreArgs};
use crate::config::Config;
use crate::output::quoted;
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::files::create_private;
use fpprobe_system::folders;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Where a run's report is kept.
pub struct Keep {
    store: Store,
    limits: RetentionLimits,
    allow_tainted: bool,
    /// Whether the run ends with an error where the report cannot be stored; otherwise that is a
    /// warning.
    is_requested: bool,
    /// The folder, where an option names it.
    named: Option<PathBuf>,
}

/// How long a run waits for another writer of the store, in seconds, unless the user requested that
/// it stores its report.
const UNREQUESTED_WAIT: f64 = 2.0;

impl Keep {
    /// From options and configuration; `None` where the report is not to be kept. What is requested
    /// is made sure of before anything is measured.
    pub fn new(config: &Config, options: &KeepArgs) -> anyhow::Result<Option<Keep>> {
        // Who names a place for the report wants it there.
        let is_requested = options.store || options.place.store_path.is_some();
        if options.no_keep || !(is_requested || config.store.keep) {
            return Ok(None);
        }
        let store = match store(config, &options.place) {
            Ok(store) if is_requested => store,
            Ok(store) => {
                let wait = Duration::from_secs_f64(config.store.wait.min(UNREQUESTED_WAIT));
                store.with_patience(wait)
            }
            Err(error) if is_requested => return Err(error),
            Err(error) => {
                not_kept(&error);
                return Ok(None);
            }
        };
        if is_requested {
            store.prepare().or_usage()?;
        }
        let (limits, allow_tainted, named) =
            (limits(config), options.allow_tainted, options.place.store_path.clone());
        Ok(Some(Keep { store, limits, allow_tainted, is_requested, named }))
    }

    /// Where what is stored last is found.
    pub fn place(&self) -> ReportPlace {
        match &self.named {
            None => ReportPlace::Last,
            Some(folder) => ReportPlace::Argument(format!(
                "last --store-path {}",
                quoted(&folder.to_string_lossy())
            )),
        }
    }

    /// Puts a report into the store, and lets go what there is no room for; the file, where there
    /// is one. A report whose storing was requested and that cannot be stored is kept
    /// elsewhere, unless it is `written` to a file of its own.
    fn keep(&self, report: &Report, written: bool) -> anyhow::Result<Option<PathBuf>> {
        if !self.is_requested {
            let kept = if report.devices.is_empty() {
                Ok(None)
            } else {
                self.put(report, written).map(Some)
            };
            return Ok(kept.inspect_err(not_kept).unwrap_or_default());
        }
        if report.devices.is_empty() {
            say("the report was not stored: it holds no device");
            return Ok(None);
        }
        self.put(report, written).map(Some)
    }

    fn put(&self, report: &Report, written: bool) -> anyhow::Result<PathBuf> {
        let file = if self.is_requested {
            let stored = put(&self.store, report, self.allow_tainted);
            stored.map_err(|error| if written { error } else { rescued(report, error) })?
        } else {
            let (Put::Stored(stored) | Put::Known(stored)) =
                self.store.put(report, self.allow_tainted).or_usage()?;
            self.store.folder().join(&stored.entry.file)
        };
        let_go(&self.store, &self.limits, self.is_requested)?;
        warn_of_future(&self.store.list().or_usage()?);
        Ok(file)
    }
}

/// Warns that a report is not in the store, and of what does not work without it.
fn not_kept(error: &anyhow::Error) {
    say(&format!(
        "warning: the report is not kept as `last`: {error:#}; `fpprobe show` and `repro` read it from a file that `-o` writes, and \
         `--no-keep` omits this warning"
    ));
}

/// Stores the report of a run, unless it was cancelled; the file, where it was stored.
pub fn store_report(
    keep: Option<&Keep>,
    cancellation: &Cancellation,
    report: &Report,
    written: bool,
) -> anyhow::Result<Option<PathBuf>> {
    let Some(keep) = keep else { return Ok(None) };
    if let Some(cause) = cancellation.cause() {
        say(&format!("the report was not stored: {cause}, and it lacks the rest"));
        return Ok(None);
    }
    keep.keep(report, written)
}

/// Writes what could not be stored among the temporary files, and says where.
fn rescued(report: &Report, error: anyhow::Error) -> anyhow::Error {
    let path = env::temp_dir().join(format!("fpprobe-report-{}.json", std::process::id()));
    // Everybody may write there.
    match create_private(&path).and_then(|file| {
        let mut out = BufWriter::new(file);
        Json.render(report, &mut out)?;
        out.flush()
    }) {
        Ok(()) => {
            let kept = format!("the report is {}; `fpprobe history add` stores it", path.display());
            say(&kept);
            error
        }
        Err(other) => error.context(format!(
            "the report is lost, since {} cannot be written: {other}",
            path.display()
        )),
    }
}

/// Warns of reports that ended after now.
pub fn warn_of_future(listing: &Listing) {
    let future: Vec<&str> = listing.future(now()).map(|stored| stored.entry.id()).collect();
    if let [first, others @ ..] = &future[..] {
        let more =
            if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        say(&format!(
            "warning: report {first}{more} ended in the future: the clock was ahead then, or is behind now; reports are \
             ordered as they were stored"
        ));
    }
}

/// Removes what the limits leave no room for; says so where that is of interest.
pub fn let_go(store: &Store, limits: &RetentionLimits, is_shown: bool) -> anyhow::Result<()> {
    if limits.none() {
        return Ok(());
    }
    for stored in store.prune(limits, now()).or_usage()?.iter().filter(|_| is_shown) {
        say(&format!("removed {} of {}", stored.entry.id(), visible(&stored.entry.finished)));
    }
    Ok(())
}

/// Stores one report and says under which name; its file.
pub fn put(store: &Store, report: &Report, allow_tainted: bool) -> anyhow::Result<PathBuf> {
    let (stored, how) = match store.put(report, allow_tainted).or_usage()? {
        Put::Stored(stored) => (stored, "stored as"),
        Put::Known(stored) => (stored, "was stored before, as"),
    };
    say(&format!("{how} {} in {}", stored.entry.id(), store.folder().display()));
    Ok(store.folder().join(&stored.entry.file))
}

/// The store of these options.
pub fn store(config: &Config, place: &StoreArgs) -> anyhow::Result<Store> {
    let given = place.store_path.clone().or_else(|| Some(config.store.path.clone()));
    let given = given.filter(|path| !path.as_os_str().is_empty());
    let folder = given.or_else(folders::state).ok_or_else(|| {
        usage_error(
            "there is no place for the store: neither HOME nor XDG_STATE_HOME is set; name a folder with --store-path",
        )
    })?;
    Ok(Store::new(folder).with_patience(Duration::from_secs_f64(config.store.wait)))
}

/// The limits of the configuration.
pub fn limits(config: &Config) -> RetentionLimits {
    let store = &config.store;
    RetentionLimits { count: store.keep_count, days: store.keep_days, bytes: store.keep_bytes }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
