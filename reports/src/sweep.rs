//! Sweeps: what became of every input of a kernel, device by device. [`Fingerprint`] is kept beside
//! the report, [`record`] while the sweep is under way.
//!
//! A report of a sweep tells no times, so that its parts merge to the same bytes as the whole.

mod blocks;
mod changes;
mod every;
mod fingerprint;
mod judged;
mod load;
mod merge;
pub mod record;
mod render;
mod unstable;

use fpprobe_profiles::sweep::SweepStatistics;
use fpprobe_spirv::sweep::Domain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Host, Identity, Incident, Program};

pub use blocks::Blocks;
pub use changes::{ChangedInput, Changes, Resolution};
pub use every::Every;
pub use fingerprint::{Fingerprint, FingerprintDevice, FingerprintError, Print};
pub use load::{SweepLoadError, load, load_by};
pub use merge::{MergeError, MergeOptions, merge};
pub use render::{RenderSweep, SWEEPS, SweepFormat};
pub use unstable::{Several, TIMES, Unstable, most};

/// The value of [`Sweep::schema`] that this program writes, and the only one that it reads.
pub const SCHEMA: &str = "fpprobe-sweep/1";

/// What a sweep found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// [`SCHEMA`].
    pub schema: String,
    /// What wrote it.
    pub program: Program,
    /// Where.
    pub host: Host,
    /// Whether fingerprints take every NaN for the same.
    pub normalise_nan: bool,
    /// The profiles that results are judged by, by id; none where fingerprints are taken.
    pub profiles: Vec<String>,
    /// The devices, in the order of `fpprobe list`.
    pub devices: Vec<SweptDevice>,
    /// Drivers that gave no devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<Incident>,
}

/// A device that was swept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweptDevice {
    /// Who it is.
    #[serde(flatten)]
    pub identity: Identity,
    /// Active layers and the like.
    pub taint: Vec<String>,
    /// What it was asked.
    pub kernels: Vec<SweptKernel>,
}

/// What became of a kernel's inputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweptKernel {
    /// The kernel's id.
    pub kernel: String,
    /// How many inputs it has.
    pub inputs: u64,
    /// Inputs of a block.
    pub block: u64,
    /// The blocks that were asked.
    #[serde(rename = "asked")]
    pub measured: Blocks,
    /// Digest of the fingerprint, SHA-256 in hex; there is one where every block was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What the rules of the profiles say of every result; absent where a fingerprint was taken
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<SweepStatistics>,
    /// Results that did not come again; absent where all did, or nothing ran twice.
    #[serde(default, skip_serializing_if = "Unstable::is_empty")]
    pub unstable: Unstable,
    /// What changed since an older fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Why it was not asked everything that it was to be asked, and what went wrong on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
}

impl SweptKernel {
    /// A kernel that was not asked anything yet.
    pub fn new(domain: &Domain) -> SweptKernel {
        SweptKernel {
            kernel: domain.kernel().to_string(),
            inputs: domain.inputs(),
            block: domain.block(),
            measured: Blocks::default(),
            root: None,
            verified: None,
            unstable: Unstable::default(),
            changes: None,
            incomplete: Vec::new(),
        }
    }

    /// Which share of its inputs was asked, from 0 to 1.
    pub fn share(&self) -> f64 {
        (self.measured.count() * self.block) as f64 / self.inputs as f64
    }
}
