//! Folders that systems and their users keep files of programs in.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where systems keep the certificates of those who may vouch for addresses.
pub const AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The folder for what programs keep: that of the service, or of the user; `None` where the
/// environment names none.
pub fn state() -> Option<PathBuf> {
    // What the base directory specification says of relative paths: ignore them.
    let user = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || {
        let home = env::home_dir().filter(|home| home.is_absolute());
        home.map(|home| home.join(".local/state"))
    };
    let service = variable("STATE_DIRECTORY").and_then(first);
    service.or_else(|| user.or_else(home).map(|state| state.join("fpprobe")))
}

/// Folders of configuration, the user's first.
pub fn configuration() -> Vec<PathBuf> {
    let home = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".config")));
    home.into_iter().chain([PathBuf::from("/etc")]).map(|folder| folder.join("fpprobe")).collect()
}

/// The folder for sockets, of the service or of the session.
pub fn runtime() -> Option<PathBuf> {
    let folder = |name| variable(name).and_then(first).filter(|path| path.is_absolute());
    folder("RUNTIME_DIRECTORY").or_else(|| folder("XDG_RUNTIME_DIR"))
}

/// The folder for sockets of the packaged service, for its clients: `RuntimeDirectory=` of its
/// unit.
pub fn runtime_of_service() -> PathBuf {
    PathBuf::from("/run/fpprobe")
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// systemd names several folders with colons in between; the first is the one to write to.
#[expect(clippy::needless_pass_by_value, reason = "it maps a variable")]
fn first(list: OsString) -> Option<PathBuf> {
    env::split_paths(&list).next()
}
