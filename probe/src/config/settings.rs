//! The settings themselves and how their text is parsed: nothing here knows files, the command line
//! or Vulkan, so that the fuzz target `config` can compile this file by itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fpprobe_reports::escape::visible_lines;
use fpprobe_reports::model::APPLICATION;
use fpprobe_spirv::error::nearest;
use serde::{Deserialize, Serialize};

use fpprobe_daemon::config::Daemon;

/// Every setting; see `config.toml` for what each means.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub devices: Vec<String>,
    pub profiles: Vec<String>,
    pub require: Vec<String>,
    pub output: PathBuf,
    pub format: String,
    pub colour: When,
    pub host: HostSettings,
    pub workers: Workers,
    pub drivers: Drivers,
    pub layers: LayerSettings,
    pub store: StoreSettings,
    pub daemon: Daemon,
}

/// What the owner of this machine calls it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostSettings {
    pub label: String,
    pub tags: Vec<String>,
}

impl HostSettings {
    /// The tags, `KEY=VALUE` each, by key.
    pub fn tags(&self) -> BTreeMap<String, String> {
        let tags = self.tags.iter().filter_map(|tag| tag.split_once('='));
        tags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }
}

/// Settings of worker processes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Workers {
    pub jobs: u32,
    pub timeout: f64,
    pub device_timeout: f64,
    pub batch: usize,
    pub failures: usize,
    pub memory: u64,
}

/// Settings of drivers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drivers {
    pub manifests: Vec<PathBuf>,
    pub caches: bool,
    pub application: String,
}

impl Drivers {
    /// The application name that drivers receive.
    pub fn application(&self) -> &str {
        if self.application.is_empty() { APPLICATION } else { &self.application }
    }
}

/// Settings of Vulkan layers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LayerSettings {
    pub implicit: bool,
}

/// Settings of the store of reports.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    pub path: PathBuf,
    pub keep: bool,
    pub keep_count: u64,
    pub keep_days: u64,
    pub keep_bytes: u64,
    pub wait: f64,
}

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            devices: Vec::new(),
            profiles: Vec::new(),
            require: Vec::new(),
            output: PathBuf::new(),
            format: "text".to_owned(),
            colour: When::default(),
            host: HostSettings::default(),
            workers: Workers::default(),
            drivers: Drivers::default(),
            layers: LayerSettings::default(),
            store: StoreSettings::default(),
            daemon: Daemon::default(),
        }
    }
}

impl Workers {
    /// Seconds that a time may be set to.
    pub const LONGEST: f64 = 86_400.0;
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings {
            path: PathBuf::new(),
            keep: true,
            keep_count: 0,
            keep_days: 0,
            keep_bytes: 1 << 30,
            wait: 30.0,
        }
    }
}

impl Default for Workers {
    fn default() -> Workers {
        Workers {
            jobs: 0,
            timeout: 10.0,
            device_timeout: 3600.0,
            batch: 64,
            failures: 32,
            memory: 0,
        }
    }
}

/// Longest line of a message: it quotes the file, whose lines may have any length.
const LONGEST: usize = 200;

/// Settings that were removed, each with what to use instead.
const REMOVED: [(&str, &str); 1] = [(
    "daemon.budget.memory",
    "limit the service instead, with `MemoryMax=` in a drop-in of its unit (docs/daemon.md)",
)];

/// The message for a setting that was removed.
pub fn removed(key: &str) -> Option<String> {
    let (_, instead) = REMOVED.iter().find(|(removed, _)| *removed == key)?;
    Some(format!("`{key}` was removed: {instead}"))
}

/// The first removed setting that a file has.
fn has_removed(text: &str) -> Option<String> {
    let file: toml::Value = text.parse::<toml::Table>().ok()?.into();
    let has = |key: &str| key.split('.').try_fold(&file, |table, part| table.get(part)).is_some();
    REMOVED.iter().find(|(key, _)| has(key)).and_then(|(key, _)| removed(key))
}

/// Parses a configuration; the error names line and key, and for a key that does not exist the
/// nearest ones.
pub fn parse(text: &str) -> Result<Config, String> {
    if let Some(message) = has_removed(text) {
        return Err(message);
    }
    let config: Config = toml::from_str(text)
        .map_err(|error| shown(&(error.to_string() + &meant(error.message()))))?;
    checked(config)
}

/// What may reach a terminal of a message that quotes a file.
fn shown(message: &str) -> String {
    let lines = visible_lines(message.trim_end());
    lines
        .lines()
        .map(|line| line.chars().take(LONGEST).collect())
        .collect::<Vec<String>>()
        .join("\n")
}

/// The keys that a mistyped one may have meant: serde names it first, then those that there are.
fn meant(message: &str) -> String {
    if !message.starts_with("unknown field") {
        return String::new();
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let near = names.next().map(|unknown| nearest(unknown, names)).unwrap_or_default();
    if near.is_empty() { String::new() } else { format!("\ndid you mean `{}`?", near.join("`, `")) }
}

/// Refuses values that make no sense.
pub fn checked(config: Config) -> Result<Config, String> {
    fpprobe_reports::render::by_name(&config.format)
        .map_err(|error| shown(&format!("`format`: {error}")))?;
    let workers = &config.workers;
    let complaint = if workers.jobs > 64 {
        Some("`workers.jobs` must be at most 64")
    } else if !(workers.timeout > 0.0 && workers.timeout <= Workers::LONGEST) {
        Some("`workers.timeout` must be more than 0 and at most 86400 seconds")
    } else if !(workers.device_timeout > 0.0 && workers.device_timeout <= Workers::LONGEST) {
        Some("`workers.device_timeout` must be more than 0 and at most 86400 seconds")
    } else if !(1..=256).contains(&workers.batch) {
        Some("`workers.batch` must be 1 to 256")
    } else if workers.memory > 1 << 24 {
        Some("`workers.memory` must be MiB, at most 16777216")
    } else if workers.failures == 0 {
        Some("`workers.failures` must be at least 1")
    } else if !(0.0..=Workers::LONGEST).contains(&config.store.wait) {
        Some("`store.wait` must be 0 to 86400 seconds")
    } else if has_credentials(&config.output.to_string_lossy()) {
        Some(
            "`output` must have no user, password, query or fragment: credentials come from the environment",
        )
    } else if config.drivers.application.contains('\0') {
        Some("`drivers.application` must have no NUL in it")
    } else if !config.host.tags.iter().all(|tag| tag.find('=').is_some_and(|place| place > 0)) {
        Some("`host.tags` must be `KEY=VALUE` each, such as `rack=a12`")
    } else {
        None
    };
    let complaint = complaint.map(str::to_owned).or_else(|| config.daemon.complaint());
    complaint.map_or(Ok(config), Err)
}

/// Whether an address has a part that may hold credentials, which nothing may show.
fn has_credentials(output: &str) -> bool {
    output.contains("://") && output.contains(['@', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../../config.toml");

    #[test]
    fn the_file_at_the_root_holds_the_defaults() {
        assert_eq!(parse(FILE).unwrap(), Config::default());
    }

    #[test]
    fn the_file_at_the_root_holds_every_setting() {
        let file: toml::Table = FILE.parse().unwrap();
        let Ok(defaults) = toml::Table::try_from(Config::default()) else {
            panic!("the defaults are a table")
        };
        let mut tables = vec![(String::new(), &defaults, &file)];
        while let Some((prefix, known, setting)) = tables.pop() {
            for (key, value) in known {
                let key_path = format!("{prefix}{key}");
                assert!(setting.contains_key(key), "config.toml lacks `{key_path}`");
                if let (Some(known), Some(setting)) = (value.as_table(), setting[key].as_table()) {
                    tables.push((key_path + ".", known, setting));
                }
            }
        }
    }

    #[test]
    fn the_file_at_the_root_lists_the_output_formats_that_there_are() {
        let comment = FILE
            .split("# Format of standard output:")
            .nth(1)
            .unwrap()
            .split("\nformat = ")
            .next()
            .unwrap();
        let listed: Vec<&str> = comment.split('"').skip(1).step_by(2).collect();
        let known: Vec<&str> =
            fpprobe_reports::render::FORMATS.iter().map(|format| format.name).collect();
        assert_eq!(listed, known);
    }

    #[test]
    fn mistakes_are_named_with_line_and_key() {
        let message = parse("devices = []\n[workers]\njbos = 2\n").unwrap_err();
        assert!(
            message.contains("line 3")
                && message.contains("jbos")
                && message.contains("did you mean `jobs`?"),
            "{message}"
        );
        let message = parse("\n[workers]\ntimeout = \"soon\"\n").unwrap_err();
        assert!(message.contains("line 3") && message.contains("timeout"), "{message}");
        assert!(parse("[workers]\njobs = 100").unwrap_err().contains("workers.jobs"));
        let message = parse("daemon.budget.memory = 4096\n").unwrap_err();
        assert!(
            message.contains("`daemon.budget.memory` was removed")
                && message.contains("MemoryMax="),
            "{message}"
        );
    }

    #[test]
    fn credentials_in_an_address_are_refused_and_not_repeated() {
        for output in ["s3://SECRET:SECRET@a/b", "az://a?sig=SECRET"] {
            let message = parse(&format!("output = \"{output}\"")).unwrap_err();
            assert!(message.contains("`output`") && !message.contains("SECRET"), "{message}");
        }
        assert!(parse("output = \"s3://a/b\"").is_ok());
    }

    #[test]
    fn hostile_text_is_refused_in_a_few_visible_lines() {
        let deep = 100_000;
        for text in [
            format!("x = {}", "[".repeat(deep)),
            format!("x = {}", "{a=".repeat(deep)),
            format!("[{}a]", "a.".repeat(deep)),
            format!("{}a = 1", "a.".repeat(deep)),
            "devices = \u{1b}[2J".to_owned(),
            "format = \"\\u001b[2J\\u202e\"".to_owned(),
            format!("format = \"{}\"", "x".repeat(deep)),
        ] {
            let message = parse(&text).unwrap_err();
            assert!(
                message.len() < 2000 && !message.contains(['\u{1b}', '\u{202e}']),
                "{} bytes",
                message.len()
            );
        }
    }
}
