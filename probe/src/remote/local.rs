//! A folder as a place of objects.

use std::fs;
use std::path::PathBuf;

use fpprobe_reports::save::save;

use super::place::{ObjectPlace, RemoteError};

/// A folder; names of objects are paths in it.
pub struct LocalPlace(pub PathBuf);

impl ObjectPlace for LocalPlace {
    fn create(&self, name: &str, bytes: Vec<u8>) -> Result<(), RemoteError> {
        let path = self.0.join(name);
        if path.exists() {
            return Ok(());
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        save(&path, |out| out.write_all(&bytes)).map_err(|error| error.cause.into())
    }
}
