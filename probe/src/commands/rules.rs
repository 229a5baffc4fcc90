//! `fpprobe rules [PROFILE] [--coverage]`

use std::io::Write as _;

use super::coverage;
use crate::cli::RulesArgs;
use crate::exit::Status;
use crate::{output, profiles};

/// Lists rules with level and citation.
pub fn main(args: &RulesArgs) -> anyhow::Result<Status> {
    let names: Vec<String> = args.profile.iter().cloned().collect();
    let profiles = profiles::profiles(&names)?;
    if args.coverage {
        return coverage::main(&profiles, args.profile.is_none(), args.json);
    }
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
