//! The parts of a sweep put together: the same document, byte for byte, as if one process had asked
//! everything.

use super::{Fingerprint, Print, Sweep, SweptDevice, SweptKernel};

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

/// Merges reports with their fingerprints.
pub fn merge(parts: Vec<(Sweep, Fingerprint)>) -> Result<(Sweep, Fingerprint), MergeError> {
    let mut parts = (1..).zip(parts);
    let (_, (mut sweep, mut fingerprint)) = parts.next().ok_or(MergeError::Nothing)?;
    for (part, (other, prints)) in parts {
        let differ = |what| Err(MergeError::Differ { part, what });
        if sweep.program != other.program {
            return differ("programs");
        }
        if sweep.host != other.host {
            return differ("machines");
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
            device(own, other, part)?;
        }
        for incident in other.incomplete {
            if !sweep.incomplete.contains(&incident) {
                sweep.incomplete.push(incident);
            }
        }
        for (own, other) in fingerprint.prints.iter_mut().zip(prints.prints) {
            if (&own.device, &own.domain) != (&other.device, &other.domain) {
                return differ("devices or kernels");
            }
            print(own, &other);
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

fn device(own: &mut SweptDevice, other: SweptDevice, part: usize) -> Result<(), MergeError> {
    if (&own.identity, &own.taint) != (&other.identity, &other.taint) {
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
    if let Some(block) = other.measured.iter().find(|block| own.measured.contains(*block)) {
        return Err(MergeError::Twice { part, kernel: own.kernel.clone(), block });
    }
    own.measured = own.measured.iter().chain(other.measured.iter()).collect();
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

fn print(own: &mut Print, other: &Print) {
    for (own, other) in own.blocks.iter_mut().zip(&other.blocks) {
        *own = own.or(*other);
    }
    own.unstable = own.unstable.iter().chain(other.unstable.iter()).collect();
}
