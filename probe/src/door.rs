//! The program as its daemon sees it: settings, devices, and how a process of this program takes a
//! step.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fpprobe_daemon::{
    DaemonSettings, DeviceTable, Door, KnownDevice, LibraryStamp, ProcessStep, RunOptions,
};
use fpprobe_system::cancellation::Cancellation;

use crate::cli::StoreArgs;
use crate::config::{self, ConfigLayers};
use crate::supervisor::{self, ManifestRow, Target, enumerate};
use crate::{absent, baseline, discover, keep, profiles, select};
use fpprobe_system::usage::{say, usage_error};

/// Where the configuration comes from.
#[derive(Clone, Debug, Default)]
pub struct ConfigSource {
    /// The file that was named.
    pub file: Option<PathBuf>,
    /// Settings of the command line.
    pub sets: Vec<String>,
}

/// Makes sure that every setting is valid, the daemon's too.
pub fn checked(layers: &ConfigLayers) -> anyhow::Result<DaemonSettings> {
    let config = layers.config().map_err(usage_error)?;
    if !config.daemon.baseline.as_os_str().is_empty() {
        baseline::read(&config.daemon.baseline)?;
    }
    profiles::for_devices(&config.profiles)?;
    let store = keep::store(&config, &StoreArgs::default())?;
    DaemonSettings::new(config.daemon, layers.text(), config.workers.timeout, store)
}

impl ConfigSource {
    /// Where a daemon of this configuration may be found. While the file is not valid, which is
    /// said, that is where one is that was told nothing else but what the command line says; a
    /// file that cannot be read and a setting that is none are errors.
    pub fn sockets(&self) -> anyhow::Result<Vec<PathBuf>> {
        let error = match self.settings() {
            Ok(settings) => return Ok(settings.sockets()),
            Err(error) => error,
        };
        let mut layers = ConfigLayers::defaults().map_err(usage_error)?;
        layers.command_line(&self.sets).map_err(usage_error)?;
        let settings = checked(&layers)?;
        if self.file.as_ref().is_some_and(|file| std::fs::read(file).is_err()) {
            return Err(error);
        }
        say(&format!("{error:#}\nnote: the daemon is looked for in its usual place"));
        Ok(settings.sockets())
    }
}

impl Door for ConfigSource {
    fn settings(&self) -> anyhow::Result<DaemonSettings> {
        checked(&config::load(self.file.as_deref(), &self.sets)?)
    }

    fn devices(&self, settings: &DaemonSettings, cancellation: Cancellation) -> DeviceTable {
        let config = match config::parse(&settings.text) {
            Ok(config) => config,
            Err(error) => return DeviceTable { devices: Vec::new(), failures: vec![error] },
        };
        let drivers = discover::drivers(&config.drivers.manifests);
        let rows =
            enumerate(&drivers, &supervisor::MeasureSettings::new(&config, cancellation), &|_| {});
        let mut table = match select::devices(&rows, &config.devices) {
            Ok(chosen) => table(&rows, chosen.into_iter().map(|(_, target)| target)),
            Err(error) => DeviceTable { devices: Vec::new(), failures: vec![error.to_string()] },
        };
        let absent = absent::incidents(&rows, Some(&settings.store));
        table
            .failures
            .extend(absent.iter().filter(|one| one.outcome.is_some()).map(absent::remedy));
        table
    }

    fn places(&self, settings: &DaemonSettings) -> Vec<PathBuf> {
        config::parse(&settings.text)
            .map(|config| discover::places(&config.drivers.manifests))
            .unwrap_or_default()
    }

    fn arguments(&self, config: &Path, step: &ProcessStep<'_>) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["--config".into(), config.into()];
        let mut add = |more: &[OsString]| arguments.extend_from_slice(more);
        match *step {
            ProcessStep::Run { device, run, seed, random, quick } => {
                add(&deadline(&run));
                add(&["run".into(), "--device".into(), device.into()]);
                add(&[
                    "--seed".into(),
                    seed.to_string().into(),
                    "--random".into(),
                    random.to_string().into(),
                ]);
                // Seeds differ: what depends on the compilation must show in each run.
                add(&["--recompile".into()]);
                if quick.is_none() {
                    add(&["--deliver".into()]);
                }
                if let Some(compared) = quick {
                    add(&["--quick".into()]);
                    if let Some((before, difference)) = compared {
                        add(&[
                            "--against".into(),
                            before.into(),
                            "--difference".into(),
                            difference.into(),
                        ]);
                    }
                }
                add(&["-o".into(), run.report.into()]);
                add(&common(&run));
            }
            ProcessStep::Resume(run) => {
                add(&deadline(&run));
                add(&["run".into(), "--resume".into(), run.report.into(), "--deliver".into()]);
                add(&common(&run));
            }
            ProcessStep::Compare { old, new, output } => {
                add(&[
                    "diff".into(),
                    "--common".into(),
                    old.into(),
                    new.into(),
                    "-o".into(),
                    output.into(),
                ]);
            }
            ProcessStep::Check { baseline, report, device, output } => {
                add(&["check".into(), "--baseline".into(), baseline.into(), report.into()]);
                add(&["--device".into(), device.into(), "-o".into(), output.into()]);
            }
            ProcessStep::Render { store, report, output, format } => {
                add(&[
                    "history".into(),
                    "--store-path".into(),
                    store.into(),
                    "show".into(),
                    report.into(),
                ]);
                add(&["-o".into(), output.into()]);
                if let Some(format) = format {
                    add(&["--format".into(), format.into()]);
                }
            }
        }
        arguments
    }
}

/// Sets the deadline of a batch.
fn deadline(run: &RunOptions<'_>) -> [OsString; 2] {
    ["--set".into(), format!("workers.timeout={}", run.timeout).into()]
}

/// Stores the report, and says how many workers measure.
fn common(run: &RunOptions<'_>) -> [OsString; 5] {
    let jobs = run.jobs.to_string().into();
    ["--store".into(), "--store-path".into(), run.store.into(), "--jobs".into(), jobs]
}

/// The devices that are chosen of what every driver shows.
fn table(rows: &[ManifestRow], chosen: impl Iterator<Item = Target>) -> DeviceTable {
    let mut table = DeviceTable::default();
    for incident in rows.iter().filter_map(|row| row.devices.as_ref().err()) {
        table.failures.push(format!("{}: {}", incident.subject, incident.detail));
    }
    let mut seen: HashMap<PathBuf, LibraryStamp> = HashMap::new();
    for Target { manifest, found, .. } in chosen {
        let (driver, identity) = (found.identity.driver.clone(), found.identity);
        if let Some(obstacle) = found.obstacle {
            table.failures.push(format!("{}: {obstacle}", identity.name));
            continue;
        }
        let library = |path: PathBuf| {
            seen.entry(path.clone()).or_insert_with(|| LibraryStamp::new(path)).clone()
        };
        table.devices.push(KnownDevice {
            libraries: found.libraries.into_iter().map(library).collect(),
            key: identity.key,
            slot: identity.slot,
            name: identity.name,
            kind: identity.kind,
            driver: driver.name,
            driver_info: if driver.info.is_empty() { driver.version } else { driver.info },
            library: PathBuf::from(driver.library),
            manifest,
        });
    }
    table
}
