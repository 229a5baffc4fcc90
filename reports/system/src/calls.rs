//! System calls that no safe crate offers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::process::{Signal, set_parent_process_death_signal};

/// Groups that a process may have, as Linux has it (`NGROUPS_MAX`).
const MOST_GROUPS: usize = 1 << 16;

/// Whether standard output was closed when the program began.
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's own start, which opens `/dev/null` where standard output is closed.
#[used]
// SAFETY: the section holds addresses of functions that the C library calls once, before `main` and
// with no other thread.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: it requests the flags of a descriptor, which may be any number.
    let closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0;
    STDOUT_CLOSED.store(closed, Ordering::Relaxed);
}

/// Whether standard output was closed when the program began (`>&-`): what is written to it goes
/// nowhere.
pub fn is_stdout_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// From now on large blocks of memory go back to the system when they are freed. The GNU C library
/// by itself keeps blocks of up to 32 MiB, once it has seen one, for later ones (mallopt(3),
/// `M_MMAP_THRESHOLD`): a sixth of what a run held.
pub fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it sets a number of the allocator's, under the allocator's lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20);
    }
}

/// Gives what was freed of smaller blocks back as well, for a phase of a run that holds much.
pub fn return_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes the allocator's locks, and changes no block that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has a program end with this one, however that ends.
pub(crate) fn tie(command: &mut Command) {
    let tie = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: it makes one system call, allocates nothing and takes no lock.
    unsafe { command.pre_exec(tie) };
}

/// The further groups that the other end had when it connected (socket(7), `SO_PEERGROUPS`): of
/// other users' processes a service sees nothing in /proc.
pub(crate) fn groups(stream: &UnixStream) -> Vec<u32> {
    let mut groups = vec![0_u32; MOST_GROUPS];
    let mut length = size_of_val(&groups[..]) as libc::socklen_t;
    // SAFETY: the descriptor is open, and `length` says how many bytes may be written to where
    // `groups` lies.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERGROUPS,
            groups.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    groups.truncate(if failed == 0 { length as usize / size_of::<u32>() } else { 0 });
    groups
}

/// A file in this process's memory, which other processes may have in theirs. Bytes are copied to
/// and from it; no reference to them exists.
#[derive(Debug)]
pub(crate) struct Mapping {
    address: NonNull<u8>,
    length: usize,
}

// SAFETY: it is an address that belongs to no thread. Copies that threads make at one time may mix,
// as those of several processes may.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Of all of a file. The file must not become shorter.
    pub(crate) fn of(file: &File) -> io::Result<Mapping> {
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses where, so that nothing that is in use is replaced.
        let address = unsafe { mmap(null_mut(), length, access, MapFlags::SHARED, file, 0) }?;
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { address, length })
    }

    /// Copies bytes from this place on.
    pub(crate) fn read(&self, bytes: &mut [u8], from: u64) -> io::Result<()> {
        let (place, count) = (self.place(bytes.len(), from)?, bytes.len());
        // SAFETY: as many bytes are mapped there, and `bytes` is memory of this process's own.
        unsafe { place.copy_to_nonoverlapping(NonNull::from(bytes).cast(), count) };
        Ok(())
    }

    /// Copies bytes to this place.
    pub(crate) fn write(&self, bytes: &[u8], from: u64) -> io::Result<()> {
        let place = self.place(bytes.len(), from)?;
        // SAFETY: as above.
        unsafe { place.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        Ok(())
    }

    /// Where this many bytes begin, all of them mapped.
    fn place(&self, count: usize, from: u64) -> io::Result<NonNull<u8>> {
        let from = usize::try_from(from).ok();
        let from =
            from.filter(|from| from.checked_add(count).is_some_and(|end| end <= self.length));
        let from = from.ok_or(io::ErrorKind::UnexpectedEof)?;
        // SAFETY: it is a place in the mapping, or its end.
        Ok(unsafe { self.address.add(from) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing has an address in it any more.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.length) };
    }
}
