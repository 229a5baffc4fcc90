//! `fpprobe rules [PROFILE] [--coverage]`

use std::io::Write as _;

use fpprobe_reports::render::{Ink, Paper};

use super::coverage;
use crate::cli::RulesArgs;
use crate::exit::Status;
use crate::session::Session;
use crate::{output, profiles};

/// Lists rules with level and citation.
pub fn main(session: &Session, args: &RulesArgs) -> anyhow::Result<Status> {
    let names: Vec<String> = args.profile.iter().cloned().collect();
    let profiles = profiles::profiles(&names)?;
    if args.coverage {
        return coverage::main(&profiles, args.profile.is_none(), args.json, session.style());
    }
    let rules = || profiles.iter().flat_map(|profile| &profile.rules);
    let width = rules().map(|rule| rule.id.chars().count()).max().unwrap_or(0);
    let mut out = output::stdout();
    let paper = &mut Paper::new(&mut out, session.style());
    for profile in &profiles {
        paper.line(0, 2, &[(Ink::Strong, &format!("{}  {}", profile.id, profile.title))])?;
        for rule in &profile.rules {
            let row = format!("{:<width$}  {:<11}  ", rule.id, rule.level.name());
            paper.line(2, row.len(), &[(Ink::Plain, &row), (Ink::Plain, &rule.title)])?;
            paper.line(2 + row.len(), 0, &[(Ink::Faint, &rule.citation)])?;
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
