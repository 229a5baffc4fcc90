//! Memory that a supervisor shares with a worker: results that are too many for messages.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::calls::Mapping;
use crate::process::inherited;

/// The worker's descriptor of it.
pub(crate) const DESCRIPTOR: i32 = 5;

/// Memory of two processes.
#[derive(Debug)]
pub struct SharedMemory {
    file: File,
    mapping: Mapping,
}

impl SharedMemory {
    /// Makes one of this many bytes, for [`WorkerLine::start`](crate::line::WorkerLine::start).
    /// What nobody writes to takes no memory.
    pub fn new(length: u64) -> io::Result<SharedMemory> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("fpprobe-results", flags)?);
        file.set_len(length)?;
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        SharedMemory::of(file)
    }

    /// What this worker was given.
    pub fn received() -> io::Result<SharedMemory> {
        SharedMemory::of(OpenOptions::new().read(true).write(true).open(inherited(DESCRIPTOR))?)
    }

    fn of(file: File) -> io::Result<SharedMemory> {
        let mapping = Mapping::of(&file)?;
        Ok(SharedMemory { file, mapping })
    }

    /// Another handle, for a process to inherit.
    pub(crate) fn handle(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Writes bytes from this byte on.
    pub fn write(&self, bytes: &[u8], from: u64) -> io::Result<()> {
        self.mapping.write(bytes, from)
    }

    /// Reads little-endian words from this byte on. Threads may read side by side.
    pub fn read(&self, words: &mut [u32], from: u64) -> io::Result<()> {
        self.mapping.read(bytemuck::cast_slice_mut(words), from)?;
        for word in words {
            *word = u32::from_le(*word);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_handle_writes_the_other_reads_and_neither_goes_beyond() {
        let memory = SharedMemory::new(1 << 20).unwrap();
        let other = SharedMemory::of(memory.file.try_clone().unwrap()).unwrap();
        other.write(&[1, 2, 3, 4, 5, 6, 7, 8], (1 << 20) - 8).unwrap();
        let mut words = [0; 2];
        memory.read(&mut words, (1 << 20) - 8).unwrap();
        assert_eq!(words, [0x0403_0201, 0x0807_0605]);
        for from in [(1 << 20) - 4, 1 << 20, u64::MAX] {
            let ended = |result: io::Result<()>| result.unwrap_err().kind();
            assert_eq!(ended(memory.read(&mut words, from)), io::ErrorKind::UnexpectedEof);
            assert_eq!(ended(other.write(&[0; 8], from)), io::ErrorKind::UnexpectedEof);
        }
        assert!(memory.file.set_len(4096).is_err(), "it must not become shorter");
    }
}
