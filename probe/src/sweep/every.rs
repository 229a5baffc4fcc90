//! The files of every input that changed, beside a report: `sweep.changed/DEVICE/KERNEL.zst`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fpprobe_reports::save::PendingFile;
use fpprobe_reports::sweep::{Every, Sweep};

use fpprobe_system::usage::{OrUsage as _, say};

/// Ending of the folder.
const FOLDER: &str = "changed";

/// Their folder.
pub struct ListFolder(PathBuf);

impl ListFolder {
    /// Beside this report.
    pub fn beside(report: &Path) -> ListFolder {
        ListFolder(report.with_extension(FOLDER))
    }

    /// The file of one device's kernel. Reports of parts come from elsewhere: what they call these
    /// leads to no other folder.
    pub fn path(&self, device: &str, kernel: &str) -> PathBuf {
        let device = device.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        self.0.join(device).join(format!("{}.zst", kernel.replace('/', "_")))
    }

    /// Says where they are, and removes those of an earlier sweep: they do not belong to this
    /// report.
    pub fn tidy(&self, sweep: &Sweep) -> anyhow::Result<()> {
        let own: BTreeSet<PathBuf> =
            changed(sweep).map(|(device, kernel, _)| self.path(device, kernel)).collect();
        if own.iter().any(|path| path.exists()) {
            say(&format!(
                "every input that changed is in {}/, a bit for each input",
                self.0.display()
            ));
        }
        for path in files(&self.0).filter(|path| !own.contains(path)) {
            let failed =
                || format!("failed to remove {}, which is of an earlier sweep", path.display());
            fs::remove_file(&path).with_context(failed).or_usage()?;
            // The folders go with the last file that is in them.
            for folder in path.ancestors().skip(1).take(2) {
                let _ = fs::remove_dir(folder);
            }
        }
        Ok(())
    }

    /// Puts those of a sweep's parts together, by the parts' folders.
    pub fn merge(&self, sweep: &Sweep, parts: &[(ListFolder, Sweep)]) -> anyhow::Result<()> {
        for (device, kernel, inputs) in changed(sweep) {
            let of = |(lists, part): &(ListFolder, Sweep)| {
                let has = changed(part).any(|(own, other, _)| (own, other) == (device, kernel));
                has.then(|| lists.path(device, kernel))
            };
            let path = self.path(device, kernel);
            let sources: Vec<PathBuf> = parts.iter().filter_map(of).collect();
            if let Some(missing) = sources.iter().find(|source| !source.exists()) {
                say(&format!("{} is missing: {} is left out", missing.display(), path.display()));
                continue;
            }
            let together = || {
                let parts = sources.iter().map(File::open).collect::<io::Result<_>>()?;
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                Every::merge(parts, Every::new(PendingFile::begin(&path)?, inputs)?)
            };
            let names = || {
                sources
                    .iter()
                    .map(|source| source.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            together()
                .with_context(|| {
                    format!("failed to put {} together as {}", names(), path.display())
                })
                .or_usage()?;
        }
        Ok(())
    }
}

/// Device, kernel and number of inputs of whatever has inputs that changed.
fn changed(sweep: &Sweep) -> impl Iterator<Item = (&str, &str, u64)> {
    let kernels = sweep
        .devices
        .iter()
        .flat_map(|device| device.kernels.iter().map(move |kernel| (device, kernel)));
    kernels
        .filter(|(_, kernel)| kernel.changes.as_ref().is_some_and(|changes| changes.inputs > 0))
        .map(|(device, kernel)| {
            (device.identity.key.as_str(), kernel.kernel.as_str(), kernel.inputs)
        })
}

/// The files of kernels in the folders of devices.
fn files(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    let of_kernel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "zst");
    entries(root).flat_map(move |folder| entries(&folder)).filter(of_kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_no_other_folder() {
        let lists = ListFolder::beside(Path::new("out/sweep.json"));
        assert_eq!(lists.path("f884", "f32.sin"), Path::new("out/sweep.changed/f884/f32.sin.zst"));
        assert_eq!(lists.path("../..", "../x"), Path::new("out/sweep.changed/_____/.._x.zst"));
        assert_eq!(lists.path("/etc", "/x"), Path::new("out/sweep.changed/_etc/_x.zst"));
    }
}
