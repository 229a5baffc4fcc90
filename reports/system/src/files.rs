//! What systems know of files beyond their names and bytes.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Which file lies at a path, and when it was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileStamp {
    /// Number, length, and seconds and nanoseconds of the last change.
    state: (u64, u64, i64, i64),
}

impl FileStamp {
    /// As it lies there now; `None` where nothing does.
    pub fn new(path: &Path) -> Option<FileStamp> {
        let meta = fs::metadata(path).ok()?;
        Some(FileStamp { state: (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()) })
    }
}

/// Whether this path leads to the open file: it may have been replaced or removed meanwhile.
pub fn is_at(file: &File, path: &Path) -> bool {
    let place = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let (opened, there) = (file.metadata().map(place), fs::metadata(path).map(place));
    opened.is_ok_and(|opened| there.is_ok_and(|there| opened == there))
}

/// Makes a file that only this user may read. What is there already, a link of another user's, say,
/// is not written to.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Has the names in a folder reach the disk: until then a new one may be lost.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
