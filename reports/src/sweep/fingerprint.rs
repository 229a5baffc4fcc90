//! Fingerprints: the digests of all blocks, in a file of their own. The blocks of a bundle
//! ([`Domain::bundle`]) have one digest, the sum of theirs; elsewhere each block is a bundle.
//!
//! A line that names the format, a line with a sum that shows what is inside ([`Head`] as JSON),
//! and one zstd frame. Unpacked that holds, kernel by kernel, a bit for each bundle (bundle 0 is
//! the lowest of the first byte; set: it was asked) and for each bundle that was asked its three
//! sums, 32 bits each, little end first.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::Domain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Blocks;
use crate::limited::{self, ReadFile};
use crate::model::Identity;
use crate::sum::{self, digest};

/// The first line.
const MAGIC: &str = "fpprobe-fingerprint/1\n";
/// How it begins, whatever the version.
const FAMILY: &str = "fpprobe-fingerprint/";
/// Most bytes of a file, and of what is in it.
const LIMIT: u64 = 256 << 20;
/// Of zstd; digests do not shrink, whatever the level.
const LEVEL: i32 = 3;
/// Bytes of a block's sums.
const SUMS: usize = 12;

/// Digests of blocks, by device and kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fingerprint {
    /// Whether every NaN counts as the same.
    pub normalise_nan: bool,
    /// Each device's kernels.
    pub prints: Vec<Print>,
}

/// A device, as far as a fingerprint has to know it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FingerprintDevice {
    /// Its key.
    pub key: String,
    /// Its slot.
    pub slot: String,
    /// Its name.
    pub name: String,
    /// Its driver, as the driver calls itself.
    pub driver: String,
}

/// The digests of one kernel on one device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Print {
    /// The device.
    pub device: FingerprintDevice,
    /// The kernel.
    pub domain: Domain,
    /// The sums of each bundle of blocks that ran and did not give others each time.
    pub bundles: BTreeMap<u64, [u32; 3]>,
    /// Bundles that did not give the same sums each time; those that most runs gave are in
    /// `bundles`.
    pub unstable: Blocks,
}

/// What a file says of itself.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FingerprintHead {
    normalise_nan: bool,
    prints: Vec<PrintEntry>,
    /// SHA-256 of what is unpacked.
    digest: String,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintEntry {
    device: FingerprintDevice,
    kernel: String,
    /// Bundles of the kernel's blocks.
    #[serde(rename = "blocks")]
    bundles: u64,
    /// How many of them were asked.
    #[serde(rename = "asked")]
    measured: u64,
    /// Which did not give the same sums each time.
    #[serde(default, skip_serializing_if = "Blocks::is_empty")]
    unstable: Blocks,
}

/// Why bytes are no fingerprint.
#[derive(Debug, thiserror::Error)]
pub enum FingerprintError {
    /// The system's own word.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// Another kind of file.
    #[error(
        "it does not begin as a fingerprint does (`fpprobe sweep --fingerprint -o PATH` writes one)"
    )]
    Foreign,
    /// Made by a newer program.
    #[error("a newer fpprobe wrote it (`{0}`); use that version (the file is left as it is)")]
    Newer(String),
    /// The second line does not say what is inside.
    #[error("its head is damaged: {0}")]
    Head(String),
    /// The compressed part does not unpack to what the head says.
    #[error("its content is damaged: {0}")]
    Content(String),
}

impl From<&Identity> for FingerprintDevice {
    fn from(identity: &Identity) -> FingerprintDevice {
        let driver = &identity.driver;
        FingerprintDevice {
            key: identity.key.clone(),
            slot: identity.slot.clone(),
            name: identity.name.clone(),
            driver: if driver.info.is_empty() { driver.name.clone() } else { driver.info.clone() },
        }
    }
}

impl Print {
    /// A kernel of which no block was asked.
    pub fn new(device: FingerprintDevice, domain: Domain) -> Print {
        Print { device, domain, bundles: BTreeMap::new(), unstable: Blocks::default() }
    }

    /// The bundles that were asked.
    pub fn measured(&self) -> Blocks {
        self.bundles.keys().copied().collect()
    }

    /// SHA-256 over all digests and what they are of, hex; `None` unless every block was asked.
    pub fn root(&self, normalise_nan: bool) -> Option<String> {
        let is_whole = self.bundles.len() as u64 == self.domain.bundles();
        let (kernel, inputs) = (self.domain.kernel(), self.domain.block() * self.domain.bundle());
        let head = format!("{MAGIC}{kernel} {inputs} {normalise_nan}\n");
        let mut hash = Sha256::new().chain_update(head);
        self.bundles.values().flatten().for_each(|word| hash.update(word.to_le_bytes()));
        is_whole.then(|| format!("{:x}", hash.finalize()))
    }

    /// How many bundles both have asked, and which of them differ.
    pub fn compare(&self, other: &Print) -> (u64, Blocks) {
        let both = || {
            let own = self.bundles.iter();
            own.filter_map(|(bundle, sums)| Some((*bundle, sums, other.bundles.get(bundle)?)))
        };
        let differing = both().filter(|(_, one, two)| one != two).map(|(bundle, ..)| bundle);
        (both().count() as u64, differing.collect())
    }
}

impl Fingerprint {
    /// The digests of a kernel: of this device under this driver, or else of the only one in its
    /// slot, or else of the only one that has them. Which of several drivers of a slot was
    /// updated is not known here.
    pub fn of(&self, device: &Identity, kernel: &Kernel) -> Option<&Print> {
        let all = || self.prints.iter().filter(|print| print.domain.kernel() == kernel);
        let in_slot = || all().filter(|print| print.device.slot == device.slot);
        match (all().find(|print| print.device.key == device.key), in_slot().count()) {
            (Some(own), _) => Some(own),
            (None, 0) => all().next().filter(|_| all().count() == 1),
            (None, 1) => in_slot().next(),
            (None, _) => None,
        }
    }

    /// As the bytes of a file.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        for print in &self.prints {
            let start = body.len();
            body.resize(start + print.domain.bundles().div_ceil(8) as usize, 0);
            for bundle in print.bundles.keys() {
                body[start + *bundle as usize / 8] |= 1 << (bundle % 8);
            }
            body.extend(print.bundles.values().flatten().flat_map(|word| word.to_le_bytes()));
        }
        let entry = |print: &Print| PrintEntry {
            device: print.device.clone(),
            kernel: print.domain.kernel().to_string(),
            bundles: print.domain.bundles(),
            measured: print.bundles.len() as u64,
            unstable: print.unstable.clone(),
        };
        let prints = self.prints.iter().map(entry).collect();
        let head =
            FingerprintHead { normalise_nan: self.normalise_nan, prints, digest: digest(&body) };
        let mut packed = MAGIC.as_bytes().to_vec();
        packed.extend(sum::line(&serde_json::to_string(&head)?).into_bytes());
        packed.extend(zstd::bulk::compress(&body, LEVEL)?);
        Ok(packed)
    }

    /// From the bytes of a file.
    pub fn unpack(bytes: &[u8]) -> Result<Fingerprint, FingerprintError> {
        let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
            let line: String = String::from_utf8_lossy(&bytes[..bytes.len().min(40)])
                .lines()
                .next()
                .unwrap_or("")
                .into();
            return Err(if bytes.starts_with(FAMILY.as_bytes()) {
                FingerprintError::Newer(line)
            } else {
                FingerprintError::Foreign
            });
        };
        let short = || FingerprintError::Head("it ends too early".into());
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(short)?;
        let head = sum::body(&rest[..end])
            .ok_or_else(|| FingerprintError::Head("it is not what was written".into()))?;
        let head: FingerprintHead = serde_json::from_str(head)
            .map_err(|error| FingerprintError::Head(error.to_string()))?;
        let mut prints: Vec<Print> = Vec::new();
        let (mut room, mut length) = (0, 0);
        for PrintEntry { device, kernel, bundles, measured: asked, unstable } in &head.prints {
            let of = kernel
                .parse::<Kernel>()
                .map_err(|error| FingerprintError::Head(error.to_string()))?;
            let domain =
                Domain::vast(&of).map_err(|error| FingerprintError::Head(error.to_string()))?;
            if domain.bundles() != *bundles || asked > bundles {
                return Err(FingerprintError::Head(format!(
                    "{kernel} has {} blocks, not {bundles}",
                    domain.bundles()
                )));
            }
            room += bundles.div_ceil(8) + asked * SUMS as u64;
            length += asked * 2 * SUMS as u64;
            if room.max(length) > LIMIT {
                return Err(FingerprintError::Head(format!(
                    "it promises {length} bytes of sums, more than any fingerprint has"
                )));
            }
            prints.push(Print { unstable: unstable.clone(), ..Print::new(device.clone(), domain) });
        }
        let body = zstd::bulk::decompress(&rest[end + 1..], room as usize)
            .map_err(|error| FingerprintError::Content(error.to_string()))?;
        if digest(&body) != head.digest {
            return Err(FingerprintError::Content("the digest differs".into()));
        }
        let mut body = body.as_slice();
        for print in &mut prints {
            fill(&mut body, print)
                .ok_or_else(|| FingerprintError::Content("it ends too early".into()))?;
        }
        if !body.is_empty() {
            return Err(FingerprintError::Content(format!("{} bytes follow its end", body.len())));
        }
        Ok(Fingerprint { normalise_nan: head.normalise_nan, prints })
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Fingerprint, FingerprintError> {
        Fingerprint::read_by(path, &limited::bytes)
    }

    /// Reads a file by this function.
    pub fn read_by(path: &Path, read: &ReadFile) -> Result<Fingerprint, FingerprintError> {
        Fingerprint::unpack(&read(path, LIMIT)?)
    }
}

/// Takes the bundles of one kernel from the front of `body`.
fn fill(body: &mut &[u8], print: &mut Print) -> Option<()> {
    let count = print.domain.bundles();
    let (bits, after) = body.split_at_checked(count.div_ceil(8) as usize)?;
    *body = after;
    for bundle in (0..count).filter(|bundle| bits[*bundle as usize / 8] >> (bundle % 8) & 1 == 1) {
        let (own, after) = body.split_at_checked(SUMS)?;
        *body = after;
        let word =
            |at: usize| Some(u32::from_le_bytes(own.get(4 * at..4 * at + 4)?.try_into().ok()?));
        print.bundles.insert(bundle, [word(0)?, word(1)?, word(2)?]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(id: &str) -> Print {
        let [key, slot, name, driver] = ["k", "cpu:1", "Device", "Driver 1"].map(str::to_owned);
        let domain = Domain::vast(&id.parse().unwrap()).unwrap();
        Print::new(FingerprintDevice { key, slot, name, driver }, domain)
    }

    fn sample() -> Fingerprint {
        let (mut whole, mut part) = (print("f16.sin"), print("f32.sqrt"));
        whole.bundles.insert(0, [1, 2, 3]);
        for block in [0, 7, 8, 4095] {
            part.bundles.insert(block, [block as u32; 3]);
        }
        part.unstable = [8].into_iter().collect();
        Fingerprint { normalise_nan: true, prints: vec![whole, part] }
    }

    #[test]
    fn a_fingerprint_comes_back_and_has_a_root_where_it_is_whole() {
        let fingerprint = sample();
        assert_eq!(Fingerprint::unpack(&fingerprint.pack().unwrap()).unwrap(), fingerprint);
        let [whole, part] = &fingerprint.prints[..] else { panic!() };
        assert_ne!(whole.root(false), whole.root(true));
        assert_eq!((whole.root(true).unwrap().len(), part.root(true)), (64, None));
        assert_eq!(part.measured().ranges(), [[0, 1], [7, 2], [4095, 1]]);
    }

    #[test]
    fn a_fingerprint_of_a_vast_domain_is_as_small() {
        let mut vast = print("f16.fma");
        assert_eq!(vast.domain.bundles(), 1 << 20);
        vast.bundles = (0..1 << 20).map(|bundle| (bundle, [5; 3])).collect();
        assert!(vast.root(false).is_some());
        vast.bundles.split_off(&7);
        let fingerprint = Fingerprint { normalise_nan: false, prints: vec![vast] };
        let packed = fingerprint.pack().unwrap();
        assert_eq!(Fingerprint::unpack(&packed).unwrap(), fingerprint);
        assert!(packed.len() < 1000, "{}", packed.len());
    }

    #[test]
    fn what_differs_is_named() {
        let old = sample().prints.remove(1);
        let mut new = old.clone();
        new.bundles.insert(7, [1, 2, 3]);
        new.bundles.remove(&8);
        let (compared, changed) = new.compare(&old);
        assert_eq!((compared, changed.ranges()), (3, &[[7, 1]][..]));
    }

    #[test]
    fn more_than_any_fingerprint_has_is_refused_before_it_takes_room() {
        let entry = PrintEntry {
            device: print("f16.fma").device,
            kernel: "f16.fma".to_owned(),
            bundles: 1 << 20,
            measured: 1 << 20,
            unstable: Blocks::default(),
        };
        let prints = std::iter::repeat_n(entry, 30).collect();
        let head = FingerprintHead { normalise_nan: false, prints, digest: String::new() };
        let text = sum::line(&serde_json::to_string(&head).unwrap());
        let bytes = [MAGIC.as_bytes(), text.as_bytes()].concat();
        let error = Fingerprint::unpack(&bytes).unwrap_err().to_string();
        assert!(error.contains("more than any fingerprint has"), "{error}");
    }

    #[test]
    fn damage_is_reported() {
        let good = sample().pack().unwrap();
        let error_of = |bytes: &[u8]| Fingerprint::unpack(bytes).unwrap_err().to_string();
        assert!(error_of(b"{}").contains("does not begin"));
        assert!(error_of(b"fpprobe-fingerprint/2\n").contains("newer fpprobe"));
        for place in MAGIC.len()..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            assert!(Fingerprint::unpack(&bad).is_err(), "{place}");
            assert!(Fingerprint::unpack(&good[..place]).is_err(), "{place}");
        }
    }
}
