//! `fpprobe schema`

use std::io::Write as _;

use crate::exit::Status;
use crate::output;

/// Prints the JSON schema of the report.
pub fn main() -> anyhow::Result<Status> {
    let mut out = output::stdout();
    serde_json::to_writer_pretty(&mut out, &fpprobe_reports::schema())?;
    writeln!(out)?;
    out.flush()?;
    Ok(Status::Done)
}
