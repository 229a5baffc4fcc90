//! Reading one driver manifest.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Largest manifest that is read; real ones have a few hundred bytes.
const LIMIT: u64 = 1 << 20;

/// What a manifest says.
pub struct Manifest {
    library_path: PathBuf,
    /// Whether its driver is for processes of another word size.
    pub foreign: bool,
}

#[derive(Deserialize)]
struct DriverManifest {
    #[serde(rename = "ICD")]
    icd: Icd,
}

#[derive(Deserialize)]
struct Icd {
    library_path: Option<String>,
    library_arch: Option<String>,
}

/// Reads a manifest; the error says what is wrong with it.
pub fn read(path: &Path) -> Result<Manifest, String> {
    parse(&bytes(path)?)
}

/// The bytes of a manifest, of a driver or a layer.
pub fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    file.take(LIMIT + 1)
        .read_to_end(&mut text)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > LIMIT {
        return Err(format!("is larger than {LIMIT} bytes and no manifest"));
    }
    Ok(text)
}

/// What a manifest of these bytes says.
pub fn parse(text: &[u8]) -> Result<Manifest, String> {
    let file: DriverManifest = serde_json::from_slice(text)
        .map_err(|error| format!("is not the JSON of a driver manifest: {error}"))?;
    let own = if cfg!(target_pointer_width = "64") { "64" } else { "32" };
    let foreign = file.icd.library_arch.as_deref().is_some_and(|arch| arch != own);
    match file.icd.library_path {
        Some(library) if !library.is_empty() => {
            Ok(Manifest { library_path: library.into(), foreign })
        }
        _ => Err("names no library: `library_path` is missing or empty".to_owned()),
    }
}

impl Manifest {
    /// The library: absolute, relative to the manifest's folder, or a bare name for the system's
    /// library search.
    pub fn library(&self, manifest: &Path) -> Result<PathBuf, String> {
        let path = &self.library_path;
        if path.is_relative() && path.components().count() == 1 && !path.starts_with(".") {
            return Ok(path.clone());
        }
        let joined = manifest.parent().unwrap_or(Path::new(".")).join(path);
        match joined.canonicalize() {
            Ok(found) => Ok(found),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(format!(
                "points at {}, which does not exist: reinstall the driver or remove the manifest",
                joined.display()
            )),
            Err(error) => {
                Err(format!("points at {}, which cannot be reached: {error}", joined.display()))
            }
        }
    }
}
