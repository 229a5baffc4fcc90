//! `fpprobe profiles`

use std::io::Write as _;

use fpprobe_profiles::Level;
use fpprobe_profiles::profile::Member;
use fpprobe_spirv::Kernel;

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
        if !profile.rounding_modes.is_empty() {
            let modes: Vec<&str> = profile.rounding_modes.iter().map(|mode| mode.name()).collect();
            writeln!(
                out,
                "{:<24} and, where rounding alone is wrong, of: {}",
                "",
                modes.join(" ")
            )?;
        }
        if !profile.late_modes.is_empty() {
            let modes: Vec<&str> = profile.late_modes.iter().map(|mode| mode.name()).collect();
            writeln!(out, "{:<24} and, for rules that deviate, of: {}", "", modes.join(" "))?;
        }
        let mut paths: Vec<Kernel> = Vec::new();
        for group in &profile.groups {
            match group.member {
                Member::Path(kernel) => paths.push(kernel),
                Member::Format(_) | Member::Control(_) | Member::Need(_) => {
                    writeln!(out, "{:<24} may lack {} ({})", "", group.id, group.title)?;
                }
            }
        }
        if !paths.is_empty() {
            let mut formats: Vec<&str> = paths.iter().map(|kernel| kernel.format.name()).collect();
            formats.sort_unstable();
            formats.dedup();
            let (count, formats) = (paths.len(), formats.join(" "));
            writeln!(
                out,
                "{:<24} may lack each of {count} paths of texels by itself, of {formats}",
                ""
            )?;
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
