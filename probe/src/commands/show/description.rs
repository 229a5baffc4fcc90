//! What is known of a rule, of an id that the catalogue has without a rule of that name, of a
//! kernel or of an operation, whatever a report holds.

use std::io::Write;

use fpprobe_profiles::Profile;
use fpprobe_profiles::catalogue::{Catalogue, CatalogueEntry, IdStatus, Section};
use fpprobe_profiles::profile::Rule;
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::needs::needs;
use fpprobe_spirv::{Kernel, Need, Op, Shape};

/// An id of the catalogue that is no rule's: rules of other names look at it, or none can.
pub fn entry(
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

/// A rule, in each profile that has it.
pub fn rule(id: &str, profiles: &[Profile], out: &mut impl Write) -> std::io::Result<()> {
    let found = profiles.iter().filter_map(|profile| Some((profile, profile.rule(id)?)));
    for (index, (profile, rule)) in found.enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        rule_of(profile, rule, out)?;
    }
    Ok(())
}

fn rule_of(profile: &Profile, rule: &Rule, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}  {}", rule.id, rule.title)?;
    writeln!(out, "  profile   {} ({})", profile.id, profile.title)?;
    writeln!(out, "  level     {}", rule.level.name())?;
    writeln!(out, "  area      {}", rule.area.name())?;
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
        writeln!(
            out,
            "  looks at  {}: {}; {}{optional}",
            part.operation,
            lowerings.join(", "),
            part.demand.accuracy
        )?;
    }
    Ok(())
}

/// An operation: what it is called, and the kernels that run it.
pub fn operation(
    op: &'static Op,
    profiles: &[Profile],
    out: &mut impl Write,
) -> std::io::Result<()> {
    writeln!(out, "{}  {}", op.name, op.about)?;
    names(op, out)?;
    let kernels = op.formats.iter().filter_map(|format| Kernel::plain(*format, op).ok());
    let kernels: Vec<Kernel> = kernels.collect();
    let ids: Vec<String> = kernels.iter().map(Kernel::to_string).collect();
    let of_matrices = "those of the products that a device enumerates (`fpprobe list -v`)";
    let text = if op.code.is_of_matrices() { of_matrices.to_owned() } else { ids.join(" ") };
    writeln!(out, "  kernels   {text}")?;
    for profile in profiles {
        let mut rules: Vec<&str> = Vec::new();
        for (rule, _) in kernels.iter().flat_map(|kernel| profile.rules_for(kernel)) {
            if !rules.contains(&rule.id.as_str()) {
                rules.push(&rule.id);
            }
        }
        if !rules.is_empty() {
            writeln!(out, "  judged    by {}: {}", profile.id, rules.join(" "))?;
        }
    }
    Ok(())
}

/// A kernel: its operands, inputs, needs and rules.
pub fn kernel(
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
            (columns, width) if columns == width => format!("{width} x {}", shape.format),
            (columns, width) => {
                format!("{columns} columns of {} x {}", width / columns, shape.format)
            }
        });
        shapes.collect::<Vec<String>>().join(", ")
    };
    writeln!(out, "  takes     {}", shapes(kernel.params()))?;
    writeln!(out, "  gives     {}", shapes(kernel.results()))?;
    let cases = Extent::Default.cases(kernel);
    writeln!(out, "  asked     {} cases by default: the list {}", cases.len(), cases.name)?;
    names(kernel.op, out)?;
    if let Some(glsl) = kernel.op.glsl {
        writeln!(out, "  in GLSL   {glsl}")?;
    }
    let needs: Vec<String> = needs(kernel).iter().map(Need::to_string).collect();
    writeln!(
        out,
        "  needs     {}",
        if needs.is_empty() {
            "nothing that a device may lack".to_owned()
        } else {
            needs.join(", ")
        }
    )?;
    for profile in profiles {
        let mut ids: Vec<&str> =
            profile.rules_for(kernel).map(|(rule, _)| rule.id.as_str()).collect();
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

/// What an operation is called in other languages.
fn names(op: &Op, out: &mut impl Write) -> std::io::Result<()> {
    let names =
        op.names().into_iter().map(|(language, name)| format!("{name} ({})", language.name()));
    let names: Vec<String> = names.collect();
    if names.is_empty() { Ok(()) } else { writeln!(out, "  names     {}", names.join(", ")) }
}
