//! System calls that no safe crate offers.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

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
