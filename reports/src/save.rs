//! Files that appear whole or not at all.
//!
//! Until then a file has a temporary name, and a lock that the system releases when its writer
//! ends, however that ends: one without it is the leftover of a run that was killed, and the next
//! that writes the same file removes it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fpprobe_system::files::{folder, sync_folder};

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("failed to write {}: {cause}{}", path.display(), hint(cause))]
pub struct SaveError {
    /// The file that was wanted; what was there before is still there.
    pub path: PathBuf,
    /// What the system said.
    pub cause: io::Error,
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => " (create the folder first)",
        io::ErrorKind::PermissionDenied => " (choose a place you may write to with -o)",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (make room, or choose another place with -o)"
        }
        _ => "",
    }
}

/// Writes a file through a temporary one in the same folder: synced, renamed, the folder synced.
/// Readers see the old file or the new one, even if the machine stops in between.
///
/// A pipe or device (`/dev/stdout`, a named pipe) is written to directly: it cannot be replaced.
pub fn save(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), SaveError> {
    let saved = match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"))
        }
        Ok(meta) if !meta.is_file() => straight(path, write),
        // A link stays a link: the file it leads to is replaced.
        Ok(meta) => fs::canonicalize(path)
            .and_then(|target| replace(&target, Some(meta.permissions()), write)),
        Err(_) => replace(path, None, write),
    };
    saved.map_err(|cause| SaveError { path: path.to_owned(), cause })
}

fn straight(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    write(&mut out)?;
    out.flush()
}

fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut saving = PendingFile::begin(path)?;
    write(&mut saving)?;
    saving.commit(permissions)
}

/// A file under way: it appears whole where it is committed, and leaves nothing behind where it is
/// dropped.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    temporary: PathBuf,
    out: BufWriter<File>,
}

impl PendingFile {
    /// Begins a temporary file in the same folder.
    pub fn begin(path: &Path) -> io::Result<PendingFile> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        remove_leftovers(folder(path), name);
        let (file, temporary) = create_beside(name, folder(path))?;
        Ok(PendingFile { path: path.to_owned(), temporary, out: BufWriter::new(file) })
    }

    /// Replaces the file by what was written: synced, renamed, the folder synced.
    pub fn commit(mut self, permissions: Option<fs::Permissions>) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        permissions
            .map_or(Ok(()), |permissions| fs::set_permissions(&self.temporary, permissions))?;
        fs::rename(&self.temporary, &self.path)?;
        // The new name is only sure to be there once the folder itself has reached the disk.
        sync_folder(folder(&self.path))
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // Gone once it is committed; a leftover that cannot be removed adds nothing to what failed
        // before.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// What temporary names of a file begin with; process and number follow.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// How they end.
const SUFFIX: &str = ".tmp";

/// Removes temporary files of this name that nobody writes any more. Whatever fails here adds
/// nothing to what comes next.
fn remove_leftovers(folder: &Path, name: &OsStr) {
    let prefix = prefix(name);
    let is_temporary = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        let inner = name
            .strip_prefix(prefix.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
        inner.is_some_and(|inner| inner.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_temporary(&entry.file_name())) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let file =
            if is_file { OpenOptions::new().write(true).open(entry.path()).ok() } else { None };
        if let Some(file) = file
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn create_beside(name: &OsStr, folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0;
    loop {
        let mut temporary = prefix(name);
        temporary.push(format!("{}.{attempt}{SUFFIX}", std::process::id()));
        let temporary = folder.join(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            // Another process may have taken it for a leftover before it had its lock.
            Ok(file) if is_locked(&file) && temporary.exists() => return Ok((file, temporary)),
            Ok(_) if attempt < 100 => attempt += 1,
            Ok(_) => return Err(io::Error::other("its temporary files vanish")),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Takes the lock of a file that is written; whether it has it. Where the file system has no locks,
/// nobody else gets one either.
fn is_locked(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        save(&path, |out| out.write_all(b"old")).unwrap();
        save(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["report.json"]);
    }

    #[test]
    fn a_failure_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        save(&path, |out| out.write_all(b"old")).unwrap();
        let error = save(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(error.unwrap_err().to_string().contains("make room"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["report.json"]);
        let missing = save(&folder.path().join("no/report.json"), |_| Ok(())).unwrap_err();
        assert!(missing.to_string().contains("create the folder first"), "{missing}");
        assert!(
            save(folder.path(), |_| Ok(())).unwrap_err().to_string().contains("it is a folder")
        );
    }

    #[test]
    fn what_killed_runs_have_left_is_removed_and_what_others_write_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let left = |name: &str| fs::write(folder.path().join(name), "half").unwrap();
        [".report.json.4711.0.tmp", ".other.json.4711.0.tmp", ".report.json.x.tmp"]
            .into_iter()
            .for_each(left);
        let mut other = PendingFile::begin(&path).unwrap();
        other.write_all(b"whole").unwrap();
        save(&path, |out| out.write_all(b"new")).unwrap();
        other.commit(None).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let mut names = names(folder.path());
        names.sort();
        assert_eq!(names, [".other.json.4711.0.tmp", ".report.json.x.tmp", "report.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        save(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        save(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
