//! What is to be measured: a device, how much of it, and why.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device_table::KnownDevice;
use crate::trigger::Trigger;

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunExtent {
    /// What a quick run selects.
    #[default]
    Quick,
    /// What a default run selects.
    Full,
}

impl RunExtent {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RunExtent::Quick => "quick",
            RunExtent::Full => "full",
        }
    }
}

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The device.
    pub device: KnownDevice,
    /// How much of it.
    pub extent: RunExtent,
    /// Why.
    pub trigger: Trigger,
    /// How often it has failed.
    pub failures: u32,
}

impl Order {
    /// One that has not failed yet.
    pub fn new(device: KnownDevice, extent: RunExtent, trigger: Trigger) -> Order {
        Order { device, extent, trigger, failures: 0 }
    }

    /// Name of its files: there is one order for each device and extent at a time.
    pub fn name(&self) -> String {
        format!("{}-{}", self.extent.name(), self.device.key.replace(['/', '.'], "_"))
    }

    /// Where its run writes the report, in this folder of the daemon's.
    pub fn report(&self, folder: &Path) -> PathBuf {
        folder.join("work").join(format!("{}.json", self.name()))
    }
}
