//! Output formats: their names and endings, and how one is found.

use std::path::Path;

/// An output format of something: its names, and what renders it.
pub struct FormatEntry<R: ?Sized + 'static> {
    /// Name for `--format`.
    pub name: &'static str,
    /// File extensions that stand for it, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for help texts.
    pub about: &'static str,
    /// The renderer, with defaults.
    pub renderer: &'static R,
}

/// No such output format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownFormat {
    /// By name.
    #[error("unknown output format `{name}`; known are {known}")]
    Name {
        /// What was requested.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// By file name.
    #[error(
        "cannot tell the output format from the file name `{file}`; known endings are {known}, or name a format with --format"
    )]
    Extension {
        /// The file.
        file: String,
        /// The endings that there are.
        known: String,
    },
}

/// The format of this name.
pub fn named<R: ?Sized>(
    forms: &'static [FormatEntry<R>],
    name: &str,
) -> Result<&'static FormatEntry<R>, UnknownFormat> {
    forms.iter().find(|form| form.name == name).ok_or_else(|| UnknownFormat::Name {
        name: name.to_owned(),
        known: forms.iter().map(|form| form.name).collect::<Vec<_>>().join(", "),
    })
}

/// The format that the ending of a file name stands for, in small letters or capitals.
pub fn for_path<R: ?Sized>(
    forms: &'static [FormatEntry<R>],
    path: &Path,
) -> Result<&'static FormatEntry<R>, UnknownFormat> {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    forms.iter().find(|form| form.extensions.contains(&extension.as_str())).ok_or_else(|| {
        let known =
            forms.iter().flat_map(|form| form.extensions).map(|extension| format!(".{extension}"));
        UnknownFormat::Extension {
            file: path.display().to_string(),
            known: known.collect::<Vec<_>>().join(", "),
        }
    })
}
