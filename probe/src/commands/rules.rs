//! `fpprobe rules [PROFILE]`

use std::io::Write as _;

use crate::exit::Status;
use crate::{output, profiles};

/// Lists rules with level and citation.
pub fn main(profile: Option<&str>) -> anyhow::Result<Status> {
    let names: Vec<String> = profile.iter().map(ToString::to_string).collect();
    let profiles = profiles::profiles(&names)?;
    let rules = || profiles.iter().flat_map(|profile| &profile.rules);
    let width = rules().map(|rule| rule.id.chars().count()).max().unwrap_or(0);
    let mut out = output::stdout();
    for profile in &profiles {
        writeln!(out, "{}  {}", profile.id, profile.title)?;
        for rule in &profile.rules {
            writeln!(out, "  {:<width$}  {:<11}  {}", rule.id, rule.level.name(), rule.title)?;
            writeln!(out, "  {:<width$}  {:<11}  {}", "", "", rule.citation)?;
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
