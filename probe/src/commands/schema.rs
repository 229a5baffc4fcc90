//! `fpprobe schema`

use std::io::Write as _;

use fpprobe_reports::DOCUMENTS;

use crate::exit::Status;
use crate::output;
use fpprobe_system::usage::usage_error;

/// Prints the JSON schema of a document.
pub fn main(name: &str) -> anyhow::Result<Status> {
    let document = DOCUMENTS.iter().find(|document| document.name == name);
    let document = document.ok_or_else(|| usage_error(format!("unknown document `{name}`")))?;
    let mut out = output::stdout();
    serde_json::to_writer_pretty(&mut out, &(document.schema)())?;
    writeln!(out)?;
    out.flush()?;
    Ok(Status::Done)
}
