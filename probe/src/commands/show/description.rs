//! What is known of a rule, of an id that the catalogue has without a rule of that name, of a
//! kernel or of an operation, whatever a report holds.

use std::io;

use fpprobe_profiles::Profile;
use fpprobe_profiles::catalogue::{Catalogue, CatalogueEntry, IdStatus, Section};
use fpprobe_profiles::profile::{Part, Rule};
use fpprobe_reports::render::{Ink, Paper, field, some};
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::needs::needs;
use fpprobe_spirv::{Kernel, Need, Op, Shape};

/// Demands that are listed where not everything is shown, and kernels of each that are named.
const LISTED: (usize, usize) = (20, 8);

/// An id of the catalogue that is no rule's: rules of other names look at it, or none can.
pub fn entry(
    section: &Section,
    entry: &CatalogueEntry,
    profiles: &[Profile],
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    title(paper, &entry.id, &section.title)?;
    match &entry.standing {
        IdStatus::NotTestable { reason, citation } => {
            row(paper, "no rule", reason)?;
            row(paper, "citation", citation)?;
        }
        IdStatus::OtherPaths(paths) => {
            row(paper, "no rule", &format!("about other paths: {paths}"))?;
        }
        IdStatus::Rules { .. } => {}
    }
    for (profile, rules) in entry.looked_at(profiles) {
        row(paper, "rules", &format!("of {profile}: {}", rules.join(" ")))?;
    }
    Ok(())
}

/// A rule, as each profile has it; profiles in which it is the same together.
pub fn rule(id: &str, profiles: &[Profile], paper: &mut Paper<'_>) -> io::Result<()> {
    let mut texts: Vec<(Vec<String>, &Rule, Rows)> = Vec::new();
    for profile in profiles {
        let Some(rule) = profile.rule(id) else { continue };
        let name = format!("{} ({})", profile.id, profile.title);
        let rows = rows(rule, paper.is_whole());
        match texts.iter_mut().find(|(_, _, known)| *known == rows) {
            Some((names, ..)) => names.push(name),
            None => texts.push((vec![name], rule, rows)),
        }
    }
    for (index, (names, rule, rows)) in texts.iter().enumerate() {
        if index > 0 {
            paper.gap()?;
        }
        title(paper, &rule.id, &rule.title)?;
        row(paper, "profile", &names.join(", "))?;
        for (name, text) in rows {
            row(paper, name, text)?;
        }
    }
    Ok(())
}

/// Names and texts, one pair a row.
type Rows = Vec<(&'static str, String)>;

/// What a rule says, in whichever profile.
fn rows(rule: &Rule, is_whole: bool) -> Rows {
    let requirements: Vec<String> =
        rule.requirements.iter().map(|requirement| requirement.name().replace('_', " ")).collect();
    let mut rows = vec![
        ("level", rule.level.name().to_owned()),
        ("area", rule.area.name().to_owned()),
        ("citation", rule.citation.clone()),
        ("quote", rule.quote.clone()),
        ("note", rule.note.clone()),
        ("matters", rule.matters.clone()),
        ("page", format!("docs/rules/{}.md", rule.id)),
        ("demands", requirements.join(", ")),
    ];
    rows.extend(rule.lanes.iter().map(|lanes| ("lanes", lanes.to_string())));
    let (most, named) = if is_whole { (usize::MAX, usize::MAX) } else { LISTED };
    let looks_at = looks_at(rule);
    for (demand, kernels) in looks_at.iter().take(most) {
        rows.push(("looks at", format!("{demand}: {}", some(kernels, named))));
    }
    let more = looks_at.len().saturating_sub(most);
    rows.extend((more > 0).then(|| ("", format!("{more} more; `--verbose` shows all"))));
    rows
}

/// The operations that a rule looks at, by what it demands of them.
fn looks_at(rule: &Rule) -> Vec<(String, Vec<String>)> {
    let mut by_demand: Vec<(String, Vec<String>)> = Vec::new();
    for part in &rule.parts {
        let optional = match part.groups.join(", ") {
            groups if groups.is_empty() => groups,
            groups => format!(" (optional: {groups})"),
        };
        let demand = format!("{}{optional}", part.demand.accuracy);
        match by_demand.iter_mut().find(|(known, _)| *known == demand) {
            Some((_, operations)) => operations.push(lowered(part)),
            None => by_demand.push((demand, vec![lowered(part)])),
        }
    }
    by_demand
}

/// An operation of a profile by its kernel: `mad (f32.mul_then_add or f32.fma)` where it is called
/// otherwise, or several kernels compute it.
fn lowered(part: &Part) -> String {
    let kernels: Vec<String> = part.lowerings.iter().map(Kernel::to_string).collect();
    match &part.lowerings[..] {
        [kernel] if kernel.op.name == part.operation => kernels.join(""),
        _ => format!("{} ({})", part.operation, kernels.join(" or ")),
    }
}

/// An operation: what it is called, and the kernels that run it.
pub fn operation(op: &'static Op, profiles: &[Profile], paper: &mut Paper<'_>) -> io::Result<()> {
    title(paper, op.name, op.about)?;
    names(op, paper)?;
    let kernels = op.formats.iter().filter_map(|format| Kernel::plain(*format, op).ok());
    let kernels: Vec<Kernel> = kernels.collect();
    let ids: Vec<String> = kernels.iter().map(Kernel::to_string).collect();
    let of_matrices = "those of the products that a device enumerates (`fpprobe list -v`)";
    let text = if op.code.is_of_matrices() { of_matrices.to_owned() } else { ids.join(" ") };
    row(paper, "kernels", &text)?;
    for profile in profiles {
        let mut rules: Vec<&str> = Vec::new();
        for (rule, _) in kernels.iter().flat_map(|kernel| profile.rules_for(kernel)) {
            if !rules.contains(&rule.id.as_str()) {
                rules.push(&rule.id);
            }
        }
        judged(profile, &rules, paper)?;
    }
    Ok(())
}

/// A kernel: its operands, inputs, needs and rules.
pub fn kernel(
    kernel: &Kernel,
    profiles: &[Profile],
    catalogue: &Catalogue,
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    title(paper, &kernel.to_string(), kernel.op.about)?;
    row(paper, "takes", &shapes(kernel.params()))?;
    row(paper, "gives", &shapes(kernel.results()))?;
    let cases = Extent::Default.cases(kernel);
    let inputs = format!("{} cases by default: the list {}", cases.len(), cases.name);
    row(paper, "inputs", &inputs)?;
    names(kernel.op, paper)?;
    row(paper, "in GLSL", kernel.op.glsl.unwrap_or_default())?;
    let needs: Vec<String> = needs(kernel).iter().map(Need::to_string).collect();
    let nothing = "nothing that a device may lack";
    row(
        paper,
        "needs",
        if needs.is_empty() { nothing.to_owned() } else { needs.join(", ") }.as_str(),
    )?;
    for profile in profiles {
        let mut ids: Vec<&str> =
            profile.rules_for(kernel).map(|(rule, _)| rule.id.as_str()).collect();
        ids.dedup();
        judged(profile, &ids, paper)?;
    }
    for unjudged in catalogue.reasons(kernel) {
        let profile = unjudged.profile.as_deref().unwrap_or("any profile");
        let reason = format!("of {profile}: {} ({})", unjudged.reason, unjudged.citation);
        row(paper, "no rule", &reason)?;
    }
    Ok(())
}

/// `f32, 3 x f16, 2 columns of f32 x 3`.
fn shapes(shapes: Vec<Shape>) -> String {
    let shapes = shapes.into_iter().map(|shape| match (shape.columns, shape.width) {
        (1, 1) => shape.format.to_string(),
        (1, width) => format!("{width} x {}", shape.format),
        (columns, width) if columns == width => format!("{width} x {}", shape.format),
        (columns, width) => format!("{columns} columns of {} x {}", width / columns, shape.format),
    });
    shapes.collect::<Vec<String>>().join(", ")
}

/// The rules of a profile that judge something, where there are any.
fn judged(profile: &Profile, rules: &[&str], paper: &mut Paper<'_>) -> io::Result<()> {
    if rules.is_empty() {
        return Ok(());
    }
    row(paper, "judged", &format!("by {}: {}", profile.id, rules.join(" ")))
}

/// What an operation is called in other languages.
fn names(op: &Op, paper: &mut Paper<'_>) -> io::Result<()> {
    let names =
        op.names().into_iter().map(|(language, name)| format!("{name} ({})", language.name()));
    row(paper, "names", &names.collect::<Vec<String>>().join(", "))
}

/// A subject's name, and what it is.
pub fn title(paper: &mut Paper<'_>, id: &str, about: &str) -> io::Result<()> {
    paper.line(0, 2, &[(Ink::Strong, id), (Ink::Plain, "  "), (Ink::Plain, about)])
}

fn row(paper: &mut Paper<'_>, name: &str, text: &str) -> io::Result<()> {
    field(paper, name, Ink::Plain, text)
}
