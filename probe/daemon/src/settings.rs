//! The settings in effect, checked as a whole: a reload takes all of them or nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fpprobe_reports::store::{DAEMON, Store};
use fpprobe_system::usage::usage_error;

use crate::config::Daemon;
use crate::hook::HTTPS;
use crate::https;
use crate::schedule::Schedule;
use crate::window::Window;

/// The settings in effect.
#[derive(Clone, Debug)]
pub struct DaemonSettings {
    /// The daemon's own.
    pub daemon: Daemon,
    /// All settings of the program, as a file has them.
    pub text: String,
    /// Deadline of a batch in seconds, as it is outside the daemon.
    pub timeout: f64,
    /// When the clock says to measure.
    pub schedule: Schedule,
    /// When measuring is allowed.
    pub windows: Vec<Window>,
    /// Where reports are kept.
    pub store: Store,
}

impl DaemonSettings {
    /// Makes sure that the daemon's settings are valid; the program has checked the others.
    pub fn new(
        daemon: Daemon,
        text: String,
        timeout: f64,
        store: Store,
    ) -> anyhow::Result<DaemonSettings> {
        let schedule: Schedule = daemon.schedule.parse().map_err(usage_error)?;
        let windows = daemon
            .windows
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, String>>()
            .map_err(usage_error)?;
        if daemon.hook.command.first().is_some_and(String::is_empty) {
            return Err(usage_error("`daemon.hook.command`: the program has no name"));
        }
        let url = &daemon.webhook.url;
        let has_scheme = ["http://", HTTPS].iter().any(|scheme| url.starts_with(scheme));
        let has_host = url
            .parse::<ureq::http::Uri>()
            .is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
        if !(url.is_empty() || has_scheme && has_host) {
            let problem = "write an address with http:// or https:// and a host";
            return Err(usage_error(format!("`daemon.webhook.url`: `{url}`: {problem}")));
        }
        if url.starts_with(HTTPS) {
            https::trusted(&daemon.webhook.authorities)
                .map_err(|error| usage_error(format!("`daemon.webhook.authorities`: {error:#}")))?;
        }
        let listen = &daemon.http.listen;
        if !listen.is_empty() && listen.parse::<std::net::SocketAddr>().is_err() {
            let problem = "write address and port: 127.0.0.1:9464, [::1]:9464";
            return Err(usage_error(format!("`daemon.http.listen`: `{listen}`: {problem}")));
        }
        Ok(DaemonSettings { daemon, text, timeout, schedule, windows, store })
    }

    /// Folder of what the daemon keeps for itself.
    pub fn folder(&self) -> PathBuf {
        self.store.folder().join(DAEMON)
    }

    /// Where it is controlled from.
    pub fn socket(&self) -> PathBuf {
        crate::request::place(&self.daemon.control.socket, &self.folder())
    }

    /// Where one that is running may be found.
    pub fn sockets(&self) -> Vec<PathBuf> {
        crate::request::places(&self.daemon.control.socket, &self.folder())
    }

    /// The baseline, if there is one.
    pub fn baseline(&self) -> Option<&Path> {
        Some(self.daemon.baseline.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Settings that take effect when the daemon starts again, and differ from these.
    pub fn fixed(&self, other: &DaemonSettings) -> Vec<&'static str> {
        let [one, two] = [&self.daemon, &other.daemon];
        let differ = [
            ("store.path", self.store.folder() != other.store.folder()),
            ("daemon.control", one.control != two.control),
            ("daemon.http", one.http != two.http),
        ];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

/// Seconds of the configuration.
pub fn seconds(number: f64) -> Duration {
    Duration::from_secs_f64(number)
}
