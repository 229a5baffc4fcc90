//! The daemon: a host that always knows what its devices can be trusted with.
//!
//! **Trigger -> discovery -> order -> round -> findings -> notifications.** A `trigger` makes fresh
//! workers discover the devices (`discovery`, `device_table`); what is new, or due, is ordered
//! (`queue`), waits until the `busy_policy` lets it through, and is measured, stored, compared and
//! checked by processes of the program (`round`, `job`). The `findings` go to the `log`, the
//! `metrics`, a `hook`, and to clients of the `control` socket and of `http`, who read the
//! `shared_status`.
//!
//! The daemon knows of the program around it what [`Door`] says: settings, the store, devices, and
//! how a process of the program takes a [`ProcessStep`].
//!
//! Invariants: this process loads no driver and holds no report; one process measures at a time;
//! the loop (`service`) waits for nothing but its channel.
#![forbid(unsafe_code)]

mod budget;
mod busy;
mod busy_policy;
mod changes;
pub mod config;
pub mod control;
mod debounce;
mod device_table;
mod discovery;
mod door;
mod event;
mod findings;
mod hook;
mod http;
pub mod https;
mod job;
mod log;
mod metrics;
mod notifications;
mod order;
mod outbox;
mod pending_work;
mod quarantine;
mod queue;
mod references;
pub mod request;
mod requests;
mod result;
mod round;
mod schedule;
mod service;
mod settings;
mod shared_status;
mod state_file;
mod status_document;
mod trigger;
mod utilisation;
mod watch;
mod window;

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

use anyhow::Context as _;
use fpprobe_reports::escape::visible;
use fpprobe_system::signals;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

pub use self::busy::{sensors, utilisation};
pub use self::device_table::{DeviceTable, KnownDevice, LibraryStamp};
pub use self::door::{Door, ProcessStep, RunOptions};
use self::event::DaemonEvent;
use self::hook::Messenger;
use self::quarantine::Quarantine;
use self::service::{Service, write_config};
pub use self::settings::DaemonSettings;
use self::shared_status::SharedStatus;
use self::watch::Watch;

/// The path that the head of a request names; `None` where it is no request, or not all of one.
pub fn http_path(head: &[u8]) -> Option<String> {
    http::path(head)
}

/// Runs until it is stopped.
pub fn run(door: Arc<dyn Door>) -> anyhow::Result<()> {
    let settings = door.settings()?;
    let folder = settings.folder();
    settings.store.prepare().or_usage()?;
    let work = folder.join("work");
    fs::create_dir_all(&work)
        .with_context(|| format!("failed to create {}", work.display()))
        .or_usage()?;
    let _lock = lock(&folder)?;
    write_config(&settings)?;
    let (sender, events) = channel();
    let daemon = &settings.daemon;
    let socket = settings.socket();
    // Before any other thread: the socket's mode is made with the process's mask.
    control::listen(&socket, &daemon.control.group, sender.clone()).or_usage()?;
    let heard = sender.clone();
    signals::serve(move |signal| heard.send(DaemonEvent::Signal(signal)).is_ok())
        .context("failed to listen for signals")?;
    let shared = Arc::new(SharedStatus::new(Instant::now()));
    if !daemon.http.listen.is_empty() {
        let address = http::listen(Arc::clone(&door), Arc::clone(&shared), &settings)?;
        say(&format!("fpprobe daemon: listens on http://{address}/"));
    }
    let watch = Watch::new(sender.clone()).context("failed to watch files").or_usage()?;
    let messenger =
        Messenger::start(&folder.join("outbox"), (&daemon.hook, &daemon.webhook), sender.clone())?;
    let quarantine = Quarantine::open(&folder.join("quarantine.json")).or_usage()?;
    Service::new(door, settings, sender, shared, (watch, messenger, quarantine)).run(&events);
    let _ = fs::remove_file(&socket);
    Ok(())
}

/// One daemon per store; the system lets go of the lock when the process ends, however it does.
fn lock(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = file.with_context(|| format!("failed to open {}", path.display())).or_usage()?;
    file.try_lock().map_err(|error| {
        let shown = folder.display().to_string();
        usage_error(format!(
            "another daemon works in {} ({error}); give this one a store of its own",
            visible(&shown)
        ))
    })?;
    Ok(file)
}
