//! The log: entries with fields for systemd's journal where its socket is, else lines on standard
//! error.

use std::path::Path;

use fpprobe_system::service::ServiceLog;
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

/// Where entries go.
#[derive(Debug)]
pub struct Logger {
    journal: Option<ServiceLog>,
}

impl Logger {
    /// To the journal behind this socket, if there is one.
    pub fn new(socket: &Path) -> Logger {
        Logger { journal: ServiceLog::connect(socket).ok() }
    }

    /// Writes an entry. Fields: `device`, `driver`, `rule`, `verdict` and the like; in the journal
    /// `FPPROBE_DEVICE` and so on.
    pub fn write(&self, priority: Priority, text: &str, fields: &[(&str, &str)]) {
        let priority = (priority as u8).to_string();
        let own = [("MESSAGE", text), ("PRIORITY", &priority), ("SYSLOG_IDENTIFIER", "fpprobe")];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let named =
            fields.iter().map(|(name, value)| (format!("FPPROBE_{}", name.to_uppercase()), *value));
        let entry: Vec<_> = own.chain(named).collect();
        let sent = self.journal.as_ref().is_some_and(|journal| journal.send(&entry).is_ok());
        if !sent {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!(" {name}={value:?}")).collect();
            say(&format!("fpprobe daemon: {text}{}", fields.concat()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn the_journal_is_used_where_its_socket_is() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let journal = UnixDatagram::bind(&socket).unwrap();
        Logger::new(&socket).write(Priority::Warning, "hello", &[("device", "GPU")]);
        let mut bytes = [0; 1024];
        let length = journal.recv(&mut bytes).unwrap();
        let expected =
            b"MESSAGE=hello\nPRIORITY=4\nSYSLOG_IDENTIFIER=fpprobe\nFPPROBE_DEVICE=GPU\n";
        assert_eq!(bytes[..length], *expected);
        assert!(Logger::new(Path::new("/nonexistent/socket")).journal.is_none());
    }
}
