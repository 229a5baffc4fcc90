//! `fpprobe merge`

use fpprobe_reports::sweep::{Parts, merge};

use crate::cli::MergeArgs;
use crate::exit::Status;
use crate::session::Session;
use crate::sweep::files::{Files, PartFile};
use fpprobe_system::usage::OrUsage as _;

/// Puts the parts of a sweep together.
pub fn main(session: &Session, args: &MergeArgs) -> anyhow::Result<Status> {
    let files = Files::new(args.output.as_deref(), args.format.as_deref())?;
    let named = args.part.iter().map(|path| PartFile::at(path));
    let named: Vec<PartFile> =
        named.collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect();
    let mut lists = Vec::new();
    let parts = named.iter().map(|part| {
        let (sweep, fingerprint, own) = part.read()?;
        if sweep
            .devices
            .iter()
            .any(|device| device.kernels.iter().any(|kernel| kernel.changes.is_some()))
        {
            lists.push((own, sweep.clone()));
        }
        anyhow::Ok((sweep, fingerprint))
    });
    let whose = if args.across_hosts { Parts::OfOneModel } else { Parts::OfOneHost };
    let (sweep, fingerprint) = merge(parts, whose).or_usage()?;
    files.lists().map_or(Ok(()), |merged| merged.merge(&sweep, &lists))?;
    files.write(&sweep, &fingerprint, session.style())?;
    Ok(super::sweep::status(&sweep, false))
}
