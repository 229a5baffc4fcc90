//! Fingerprints: the digests of all blocks, in a file of their own.
//!
//! A line that names the format, a line with a sum that shows what is inside ([`Head`] as JSON),
//! and one zstd frame. Unpacked that holds, kernel by kernel, a bit for each block (block 0 is the
//! lowest of the first byte; set: it was asked) and for each block that was asked its three sums,
//! 32 bits each, little end first.

use std::io;

use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::Domain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Blocks;
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
    /// Of each block its sums; `None` where it was not run, or gave others each time.
    pub blocks: Vec<Option<[u32; 3]>>,
    /// Blocks that did not give the same sums each time; those that most runs gave are in
    /// `blocks`.
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintEntry {
    device: FingerprintDevice,
    kernel: String,
    /// Blocks of the kernel.
    blocks: u64,
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
    #[error("{0}")]
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
        let blocks = vec![None; domain.blocks() as usize];
        Print { device, domain, blocks, unstable: Blocks::default() }
    }

    /// The blocks that were asked.
    pub fn measured(&self) -> Blocks {
        (0..).zip(&self.blocks).filter(|(_, sums)| sums.is_some()).map(|(block, _)| block).collect()
    }

    /// SHA-256 over all digests and what they are of, hex; `None` unless every block was asked.
    pub fn root(&self, normalise_nan: bool) -> Option<String> {
        let sums: Option<Vec<[u32; 3]>> = self.blocks.iter().copied().collect();
        let kernel = self.domain.kernel();
        let head = format!("{MAGIC}{kernel} {} {normalise_nan}\n", self.domain.block());
        let mut hash = Sha256::new().chain_update(head);
        sums?.iter().flatten().for_each(|word| hash.update(word.to_le_bytes()));
        Some(format!("{:x}", hash.finalize()))
    }

    /// Blocks that both have asked, and those of them that differ.
    pub fn compare(&self, other: &Print) -> (u64, Blocks) {
        let both = || {
            (0..)
                .zip(self.blocks.iter().zip(&other.blocks))
                .filter(|(_, (a, b))| a.is_some() && b.is_some())
        };
        (
            both().count() as u64,
            both().filter(|(_, (a, b))| a != b).map(|(block, _)| block).collect(),
        )
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
            let set = |bits: &[Option<[u32; 3]>]| {
                bits.iter().rev().fold(0_u8, |byte, sums| byte << 1 | u8::from(sums.is_some()))
            };
            body.extend(print.blocks.chunks(8).map(set));
            body.extend(
                print.blocks.iter().flatten().flatten().flat_map(|word| word.to_le_bytes()),
            );
        }
        let entry = |print: &Print| PrintEntry {
            device: print.device.clone(),
            kernel: print.domain.kernel().to_string(),
            blocks: print.domain.blocks(),
            measured: print.measured().count(),
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
        for PrintEntry { device, kernel, blocks, measured: asked, unstable } in &head.prints {
            let of = kernel
                .parse::<Kernel>()
                .map_err(|error| FingerprintError::Head(error.to_string()))?;
            let domain =
                Domain::of(&of).map_err(|error| FingerprintError::Head(error.to_string()))?;
            if domain.blocks() != *blocks || asked > blocks {
                return Err(FingerprintError::Head(format!(
                    "{kernel} has {} blocks, not {blocks}",
                    domain.blocks()
                )));
            }
            room += blocks.div_ceil(8) + asked * SUMS as u64;
            length += blocks * size_of::<Option<[u32; 3]>>() as u64;
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
            fill(&mut body, &mut print.blocks)
                .ok_or_else(|| FingerprintError::Content("it ends too early".into()))?;
        }
        if !body.is_empty() {
            return Err(FingerprintError::Content(format!("{} bytes follow its end", body.len())));
        }
        Ok(Fingerprint { normalise_nan: head.normalise_nan, prints })
    }

    /// Reads a file.
    pub fn read(path: &std::path::Path) -> Result<Fingerprint, FingerprintError> {
        Fingerprint::unpack(&crate::limited::bytes(path, LIMIT)?)
    }
}

/// Takes the blocks of one kernel from the front of `body`.
fn fill(body: &mut &[u8], blocks: &mut [Option<[u32; 3]>]) -> Option<()> {
    let (bits, after) = body.split_at_checked(blocks.len().div_ceil(8))?;
    *body = after;
    let asked = |number: usize| bits[number / 8] >> (number % 8) & 1 == 1;
    for (_, block) in blocks.iter_mut().enumerate().filter(|(number, _)| asked(*number)) {
        let (own, after) = body.split_at_checked(SUMS)?;
        *body = after;
        let word =
            |at: usize| Some(u32::from_le_bytes(own.get(4 * at..4 * at + 4)?.try_into().ok()?));
        *block = Some([word(0)?, word(1)?, word(2)?]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(id: &str) -> Print {
        let [key, slot, name, driver] = ["k", "cpu:1", "Device", "Driver 1"].map(str::to_owned);
        let domain = Domain::of(&id.parse().unwrap()).unwrap();
        Print::new(FingerprintDevice { key, slot, name, driver }, domain)
    }

    fn sample() -> Fingerprint {
        let (mut whole, mut part) = (print("f16.sin"), print("f32.sqrt"));
        whole.blocks[0] = Some([1, 2, 3]);
        for block in [0, 7, 8, 4095] {
            part.blocks[block] = Some([block as u32; 3]);
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
    fn what_differs_is_named() {
        let old = sample().prints.remove(1);
        let mut new = old.clone();
        new.blocks[7] = Some([1, 2, 3]);
        new.blocks[8] = None;
        let (compared, changed) = new.compare(&old);
        assert_eq!((compared, changed.ranges()), (3, &[[7, 1]][..]));
    }

    #[test]
    fn more_than_any_fingerprint_has_is_refused_before_it_takes_room() {
        let many = Fingerprint { normalise_nan: false, prints: vec![print("f32.sqrt"); 5000] };
        let error = Fingerprint::unpack(&many.pack().unwrap()).unwrap_err().to_string();
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
