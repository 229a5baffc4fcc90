//! `fpprobe merge`

use fpprobe_reports::sweep::{Blocks, MergeError, MergeOptions, Sweep, merge};
use fpprobe_system::usage::{OrUsage as _, say};

use crate::cli::MergeArgs;
use crate::commands::sweep::{UNSUPPORTED, status};
use crate::exit::Status;
use crate::session::Session;
use crate::sweep::files::{Files, PartFile};

/// Puts the parts of a sweep together.
pub fn main(session: &Session, args: &MergeArgs) -> anyhow::Result<Status> {
    let files = Files::new(args.output.as_deref(), args.format.as_deref())?;
    let (mut named, mut repeats) = (Vec::new(), false);
    for path in &args.part {
        let parts = PartFile::at(path)?;
        // Whatever was put at an address stays there, from jobs that were requeued as well.
        repeats |= parts.is_of_address;
        named.extend(parts.files);
    }
    let mut lists = Vec::new();
    let parts = named.iter().map(|part| {
        let (sweep, fingerprint, own) = part.read()?;
        if let Some(changed) = changed(&sweep) {
            lists.push((own, changed));
        }
        anyhow::Ok((sweep, fingerprint))
    });
    let options = MergeOptions { across_hosts: args.across_hosts, repeats };
    let merged = merge(parts, options).map_err(|error| {
        let part = error.downcast_ref::<MergeError>().and_then(MergeError::part);
        match part.and_then(|part| Some((part, named.get(part - 1)?))) {
            Some((part, file)) => error.context(format!("part {part} is {file}")),
            None => error,
        }
    });
    let (sweep, fingerprint) = merged.or_usage()?;
    files.lists().map_or(Ok(()), |merged| merged.merge(&sweep, &lists))?;
    files.write(&sweep, &fingerprint, session.style())?;
    Ok(status(&sweep, false).and(Status::Incomplete.when(lacks_blocks(&sweep))))
}

/// What the lists of a part need of it; `None` where it has none.
fn changed(sweep: &Sweep) -> Option<Sweep> {
    let mut sweep = sweep.clone();
    let mut any = false;
    for kernel in sweep.devices.iter_mut().flat_map(|device| &mut device.kernels) {
        kernel.verified = None;
        if let Some(changes) = &mut kernel.changes {
            any |= changes.inputs > 0;
            (changes.runs, changes.list) = (Vec::new(), Vec::new());
            (changes.blocks, changes.unresolved) = (Blocks::default(), Blocks::default());
        }
    }
    any.then_some(sweep)
}

/// Says which kernels have blocks that are in no part.
fn lacks_blocks(sweep: &Sweep) -> bool {
    let mut any = false;
    for kernel in sweep.devices.iter().flat_map(|device| &device.kernels) {
        let all = kernel.inputs / kernel.block;
        let found = kernel.measured.union(&kernel.unstable.blocks).count();
        let is_unsupported = kernel.incomplete.iter().any(|why| why.starts_with(UNSUPPORTED));
        if found < all && !is_unsupported {
            say(&format!("{}: {} of {all} blocks are in no part", kernel.kernel, all - found));
            any = true;
        }
    }
    any
}
