//! Settings: `config.toml`, whose copy at the repository root lists all of them with their
//! defaults, then the environment, then the command line.

mod layers;
mod settings;

use std::path::{Path, PathBuf};

pub use layers::ConfigLayers;
pub use settings::*;

use crate::document::DocumentKind;
use fpprobe_system::folders;
use fpprobe_system::usage::usage_error;

/// The file of settings.
const CONFIGURATION: DocumentKind = DocumentKind {
    name: "configuration",
    limit: 1 << 20,
    missing: "the config.toml that comes with fpprobe holds every setting with its default",
};

/// The settings in effect: the named file, or the first that exists, and over it the environment
/// and `--set`.
pub fn load(named: Option<&Path>, sets: &[String]) -> anyhow::Result<ConfigLayers> {
    let path = match named {
        Some(path) => Some(path.to_owned()),
        None => places().into_iter().find(|path| path.exists()),
    };
    let mut layers = ConfigLayers::defaults().map_err(usage_error)?;
    if let Some(path) = path {
        let text = CONFIGURATION.read(&path)?;
        let wrong = |message| usage_error(format!("configuration {}: {message}", path.display()));
        parse(&text).map_err(wrong)?;
        layers.file(&path, &text).map_err(wrong)?;
    }
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    layers
        .environment(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
        .map_err(usage_error)?;
    layers.command_line(sets).map_err(usage_error)?;
    Ok(layers)
}

fn places() -> Vec<PathBuf> {
    folders::configuration().into_iter().map(|folder| folder.join("config.toml")).collect()
}
