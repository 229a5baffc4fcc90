//! Settings: `config.toml`, whose copy at the repository root lists all of them with their defaults.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exit::usage_error;

/// Largest configuration file that is read.
const LIMIT: u64 = 1 << 20;

/// Every setting; see `config.toml` for what each means.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub devices: Vec<String>,
    pub profiles: Vec<String>,
    pub require: Vec<String>,
    pub output: PathBuf,
    pub format: String,
    pub colour: When,
    pub workers: Workers,
    pub drivers: Drivers,
    pub layers: Layers,
}

/// Settings of worker processes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Workers {
    pub jobs: u32,
    pub timeout: f64,
    pub batch: usize,
    pub failures: usize,
}

/// Settings of drivers.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drivers {
    pub manifests: Vec<PathBuf>,
    pub caches: bool,
}

/// Settings of Vulkan layers.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layers {
    pub implicit: bool,
}

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
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
            workers: Workers::default(),
            drivers: Drivers::default(),
            layers: Layers::default(),
        }
    }
}

impl Default for Workers {
    fn default() -> Workers {
        Workers { jobs: 0, timeout: 10.0, batch: 64, failures: 32 }
    }
}

/// Reads the configuration: the named file, or the first that exists, or the defaults.
pub fn load(named: Option<&Path>) -> anyhow::Result<Config> {
    let path = match named {
        Some(path) => Some(path.to_owned()),
        None => places().into_iter().find(|path| path.exists()),
    };
    let Some(path) = path else { return Ok(Config::default()) };
    let text =
        read(&path).map_err(|error| usage_error(format!("cannot read configuration {}: {error}", path.display())))?;
    parse(&text).map_err(|message| usage_error(format!("configuration {}: {message}", path.display())))
}

fn places() -> Vec<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    home.into_iter().chain([PathBuf::from("/etc")]).map(|folder| folder.join("fpprobe/config.toml")).collect()
}

fn read(path: &Path) -> std::io::Result<String> {
    let size = std::fs::metadata(path)?.len();
    if size > LIMIT {
        return Err(std::io::Error::other(format!(
            "{size} bytes are more than the {LIMIT} that a configuration may have"
        )));
    }
    std::fs::read_to_string(path)
}

/// Parses a configuration; the error names line and key.
fn parse(text: &str) -> Result<Config, String> {
    let config: Config = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    fpprobe_reports::render::by_name(&config.format).map_err(|error| format!("`format`: {error}"))?;
    let workers = &config.workers;
    let complaint = if workers.jobs > 64 {
        Some("`workers.jobs` must be at most 64")
    } else if !(workers.timeout > 0.0 && workers.timeout <= 86_400.0) {
        Some("`workers.timeout` must be more than 0 and at most 86400 seconds")
    } else if !(1..=256).contains(&workers.batch) {
        Some("`workers.batch` must be 1 to 256")
    } else if workers.failures == 0 {
        Some("`workers.failures` must be at least 1")
    } else {
        None
    };
    complaint.map_or(Ok(config), |message| Err(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../config.toml");

    #[test]
    fn the_file_at_the_root_holds_the_defaults() {
        assert_eq!(parse(FILE).unwrap(), Config::default());
    }

    #[test]
    fn the_file_at_the_root_holds_every_setting() {
        // `deny_unknown_fields` names every known key of a table; each must be in the file.
        let file: toml::Table = FILE.parse().unwrap();
        for (prefix, table) in
            [("", None), ("workers", Some("workers")), ("drivers", Some("drivers")), ("layers", Some("layers"))]
        {
            let probe = if prefix.is_empty() { "zzz = 0".to_owned() } else { format!("[{prefix}]\nzzz = 0") };
            let message = parse(&probe).unwrap_err();
            let known: Vec<&str> = message.split('`').skip(3).step_by(2).filter(|name| !name.contains("zzz")).collect();
            assert!(!known.is_empty(), "{message}");
            let table = table.map_or(&file, |name| file[name].as_table().unwrap());
            for key in known {
                assert!(table.contains_key(key), "config.toml lacks `{key}` of [{prefix}]");
            }
        }
    }

    #[test]
    fn mistakes_are_named_with_line_and_key() {
        let message = parse("devices = []\n[workers]\njbos = 2\n").unwrap_err();
        assert!(message.contains("line 3") && message.contains("jbos") && message.contains("jobs"), "{message}");
        let message = parse("\n[workers]\ntimeout = \"soon\"\n").unwrap_err();
        assert!(message.contains("line 3") && message.contains("timeout"), "{message}");
        assert!(parse("[workers]\njobs = 100").unwrap_err().contains("workers.jobs"));
    }
}
