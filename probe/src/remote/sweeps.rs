//! The parts of a sweep at a place with an address, to be merged.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use fpprobe_reports::limited::{self, ReadFile};
use fpprobe_system::usage::usage_error;

#[cfg(not(feature = "object-store"))]
use super::address;
use super::address::{Address, Destination};
#[cfg(feature = "object-store")]
use super::cloud;
use super::delivery::Delivery;

/// The reports of sweeps at a place, and how they and their fingerprints are read. A part that was
/// put several times, because a job was requeued, is there once.
pub fn sweeps(from: &Destination) -> anyhow::Result<(Vec<PathBuf>, Arc<ReadFile>)> {
    let (mut paths, read): (Vec<PathBuf>, Arc<ReadFile>) = match &from.address {
        Address::Folder(folder) => {
            let entries = fs::read_dir(folder.join(Delivery::SWEEPS)).and_then(|entries| {
                entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()
            });
            (entries.map_err(|error| failed(from, &error))?, Arc::new(limited::bytes))
        }
        #[cfg(feature = "object-store")]
        Address::Bucket { .. } => cloud::objects(from).map_err(|error| failed(from, &error))?,
        #[cfg(not(feature = "object-store"))]
        Address::Bucket { .. } => return Err(usage_error(address::NOT_BUILT)),
    };
    paths.sort();
    let mut known = BTreeSet::new();
    paths.retain(|path| Delivery::sweep_digest(path).is_some_and(|digest| known.insert(digest)));
    if paths.is_empty() {
        return Err(usage_error(format!(
            "{from} has no sweeps: `fpprobe sweep --shard I/N -o {from}` puts one there"
        )));
    }
    Ok((paths, read))
}

fn failed(from: &Destination, error: &dyn std::fmt::Display) -> anyhow::Error {
    usage_error(format!("failed to read {from}: {error}"))
}
