//! Reading the report of a sweep.

use std::io;
use std::path::{Path, PathBuf};

use fpprobe_profiles::sweep::SweepStatistics;
use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::Domain;
use serde::Deserialize;

use super::{Blocks, SCHEMA, Sweep, SweptKernel};
use crate::limited::{self, ReadFile};

/// Most bytes that are read.
const LIMIT: u64 = 256 << 20;
/// Where one comes from.
const MISSING: &str = "`fpprobe sweep -o FILE.json` writes one";

/// Why the report of a sweep could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SweepLoadError {
    /// The file cannot be opened or read.
    #[error("failed to read sweep {}: {cause}{}", path.display(), limited::advice(cause, MISSING))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is another document, or of another version.
    #[error("failed to read sweep {}: its schema is {found}, and this program reads {SCHEMA}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        found: String,
    },
    /// It is no such document.
    #[error("failed to read sweep {}: {cause}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        cause: serde_json::Error,
    },
    /// Its numbers contradict each other, or the program.
    #[error("failed to read sweep {}: {kernel}: {what}; was it edited by hand?", path.display())]
    Numbers {
        /// The file.
        path: PathBuf,
        /// The kernel.
        kernel: String,
        /// What cannot be.
        what: String,
    },
}

/// What of a kernel's numbers cannot be, if anything: they are added and multiplied, and loops run
/// as often as they say.
fn objection(kernel: &SweptKernel) -> Option<String> {
    let domain = match kernel.kernel.parse::<Kernel>().map_err(|error| error.to_string()) {
        Ok(own) => Domain::vast(&own).map_err(|error| error.to_string()),
        Err(error) => Err(error),
    };
    let domain = match domain {
        Ok(domain) => domain,
        Err(error) => return Some(error),
    };
    let size = (kernel.inputs, kernel.block);
    if size != (domain.inputs(), domain.block()) {
        return Some(format!(
            "it has {} inputs in blocks of {}, not {size:?}",
            domain.inputs(),
            domain.block()
        ));
    }
    let changes = kernel.changes.iter().flat_map(|changes| [&changes.blocks, &changes.unresolved]);
    let beyond = |blocks: &&Blocks| {
        blocks.ranges().last().is_some_and(|[first, count]| first + count > domain.blocks())
    };
    if std::iter::once(&kernel.measured).chain(changes).any(|blocks| beyond(&blocks)) {
        return Some(format!("it has {} blocks, and later ones are named", domain.blocks()));
    }
    let judged = kernel
        .verified
        .as_ref()
        .filter(|statistics| statistics.inputs > kernel.measured.count() * kernel.block);
    if let Some(statistics) = judged {
        return Some(format!(
            "{} inputs were examined, and the blocks asked have fewer",
            statistics.inputs
        ));
    }
    kernel.verified.as_ref().and_then(SweepStatistics::contradiction)
}

#[derive(Deserialize)]
struct Name {
    schema: Option<String>,
}

/// Reads the report of a sweep.
pub fn load(path: &Path) -> Result<Sweep, SweepLoadError> {
    load_by(path, &limited::bytes)
}

/// Reads the report of a sweep by this function.
pub fn load_by(path: &Path, read: &ReadFile) -> Result<Sweep, SweepLoadError> {
    let at = || path.to_owned();
    let bytes = read(path, LIMIT).map_err(|cause| SweepLoadError::Read { path: at(), cause })?;
    let content = |cause| SweepLoadError::Content { path: at(), cause };
    let name: Name = serde_json::from_slice(&bytes).map_err(content)?;
    match name.schema {
        Some(schema) if schema == SCHEMA => {
            let sweep: Sweep = serde_json::from_slice(&bytes).map_err(content)?;
            let mut kernels = sweep.devices.iter().flat_map(|device| &device.kernels);
            match kernels
                .find_map(|kernel| objection(kernel).map(|what| (kernel.kernel.clone(), what)))
            {
                Some((kernel, what)) => Err(SweepLoadError::Numbers { path: at(), kernel, what }),
                None => Ok(sweep),
            }
        }
        other => Err(SweepLoadError::Schema {
            path: at(),
            found: other.map_or("not told".into(), |name| format!("{name:?}")),
        }),
    }
}
