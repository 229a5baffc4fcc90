//! The parts of a sweep put together: the same document, byte for byte, as if one process had asked
//! everything.

use std::collections::BTreeSet;

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
}

/// Whose parts go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parts {
    /// Those of one host.
    OfOneHost,
    /// Those of devices of one model under one driver, whichever host they are in.
    OfOneModel,
}

/// Merges reports with their fingerprints, one after the other: no two of them are in memory.
pub fn merge<E: From<MergeError>>(
    parts: impl IntoIterator<Item = Result<(Sweep, Fingerprint), E>>,
    whose: Parts,
) -> Result<(Sweep, Fingerprint), E> {
    let mut parts = (1..).zip(parts);
    let (_, first) = parts.next().ok_or(MergeError::Nothing)?;
    let (mut sweep, mut fingerprint) = first?;
    let mut hosts = BTreeSet::from([sweep.host.id.clone()]);
    for (part, other) in parts {
        let (other, prints) = other?;
        hosts.insert(other.host.id.clone());
        add((&mut sweep, &mut fingerprint), (other, prints), part, whose)?;
    }
    if hosts.len() > 1 {
        sweep.host = Host::of_several(hosts.len());
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

/// Adds a part.
fn add(
    (sweep, fingerprint): (&mut Sweep, &mut Fingerprint),
    (other, prints): (Sweep, Fingerprint),
    part: usize,
    whose: Parts,
) -> Result<(), MergeError> {
    let differ = |what| Err(MergeError::Differ { part, what });
    if sweep.program != other.program {
        return differ("programs");
    }
    if whose == Parts::OfOneHost && sweep.host != other.host {
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
        device(own, other, part, whose)?;
    }
    for incident in other.incomplete {
        if !sweep.incomplete.contains(&incident) {
            sweep.incomplete.push(incident);
        }
    }
    for (own, other) in fingerprint.prints.iter_mut().zip(prints.prints) {
        let is_same = match whose {
            Parts::OfOneHost => own.device == other.device,
            // Their devices were compared above.
            Parts::OfOneModel => own.device.name == other.device.name,
        };
        if !is_same || own.domain != other.domain {
            return differ("devices or kernels");
        }
        print(own, other);
    }
    Ok(())
}

fn device(
    own: &mut SweptDevice,
    other: SweptDevice,
    part: usize,
    whose: Parts,
) -> Result<(), MergeError> {
    let is_same = match whose {
        Parts::OfOneHost => own.identity == other.identity,
        Parts::OfOneModel => ModelKey::of(&own.identity) == ModelKey::of(&other.identity),
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
    own.kernels.iter_mut().zip(other.kernels).try_for_each(|(own, other)| kernel(own, other, part))
}

fn kernel(own: &mut SweptKernel, other: SweptKernel, part: usize) -> Result<(), MergeError> {
    if let Some(block) = own.measured.common(&other.measured) {
        return Err(MergeError::Twice { part, kernel: own.kernel.clone(), block });
    }
    own.measured = own.measured.union(&other.measured);
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

fn print(own: &mut Print, other: Print) {
    for (bundle, sums) in other.bundles {
        own.bundles.entry(bundle).or_insert(sums);
    }
    own.unstable = own.unstable.union(&other.unstable);
}
