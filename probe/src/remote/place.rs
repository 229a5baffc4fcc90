//! What can be done at a place of objects, and how that fails.

use std::fmt;
use std::io;

/// A place of objects, named by names with slashes in between.
pub trait ObjectPlace {
    /// Creates an object, whole or not at all. One of this name that is there already is as good,
    /// since names follow from the content.
    fn create(&self, name: &str, bytes: Vec<u8>) -> Result<(), RemoteError>;
}

/// Why something could not be done; the text quotes no secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteError {
    /// What went wrong.
    pub text: String,
    /// Whether that is of the place and not of the object, so that another object would fail, too.
    pub is_everywhere: bool,
    /// What it is among the errors of files.
    pub kind: io::ErrorKind,
}

impl RemoteError {
    /// The place cannot be used.
    pub fn refused(text: impl Into<String>) -> RemoteError {
        RemoteError { text: text.into(), is_everywhere: true, kind: io::ErrorKind::Other }
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> io::Error {
        io::Error::new(error.kind, error)
    }
}

impl From<io::Error> for RemoteError {
    fn from(error: io::Error) -> RemoteError {
        RemoteError { text: error.to_string(), is_everywhere: true, kind: error.kind() }
    }
}
