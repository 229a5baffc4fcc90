//! The parts of a sweep put together: the same document, byte for byte, as if one process had asked
//! everything.

use super::{Fingerprint, Print, Sweep, SweptDevice, SweptKernel};
use crate::expected::ModelKey;
use crate::model::Host;

/// Why parts do not go together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("there are no parts")]
    Nothing,
    /// They were made by different programs, on different machines, or with different options.
    #[error("parts 1 and {part} cannot be merged: their {what} differ")]
    Differ {
        /// Number of the part, from 1.
        part: usize,
        /// In what.
        what: &'static str,
    },
    /// Two parts have asked the same.
    #[error(
        "part {part} has asked block {block} of {kernel} again: the parts of a sweep have no block in common"
    )]
    Twice {
        /// Number of the part, from 1.
        part: usize,
        /// The kernel.
        kernel: String,
        /// The block.
        block: u64,
    },
    /// Two parts have other digests of the same blocks.
    #[error(
        "part {part} has another digest of block {block} of {kernel} than a part before it: the device gave other results, or a file is damaged"
    )]
    Disagree {
        /// Number of the part, from 1.
        part: usize,
        /// The kernel.
        kernel: String,
        /// The first of the blocks.
        block: u64,
    },
    /// A report has no digests of the blocks that it lists.
    #[error(
        "part {part} has no digests of the blocks of {kernel} that it lists: its `.fingerprint` file is missing, or is of another report"
    )]
    Unfounded {
        /// Number of the part, from 1.
        part: usize,
        /// The kernel.
        kernel: String,
    },
}

impl MergeError {
    /// Number of the part that it is about, from 1.
    pub fn part(&self) -> Option<usize> {
        match self {
            MergeError::Nothing => None,
            MergeError::Differ { part, .. }
            | MergeError::Twice { part, .. }
            | MergeError::Disagree { part, .. }
            | MergeError::Unfounded { part, .. } => Some(*part),
        }
    }
}

/// What is merged beside parts of one host that have no block in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MergeOptions {
    /// Parts of several hosts, whose devices are of one model under one driver.
    pub across_hosts: bool,
    /// Parts that repeat blocks: their digests must be the same. What was judged is left out where
    /// all of it is known.
    pub repeats: bool,
}

/// Merges reports with their fingerprints, one after the other: no two of them are in memory.
pub fn merge<E: From<MergeError>>(
    parts: impl IntoIterator<Item = Result<(Sweep, Fingerprint), E>>,
    options: MergeOptions,
) -> Result<(Sweep, Fingerprint), E> {
    let mut parts = (1..).zip(parts);
    let (part, first) = parts.next().ok_or(MergeError::Nothing)?;
    let (mut sweep, mut fingerprint) = first?;
    is_founded(&sweep, &fingerprint, part)?;
    let mut is_of_several = false;
    for (part, other) in parts {
        let (other, prints) = other?;
        is_founded(&other, &prints, part)?;
        is_of_several |= other.host != sweep.host;
        add((&mut sweep, &mut fingerprint), (other, prints), part, options)?;
    }
    if is_of_several {
        sweep.host = Host::of_several();
    }
    // What another part made up for is missing no more.
    for kernel in sweep.devices.iter_mut().flat_map(|device| &mut device.kernels) {
        if kernel.measured.count() * kernel.block == kernel.inputs {
            kernel.incomplete.clear();
        }
    }
    let roots = |print: &Print| print.root(fingerprint.normalise_nan);
    for device in &mut sweep.devices {
        for kernel in &mut device.kernels {
            let of = |print: &&Print| {
                print.device.key == device.identity.key
                    && print.domain.kernel().to_string() == kernel.kernel
            };
            kernel.root = fingerprint.prints.iter().find(of).and_then(roots);
        }
    }
    Ok((sweep, fingerprint))
}

/// Whether the blocks of every kernel that was not judged have digests.
fn is_founded(sweep: &Sweep, fingerprint: &Fingerprint, part: usize) -> Result<(), MergeError> {
    for device in &sweep.devices {
        let kernels = device.kernels.iter();
        for kernel in kernels.filter(|one| one.verified.is_none() && !one.measured.is_empty()) {
            let of = |print: &&Print| {
                print.device.key == device.identity.key
                    && print.domain.kernel().to_string() == kernel.kernel
            };
            let print = fingerprint.prints.iter().find(of);
            let blocks = print.map(|print| print.measured().of_bundles(print.domain.bundle()));
            if blocks.as_ref() != Some(&kernel.measured) {
                return Err(MergeError::Unfounded { part, kernel: kernel.kernel.clone() });
            }
        }
    }
    Ok(())
}

/// Adds a part.
fn add(
    (sweep, fingerprint): (&mut Sweep, &mut Fingerprint),
    (other, prints): (Sweep, Fingerprint),
    part: usize,
    options: MergeOptions,
) -> Result<(), MergeError> {
    let differ = |what| Err(MergeError::Differ { part, what });
    if sweep.program != other.program {
        return differ("programs");
    }
    let is_merged = other.host == Host::of_several();
    if !options.across_hosts && (sweep.host != other.host || is_merged) {
        return differ("machines (--across-hosts merges those of equal devices)");
    }
    if (sweep.normalise_nan, &sweep.profiles) != (other.normalise_nan, &other.profiles) {
        return differ("options");
    }
    if sweep.devices.len() != other.devices.len() {
        return differ("devices");
    }
    if fingerprint.prints.len() != prints.prints.len() {
        return differ("fingerprints (is a `.fingerprint` file missing beside a report?)");
    }
    for (own, other) in sweep.devices.iter_mut().zip(other.devices) {
        device(own, other, part, options)?;
    }
    for incident in other.incomplete {
        if !sweep.incomplete.contains(&incident) {
            sweep.incomplete.push(incident);
        }
    }
    for (own, other) in fingerprint.prints.iter_mut().zip(prints.prints) {
        // Their devices were compared above.
        if own.device.name != other.device.name || own.domain != other.domain {
            return differ("devices or kernels");
        }
        print(own, other, part)?;
    }
    Ok(())
}

fn device(
    own: &mut SweptDevice,
    other: SweptDevice,
    part: usize,
    options: MergeOptions,
) -> Result<(), MergeError> {
    let is_same = if options.across_hosts {
        ModelKey::of(&own.identity) == ModelKey::of(&other.identity)
    } else {
        own.identity == other.identity
    };
    if !is_same || own.taint != other.taint {
        return Err(MergeError::Differ { part, what: "devices" });
    }
    let names = |device: &SweptDevice| {
        device.kernels.iter().map(|kernel| kernel.kernel.clone()).collect::<Vec<_>>()
    };
    if names(own) != names(&other) {
        return Err(MergeError::Differ { part, what: "kernels" });
    }
    let mut pairs = own.kernels.iter_mut().zip(other.kernels);
    pairs.try_for_each(|(own, other)| kernel(own, other, part, options.repeats))
}

fn kernel(
    own: &mut SweptKernel,
    other: SweptKernel,
    part: usize,
    repeats: bool,
) -> Result<(), MergeError> {
    let together = own.measured.union(&other.measured);
    if let Some(block) = own.measured.common(&other.measured) {
        // Digests can be compared; statistics would count twice.
        let counts = own.verified.is_some() || other.verified.is_some() || other.changes.is_some();
        if !repeats || counts && together != own.measured {
            return Err(MergeError::Twice { part, kernel: own.kernel.clone(), block });
        }
        if counts {
            return Ok(());
        }
    }
    own.measured = together;
    for why in other.incomplete {
        if !own.incomplete.contains(&why) {
            own.incomplete.push(why);
        }
    }
    own.unstable.merge(&other.unstable);
    match (&mut own.verified, other.verified) {
        (Some(own), Some(other)) => own.merge(&other),
        (Some(_), None) => {}
        (own @ None, other) => *own = other,
    }
    match (&mut own.changes, other.changes) {
        (Some(own), Some(other))
            if own.since == other.since && own.resolution == other.resolution =>
        {
            own.merge(other);
        }
        (_, None) => {}
        (own @ None, other) => *own = other,
        _ => return Err(MergeError::Differ { part, what: "older fingerprints" }),
    }
    Ok(())
}

fn print(own: &mut Print, other: Print, part: usize) -> Result<(), MergeError> {
    for (bundle, sums) in other.bundles {
        if *own.bundles.entry(bundle).or_insert(sums) != sums {
            let (kernel, block) = (own.domain.kernel().to_string(), bundle * own.domain.bundle());
            return Err(MergeError::Disagree { part, kernel, block });
        }
    }
    own.unstable = own.unstable.union(&other.unstable);
    Ok(())
}
