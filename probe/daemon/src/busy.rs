//! Whether a GPU is in use by others, as far as the system tells: the daemon loads nothing of a
//! driver to find out.
//!
//! AMD's kernel driver says so in `gpu_busy_percent`; NVIDIA's in its management library (NVML),
//! which is asked in a process of its own; others account engine time per client in DRM's fdinfo
//! (Documentation/gpu/drm-usage-stats.rst of Linux). A processor is shared out by its scheduler and
//! never busy.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fpprobe_reports::screen::Sensors;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;

use crate::job::{self, Done, JobLimits, JobResult};

/// Between two looks at engine times.
const SPAN: Duration = Duration::from_millis(200);

/// NVML may take; the daemon waits for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Drivers of temperature sensors in processors.
const PROCESSORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];
/// NVIDIA's kernel driver.
const NVIDIA: &str = "nvidia";

/// How much a device is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// In percent of its busiest engine.
    Percent(u32),
    /// Nothing tells.
    Unknown,
}

/// The load of the device in this slot, `pci:DDDD:BB:DD.F`, of a type as reports have it.
pub fn load(slot: &str, kind: &str) -> Load {
    if kind == "cpu" {
        return Load::Percent(0);
    }
    let Some(address) = slot.strip_prefix("pci:") else { return Load::Unknown };
    let sys = Path::new("/sys");
    let query = |arguments: &[OsString]| {
        job::run(arguments, &JobLimits { time: PATIENCE, stop: std::sync::Arc::default() })
    };
    of_device(sys, address)
        .or_else(|| of_library(sys, address, query))
        .or_else(|| of_clients(Path::new("/proc"), address))
        .unwrap_or(Load::Unknown)
}

/// What the device itself says.
fn of_device(sys: &Path, address: &str) -> Option<Load> {
    let file = sys.join("bus/pci/devices").join(address).join("gpu_busy_percent");
    Some(Load::Percent(fs::read_to_string(file).ok()?.trim().parse().ok()?))
}

/// What the library of NVIDIA's driver says.
fn of_library(
    sys: &Path,
    address: &str,
    query: impl Fn(&[OsString]) -> io::Result<Done>,
) -> Option<Load> {
    library(sys, address, query)?.first().copied().flatten().map(Load::Percent)
}

/// The numbers that [`utilisation`] prints of a device.
fn library(
    sys: &Path,
    address: &str,
    query: impl Fn(&[OsString]) -> io::Result<Done>,
) -> Option<Vec<Option<u32>>> {
    let driver = fs::read_link(sys.join("bus/pci/devices").join(address).join("driver")).ok()?;
    driver.file_name().filter(|name| *name == NVIDIA)?;
    let done = query(&["utilisation".into(), address.into()]).ok()?;
    let numbers = || done.last().split_whitespace().map(|word| word.parse().ok()).collect();
    (done.ended == JobResult::Status(0)).then(numbers)
}

/// The temperature and the clock rate of the device in this slot, of a type as reports have it, by
/// files below `sys` or by NVIDIA's library; of a processor, those of its hottest sensor and its
/// fastest core (Documentation/hwmon of Linux).
pub fn sensors(sys: &Path, slot: &str, kind: &str) -> Sensors {
    let highest = |files: &str, unit: f64| {
        let read = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<f64>().ok();
        matching(sys, files)
            .into_iter()
            .filter_map(read)
            .reduce(f64::max)
            .map(|number| number / unit)
    };
    if kind == "cpu" {
        let of_processor = |folder: &PathBuf| {
            fs::read_to_string(folder.join("name"))
                .is_ok_and(|name| PROCESSORS.contains(&name.trim()))
        };
        let monitors = matching(sys, "class/hwmon/hwmon*").into_iter().filter(of_processor);
        let files = |folder: PathBuf| {
            highest(&format!("{}/temp*_input", folder.strip_prefix(sys).ok()?.display()), 1e3)
        };
        let temperature_c = monitors.filter_map(files).reduce(f64::max);
        let clock_mhz = highest("devices/system/cpu/cpu*/cpufreq/scaling_cur_freq", 1e3);
        return Sensors { temperature_c, clock_mhz };
    }
    let Some(address) = slot.strip_prefix("pci:") else { return Sensors::default() };
    let monitor = |file: &str| format!("bus/pci/devices/{address}/hwmon/hwmon*/{file}_input");
    let own = Sensors {
        temperature_c: highest(&monitor("temp*"), 1e3),
        clock_mhz: highest(&monitor("freq*"), 1e6),
    };
    if own != Sensors::default() {
        return own;
    }
    let query = |arguments: &[OsString]| {
        job::run(arguments, &JobLimits { time: PATIENCE, stop: std::sync::Arc::default() })
    };
    let numbers = library(sys, address, query).unwrap_or_default();
    let number = |place: usize| numbers.get(place).copied().flatten().map(f64::from);
    Sensors { temperature_c: number(1), clock_mhz: number(2) }
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

/// `fpprobe utilisation`: prints, on standard error, the percentage of time that kernels ran on a
/// device of NVIDIA's lately, its temperature in degrees Celsius and its clock rate in MHz; `-` for
/// what the library does not say.
pub fn utilisation(address: &str) -> anyhow::Result<()> {
    let nvml = Nvml::init().context("failed to load NVIDIA's management library")?;
    let failed = || format!("failed to learn how busy the device at {address} is");
    let device = nvml.device_by_pci_bus_id(address).with_context(failed)?;
    let rates = device.utilization_rates().with_context(failed)?;
    let shown = |number: Result<u32, _>| {
        number.map_or_else(|_: NvmlError| "-".to_owned(), |number| number.to_string())
    };
    let (temperature, clock) =
        (device.temperature(TemperatureSensor::Gpu), device.clock_info(Clock::Graphics));
    writeln!(io::stderr(), "{} {} {}", rates.gpu, shown(temperature), shown(clock))?;
    Ok(())
}

/// Engine time that clients used within a moment; `None` where no client can be seen.
fn of_clients(proc: &Path, address: &str) -> Option<Load> {
    let (before, begun) = (engine_times(proc, address), Instant::now());
    if before.is_empty() {
        return None;
    }
    sleep(SPAN);
    let (after, span) = (engine_times(proc, address), begun.elapsed());
    let used =
        after.iter().map(|(engine, time)| time.saturating_sub(*before.get(engine).unwrap_or(time)));
    let percent = used.max().unwrap_or(0) as f64 * 100.0 / span.as_nanos() as f64;
    Some(Load::Percent(percent.min(100.0) as u32))
}

/// Nanoseconds by engine, summed over clients. A client may be seen through several descriptors.
fn engine_times(proc: &Path, address: &str) -> BTreeMap<String, u64> {
    let entries =
        |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut clients: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for process in entries(proc).filter(|path| path.file_name().is_some_and(is_number)) {
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
        assert_eq!(of_device(sys.path(), "0000:03:00.0"), None);
        fs::write(device.join("gpu_busy_percent"), "37\n").unwrap();
        assert_eq!(of_device(sys.path(), "0000:03:00.0"), Some(Load::Percent(37)));
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
        assert_eq!(of_clients(proc.path(), "0000:00:02.0"), Some(Load::Percent(0)));
    }

    #[test]
    fn the_library_is_asked_of_devices_of_its_driver_alone() {
        let sys = tempfile::tempdir().unwrap();
        let device = |address: &str| sys.path().join("bus/pci/devices").join(address);
        for (address, driver) in [("0000:03:00.0", "nvidia"), ("0000:04:00.0", "i915")] {
            fs::create_dir_all(device(address)).unwrap();
            std::os::unix::fs::symlink(
                format!("../../../bus/pci/drivers/{driver}"),
                device(address).join("driver"),
            )
            .unwrap();
        }
        let says = |address: &str, status, message: &str| {
            of_library(sys.path(), address, |arguments| {
                assert_eq!(arguments, ["utilisation", "0000:03:00.0"]);
                Ok(Done { ended: JobResult::Status(status), output: message.to_owned() })
            })
        };
        assert_eq!(says("0000:03:00.0", 0, "37\n"), Some(Load::Percent(37)));
        assert_eq!(says("0000:03:00.0", 0, "a driver talks\n37\n"), Some(Load::Percent(37)));
        assert_eq!(says("0000:03:00.0", 0, "37 65 1980\n"), Some(Load::Percent(37)));
        assert_eq!(says("0000:03:00.0", 1, "37\n"), None);
        assert_eq!(says("0000:03:00.0", 0, "no number\n"), None);
        assert_eq!(says("0000:04:00.0", 0, "37\n"), None);
        assert_eq!(says("0000:05:00.0", 0, "37\n"), None);
    }

    #[test]
    fn sensors_are_those_of_the_device() {
        let sys = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = sys.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let read = |slot: &str, kind: &str| {
            let Sensors { temperature_c, clock_mhz } = sensors(sys.path(), slot, kind);
            (temperature_c, clock_mhz)
        };
        assert_eq!(read("cpu:10005:0:13:0", "cpu"), (None, None));
        for (name, file, degrees) in [
            ("nvme", "temp1_input", "90000"),
            ("k10temp", "temp1_input", "61250"),
            ("k10temp", "temp2_input", "48000"),
        ] {
            write(&format!("class/hwmon/hwmon-{name}/name"), name);
            write(&format!("class/hwmon/hwmon-{name}/{file}"), degrees);
        }
        write("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n");
        write("devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3100000\n");
        write("bus/pci/devices/0000:03:00.0/hwmon/hwmon7/temp1_input", "71000\n");
        write("bus/pci/devices/0000:03:00.0/hwmon/hwmon7/freq1_input", "2500000000\n");
        assert_eq!(read("cpu:10005:0:13:0", "cpu"), (Some(61.25), Some(3100.0)));
        assert_eq!(read("pci:0000:03:00.0", "discrete"), (Some(71.0), Some(2500.0)));
        assert_eq!(read("pci:0000:04:00.0", "discrete"), (None, None));
    }

    #[test]
    fn what_nobody_tells_is_unknown_and_a_processor_is_free() {
        assert_eq!(load("discrete:1234:5678:0:0", "discrete"), Load::Unknown);
        assert_eq!(load("pci:ffff:ff:1f.7", "discrete"), Load::Unknown);
        assert_eq!(load("cpu:10005:0:13:0", "cpu"), Load::Percent(0));
    }
}
