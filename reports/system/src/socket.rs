//! A socket that processes of this machine connect to, and who they are.
//!
//! The file's mode keeps strangers out; who connects is looked at all the same (unix(7),
//! `SO_PEERCRED`).

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::Mode;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{geteuid, umask};

use crate::calls;
pub use crate::groups::id as group_id;

/// A connection between two processes of this machine.
pub type LocalStream = UnixStream;

/// Connects to the socket of another process.
pub fn connect(path: &Path) -> io::Result<LocalStream> {
    UnixStream::connect(path)
}

/// A socket that is listened on.
#[derive(Debug)]
pub struct LocalListener(UnixListener);

impl LocalListener {
    /// Makes the socket, for this user and its group alone. One that another process has left
    /// behind is replaced; one that answers is an error. To be called before there are other
    /// threads: the socket's mode is made with the process's mask.
    pub fn bind(path: &Path) -> io::Result<LocalListener> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if let Ok(meta) = fs::symlink_metadata(path) {
            if !meta.file_type().is_socket() {
                return Err(io::Error::other("there is a file of that name that is no socket"));
            }
            if UnixStream::connect(path).is_ok() {
                return Err(io::Error::other("another daemon answers there"));
            }
            fs::remove_file(path)?;
        }
        // Nobody may find it with another mode, not even for a moment.
        let mask = umask(Mode::from_raw_mode(0o117));
        let listener = UnixListener::bind(path);
        umask(mask);
        listener.map(LocalListener)
    }

    /// Each connection, as it comes.
    pub fn incoming(&self) -> impl Iterator<Item = LocalStream> {
        self.0.incoming().flatten()
    }
}

/// Gives a socket to a group.
pub fn give(path: &Path, group: u32) -> io::Result<()> {
    chown(path, None, Some(group))
}

/// Whether the other end is root, the user of this process or, if there is one, a member of a
/// group; the user's number where not.
pub fn admits(stream: &LocalStream, group: Option<u32>) -> io::Result<Result<(), u32>> {
    let peer = socket_peercred(stream)?;
    let user = peer.uid.as_raw();
    let member = |group: u32| peer.gid.as_raw() == group || calls::groups(stream).contains(&group);
    if user == 0 || user == geteuid().as_raw() || group.is_some_and(member) {
        return Ok(Ok(()));
    }
    Ok(Err(user))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_socket_that_was_left_behind_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, file) = (folder.path().join("run/socket"), folder.path().join("file"));
        let listener = LocalListener::bind(&socket).unwrap();
        assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o660);
        assert!(LocalListener::bind(&socket).unwrap_err().to_string().contains("another daemon"));
        drop(listener);
        LocalListener::bind(&socket).unwrap();
        fs::write(&file, "").unwrap();
        assert!(LocalListener::bind(&file).unwrap_err().to_string().contains("no socket"));
    }
}
