//! The machine and its system.

use std::fs;
use std::path::Path;

/// The number that tells this installation of a system from every other (machine-id(5)); `None`
/// where there is none.
pub fn id() -> Option<String> {
    let read = |path: &str| Some(fs::read_to_string(path).ok()?.trim().to_owned());
    ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .into_iter()
        .filter_map(read)
        .find(|id| !id.is_empty())
}

/// Its name in the network; empty where the kernel does not say.
pub fn name() -> String {
    line("/proc/sys/kernel/hostname")
}

/// What tells this start of the machine from every other; empty where the kernel does not say.
pub fn boot() -> String {
    line("/proc/sys/kernel/random/boot_id")
}

/// Name and release of the kernel.
pub fn kernel() -> String {
    let system = rustix::system::uname();
    format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy())
}

/// The distribution, in words (os-release(5)).
pub fn os() -> String {
    let text = fs::read_to_string("/etc/os-release")
        .or_else(|_| fs::read_to_string("/usr/lib/os-release"));
    let text = text.unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or_else(|| "unknown".to_owned(), |name| name.trim_matches(['"', '\'']).to_owned())
}

/// Load of the last minute per processor; `None` where the kernel does not say.
pub fn load() -> Option<f64> {
    let load: f64 = line("/proc/loadavg").split_whitespace().next()?.parse().ok()?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Some(load / processors as f64)
}

fn line(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
