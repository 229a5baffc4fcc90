//! Files that are read up to a limit, whatever they say of their length: a pipe or a device has
//! none and never ends.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// How a file is read that may have at most this many bytes: [`bytes()`], or what reads another
/// place, with errors of the same kinds.
pub type ReadFile = dyn Fn(&Path, u64) -> io::Result<Vec<u8>> + Send + Sync;

/// The file's bytes; an error of kind [`io::ErrorKind::FileTooLarge`] where there are more than
/// `limit`.
pub fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // What a file says of its length is a hint: room that is reserved at once is not moved while it
    // grows.
    let hint = file.metadata().map_or(0, |about| about.len().min(limit));
    let mut bytes = Vec::with_capacity(usize::try_from(hint).map_or(0, |hint| hint + 1));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let problem = format!("it has more than {limit} bytes, the most that it may have");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// [`bytes()`] of a file that lies among others: a pipe there would be waited for.
pub fn bytes_of_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    refuse_pipe(path)?;
    bytes(path, limit)
}

/// An error where a path leads to a pipe, a socket or a device.
pub fn refuse_pipe(path: &Path) -> io::Result<()> {
    let is_other = |about: Metadata| !about.is_file() && !about.is_dir();
    if fs::metadata(path).is_ok_and(is_other) {
        return Err(io::Error::other("it is a pipe, a socket or a device, and no file"));
    }
    Ok(())
}

/// [`bytes()`] as text.
pub fn text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, limit)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// What to do about a file that could not be read, to be put behind the error; `missing` where
/// there is none.
pub fn advice(error: &io::Error, missing: &str) -> String {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => missing,
        io::ErrorKind::PermissionDenied => "its permissions keep this user from it",
        io::ErrorKind::IsADirectory => "name a file in this folder",
        io::ErrorKind::InvalidData => "a text is expected, in UTF-8: save the file as such",
        _ => return String::new(),
    };
    format!("; {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_not_read_to_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "four").unwrap();
        assert_eq!(text(file.path(), 4).unwrap(), "four");
        assert_eq!(bytes(file.path(), 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let device = Path::new("/dev/null");
        assert!(bytes(device, 4).is_ok() && bytes_of_file(device, 4).is_err());
        assert_eq!(bytes_of_file(file.path(), 4).unwrap(), b"four");
        std::fs::write(file.path(), [0xff]).unwrap();
        assert_eq!(text(file.path(), 4).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_length_is_limited_too() {
        assert!(
            bytes(Path::new("/dev/zero"), 1 << 16)
                .unwrap_err()
                .to_string()
                .contains("more than 65536 bytes")
        );
    }
}
