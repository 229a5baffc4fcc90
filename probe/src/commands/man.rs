//! `fpprobe man`

use std::io::{self, Write};

use clap::Command;

use crate::cli::{Cli, EXAMPLES, PRECEDENCE, STATUSES};
use crate::exit::Status;
use crate::output;

/// The name section: at most 70 characters, for `apropos`.
const NAME: &str = "fpprobe \\- Vulkan floating-point conformance probe";

const FILES: [(&str, &str); 5] = [
    ("/etc/fpprobe/config.toml", "configuration of the machine"),
    (
        "$XDG_CONFIG_HOME/fpprobe/config.toml",
        "configuration of the user (~/.config), read instead of that of the machine",
    ),
    ("$XDG_STATE_HOME/fpprobe", "store of reports (~/.local/state)"),
    ("$STATE_DIRECTORY", "store of the service (/var/lib/fpprobe)"),
    ("REPORT.journal", "results of a run that is under way or was interrupted, for --resume"),
];

const ENVIRONMENT: [(&str, &str); 6] = [
    ("FPPROBE_KEY", "a setting of config.toml, with _ for dots: FPPROBE_WORKERS_JOBS=2"),
    ("NO_COLOR, CLICOLOR_FORCE", "no colours, or colours although the output is no terminal"),
    (
        "VK_DRIVER_FILES, VK_ADD_DRIVER_FILES",
        "driver manifests instead of, or besides, the installed ones",
    ),
    ("VK_LOADER_DRIVERS_SELECT, VK_LOADER_DRIVERS_DISABLE", "drivers to use, or to leave out"),
    (
        "VK_INSTANCE_LAYERS, VK_LOADER_LAYERS_ENABLE",
        "layers to use; reports measured with layers are marked as tainted",
    ),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME, STATE_DIRECTORY", "where configuration and store are"),
];

/// Prints the man page: the program's, then a section for each command.
pub fn main() -> anyhow::Result<Status> {
    let mut page = Vec::new();
    let mut command = Cli::described();
    command.build();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    writeln!(page, ".SH NAME\n{NAME}")?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        subcommand(sub, &mut page)?;
    }
    let statuses: Vec<String> = (0..STATUSES.len()).map(|status| status.to_string()).collect();
    terms(&mut page, "EXIT STATUS", statuses.iter().map(String::as_str).zip(STATUSES))?;
    writeln!(page, ".PP\n{}", escaped(PRECEDENCE))?;
    terms(&mut page, "FILES", FILES)?;
    terms(&mut page, "ENVIRONMENT", ENVIRONMENT)?;
    writeln!(page, ".SH EXAMPLES\n.nf")?;
    for (_, examples) in EXAMPLES {
        writeln!(page, "{}", escaped(examples[0]))?;
    }
    writeln!(page, ".fi")?;
    let mut out = output::stdout();
    out.write_all(&page)?;
    out.flush()?;
    Ok(Status::Done)
}

/// A section of terms, each with its meaning.
fn terms<'a>(
    page: &mut Vec<u8>,
    title: &str,
    terms: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<()> {
    writeln!(page, ".SH \"{title}\"")?;
    terms.into_iter().try_for_each(|(term, meaning)| {
        writeln!(page, ".TP\n\\fB{}\\fR\n{}", escaped(term), escaped(meaning))
    })
}

/// Text as roff takes it: hyphens that are minus signs, no backslash or leading dot or apostrophe
/// that it would obey.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

fn subcommand(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
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
