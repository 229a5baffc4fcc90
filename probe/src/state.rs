//! The folder for what programs keep: that of the service, or of the user.

use std::env;
use std::path::{Path, PathBuf};

/// The folder; `None` where the environment names none.
pub fn folder() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    // systemd names several folders with colons in between; the first is the one to write to.
    let service = variable("STATE_DIRECTORY").and_then(|list| env::split_paths(&list).next());
    // What the base directory specification says of relative paths: ignore them.
    let user = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || {
        env::home_dir()
            .filter(|home| home.is_absolute())
            .map(|home| home.join(Path::new(".local/state")))
    };
    service.or_else(|| user.or_else(home).map(|state| state.join("fpprobe")))
}
