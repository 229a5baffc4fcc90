//! Memory that a supervisor shares with a worker: results that are too many for messages.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::process::inherited;

/// The worker's descriptor of it.
pub(crate) const DESCRIPTOR: i32 = 5;

/// Memory of two processes, as large as what was written to it.
#[derive(Debug)]
pub struct SharedMemory(File);

impl SharedMemory {
    /// Makes an empty one, for [`WorkerLine::start`](crate::line::WorkerLine::start).
    pub fn new() -> io::Result<SharedMemory> {
        Ok(SharedMemory(memfd_create("fpprobe-results", MemfdFlags::CLOEXEC)?.into()))
    }

    /// What this worker was given.
    pub fn received() -> io::Result<SharedMemory> {
        OpenOptions::new().write(true).open(inherited(DESCRIPTOR)).map(SharedMemory)
    }

    /// Another handle, for a process to inherit.
    pub(crate) fn handle(&self) -> io::Result<OwnedFd> {
        Ok(self.0.try_clone()?.into())
    }

    /// Writes bytes from this byte on.
    pub fn write(&self, bytes: &[u8], from: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, from)
    }

    /// Reads little-endian words from this byte on. Threads may read side by side.
    pub fn read(&self, words: &mut [u32], from: u64) -> io::Result<()> {
        self.0.read_exact_at(bytemuck::cast_slice_mut(words), from)?;
        for word in words {
            *word = u32::from_le(*word);
        }
        Ok(())
    }
}
