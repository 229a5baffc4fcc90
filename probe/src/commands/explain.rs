//! `fpprobe explain RULE|KERNEL`: a rule, an id that the catalogue has without a rule of that name, or a kernel.

use std::io::Write;

use fpprobe_profiles::Profile;
use fpprobe_profiles::catalogue::{Catalogue, CatalogueEntry, IdStatus, Section};
use fpprobe_profiles::profile::Rule;
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::error::nearest;
use fpprobe_spirv::needs::needs;
use fpprobe_spirv::{Kernel, Need, Shape};

use crate::exit::Status;
use crate::{output, profiles};
use fpprobe_system::usage::usage_error;

/// Explains a rule, or else a kernel.
pub fn main(what: &str) -> anyhow::Result<Status> {
    let profiles = profiles::profiles(&[])?;
    let found: Vec<(&Profile, &Rule)> =
        profiles.iter().filter_map(|profile| Some((profile, profile.rule(what)?))).collect();
    let mut out = output::stdout();
    let catalogue = Catalogue::built_in()?;
    let ids =
        || catalogue.sections.iter().flat_map(|section| section.entries.iter().map(move |entry| (section, entry)));
    if let Some((section, entry)) = ids().find(|(_, entry)| found.is_empty() && entry.id == what) {
        explain_entry(section, entry, &profiles, &mut out)?;
    } else if found.is_empty() {
        let kernel: Kernel = what.parse().map_err(|error: fpprobe_spirv::ParseError| {
            let rules = profiles.iter().flat_map(|profile| &profile.rules).map(|rule| rule.id.as_str());
            let near = nearest(what, rules.chain(ids().map(|(_, entry)| entry.id.as_str())));
            let hint = if near.is_empty() {
                String::new()
            } else {
                format!("; rules with a name like it: {}", near.join(", "))
            };
            usage_error(format!("`{what}` is no rule, and as a kernel: {error}{hint}"))
        })?;
        explain_kernel(&kernel, &profiles, &catalogue, &mut out)?;
    }
    for (index, (profile, rule)) in found.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        explain_rule(profile, rule, &mut out)?;
    }
    out.flush()?;
    Ok(Status::Done)
}

/// An id of the catalogue that is no rule's: rules of other names look at it, or none can.
fn explain_entry(
    section: &Section,
    entry: &CatalogueEntry,
    profiles: &[Profile],
    out: &mut impl Write,
) -> std::io::Result<()> {
    writeln!(out, "{}  {}", entry.id, section.title)?;
    match &entry.standing {
        IdStatus::NotTestable { reason, citation } => {
            writeln!(out, "  no rule   {reason}")?;
            writeln!(out, "  citation  {citation}")?;
        }
        IdStatus::OtherPaths(paths) => writeln!(out, "  no rule   about other paths: {paths}")?,
        IdStatus::Rules { .. } => {}
    }
    for (profile, rules) in entry.looked_at(profiles) {
        writeln!(out, "  rules     of {profile}: {}", rules.join(" "))?;
    }
    Ok(())
}

fn explain_rule(profile: &Profile, rule: &Rule, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}  {}", rule.id, rule.title)?;
    writeln!(out, "  profile   {} ({})", profile.id, profile.title)?;
    writeln!(out, "  level     {}", rule.level.name())?;
    writeln!(out, "  citation  {}", rule.citation)?;
    for (name, text) in [("quote", &rule.quote), ("note", &rule.note), ("matters", &rule.matters)] {
        if !text.is_empty() {
            writeln!(out, "  {name:<9} {text}")?;
        }
    }
    writeln!(out, "  page      docs/rules/{}.md", rule.id)?;
    let requirements: Vec<String> =
        rule.requirements.iter().map(|requirement| requirement.name().replace('_', " ")).collect();
    writeln!(out, "  demands   {}", requirements.join(", "))?;
    for lanes in &rule.lanes {
        writeln!(out, "  lanes     {lanes}")?;
    }
    for part in &rule.parts {
        let lowerings: Vec<String> = part.lowerings.iter().map(Kernel::to_string).collect();
        let optional = match part.groups.join(", ") {
            groups if groups.is_empty() => groups,
            groups => format!(" (optional: {groups})"),
        };
        writeln!(out, "  looks at  {}: {}; {}{optional}", part.operation, lowerings.join(", "), part.demand.accuracy)?;
    }
    Ok(())
}

fn explain_kernel(
    kernel: &Kernel,
    profiles: &[Profile],
    catalogue: &Catalogue,
    out: &mut impl Write,
) -> std::io::Result<()> {
    writeln!(out, "{kernel}  {}", kernel.op.about)?;
    let shapes = |shapes: Vec<Shape>| {
        let shapes = shapes.into_iter().map(|shape| match (shape.columns, shape.width) {
            (1, 1) => shape.format.to_string(),
            (1, width) => format!("{width} x {}", shape.format),
            (columns, width) => format!("{columns} columns of {} x {}", width / columns, shape.format),
        });
        shapes.collect::<Vec<String>>().join(", ")
    };
    writeln!(out, "  takes     {}", shapes(kernel.params()))?;
    writeln!(out, "  gives     {}", shapes(kernel.results()))?;
    let cases = Extent::Default.cases(kernel);
    writeln!(out, "  asked     {} cases by default: the list {}", cases.len(), cases.name)?;
    if let Some(glsl) = kernel.op.glsl {
        writeln!(out, "  in GLSL   {glsl}")?;
    }
    let needs: Vec<String> = needs(kernel).iter().map(Need::to_string).collect();
    writeln!(
        out,
        "  needs     {}",
        if needs.is_empty() { "nothing that a device may lack".to_owned() } else { needs.join(", ") }
    )?;
    for profile in profiles {
        let mut ids: Vec<&str> = profile.rules_for(kernel).map(|(rule, _)| rule.id.as_str()).collect();
        ids.dedup();
        if !ids.is_empty() {
            writeln!(out, "  judged    by {}: {}", profile.id, ids.join(" "))?;
        }
    }
    for unjudged in catalogue.reasons(kernel) {
        let profile = unjudged.profile.as_deref().unwrap_or("any profile");
        writeln!(out, "  no rule   of {profile}: {} ({})", unjudged.reason, unjudged.citation)?;
    }
    Ok(())
}
