//! The log: entries with fields for systemd's journal where its socket is, else lines on standard
//! error.
//!
//! Source: <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>.

use std::os::unix::net::UnixDatagram;
use std::path::Path;

use fpprobe_system::usage::say;

/// How much an entry matters, as syslog(3) numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// Something does not work.
    Error = 3,
    /// Something deviates that did not.
    Warning = 4,
    /// Something changed.
    Notice = 5,
    /// Everything else.
    Info = 6,
}

/// Longest field: what a driver says may be long, and a datagram may not.
const LONGEST: usize = 4096;

/// Where entries go.
#[derive(Debug)]
pub struct Logger {
    journal: Option<UnixDatagram>,
}

impl Logger {
    /// To the journal behind this socket, if there is one.
    pub fn new(socket: &Path) -> Logger {
        let journal = UnixDatagram::unbound().and_then(|journal| {
            journal.connect(socket)?;
            // A journal that is stuck must not stop the daemon.
            journal.set_nonblocking(true)?;
            Ok(journal)
        });
        Logger { journal: journal.ok() }
    }

    /// Writes an entry. Fields: `device`, `driver`, `rule`, `verdict` and the like; in the journal
    /// `FPPROBE_DEVICE` and so on.
    pub fn write(&self, priority: Priority, text: &str, fields: &[(&str, &str)]) {
        let sent = self
            .journal
            .as_ref()
            .is_some_and(|journal| journal.send(&entry(priority, text, fields)).is_ok());
        if !sent {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!(" {name}={value:?}")).collect();
            say(&format!("fpprobe daemon: {text}{}", fields.concat()));
        }
    }
}

/// An entry as the journal takes it: a value with line feeds comes with its length.
fn entry(priority: Priority, text: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |name: &str, value: &str| {
        let mut end = value.len().min(LONGEST);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let value = &value[..end];
        bytes.extend(name.as_bytes());
        if value.contains('\n') {
            bytes.push(b'\n');
            bytes.extend((value.len() as u64).to_le_bytes());
        } else {
            bytes.push(b'=');
        }
        bytes.extend(value.as_bytes());
        bytes.push(b'\n');
    };
    put("MESSAGE", text);
    put("PRIORITY", &(priority as u8).to_string());
    put("SYSLOG_IDENTIFIER", "fpprobe");
    for (name, value) in fields {
        put(&format!("FPPROBE_{}", name.to_uppercase()), value);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_as_the_journal_takes_them() {
        let fields = [("device", "GPU"), ("rule", "a\nb")];
        let expected = b"MESSAGE=hello\nPRIORITY=4\nSYSLOG_IDENTIFIER=fpprobe\nFPPROBE_DEVICE=GPU\nFPPROBE_RULE\n\x03\0\0\0\0\0\0\0a\nb\n";
        assert_eq!(entry(Priority::Warning, "hello", &fields), expected);
    }

    #[test]
    fn the_journal_is_used_where_its_socket_is() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let journal = UnixDatagram::bind(&socket).unwrap();
        Logger::new(&socket).write(Priority::Info, "hello", &[]);
        let mut bytes = [0; 1024];
        let length = journal.recv(&mut bytes).unwrap();
        assert!(bytes[..length].starts_with(b"MESSAGE=hello\n"));
        assert!(Logger::new(Path::new("/nonexistent/socket")).journal.is_none());
    }
}
