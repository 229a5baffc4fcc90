//! The configuration as the loop uses it, checked as a whole: a reload takes all of it or nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fpprobe_reports::store::{DAEMON, Store};
use jiff::Zoned;

use super::hook::{self, HTTPS};
use super::schedule::Schedule;
use super::window::Window;
use crate::cli::Place;
use crate::commands::baseline;
use crate::config::{self, Config, Layers};
use crate::exit::{say, usage_error};
use crate::{keep, profiles};

/// Where the configuration comes from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file that was named.
    pub file: Option<PathBuf>,
    /// Settings of the command line.
    pub sets: Vec<String>,
}

/// The configuration in effect.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The settings.
    pub config: Config,
    /// The same, as a file has them.
    pub text: String,
    /// When the clock says to measure.
    pub schedule: Schedule,
    /// When measuring is allowed.
    pub windows: Vec<Window>,
    /// Where reports are kept.
    pub store: Store,
}

impl Source {
    /// Reads and checks it.
    pub fn read(&self) -> anyhow::Result<Policy> {
        let layers = config::load(self.file.as_deref(), &self.sets)?;
        Policy::new(&layers)
    }

    /// Where a daemon of this configuration may be found. While the file is not valid, which is said, that is where one is that
    /// was told nothing else but what the command line says; a file that cannot be read and a setting that is none are errors.
    pub fn sockets(&self) -> anyhow::Result<Vec<PathBuf>> {
        let error = match self.read() {
            Ok(policy) => return Ok(policy.sockets()),
            Err(error) => error,
        };
        let mut layers = Layers::defaults().map_err(usage_error)?;
        layers.command_line(&self.sets).map_err(usage_error)?;
        let policy = Policy::new(&layers)?;
        if self.file.as_ref().is_some_and(|file| std::fs::read(file).is_err()) {
            return Err(error);
        }
        say(&format!("{error:#}\nnote: the daemon is looked for in its usual place"));
        Ok(policy.sockets())
    }
}

impl Policy {
    /// Makes sure that every setting can be meant.
    pub fn new(layers: &Layers) -> anyhow::Result<Policy> {
        let config = layers.config().map_err(usage_error)?;
        let daemon = &config.daemon;
        let schedule: Schedule = daemon.schedule.parse().map_err(usage_error)?;
        if !matches!(schedule, Schedule::Never) && schedule.next(&Zoned::now(), Duration::ZERO).is_none() {
            return Err(usage_error(format!("`daemon.schedule`: `{}` never comes", daemon.schedule)));
        }
        let windows =
            daemon.windows.iter().map(|text| text.parse()).collect::<Result<_, String>>().map_err(usage_error)?;
        if !daemon.baseline.as_os_str().is_empty() {
            baseline::read(&daemon.baseline)?;
        }
        profiles::for_devices(&config.profiles)?;
        if daemon.hook.command.first().is_some_and(String::is_empty) {
            return Err(usage_error("`daemon.hook.command`: the program has no name"));
        }
        let url = &daemon.webhook.url;
        let has_scheme = ["http://", HTTPS].iter().any(|scheme| url.starts_with(scheme));
        let has_host = url.parse::<ureq::http::Uri>().is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
        if !(url.is_empty() || has_scheme && has_host) {
            let problem = "write an address with http:// or https:// and a host";
            return Err(usage_error(format!("`daemon.webhook.url`: `{url}`: {problem}")));
        }
        if url.starts_with(HTTPS) {
            hook::trusted(&daemon.webhook)
                .map_err(|error| usage_error(format!("`daemon.webhook.authorities`: {error:#}")))?;
        }
        let listen = &daemon.http.listen;
        if !listen.is_empty() && listen.parse::<std::net::SocketAddr>().is_err() {
            let problem = "write address and port: 127.0.0.1:9464, [::1]:9464";
            return Err(usage_error(format!("`daemon.http.listen`: `{listen}`: {problem}")));
        }
        let store = keep::store(&config, &Place::default())?;
        let text = layers.text();
        Ok(Policy { config, text, schedule, windows, store })
    }

    /// Folder of what the daemon keeps for itself.
    pub fn folder(&self) -> PathBuf {
        self.store.folder().join(DAEMON)
    }

    /// Where it is controlled from.
    pub fn socket(&self) -> PathBuf {
        super::control::place(&self.config.daemon.control.socket, &self.folder())
    }

    /// Where one that is running may be found.
    pub fn sockets(&self) -> Vec<PathBuf> {
        super::control::places(&self.config.daemon.control.socket, &self.folder())
    }

    /// The baseline, if there is one.
    pub fn baseline(&self) -> Option<&Path> {
        Some(self.config.daemon.baseline.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Settings that take effect when the daemon starts again, and differ from these.
    pub fn fixed(&self, other: &Policy) -> Vec<&'static str> {
        let [one, two] = [&self.config, &other.config];
        let differ = [
            ("store.path", self.store.folder() != other.store.folder()),
            ("daemon.control", one.daemon.control != two.daemon.control),
            ("daemon.http", one.daemon.http != two.daemon.http),
        ];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

/// Seconds of the configuration.
pub fn seconds(number: f64) -> Duration {
    Duration::from_secs_f64(number)
}
