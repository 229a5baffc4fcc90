//! `fpprobe completions SHELL`

use std::io::Write as _;

use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Status;
use crate::output;

/// Prints a completion script.
pub fn main(shell: Shell) -> anyhow::Result<Status> {
    // Generated into memory: the generator panics where its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::described(), "fpprobe", &mut script);
    let mut out = output::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Status::Done)
}
