//! The parts of a sweep at a place with an address, to be merged.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fpprobe_reports::limited::{self, ReadFile};
use fpprobe_system::usage::usage_error;

#[cfg(not(feature = "object-store"))]
use super::address;
use super::address::{Address, Destination};
#[cfg(feature = "object-store")]
use super::cloud;
use super::delivery::Delivery;

/// The reports of sweeps at a place, and how they and their fingerprints are read.
pub fn sweeps(from: &Destination) -> anyhow::Result<(Vec<PathBuf>, Arc<ReadFile>)> {
    let (mut paths, read): (Vec<PathBuf>, Arc<ReadFile>) = match &from.address {
        Address::Folder(folder) => {
            let files = files(folder).map_err(|error| failed(from, &error))?;
            (files, Arc::new(limited::bytes))
        }
        #[cfg(feature = "object-store")]
        Address::Bucket { .. } => cloud::objects(from).map_err(|error| failed(from, &error))?,
        #[cfg(not(feature = "object-store"))]
        Address::Bucket { .. } => return Err(usage_error(address::NOT_BUILT)),
    };
    paths.sort();
    paths.retain(|path| Delivery::is_sweep(path));
    if paths.is_empty() {
        return Err(usage_error(format!(
            "{from} has no sweeps: `fpprobe sweep --shard I/N -o {from}` puts one there"
        )));
    }
    Ok((paths, read))
}

/// All files below a folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let list = if entry.file_type()?.is_dir() { &mut folders } else { &mut files };
            list.push(entry.path());
        }
    }
    Ok(files)
}

fn failed(from: &Destination, error: &dyn std::fmt::Display) -> anyhow::Error {
    usage_error(format!("failed to read {from}: {error}"))
}
