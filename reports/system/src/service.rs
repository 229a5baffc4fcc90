//! The service manager, and the log that it keeps.
//!
//! Sources: `sd_notify(3)`; <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use sd_notify::NotifyState;

/// Variables by which a service manager and its service know each other; what that starts does
/// without.
pub const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// The socket of the log, where there is one.
pub const LOG: &str = "/run/systemd/journal/socket";

/// Longest field of an entry: what a driver says may be long, and a datagram may not.
const LONGEST: usize = 4096;

/// What a service reports of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceState {
    /// It has started.
    Ready,
    /// It works.
    Alive,
    /// It is about to end.
    Stopping,
}

/// Reports a state to the service manager, if there is one.
pub fn notify(state: ServiceState) {
    let state = match state {
        ServiceState::Ready => NotifyState::Ready,
        ServiceState::Alive => NotifyState::Watchdog,
        ServiceState::Stopping => NotifyState::Stopping,
    };
    let _ = sd_notify::notify(&[state]);
}

/// How often at least the service manager wants to hear that the service works.
pub fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// The log of the service manager.
#[derive(Debug)]
pub struct ServiceLog(UnixDatagram);

impl ServiceLog {
    /// The one behind this socket.
    pub fn connect(socket: &Path) -> io::Result<ServiceLog> {
        let log = UnixDatagram::unbound()?;
        log.connect(socket)?;
        // One that is stuck must not stop the daemon.
        log.set_nonblocking(true)?;
        Ok(ServiceLog(log))
    }

    /// Sends an entry: fields by name.
    pub fn send(&self, fields: &[(String, &str)]) -> io::Result<()> {
        self.0.send(&entry(fields)).map(drop)
    }
}

/// An entry as the journal takes it: a value with line feeds comes with its length.
fn entry(fields: &[(String, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        let value = &value[..value.floor_char_boundary(LONGEST)];
        bytes.extend(name.as_bytes());
        if value.contains('\n') {
            bytes.push(b'\n');
            bytes.extend((value.len() as u64).to_le_bytes());
        } else {
            bytes.push(b'=');
        }
        bytes.extend(value.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_as_the_journal_takes_them() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let journal = UnixDatagram::bind(&socket).unwrap();
        let long = "ä".repeat(LONGEST);
        let fields = [("A", "hello"), ("B", "a\nb"), ("C", &long)];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        ServiceLog::connect(&socket).unwrap().send(&fields).unwrap();
        let mut bytes = [0; 3 * LONGEST];
        let length = journal.recv(&mut bytes).unwrap();
        let expected = format!("A=hello\nB\n\x03\0\0\0\0\0\0\0a\nb\nC={}\n", &long[..LONGEST]);
        assert_eq!(bytes[..length], *expected.as_bytes());
        assert!(ServiceLog::connect(Path::new("/nonexistent/socket")).is_err());
    }
}
