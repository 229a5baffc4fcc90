//! The reports of many hosts as one table: which devices are of one model and driver, which of
//! these give equal results, and which differ from their equals.
//!
//! - [`Found`]: the devices in files, folders and stores, each reduced to digests of its results.
//! - [`Inventory`]: what they have in common and what not, as [`INVENTORIES`] write it.
//!
//! Of equal chips under one driver, one that computes otherwise is defective, overclocked, or has
//! other firmware: a minority among equals comes first.

mod consensus;
mod device;
mod found;
mod group;
mod lane;
mod reader;
mod render;
mod report_file;
mod results;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Class, Program, Value};

pub use self::found::Found;
pub use self::render::{INVENTORIES, InventoryFormat, RenderInventory};
pub use self::report_file::{FoundError, ReportFile};

/// The value of [`Inventory::schema`].
pub const SCHEMA: &str = "fpprobe-inventory/1";

/// Kernels of one behaviour whose first differing lane is looked up.
const SHOWN: usize = 64;

/// What `fpprobe inventory` writes.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Inventory {
    /// `fpprobe-inventory/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that wrote it.
    pub program: Program,
    /// Number of reports that were read.
    pub reports: usize,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of devices: of each place of a host its newest report.
    pub devices: usize,
    /// Devices of one model under one driver; groups with a minority first, then by size.
    pub groups: Vec<EqualDevices>,
    /// Models under several drivers.
    pub updates: Vec<ModelDrivers>,
    /// Devices whose results changed since a date, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Vec<ChangedDevice>>,
    /// Devices whose newest report is older than the limit, the oldest first.
    pub outdated: Vec<OutdatedDevice>,
    /// Files that could not be read.
    pub unreadable: Vec<UnreadableFile>,
}

/// Devices that should give equal results.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct EqualDevices {
    /// Device name as the driver gives it.
    pub model: String,
    /// PCI vendor id or Khronos vendor id.
    pub vendor_id: u32,
    /// Device id.
    pub device_id: u32,
    /// `driverName` and version.
    pub driver: String,
    /// Number of devices.
    pub devices: usize,
    /// Number of lists of cases, one for each kernel, that at least two of them ran.
    pub compared: usize,
    /// Number of these of which NaNs have other bits on some devices, and nothing else differs.
    pub nan_bits: usize,
    /// Devices with equal results on all that was compared, the most common behaviour first.
    pub behaviours: Vec<SharedBehaviour>,
    /// Number of devices by profile and class.
    pub classes: BTreeMap<String, BTreeMap<String, usize>>,
    /// Number of devices by trait, `f32.subnormal_results`, and value; at run time.
    pub traits: BTreeMap<String, BTreeMap<String, usize>>,
}

/// Devices with equal results.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SharedBehaviour {
    /// The devices.
    pub devices: Vec<InventoryDevice>,
    /// Whether fewer than half of the devices that ran one of these kernels gave its result:
    /// defective, overclocked, or of other firmware.
    pub minority: bool,
    /// Where they differ from most; empty for the most common behaviour.
    pub differences: Vec<KernelDifference>,
}

/// A device of a host.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
pub struct InventoryDevice {
    /// The host's label, or its id where it has none.
    pub host: String,
    /// The host's tags.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// Place of the device in its host.
    pub slot: String,
    /// When it was measured, RFC 3339, UTC.
    pub measured: String,
    /// The report.
    pub file: String,
    /// The class by profile.
    pub classes: Arc<BTreeMap<String, Class>>,
}

impl InventoryDevice {
    /// The host with its tags, by which people find it: `node-17 (rack=b2)`.
    pub fn place(&self) -> String {
        if self.tags.is_empty() {
            return self.host.clone();
        }
        let tags: Vec<String> =
            self.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{} ({})", self.host, tags.join(" "))
    }
}

/// A kernel of which some devices have other results than most.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct KernelDifference {
    /// Kernel id.
    pub kernel: String,
    /// Number of devices of the group with the most common results.
    pub most: usize,
    /// The first lane that differs; absent beyond the first 64 kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<DifferingLane>,
    /// Where one of the two has no results: how it ended here, and where most have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<[String; 2]>,
}

/// One lane of two devices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct DifferingLane {
    /// Operands.
    #[serde(rename = "in")]
    pub inputs: Vec<Value>,
    /// The result here.
    pub out: Value,
    /// The result of most.
    pub most: Value,
    /// Number of cases that differ.
    pub cases: usize,
}

/// A model that is found under several drivers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ModelDrivers {
    /// Device name.
    pub model: String,
    /// Number of devices by driver.
    pub drivers: BTreeMap<String, usize>,
    /// The devices under each driver that fewer than half of them have.
    pub few: BTreeMap<String, Vec<String>>,
}

/// A device whose results changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ChangedDevice {
    /// The host's label, or its id.
    pub host: String,
    /// Device name.
    pub model: String,
    /// The driver of the last report before the date, and of the newest.
    pub drivers: [String; 2],
    /// When both were measured.
    pub measured: [String; 2],
    /// Kernels with other results, of those that both measured by the same cases.
    pub kernels: Vec<String>,
}

/// A device that was not measured for long.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct OutdatedDevice {
    /// The host's label, or its id.
    pub host: String,
    /// Device name.
    pub model: String,
    /// When it was measured last.
    pub measured: String,
}

/// A file that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct UnreadableFile {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub error: String,
}

impl Inventory {
    /// Minorities among equals, with their group.
    pub fn minorities(&self) -> impl Iterator<Item = (&EqualDevices, &SharedBehaviour)> {
        let of = |group| Self::behaviours(group).filter(|(_, behaviour)| behaviour.minority);
        self.groups.iter().flat_map(of)
    }

    fn behaviours(group: &EqualDevices) -> impl Iterator<Item = (&EqualDevices, &SharedBehaviour)> {
        group.behaviours.iter().map(move |behaviour| (group, behaviour))
    }
}
