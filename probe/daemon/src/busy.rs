//! Whether a GPU is in use by others, as far as the system tells: the daemon loads nothing of a
//! driver to find out.
//!
//! The kernel knows it of some devices ([`gpu`]), NVIDIA's management library (NVML) of others: a
//! process of its own loads that. A processor is shared out by its scheduler and never busy.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use fpprobe_reports::screen::Sensors;
use fpprobe_system::gpu;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;

use crate::job::{self, Done, JobLimits, JobResult};

/// NVML may take; the daemon waits for it.
const PATIENCE: Duration = Duration::from_secs(3);
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
    let sys = Path::new(gpu::DEVICES);
    gpu::busy(sys, address)
        .or_else(|| of_library(sys, address, query))
        .or_else(|| gpu::busy_of_clients(address))
        .map_or(Load::Unknown, Load::Percent)
}

/// A process of this program that loads NVIDIA's library.
fn query(arguments: &[OsString]) -> io::Result<Done> {
    job::run(arguments, &JobLimits { time: PATIENCE, stop: std::sync::Arc::default() })
}

/// What the library of NVIDIA's driver says.
fn of_library(
    sys: &Path,
    address: &str,
    query: impl Fn(&[OsString]) -> io::Result<Done>,
) -> Option<u32> {
    library(sys, address, query)?.first().copied().flatten()
}

/// The numbers that [`utilisation`] prints of a device.
fn library(
    sys: &Path,
    address: &str,
    query: impl Fn(&[OsString]) -> io::Result<Done>,
) -> Option<Vec<Option<u32>>> {
    gpu::driver(sys, address).filter(|name| name == NVIDIA)?;
    let done = query(&["utilisation".into(), address.into()]).ok()?;
    let numbers = || done.last().split_whitespace().map(|word| word.parse().ok()).collect();
    (done.ended == JobResult::Status(0)).then(numbers)
}

/// The temperature and the clock rate of the device in this slot, of a type as reports have it, by
/// files below `sys` or by NVIDIA's library.
pub fn sensors(sys: &Path, slot: &str, kind: &str) -> Sensors {
    let sensors =
        |[temperature_c, clock_mhz]: [Option<f64>; 2]| Sensors { temperature_c, clock_mhz };
    if kind == "cpu" {
        return sensors(gpu::sensors_of_processor(sys));
    }
    let Some(address) = slot.strip_prefix("pci:") else { return Sensors::default() };
    let own = sensors(gpu::sensors(sys, address));
    if own != Sensors::default() {
        return own;
    }
    let numbers = library(sys, address, query).unwrap_or_default();
    sensors([1, 2].map(|place| numbers.get(place).copied().flatten().map(f64::from)))
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
        assert_eq!(says("0000:03:00.0", 0, "37\n"), Some(37));
        assert_eq!(says("0000:03:00.0", 0, "a driver talks\n37\n"), Some(37));
        assert_eq!(says("0000:03:00.0", 0, "37 65 1980\n"), Some(37));
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
