//! Settings: `config.toml`, whose copy at the repository root lists all of them with their defaults.

mod settings;

use std::path::{Path, PathBuf};

pub use settings::*;

use crate::document::Document;
use crate::exit::usage_error;

/// The file of settings.
const CONFIGURATION: Document = Document {
    name: "configuration",
    limit: 1 << 20,
    missing: "the config.toml that comes with fpprobe holds every setting with its default",
};

/// Reads the configuration: the named file, or the first that exists, or the defaults.
pub fn load(named: Option<&Path>) -> anyhow::Result<Config> {
    let path = match named {
        Some(path) => Some(path.to_owned()),
        None => places().into_iter().find(|path| path.exists()),
    };
    let Some(path) = path else { return Ok(Config::default()) };
    parse(&CONFIGURATION.read(&path)?)
        .map_err(|message| usage_error(format!("configuration {}: {message}", path.display())))
}

fn places() -> Vec<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    home.into_iter().chain([PathBuf::from("/etc")]).map(|folder| folder.join("fpprobe/config.toml")).collect()
}
