//! `fpprobe repro CAUSE [REPORT]`

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fpprobe_reports::numbered;
use fpprobe_reports::repro::repro;
use fpprobe_reports::save::save;

use super::show::lookup::unknown_cause;
use crate::cli::ReproArgs;
use crate::exit::Status;
use crate::output;
use crate::session::Session;
use crate::{named_report, profiles};
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Writes the folder of a cause.
pub fn main(session: &Session, args: &ReproArgs) -> anyhow::Result<Status> {
    let report = named_report::read(&session.config, &args.place, &args.report)?;
    let causes = numbered::find(&report, &args.cause);
    let one = match &causes[..] {
        [] => return Err(unknown_cause(Some(&report), &args.cause)),
        [one] => *one,
        several => {
            let numbers: Vec<String> = several.iter().map(|one| one.number.to_string()).collect();
            let text = format!(
                "`{}` is a cause of several devices: name it by its number, {}",
                args.cause,
                numbers.join(" or ")
            );
            return Err(usage_error(text));
        }
    };
    // An id is of a report, which anybody may have written.
    let id: String = one.cause.id.chars().filter(char::is_ascii_alphanumeric).collect();
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("repro-{id}")));
    begin(&folder)?;
    let made = repro(&report, one, &profiles::that_judged([&report].into_iter())?).or_usage()?;
    fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create {}", folder.display()))
        .or_usage()?;
    let mut out = output::stdout();
    for file in &made.files {
        let path = folder.join(file.name);
        save(&path, |out| out.write_all(&file.bytes)).or_usage()?;
        writeln!(out, "{}", path.display())?;
    }
    out.flush()?;
    for (name, why) in &made.missing {
        say(&format!("no {name}: {why}"));
    }
    Ok(Status::Done)
}

/// Refuses a folder that holds anything: what is there may be of another cause.
fn begin(folder: &Path) -> anyhow::Result<()> {
    let is_free = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            return Err(usage_error(format!("cannot write into {}: {error}", folder.display())));
        }
    };
    if is_free {
        return Ok(());
    }
    Err(usage_error(format!(
        "{} is not empty: remove it, or name another folder with -o",
        folder.display()
    )))
}
