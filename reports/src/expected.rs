//! What devices are expected to compute: digests of the results of kernels, for each model and
//! driver.
//!
//! A digest holds the kernel, its cases and its results, so that equal digests are equal results of
//! equal cases. A NaN counts as one whatever its bits, which may differ from run to run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fpprobe_profiles::encoding::{Encoding, PartReader};
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::Domain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::model::Identity;
use crate::{limited, sum};

/// The value of `schema`.
pub const SCHEMA: &str = "fpprobe-expected/1";

/// Longest file that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// Bytes of a digest that are kept.
const KEPT: usize = 8;

/// What `fpprobe gate --record` and `fpprobe inventory --consensus` write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Expected results")]
pub struct Expected {
    #[schemars(extend("const" = SCHEMA))]
    schema: String,
    /// Version of the program, which decides what cases kernels are run on.
    pub program: String,
    /// One for each model and driver.
    pub devices: Vec<ExpectedDevice>,
}

/// The results of one model under one driver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDevice {
    /// Which devices it is about.
    pub model: ModelKey,
    /// The digest of each kernel's results: 16 hex digits.
    pub kernels: BTreeMap<String, String>,
    /// The digests of blocks of whole domains, by kernel.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<String, BlockDigests>,
}

/// The sums of blocks by their numbers: 24 hex digits.
pub type BlockDigests = BTreeMap<u64, String>;

/// What equal devices have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelKey {
    /// `deviceName`.
    pub name: String,
    /// `vendorID`.
    pub vendor_id: u32,
    /// `deviceID`.
    pub device_id: u32,
    /// For CPU devices: model and instruction-set flags of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// `driverName`.
    pub driver: String,
    /// `driverVersion`, decoded where the vendor's scheme is known, else as a number.
    pub driver_version: String,
    /// `driverInfo`.
    pub driver_info: String,
}

/// Why there are no expectations.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    /// The file cannot be read.
    #[error("failed to read {}: {error}{}", path.display(), limited::advice(error, "`fpprobe gate --record --expect FILE` makes it"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is something else.
    #[error("{}: these are no expected results: {reason}; `fpprobe gate --record --expect FILE` makes them", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Expected {
    /// Of no device yet.
    pub fn of_none(program: &str) -> Expected {
        Expected { schema: SCHEMA.to_owned(), program: program.to_owned(), devices: Vec::new() }
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Expected, ExpectedError> {
        let bytes = limited::bytes(path, LONGEST)
            .map_err(|error| ExpectedError::Unreadable { path: path.to_owned(), error })?;
        let malformed = |reason: String| ExpectedError::Malformed { path: path.to_owned(), reason };
        let expected: Expected =
            serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        if expected.schema != SCHEMA {
            return Err(malformed(format!("`schema` is `{}`, not `{SCHEMA}`", expected.schema)));
        }
        // What is not compared would pass unnoticed.
        let mut kernels = expected.devices.iter().flat_map(|device| device.kernels.keys());
        if let Some(unknown) = kernels.find(|id| id.parse::<Kernel>().is_err()) {
            return Err(malformed(format!("there is no kernel `{unknown}`")));
        }
        for (id, blocks) in expected.devices.iter().flat_map(|device| &device.blocks) {
            let domain = id.parse().ok().and_then(|kernel| Domain::of(&kernel).ok());
            let domain =
                domain.ok_or_else(|| malformed(format!("there are no blocks of `{id}`")))?;
            if let Some(beyond) = blocks.keys().find(|block| **block >= domain.blocks()) {
                return Err(malformed(format!("`{id}` has no block {beyond}")));
            }
        }
        Ok(expected)
    }

    /// What is expected of a device.
    pub fn of(&self, device: &Identity) -> Option<&ExpectedDevice> {
        let model = ModelKey::of(device);
        self.devices.iter().find(|known| known.model == model)
    }

    /// Takes the place of what was expected of the same model and driver.
    pub fn put(&mut self, device: ExpectedDevice) {
        self.devices.retain(|known| known.model != device.model);
        self.devices.push(device);
        self.devices.sort_by(|one, other| one.model.cmp(&other.model));
    }
}

impl ModelKey {
    /// Of a device.
    pub fn of(device: &Identity) -> ModelKey {
        let driver = &device.driver;
        ModelKey {
            name: device.name.clone(),
            vendor_id: device.vendor_id,
            device_id: device.device_id,
            cpu: device.cpu.clone(),
            driver: driver.name.clone(),
            driver_version: driver.version.clone(),
            driver_info: driver.info.clone(),
        }
    }
}

impl ExpectedDevice {
    /// Of a device, with the digests that every one of these passes gives alike.
    pub fn new(device: &Identity, passes: &[Vec<Observation>]) -> ExpectedDevice {
        let digests = |pass: &Vec<Observation>| -> BTreeMap<String, String> {
            pass.iter().filter_map(|one| Some((one.kernel.to_string(), digest(one)?))).collect()
        };
        let mut passes = passes.iter().map(digests);
        let mut kernels = passes.next().unwrap_or_default();
        for other in passes {
            kernels.retain(|kernel, digest| other.get(kernel) == Some(digest));
        }
        ExpectedDevice { model: ModelKey::of(device), kernels, blocks: BTreeMap::new() }
    }
}

/// The digest of a kernel's results; `None` where there are none, or where two runs differ other
/// than in the bits of NaNs.
pub fn digest(observation: &Observation) -> Option<String> {
    if !matches!(observation.outcome, Outcome::Ran | Outcome::Flaky) {
        return None;
    }
    let mut digests = observation.runs().map(|results| digest_of_run(observation, results));
    let first = digests.next()?;
    digests.all(|other| other == first).then_some(first)
}

/// The digest of the results of one run.
pub fn digest_of_run(observation: &Observation, results: &[u64]) -> String {
    let reader = PartReader::new(&observation.kernel);
    let mut hash = Sha256::new();
    hash.update(observation.kernel.to_string());
    for (case, operands) in observation.cases.iter().enumerate() {
        for operand in operands {
            hash.update(operand.to_le_bytes());
        }
        quiet(&observation.kernel, &reader, results, case)
            .for_each(|bits| hash.update(bits.to_le_bytes()));
    }
    sum::hex(&hash.finalize()[..KEPT])
}

/// The first case whose results differ between two runs of a kernel, and how many do.
pub fn first_difference(
    observation: &Observation,
    one: &[u64],
    other: &[u64],
) -> Option<(usize, usize)> {
    let (kernel, reader) = (&observation.kernel, PartReader::new(&observation.kernel));
    let differs =
        |case: &usize| quiet(kernel, &reader, one, *case).ne(quiet(kernel, &reader, other, *case));
    let differing: Vec<usize> = (0..observation.cases.iter().count()).filter(differs).collect();
    Some((*differing.first()?, differing.len()))
}

/// The results of a case, with every NaN as the same.
fn quiet(
    kernel: &Kernel,
    reader: &PartReader,
    results: &[u64],
    case: usize,
) -> impl Iterator<Item = u64> {
    Encoding::of_result(kernel).into_iter().enumerate().map(move |(part, encoding)| {
        let bits = reader.part(results, case, part);
        match encoding {
            Encoding::Float(layout) if layout.is_nan(bits) => {
                layout.infinity() | layout.quiet_bit()
            }
            _ => bits,
        }
    })
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Cases;

    use super::*;

    const DEVICE: &str = r#"{
        "key": "k", "slot": "s", "name": "n", "type": "cpu", "vendor_id": 1, "device_id": 2, "device_uuid": "",
        "driver": {
            "id": 0, "name": "d", "info": "", "version": "1", "api_version": "1.3.0", "uuid": "",
            "pipeline_cache_uuid": "", "manifest": "", "library": "", "build_id": ""
        }
    }"#;

    fn observed(kernel: &str, cases: &[u64], out: &[u64], second: Option<&[u64]>) -> Observation {
        let kernel: Kernel = kernel.parse().unwrap();
        let cases = Cases::new("few", kernel.arity(), cases);
        let outcome = if second.is_some() { Outcome::Flaky } else { Outcome::Ran };
        Observation {
            kernel,
            cases,
            outcome,
            detail: String::new(),
            out: out.into(),
            second: second.map(Into::into),
        }
    }

    #[test]
    fn bits_count_and_those_of_nans_do_not() {
        let sum = |out| digest(&observed("f32.fadd", &[1, 2], &[out], None));
        assert_ne!(sum(3), sum(4));
        assert_ne!(sum(0), sum(0x8000_0000));
        assert_eq!(sum(0x7fc0_0000), sum(0xffc0_0001));
        assert_ne!(sum(0x7fc0_0000), sum(0x7f80_0000));
        assert_ne!(sum(3), digest(&observed("f32.fadd", &[1, 3], &[3], None)), "other operands");
        assert_ne!(sum(3), digest(&observed("f32.fsub", &[1, 2], &[3], None)), "another kernel");
        // Integers have no NaN.
        let integer = |out| digest(&observed("f32.convert_f_to_s", &[1], &[out], None));
        assert_ne!(integer(0x7fc0_0000), integer(0xffc0_0001));
    }

    #[test]
    fn what_differs_from_run_to_run_has_no_digest() {
        let twice =
            |first, second| digest(&observed("f32.fadd", &[1, 2], &[first], Some(&[second])));
        assert_eq!(twice(3, 4), None);
        assert!(twice(0x7fc0_0000, 0x7fc0_0001).is_some());
        let lacking = Observation {
            outcome: Outcome::Unsupported,
            ..observed("f32.fadd", &[1, 2], &[], None)
        };
        assert_eq!(digest(&lacking), None);
    }

    #[test]
    fn kernels_that_passes_disagree_on_are_not_expected() {
        let device: Identity = serde_json::from_str(DEVICE).unwrap();
        let (sum, product) =
            (observed("f32.fadd", &[1, 2], &[3], None), observed("f32.fmul", &[1, 2], &[0], None));
        let other = observed("f32.fmul", &[1, 2], &[1], None);
        let expected =
            ExpectedDevice::new(&device, &[vec![sum.clone(), product], vec![other, sum]]);
        assert_eq!(expected.kernels.keys().collect::<Vec<_>>(), ["f32.fadd"]);
        let mut all = Expected::of_none("1");
        all.put(expected.clone());
        all.put(ExpectedDevice { kernels: BTreeMap::new(), ..expected });
        assert_eq!((all.devices.len(), all.of(&device).unwrap().kernels.len()), (1, 0));
    }
}
