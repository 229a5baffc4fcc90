//! `fpprobe explain RULE|KERNEL`

use std::io::Write;

use fpprobe_profiles::Profile;
use fpprobe_profiles::profile::Rule;
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::error::nearest;
use fpprobe_spirv::needs::needs;
use fpprobe_spirv::{Kernel, Need, Shape};

use crate::exit::{Status, usage_error};
use crate::{output, profiles};

/// Explains a rule, or else a kernel.
pub fn main(what: &str) -> anyhow::Result<Status> {
    let profiles = profiles::profiles(&[])?;
    let found: Vec<(&Profile, &Rule)> =
        profiles.iter().filter_map(|profile| Some((profile, profile.rule(what)?))).collect();
    let mut out = output::stdout();
    if found.is_empty() {
        let kernel: Kernel = what.parse().map_err(|error: fpprobe_spirv::ParseError| {
            let ids = profiles.iter().flat_map(|profile| &profile.rules).map(|rule| rule.id.as_str());
            let near = nearest(what, ids);
            let hint = if near.is_empty() {
                String::new()
            } else {
                format!("; rules with a name like it: {}", near.join(", "))
            };
            usage_error(format!("`{what}` is no rule, and as a kernel: {error}{hint}"))
        })?;
        explain_kernel(&kernel, &profiles, &mut out)?;
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

fn explain_rule(profile: &Profile, rule: &Rule, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}  {}", rule.id, rule.title)?;
    writeln!(out, "  profile   {} ({})", profile.id, profile.title)?;
    writeln!(out, "  level     {}", rule.level.name())?;
    writeln!(out, "  citation  {}", rule.citation)?;
    if !rule.note.is_empty() {
        writeln!(out, "  note      {}", rule.note)?;
    }
    let requirements: Vec<String> =
        rule.requirements.iter().map(|requirement| words(&format!("{requirement:?}"))).collect();
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

fn explain_kernel(kernel: &Kernel, profiles: &[Profile], out: &mut impl Write) -> std::io::Result<()> {
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
    writeln!(out, "  asked     {} cases by default", Extent::Default.cases(kernel).len())?;
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
    Ok(())
}

/// `OneDirection` as `one direction`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}
