//! Where the report of a sweep goes: standard output, and the files of `-o`, fingerprints among
//! them.

use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use fpprobe_reports::limited::{self, ReadFile};
use fpprobe_reports::render::{self, Style};
use fpprobe_reports::save::save;
use fpprobe_reports::sum;
use fpprobe_reports::sweep::{Fingerprint, FingerprintError, SWEEPS, Sweep, SweepFormat, load_by};

use crate::output::Page;
use crate::remote::{self, Delivery, Destination};
use crate::sweep::every::ListFolder;
use crate::sweep::journal::SweepJournal;
use fpprobe_reports::host;
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::folders;
use fpprobe_system::usage::OrUsage as _;

/// Name of the report in a folder, without its ending.
const NAME: &str = "sweep";
/// Ending of the file of fingerprints.
const PRINT: &str = "fingerprint";

/// Where it goes.
pub struct Files {
    /// Standard output.
    page: Page<dyn fpprobe_reports::sweep::RenderSweep + Sync>,
    reports: Vec<(PathBuf, &'static SweepFormat)>,
    folder: Option<PathBuf>,
    /// A place with an address, instead of files.
    remote: Option<Destination>,
}

impl Files {
    /// Decides before anything is measured.
    pub fn new(path: Option<&Path>, format: Option<&str>) -> anyhow::Result<Files> {
        let Some(path) = path else {
            return Ok(Files {
                page: Page::new(SWEEPS, None, format)?,
                reports: Vec::new(),
                folder: None,
                remote: None,
            });
        };
        if let Some(remote) = Destination::named(path)? {
            let page = Page::new(SWEEPS, None, format)?;
            return Ok(Files { page, reports: Vec::new(), folder: None, remote: Some(remote) });
        }
        let page = Page::new(SWEEPS, None, None)?;
        let text = path.to_string_lossy();
        if path.is_dir()
            || text.ends_with('/')
            || path.extension().is_none() && !path.exists() && format.is_none()
        {
            let file = |name| {
                Ok((path.join(format!("{NAME}.{name}")), render::named(SWEEPS, name).or_usage()?))
            };
            let files =
                ["json", "html"].map(file).into_iter().collect::<anyhow::Result<Vec<_>>>()?;
            let folder = Some(path.to_owned());
            return Ok(Files { page, reports: files, folder, remote: None });
        }
        let form = format
            .map_or_else(|| render::for_path(SWEEPS, path), |name| render::named(SWEEPS, name))
            .or_usage()?;
        Ok(Files { page, reports: vec![(path.to_owned(), form)], folder: None, remote: None })
    }

    /// The journal; none where nothing is written. That of a sweep for a place with an address is
    /// in the state folder.
    pub fn journal(
        &self,
        options: String,
        stop: &Cancellation,
    ) -> anyhow::Result<Option<SweepJournal>> {
        let place = match (&self.remote, self.reports.first()) {
            (Some(to), _) => journal_for(to, &options)?,
            (None, first) => first.map(|(path, _)| path.with_extension("journal")),
        };
        place.map(|place| SweepJournal::open(&place, options, stop)).transpose()
    }

    /// Where every input that changed is listed; none where nothing is written.
    pub fn lists(&self) -> Option<ListFolder> {
        self.reports.first().map(|(path, _)| ListFolder::beside(path))
    }

    /// Writes report and fingerprints, and shows the report where nothing else was named.
    pub fn write(
        &self,
        sweep: &Sweep,
        fingerprint: &Fingerprint,
        style: Style,
    ) -> anyhow::Result<()> {
        if let Some(to) = &self.remote {
            let delivery = Delivery::of_sweep(to, sweep, fingerprint, &host::now())
                .with_context(|| format!("failed to prepare the sweep for {to}"))?;
            remote::send(&delivery, Instant::now() + remote::TIME)?;
        }
        if let Some(folder) = &self.folder {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("failed to create folder {}", folder.display()))
                .or_usage()?;
        }
        for (path, form) in &self.reports {
            save(path, |out| form.renderer.render(sweep, Style::PLAIN, out)).or_usage()?;
        }
        if let Some((path, _)) = self.reports.first() {
            let beside = path.with_extension(PRINT);
            if !fingerprint.prints.is_empty() {
                let bytes = fingerprint.pack()?;
                save(&beside, |out| out.write_all(&bytes)).or_usage()?;
            } else if beside.exists() {
                // Of an earlier sweep: it does not belong to this report.
                let failed = || {
                    format!("failed to remove {}, which is of an earlier sweep", beside.display())
                };
                std::fs::remove_file(&beside).with_context(failed).or_usage()?;
            }
        }
        self.lists().map_or(Ok(()), |lists| lists.tidy(sweep))?;
        self.page.write(style, |form, style, out| form.render(sweep, style, out))
    }
}

/// Where the journal of this sweep lies, by where its report goes and what it is of; `None` where
/// there is no state folder.
fn journal_for(to: &Destination, options: &str) -> anyhow::Result<Option<PathBuf>> {
    let Some(state) = folders::state() else { return Ok(None) };
    let folder = state.join("sweeps");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create folder {}", folder.display()))
        .or_usage()?;
    let name = sum::digest(format!("{to}\n{options}").as_bytes());
    Ok(Some(folder.join(format!("{name:.16}.journal"))))
}

/// The report of a part, and how it is read.
pub struct PartFile {
    path: PathBuf,
    read: Arc<ReadFile>,
}

/// The parts that a path names.
pub struct NamedParts {
    /// Their reports, of an address those of the most blocks first.
    pub files: Vec<PartFile>,
    /// Whether they are at an address.
    pub is_of_address: bool,
}

impl fmt::Display for PartFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl PartFile {
    /// The parts that a path names: the report's file, its folder, or all sweeps at an address.
    pub fn at(path: &Path) -> anyhow::Result<NamedParts> {
        let own = |path: PathBuf, read: &Arc<ReadFile>| PartFile { path, read: Arc::clone(read) };
        if let Some(from) = Destination::named(path)? {
            let (paths, read) = remote::sweeps(&from)?;
            let mut files = Vec::with_capacity(paths.len());
            for path in paths {
                let sweep = load_by(&path, &*read).or_usage()?;
                let kernels = sweep.devices.iter().flat_map(|device| &device.kernels);
                let blocks: u64 = kernels.map(|kernel| kernel.measured.count()).sum();
                files.push((Reverse(blocks), own(path, &read)));
            }
            files.sort_by(|(one, a), (two, b)| (one, &a.path).cmp(&(two, &b.path)));
            let files = files.into_iter().map(|(_, file)| file).collect();
            return Ok(NamedParts { files, is_of_address: true });
        }
        let report =
            if path.is_dir() { path.join(NAME).with_extension("json") } else { path.to_owned() };
        let read: Arc<ReadFile> = Arc::new(limited::bytes);
        Ok(NamedParts { files: vec![own(report, &read)], is_of_address: false })
    }

    /// Its report and its fingerprints, and where its lists are.
    pub fn read(&self) -> anyhow::Result<(Sweep, Fingerprint, ListFolder)> {
        let sweep = load_by(&self.path, &*self.read).or_usage()?;
        let prints = self.path.with_extension(PRINT);
        let fingerprint = match Fingerprint::read_by(&prints, &*self.read) {
            Err(FingerprintError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
                Fingerprint::default()
            }
            other => other.with_context(|| unread(&prints)).or_usage()?,
        };
        Ok((sweep, fingerprint, ListFolder::beside(&self.path)))
    }
}

fn unread(path: &Path) -> String {
    format!("failed to read fingerprint {}", path.display())
}

/// A file of fingerprints, or the one beside a report, or in its folder.
pub fn fingerprint(path: &Path) -> anyhow::Result<Fingerprint> {
    let candidates = [path.join(NAME).with_extension(PRINT), path.with_extension(PRINT)];
    let there =
        candidates.iter().find(|candidate| candidate.is_file()).map_or(path, PathBuf::as_path);
    Fingerprint::read(there).with_context(|| unread(there)).or_usage()
}
