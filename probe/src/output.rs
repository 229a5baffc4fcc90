//! Where results go: standard output, and the files of `-o`.

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use fpprobe_reports::render::{self, FormatEntry, OutputFormat, ReportPlace, Style};
use fpprobe_reports::save::save;
use fpprobe_reports::{Report, files};

use crate::journal;
use crate::remote::{self, Delivery, Destination};
use fpprobe_system::process::is_stdout_closed;
use fpprobe_system::terminal;
use fpprobe_system::usage::{OrUsage as _, usage_error};

/// Standard output, buffered. A closed reader is an error of kind `BrokenPipe`, which `main` takes
/// for a quiet end.
pub fn stdout() -> BufWriter<StandardOutput> {
    BufWriter::new(StandardOutput(io::stdout().lock()))
}

/// Standard output, whose errors say that they are its.
pub struct StandardOutput(StdoutLock<'static>);

/// The kind of error of a standard output that was closed when the program began.
pub const CLOSED: io::ErrorKind = io::ErrorKind::NotConnected;

impl io::Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_stdout_closed() {
            return Err(of_stdout(io::Error::new(CLOSED, "it is closed")));
        }
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
    }
}

fn of_stdout(error: io::Error) -> io::Error {
    match error.kind() {
        // Is tried again.
        io::ErrorKind::Interrupted => error,
        kind => io::Error::new(
            kind,
            format!("failed to write standard output: {error}; it is not whole"),
        ),
    }
}

/// Where a report goes.
pub struct Output {
    /// Format of standard output.
    pub shown: &'static OutputFormat,
    /// Files, each with its format.
    files: Vec<(PathBuf, &'static OutputFormat)>,
    folder: Option<PathBuf>,
    /// A place with an address, instead of files or beside them.
    remote: Option<Destination>,
}

impl Output {
    /// Decides where to write, before anything is measured. `format` is the option, `default` the
    /// configuration's.
    pub fn new(path: Option<&Path>, format: Option<&str>, default: &str) -> anyhow::Result<Output> {
        let named = format.map(render::by_name).transpose().or_usage()?;
        let default = render::by_name(default).or_usage()?;
        let Some(path) = path else {
            return Ok(Output {
                shown: for_stdout(named.unwrap_or(default))?,
                files: Vec::new(),
                folder: None,
                remote: None,
            });
        };
        if let Some(remote) = Destination::named(path)? {
            let shown = for_stdout(named.unwrap_or(default))?;
            return Ok(Output { shown, files: Vec::new(), folder: None, remote: Some(remote) });
        }
        let default = for_stdout(default)?;
        let text = path.to_string_lossy();
        let folder = path.is_dir()
            || text.ends_with('/')
            || (path.extension().is_none() && !path.exists() && named.is_none());
        if folder {
            let files = ["json", "html"].map(|name| {
                render::by_name(name).map(|format| (path.join(format!("report.{name}")), format))
            });
            let files = files.into_iter().collect::<Result<Vec<_>, _>>().or_usage()?;
            let folder = Some(path.to_owned());
            return Ok(Output { shown: default, files, folder, remote: None });
        }
        let format = named.map_or_else(|| render::by_path(path), Ok).or_usage()?;
        let files = vec![(path.to_owned(), format)];
        Ok(Output { shown: default, files, folder: None, remote: None })
    }

    /// Standard output alone.
    pub fn shown(format: &'static OutputFormat) -> Output {
        Output { shown: format, files: Vec::new(), folder: None, remote: None }
    }

    /// Also sends the report to this place, if it has an address.
    pub fn and_send(self, place: &Path) -> anyhow::Result<Output> {
        let remote = Destination::named(place)?.or(self.remote);
        Ok(Output { remote, ..self })
    }

    /// Where a run notes its steps until the report is written; `None` where no file is to be
    /// written, or one that is no file but a pipe.
    pub fn journal(&self) -> Option<PathBuf> {
        match (&self.folder, self.files.first()) {
            (Some(folder), _) => Some(journal::place(folder, true)),
            (None, Some((file, _))) => {
                let pipe = std::fs::metadata(file).is_ok_and(|meta| !meta.is_file());
                (!pipe).then(|| journal::place(file, false))
            }
            (None, None) => None,
        }
    }

    /// Whether the report is written to a file, or sent.
    pub fn is_file(&self) -> bool {
        !self.files.is_empty() || self.remote.is_some()
    }

    /// Whether the report is sent to a place with an address.
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Where the files of a report can be read from.
    pub fn place(&self) -> ReportPlace {
        let json = self.files.iter().find(|(_, format)| format.name == "json");
        match (json, &self.remote) {
            (Some((path, _)), _) => ReportPlace::Argument(quoted(&path.to_string_lossy())),
            (None, Some(to)) => ReportPlace::Address(to.to_string()),
            (None, None) => ReportPlace::Nowhere,
        }
    }

    /// Writes the files, or sends the report.
    pub fn save(&self, report: &Report) -> anyhow::Result<()> {
        if let Some(folder) = &self.folder {
            std::fs::create_dir_all(folder)
                .map_err(|error| {
                    anyhow::anyhow!("failed to create folder {}: {error}", folder.display())
                })
                .or_usage()?;
        }
        for (path, format) in &self.files {
            // A pipe or a device has no place beside it.
            let has_place = std::fs::metadata(path).map_or(true, |meta| meta.is_file());
            let saved = if format.name == "json" && has_place {
                files::write(report, path, self.folder.is_some())
            } else {
                save(path, |out| format.renderer.render(report, out))
            };
            saved.or_usage()?;
        }
        let Some(to) = &self.remote else { return Ok(()) };
        let delivery = Delivery::of_report(to, report)
            .with_context(|| format!("failed to prepare the report for {to}"))?;
        remote::send(&delivery, Instant::now() + remote::TIME)
    }

    /// Shows the report on standard output; below it, where it can be read again.
    pub fn show(&self, report: &Report, place: &ReportPlace, style: Style) -> anyhow::Result<()> {
        let mut out = stdout();
        self.shown.renderer.show(report, style, &mut out)?;
        self.shown.renderer.foot(report, place, style, &mut out)?;
        out.flush()?;
        Ok(())
    }
}

/// A format for standard output: what is not text does not go to a terminal.
fn for_stdout(format: &'static OutputFormat) -> anyhow::Result<&'static OutputFormat> {
    let name = format.name;
    if format.renderer.is_text() || !io::stdout().is_terminal() {
        return Ok(format);
    }
    Err(usage_error(format!(
        "the format `{name}` is not text; write it to a file with `-o FILE.{name}`"
    )))
}

/// Where a document that is no report goes: one file, or standard output.
pub struct Page<R: ?Sized + 'static> {
    /// Its format.
    pub form: &'static FormatEntry<R>,
    path: Option<PathBuf>,
}

impl<R: ?Sized> Page<R> {
    /// Decides before any work: by the format's name, or by the ending of the file, or the first of
    /// the formats.
    pub fn new(
        forms: &'static [FormatEntry<R>],
        path: Option<&Path>,
        format: Option<&str>,
    ) -> anyhow::Result<Page<R>> {
        if let Some(remote) = path.map(Destination::named).transpose()?.flatten() {
            return Err(usage_error(format!(
                "{remote}: -o is a file here; addresses are for run, judge, sweep, merge, gate and screen"
            )));
        }
        let form = match (format, path) {
            (Some(name), _) => render::named(forms, name),
            (None, Some(path)) => render::for_path(forms, path),
            (None, None) => Ok(&forms[0]),
        };
        Ok(Page { form: form.or_usage()?, path: path.map(Path::to_owned) })
    }

    /// Writes it; `style` is that of standard output.
    pub fn write(
        &self,
        style: Style,
        write: impl FnOnce(&R, Style, &mut dyn io::Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(path) = &self.path {
            return save(path, |out| write(self.form.renderer, Style::PLAIN, out)).or_usage();
        }
        let mut out = stdout();
        write(self.form.renderer, style, &mut out)?;
        Ok(out.flush()?)
    }
}

/// A text as one word of a shell's command line.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Columns of the terminal, 100 where standard output is none.
pub fn width() -> usize {
    terminal::width().unwrap_or(100).clamp(40, 200)
}
