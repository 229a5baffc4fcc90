//! `fpprobe config`

use std::io::Write as _;

use fpprobe_reports::escape::visible;

use crate::cli::ConfigCommand;
use crate::config::ConfigLayers;
use crate::exit::Status;
use crate::{door, output};

/// Shows the settings in effect, or says whether they are valid.
pub fn main(layers: &ConfigLayers, command: &ConfigCommand) -> anyhow::Result<Status> {
    let mut out = output::stdout();
    let ConfigCommand::Show { origin: with_origin } = command else {
        door::checked(layers)?;
        writeln!(out, "valid")?;
        out.flush()?;
        return Ok(Status::Done);
    };
    for (key, value, origin) in layers.shown() {
        write!(out, "{key} = {}", visible(&value))?;
        if *with_origin {
            write!(out, "  # {}", visible(&origin.to_string()))?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(Status::Done)
}
