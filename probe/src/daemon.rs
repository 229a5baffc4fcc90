//! The daemon: a host that always knows what its devices can be trusted with.
//!
//! **Trigger -> look -> order -> round -> found -> told.** A [`trigger`] makes fresh workers look at who the devices are
//! ([`look`], [`roster`]); what is new, or due, is ordered ([`queue`]), waits until [`manners`] let it through, and is measured,
//! stored, compared and checked by processes of this program ([`round`], [`job`]); what they found is told ([`found`]) to the
//! [`log`], the [`metrics`], a [`hook`] and whoever looks at the [`board`] by [`control`] socket or [`http`].
//!
//! Architecture invariants: this process loads no driver and holds no report; one process measures at a time; the loop
//! ([`service`]) waits for nothing but its channel.

mod board;
mod budget;
mod busy;
mod changes;
pub mod control;
mod debounce;
mod descendants;
mod found;
mod happening;
mod hook;
mod http;
mod job;
mod loads;
mod log;
mod look;
mod manners;
mod metrics;
mod outbox;
mod outcome;
mod policy;
mod quarantine;
mod queue;
mod references;
mod remembered;
mod requests;
mod roster;
mod round;
mod schedule;
mod service;
mod shown;
mod trigger;
mod unfinished;
mod watch;
mod window;

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use anyhow::Context as _;
use fpprobe_reports::escape::visible;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::board::Board;
pub use self::busy::utilisation;
use self::happening::Happening;
use self::hook::Messenger;
use self::policy::Policy;
pub use self::policy::Source;
use self::quarantine::Quarantine;
use self::service::{Service, write_config};
use self::watch::Watch;
use crate::config::Layers;
use crate::exit::{OrUsage as _, say, usage_error};

/// Makes sure that every setting can be meant, as the daemon does before it starts.
pub fn check(layers: &Layers) -> anyhow::Result<()> {
    Policy::new(layers).map(drop)
}

/// The path that the head of a request names; `None` where it is no request, or not all of one.
pub fn http_path(head: &[u8]) -> Option<String> {
    http::path(head)
}

/// Runs until it is told to end.
pub fn run(source: Source) -> anyhow::Result<()> {
    let policy = source.read()?;
    let folder = policy.folder();
    policy.store.prepare().or_usage()?;
    let work = folder.join("work");
    fs::create_dir_all(&work).with_context(|| format!("failed to create {}", work.display())).or_usage()?;
    let _lock = lock(&folder)?;
    write_config(&policy)?;
    let (sender, happenings) = channel();
    let daemon = &policy.config.daemon;
    let socket = policy.socket();
    // Before any other thread: the socket's mode is made with the process's mask.
    control::listen(&socket, &daemon.control.group, sender.clone()).or_usage()?;
    signals(sender.clone())?;
    let board = Arc::new(Board::new(Instant::now()));
    if !daemon.http.listen.is_empty() {
        let address = http::listen(&daemon.http, Arc::clone(&board), &policy)?;
        say(&format!("fpprobe daemon: listens on http://{address}/"));
    }
    let watch = Watch::new(sender.clone()).context("failed to watch files").or_usage()?;
    let messenger = Messenger::start(&folder.join("outbox"), (&daemon.hook, &daemon.webhook), sender.clone())?;
    let quarantine = Quarantine::open(&folder.join("quarantine.json")).or_usage()?;
    Service::new(source, policy, sender, board, (watch, messenger, quarantine)).run(&happenings);
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
        usage_error(format!("another daemon works in {} ({error}); give this one a store of its own", visible(&shown)))
    })?;
    Ok(file)
}

fn signals(sender: Sender<Happening>) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("failed to listen for signals")?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if sender.send(Happening::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}
