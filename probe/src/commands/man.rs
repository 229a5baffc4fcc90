//! `fpprobe man`

use std::io::Write as _;

use clap::{Command, CommandFactory as _};

use crate::cli::Cli;
use crate::exit::Status;
use crate::output;

/// Prints the man page: the program's, then a section for each command.
pub fn main() -> anyhow::Result<Status> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        subcommand(sub, &mut page)?;
    }
    man.render_extra_section(&mut page)?;
    let mut out = output::stdout();
    out.write_all(&page)?;
    out.flush()?;
    Ok(Status::Done)
}

fn subcommand(command: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let own = command.clone().disable_help_flag(true);
    writeln!(page, ".SH COMMAND: {}", own.get_name().to_uppercase())?;
    let man = clap_mangen::Man::new(own);
    let mut text = Vec::new();
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    // Sections of a command are subsections of the page.
    page.extend(String::from_utf8_lossy(&text).replace(".SH ", ".SS ").bytes());
    Ok(())
}
