//! GPUs and their sensors, as the kernel shows them in files; nothing of a driver is loaded.
//!
//! AMD's kernel driver says how busy a device is in `gpu_busy_percent`; others account engine time
//! per client in DRM's fdinfo (Documentation/gpu/drm-usage-stats.rst of Linux). Devices are named
//! by their PCI address, `DDDD:BB:DD.F`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{Access, access};

use crate::groups;

/// Where the kernel shows devices.
pub const DEVICES: &str = "/sys";
/// Where the kernel shows processes.
const PROCESSES: &str = "/proc";
/// Between two looks at engine times.
const SPAN: Duration = Duration::from_millis(200);
/// Drivers of temperature sensors in processors.
const PROCESSORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// Folders that device nodes of GPUs appear in, and the folder of some of them.
pub const NODE_FOLDERS: [&str; 2] = ["/dev", "/dev/dri"];
/// How names in the first of them begin.
const NODE_NAMES: [&str; 3] = ["nvidia", "dri", "kfd"];

/// Whether a path in one of [`NODE_FOLDERS`] is that of a GPU's node, or of their folder.
pub fn is_node(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.parent() != Some(Path::new(NODE_FOLDERS[0]))
        || NODE_NAMES.iter().any(|start| name.starts_with(start))
}

/// The device nodes of GPUs.
pub fn nodes() -> Vec<PathBuf> {
    let is_node = |path: &PathBuf| !path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let nodes = ["dri/renderD*", "nvidia*"].map(|parts| matching(Path::new("/dev"), parts));
    nodes.into_iter().flatten().filter(is_node).collect()
}

/// Whether this user may open a device node.
pub fn can_open(node: &Path) -> io::Result<()> {
    Ok(access(node, Access::READ_OK | Access::WRITE_OK)?)
}

/// The group of a device node; `None` where there is no node.
pub fn group(node: &Path) -> Option<String> {
    fs::metadata(node).ok().map(|meta| groups::name(meta.gid()))
}

/// The kernel driver of a device, by files below `sys`.
pub fn driver(sys: &Path, address: &str) -> Option<OsString> {
    let driver = fs::read_link(device(sys, address).join("driver")).ok()?;
    driver.file_name().map(OsString::from)
}

/// How busy a device is, in percent, as it says itself in files below `sys`.
pub fn busy(sys: &Path, address: &str) -> Option<u32> {
    fs::read_to_string(device(sys, address).join("gpu_busy_percent")).ok()?.trim().parse().ok()
}

/// How busy the busiest engine of a device is, in percent, by what processes used of it within a
/// moment; `None` where none can be seen.
pub fn busy_of_clients(address: &str) -> Option<u32> {
    clients(Path::new(PROCESSES), address)
}

/// The temperature in degrees Celsius and the clock rate in MHz of a device, by files below `sys`.
pub fn sensors(sys: &Path, address: &str) -> [Option<f64>; 2] {
    let monitor = |files: &str| {
        highest(sys, &format!("bus/pci/devices/{address}/hwmon/hwmon*/{files}_input"))
    };
    [monitor("temp*").map(|degrees| degrees / 1e3), monitor("freq*").map(|rate| rate / 1e6)]
}

/// The same of the processor: its hottest sensor and its fastest core (Documentation/hwmon of
/// Linux).
pub fn sensors_of_processor(sys: &Path) -> [Option<f64>; 2] {
    let of_processor = |folder: &PathBuf| {
        fs::read_to_string(folder.join("name")).is_ok_and(|name| PROCESSORS.contains(&name.trim()))
    };
    let monitors = matching(sys, "class/hwmon/hwmon*").into_iter().filter(of_processor);
    let temperature =
        monitors.filter_map(|monitor| highest(&monitor, "temp*_input")).reduce(f64::max);
    let rate = highest(sys, "devices/system/cpu/cpu*/cpufreq/scaling_cur_freq");
    [temperature, rate].map(|number| number.map(|number| number / 1e3))
}

fn device(sys: &Path, address: &str) -> PathBuf {
    sys.join("bus/pci/devices").join(address)
}

/// The highest number in files like these.
fn highest(folder: &Path, parts: &str) -> Option<f64> {
    let read = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse().ok();
    matching(folder, parts).into_iter().filter_map(read).reduce(f64::max)
}

/// The paths below a folder whose parts are these, `*` for any text.
fn matching(folder: &Path, parts: &str) -> Vec<PathBuf> {
    parts.split('/').fold(vec![folder.to_owned()], |folders, part| {
        let Some((head, tail)) = part.split_once('*') else {
            return folders.iter().map(|folder| folder.join(part)).collect();
        };
        let entries =
            folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let fits = |name: &str| {
            name.len() >= part.len() - 1 && name.starts_with(head) && name.ends_with(tail)
        };
        let mut found: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(fits))
            .map(|entry| entry.path())
            .collect();
        found.sort();
        found
    })
}

fn clients(processes: &Path, address: &str) -> Option<u32> {
    let (before, begun) = (engine_times(processes, address), Instant::now());
    if before.is_empty() {
        return None;
    }
    sleep(SPAN);
    let (after, span) = (engine_times(processes, address), begun.elapsed());
    let used =
        after.iter().map(|(engine, time)| time.saturating_sub(*before.get(engine).unwrap_or(time)));
    let percent = used.max().unwrap_or(0) as f64 * 100.0 / span.as_nanos() as f64;
    Some(percent.min(100.0) as u32)
}

/// Nanoseconds by engine, summed over clients. A client may be seen through several descriptors.
fn engine_times(processes: &Path, address: &str) -> BTreeMap<String, u64> {
    let entries =
        |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut clients: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for process in entries(processes).filter(|path| path.file_name().is_some_and(is_number)) {
        for file in entries(&process.join("fdinfo")) {
            let Ok(text) = fs::read_to_string(file) else { continue };
            let field =
                |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            let (Some(device), Some(client)) = (field("drm-pdev:"), field("drm-client-id:")) else {
                continue;
            };
            if device == address {
                clients.insert(client.to_owned(), engines(&text));
            }
        }
    }
    let mut sums = BTreeMap::new();
    for (engine, time) in clients.into_values().flatten() {
        *sums.entry(engine).or_default() += time;
    }
    sums
}

/// Lines like `drm-engine-render: 123 ns`; capacities are something else.
fn engines(text: &str) -> BTreeMap<String, u64> {
    let engine = |line: &str| {
        let (name, value) = line.strip_prefix("drm-engine-")?.split_once(':')?;
        let time = value.trim().strip_suffix("ns")?.trim().parse().ok()?;
        (!name.starts_with("capacity-")).then(|| (name.to_owned(), time))
    };
    text.lines().filter_map(engine).collect()
}

fn is_number(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_tells_of_itself() {
        let sys = tempfile::tempdir().unwrap();
        let device = sys.path().join("bus/pci/devices/0000:03:00.0");
        fs::create_dir_all(&device).unwrap();
        assert_eq!(busy(sys.path(), "0000:03:00.0"), None);
        fs::write(device.join("gpu_busy_percent"), "37\n").unwrap();
        assert_eq!(busy(sys.path(), "0000:03:00.0"), Some(37));
    }

    #[test]
    fn clients_are_counted_once_and_by_engine() {
        let proc = tempfile::tempdir().unwrap();
        let text = |time: u64| {
            format!(
                "pos:\t0\ndrm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\ndrm-engine-render:\t{time} ns\n\
                 drm-engine-capacity-video:\t2\ndrm-engine-video:\t5 ns\n"
            )
        };
        for (process, descriptor) in [("10", "3"), ("10", "4"), ("11", "3"), ("self", "3")] {
            let folder = proc.path().join(process).join("fdinfo");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(descriptor), text(1000)).unwrap();
        }
        let times = engine_times(proc.path(), "0000:00:02.0");
        assert_eq!(times, [("render".to_owned(), 1000), ("video".to_owned(), 5)].into());
        assert!(engine_times(proc.path(), "0000:00:03.0").is_empty());
        assert_eq!(clients(proc.path(), "0000:00:02.0"), Some(0));
    }
}
