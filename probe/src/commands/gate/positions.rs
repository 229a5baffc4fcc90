//! Where comparisons begin, so that each covers another part.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fpprobe_reports::{limited, save};
use fpprobe_system::folders;
use fpprobe_system::usage::say;
use serde::{Deserialize, Serialize};

use crate::supervisor::Target;

/// Longest file of positions, in bytes.
const POSITIONS: u64 = 1 << 20;

/// With what a comparison begins, among what is expected of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GatePosition {
    /// Number of the kernel.
    pub kernel: usize,
    /// Number of the block, among those of all kernels.
    pub block: usize,
}

/// Where the next comparison of each device begins: a file of the state folder. Where it
/// cannot be kept, each comparison begins with the first.
pub struct GatePositions {
    file: Option<PathBuf>,
    by_device: BTreeMap<String, GatePosition>,
}

impl GatePositions {
    pub fn read() -> GatePositions {
        let file = folders::state().map(|folder| folder.join("gate.json"));
        let text = file.as_ref().and_then(|file| limited::text(file, POSITIONS).ok());
        let by_device = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        GatePositions { file, by_device }
    }

    pub fn of(&self, target: &Target) -> GatePosition {
        self.by_device.get(&target.found.identity.key).copied().unwrap_or_default()
    }

    pub fn put(&mut self, target: &Target, place: GatePosition) {
        self.by_device.insert(target.found.identity.key.clone(), place);
    }

    pub fn save(&self) {
        let Some(file) = &self.file else { return };
        let text = serde_json::to_string(&self.by_device).unwrap_or_default();
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let saved = folder.map_err(|error| error.to_string()).and_then(|()| {
            save::save(file, |out| out.write_all(text.as_bytes()))
                .map_err(|error| error.to_string())
        });
        if let Err(error) = saved {
            let file = file.display();
            say(&format!(
                "warning: the next comparison begins where this one did, since {file} cannot be \
                 written: {error}"
            ));
        }
    }
}
