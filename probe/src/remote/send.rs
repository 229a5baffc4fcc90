//! Puts deliveries at their places, within a time.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use fpprobe_system::usage::{say, usage_error};

use super::address::Destination;
use super::delivery::Delivery;
use super::open;
use super::place::RemoteError;
use super::spool::Spool;

/// How long sending may take.
pub const TIME: Duration = Duration::from_mins(1);
/// How long it may take where nothing new is sent.
const SPOOLED: Duration = Duration::from_secs(10);

/// Puts a delivery, and those that wait, until the deadline. Until it has been put it lies in the
/// spool: what cannot be put now waits there, with a warning. An error where it cannot wait either.
pub fn send(delivery: &Delivery, deadline: Instant) -> anyhow::Result<()> {
    let (to, spool) = (&delivery.to, Spool::own());
    let waits = spool.as_ref().map(|spool| spool.add(delivery));
    let sent = put(delivery, deadline);
    match (&sent, waits) {
        (Ok(()), waits) => {
            if let Some(Ok(file)) = waits {
                let _ = fs::remove_file(file);
            }
            say(&format!("sent to {to}: {}", delivery.id));
        }
        (Err(error), Some(Ok(file))) => say(&format!(
            "warning: not sent to {to}: {error}; the next run sends {}",
            file.display()
        )),
        (Err(error), waits) => {
            let why = match waits {
                Some(Err(error)) => error.to_string(),
                _ => "there is no state folder".to_owned(),
            };
            return Err(usage_error(format!(
                "failed to send to {to}: {error}; it cannot wait in the spool either: {why}"
            )));
        }
    }
    let failed = sent.err().filter(|error| error.is_everywhere).map(|_| to.clone());
    if let Some(spool) = spool {
        send_waiting(&spool, failed, deadline);
    }
    Ok(())
}

/// Puts what waits, within seconds.
pub fn send_spooled() {
    let deadline = Instant::now() + SPOOLED;
    if let Some(spool) = Spool::own() {
        send_waiting(&spool, None, deadline);
    }
}

/// Puts what waits; nothing to a place that has failed.
fn send_waiting(spool: &Spool, failed: Option<Destination>, deadline: Instant) {
    let mut failed: Vec<Destination> = failed.into_iter().collect();
    let mut sent = 0;
    for file in spool.waiting() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match put_waiting(&file, &failed, deadline) {
            Ok(None) => {}
            Ok(Some((_, Ok(())))) => {
                sent += 1;
                let _ = fs::remove_file(&file);
            }
            Ok(Some((to, Err(error)))) => {
                say(&format!("warning: {} still waits for {to}: {error}", file.display()));
                failed.extend(error.is_everywhere.then_some(to));
            }
            // Another process has sent it.
            Err(_) if !file.exists() => {}
            Err(error) => say(&format!("warning: {} is damaged: {error:#}", file.display())),
        }
    }
    if sent > 0 {
        let deliveries = if sent == 1 { "delivery" } else { "deliveries" };
        say(&format!("sent {sent} {deliveries} that had waited"));
    }
}

/// Puts a file of the spool, unless its place has failed.
fn put_waiting(
    file: &Path,
    failed: &[Destination],
    deadline: Instant,
) -> anyhow::Result<Option<(Destination, Result<(), RemoteError>)>> {
    let delivery = Delivery::read(file)?;
    let is_possible = !failed.contains(&delivery.to);
    Ok(is_possible.then(|| (delivery.to.clone(), put(&delivery, deadline))))
}

fn put(delivery: &Delivery, deadline: Instant) -> Result<(), RemoteError> {
    let place = open(&delivery.to, deadline)?;
    delivery.objects.iter().try_for_each(|(name, bytes)| place.create(name, bytes.clone()))
}
