//! Settings of the daemon. What they mean stands in `config.toml`.
#![expect(missing_docs, reason = "config.toml says what each setting means")]

use std::path::PathBuf;

use fpprobe_system::{folders, service};
use serde::{Deserialize, Serialize};

/// Settings of `fpprobe daemon`. Times are in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Daemon {
    pub start: bool,
    pub schedule: String,
    pub jitter: f64,
    pub debounce: f64,
    pub poll: f64,
    pub watch: Vec<PathBuf>,
    pub jobs: u32,
    pub random: u32,
    pub full: bool,
    pub idle: f64,
    pub windows: Vec<String>,
    pub baseline: PathBuf,
    pub journal: PathBuf,
    pub textfile: PathBuf,
    #[serde(rename = "tell")]
    pub notify: NotifyOn,
    pub busy: Busy,
    pub budget: Budget,
    pub control: ControlSocket,
    pub http: Http,
    pub hook: Hook,
    pub webhook: Webhook,
}

/// The busy policy: what is done about devices that are in use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Busy {
    pub in_use: BusyAction,
    pub unknown: BusyAction,
    pub percent: u32,
    pub retry: f64,
    pub patience: f64,
}

/// What to do with a device that is in use, or of which that is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyAction {
    /// Measure it.
    Measure,
    /// Look again later.
    Postpone,
    /// Leave it until the next trigger.
    Skip,
}

/// What hooks receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyOn {
    /// Of results that are accepted no more.
    Regressions,
    /// Of everything that changed.
    Changes,
}

/// What measuring may cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    pub quick: f64,
    pub full: f64,
    pub day: f64,
}

/// The socket that the daemon is controlled by.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlSocket {
    pub socket: PathBuf,
    pub group: String,
}

/// The HTTP listener.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    pub listen: String,
    pub connections: usize,
}

/// The program that receives regressions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    pub command: Vec<String>,
    pub timeout: f64,
    pub retries: u32,
}

/// The address that receives regressions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Webhook {
    pub url: String,
    pub authorities: PathBuf,
    pub timeout: f64,
    pub retries: u32,
}

impl Default for Daemon {
    fn default() -> Daemon {
        Daemon {
            start: true,
            schedule: String::new(),
            jitter: 0.0,
            debounce: 1.0,
            poll: 300.0,
            watch: Vec::new(),
            jobs: 1,
            random: 4,
            full: true,
            idle: 0.5,
            windows: Vec::new(),
            baseline: PathBuf::new(),
            journal: service::LOG.into(),
            textfile: PathBuf::new(),
            notify: NotifyOn::Regressions,
            busy: Busy::default(),
            budget: Budget::default(),
            control: ControlSocket::default(),
            http: Http::default(),
            hook: Hook::default(),
            webhook: Webhook::default(),
        }
    }
}

impl Default for Busy {
    fn default() -> Busy {
        Busy {
            in_use: BusyAction::Postpone,
            unknown: BusyAction::Measure,
            percent: 10,
            retry: 60.0,
            patience: 3600.0,
        }
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { quick: 120.0, full: 7200.0, day: 0.0 }
    }
}

impl Default for Http {
    fn default() -> Http {
        Http { listen: String::new(), connections: 32 }
    }
}

impl Default for Hook {
    fn default() -> Hook {
        Hook { command: Vec::new(), timeout: 30.0, retries: 40 }
    }
}

impl Default for Webhook {
    fn default() -> Webhook {
        let authorities = PathBuf::from(folders::AUTHORITIES[0]);
        Webhook { url: String::new(), authorities, timeout: 10.0, retries: 40 }
    }
}

/// Most seconds of anything: a year.
const YEAR: f64 = 366.0 * 86_400.0;

impl Daemon {
    /// What is wrong with the numbers; schedules, addresses and the like are looked at by those who
    /// use them.
    pub fn complaint(&self) -> Option<String> {
        let positive = [
            ("poll", self.poll),
            ("busy.retry", self.busy.retry),
            ("budget.quick", self.budget.quick),
            ("budget.full", self.budget.full),
            ("hook.timeout", self.hook.timeout),
            ("webhook.timeout", self.webhook.timeout),
        ];
        let any = [
            ("jitter", self.jitter),
            ("debounce", self.debounce),
            ("busy.patience", self.busy.patience),
            ("budget.day", self.budget.day),
        ];
        let bad =
            |least: f64| move |(_, value): &&(&str, f64)| !(*value >= least && *value <= YEAR);
        let name = positive.iter().find(bad(0.001)).or_else(|| any.iter().find(bad(0.0)));
        if let Some((name, value)) = name {
            return Some(format!("`daemon.{name}` must be seconds, at most a year, not {value}"));
        }
        let rest = [
            (!(1..=64).contains(&self.jobs), "`daemon.jobs` must be 1 to 64"),
            (self.random > 65_536, "`daemon.random` must be 0 to 65536"),
            (
                self.idle.is_nan() || self.idle < 0.0,
                "`daemon.idle` must be a load per processor, 0 or more",
            ),
            (self.busy.percent > 100, "`daemon.busy.percent` must be at most 100"),
            (
                !(1..=1024).contains(&self.http.connections),
                "`daemon.http.connections` must be 1 to 1024",
            ),
            (self.hook.retries > 400, "`daemon.hook.retries` must be at most 400"),
            (self.webhook.retries > 400, "`daemon.webhook.retries` must be at most 400"),
        ];
        rest.iter().find(|(wrong, _)| *wrong).map(|(_, message)| (*message).to_owned())
    }
}
