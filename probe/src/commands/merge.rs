//! `fpprobe merge`

use fpprobe_reports::sweep::merge;

use crate::cli::MergeArgs;
use crate::exit::Status;
use crate::session::Session;
use crate::sweep::files::{Files, read};
use fpprobe_system::usage::OrUsage as _;

/// Puts the parts of a sweep together.
pub fn main(session: &Session, args: &MergeArgs) -> anyhow::Result<Status> {
    let files = Files::new(args.output.as_deref(), args.format.as_deref())?;
    let (mut parts, mut lists) = (Vec::new(), Vec::new());
    for path in &args.part {
        let (sweep, fingerprint, own) = read(path)?;
        lists.push((own, sweep.clone()));
        parts.push((sweep, fingerprint));
    }
    let (sweep, fingerprint) = merge(parts).or_usage()?;
    files.lists().map_or(Ok(()), |merged| merged.merge(&sweep, &lists))?;
    files.write(&sweep, &fingerprint, session.style())?;
    Ok(super::sweep::status(&sweep, false))
}
