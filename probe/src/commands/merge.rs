//! `fpprobe merge`

use fpprobe_reports::sweep::merge;

use crate::cli::MergeArgs;
use crate::colour;
use crate::exit::{OrUsage as _, Status};
use crate::session::Session;
use crate::sweep::files::{Files, read};

/// Puts the parts of a sweep together.
pub fn main(session: &Session, args: &MergeArgs) -> anyhow::Result<Status> {
    let files = Files::new(args.output.as_deref(), args.format.as_deref())?;
    let parts = args.part.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let (sweep, fingerprint) = merge(parts).or_usage()?;
    files.write(&sweep, &fingerprint, colour::on_stdout(session.config.colour))?;
    Ok(super::sweep::status(&sweep, false))
}
