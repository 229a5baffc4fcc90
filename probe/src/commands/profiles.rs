//! `fpprobe profiles`

use std::io::Write as _;

use fpprobe_profiles::Level;

use crate::exit::Status;
use crate::{output, profiles};

/// Lists the built-in profiles.
pub fn main() -> anyhow::Result<Status> {
    let mut out = output::stdout();
    for profile in profiles::profiles(&[])? {
        let required = profile.rules.iter().filter(|rule| rule.level == Level::Required).count();
        writeln!(out, "{:<24} {}", profile.id, profile.title)?;
        writeln!(
            out,
            "{:<24} version {}, {} rules, {required} of them required",
            "",
            profile.version,
            profile.rules.len()
        )?;
        if profile.compile_time {
            writeln!(out, "{:<24} no device is judged by it: for `fpprobe accepts`", "")?;
            continue;
        }
        let modes: Vec<&str> = profile.modes.iter().map(|mode| mode.name()).collect();
        writeln!(
            out,
            "{:<24} recipes out of: {}",
            "",
            if modes.is_empty() { "nothing".to_owned() } else { modes.join(" ") }
        )?;
        for group in &profile.groups {
            writeln!(out, "{:<24} may lack {} ({})", "", group.id, group.title)?;
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
