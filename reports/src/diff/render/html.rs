//! One self-contained page in the look of the report's: nothing is loaded, nothing runs, it prints.

mod matrix;

use std::io::{self, Write};

use maud::{Markup, html};

use super::digest::{self, Family, RuleDigest};
use super::{RenderDiff, Style};
use crate::diff::{
    CauseChange, ChangeKind, ClassStatus, DeviceDiff, Diff, FieldChange, FindingChange, IncidentChange, Presence,
    ProfileChange, ReportSource, Summary,
};
use crate::escape::visible_lines;
use crate::render::html::frame::{Frame, scrolling};
use crate::render::html::{day, evidence};
use crate::render::{lane, phrase};

/// Lanes shown of each operation.
const LANES: usize = 8;
/// Kernels named of each operation.
const KERNELS: usize = 48;
/// Operations shown of one kind.
const FAMILIES: usize = 256;
/// Findings shown before the others are folded up.
const FINDINGS: usize = 8;

/// A page.
pub(super) struct DiffHtml;

impl RenderDiff for DiffHtml {
    fn render(&self, diff: &Diff, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(visible_lines(&page(diff).into_string()).as_bytes())
    }
}

fn page(diff: &Diff) -> Markup {
    let frame = Frame {
        program: &diff.program,
        title: "Floating-point changes",
        headline: &headline(&diff.summary),
        source: html! { (sources(&diff.old)) " → " (sources(&diff.new)) },
        subject: "changes",
        foot: html! {
            "Verdicts of rules are those of the reports; inputs are judged by the profiles of the version that compared. Every changed input is "
            "in the comparison as JSON, " code { (diff.schema) } "."
        },
    };
    frame.page(&html! {
        @if let Some(matrix) = matrix::matrix(diff) { section { h2.quiet { "Devices by profile" } (matrix) } }
        @if !diff.summary.kinds.is_empty() {
            section { h2.quiet { "Changes, the most important first" } (scrolling("Changes by kind", &summary(&diff.summary))) }
        }
        @if !diff.incomplete.is_empty() { section { h2 { "Not measured" } (incidents(&diff.incomplete)) } }
        @for (index, device) in diff.devices.iter().enumerate().filter(|(_, device)| !device.is_empty()) {
            (section(index, device, diff.is_of_several()))
        }
    })
}

fn headline(summary: &Summary) -> String {
    let devices = phrase::number(summary.compared, "device");
    if summary.empty {
        return format!("nothing changed on {devices}");
    }
    let inputs = phrase::number(summary.lanes, "input");
    format!("{inputs} of {} changed on {devices}", phrase::number(summary.kernels, "kernel"))
}

fn sources(sources: &[ReportSource]) -> Markup {
    html! {
        @for (index, source) in sources.iter().enumerate() {
            @if index > 0 { ", " }
            (source.file) " (" time datetime=(source.started) { (day(&source.started)) } (phrase::measured(source.run)) ")"
        }
    }
}

fn summary(summary: &Summary) -> Markup {
    html! {
        table.outcomes {
            thead { tr { @for head in ["Change", "Rules", "Kernels", "Inputs", "Claims"] { th scope="col" { (head) } } } }
            tbody {
                @for count in &summary.kinds {
                    tr {
                        th scope="row" { (chip(count.kind)) }
                        @for count in [count.rules, count.kernels, count.lanes, count.claims] {
                            td { @if count > 0 { (phrase::grouped(count)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The kind, in the colour of the verdict that it is nearest to.
fn chip(kind: ChangeKind) -> Markup {
    let (style, sign) = match kind {
        ChangeKind::NewlyDeviating | ChangeKind::NewlyAvoidable | ChangeKind::DeviatesOtherwise => ("deviates", "✕"),
        ChangeKind::NewlyConforming | ChangeKind::AvoidedBefore => ("conforms", "●"),
        ChangeKind::Permitted | ChangeKind::Unjudged => ("permitted", "◐"),
        ChangeKind::Claim => ("depends", "≠"),
        ChangeKind::Appeared => ("permitted", "+"),
        ChangeKind::Vanished => ("incomplete", "–"),
        ChangeKind::Unmeasurable => ("incomplete", "?"),
        ChangeKind::NanBits => ("unsupported", "·"),
    };
    html! { span class={ "chip " (style) } { b aria-hidden="true" { (sign) } (kind.name()) } }
}

fn section(index: usize, device: &DeviceDiff, several: bool) -> Markup {
    let families = digest::families(device);
    let rules = digest::rules(device);
    html! {
        section.device #{ "d" (index) } aria-label=(device.name) {
            header {
                h2 { (device.name) }
                p { code { (device.slot) } @if several { " of host " code { (device.host) } } }
            }
            @match device.presence {
                Presence::Both => {}
                Presence::Appeared => p { "Is in the new reports alone, with " (device.driver) "." }
                Presence::Vanished => p { "Is in the old reports alone, with " (device.driver) "." }
            }
            @if !device.identity.is_empty() { section { h3 { "Driver and identity" } (scrolling("Driver and identity", &fields(&device.identity))) } }
            @if !device.profiles.is_empty() { section { h3 { "Classes" } (scrolling("Classes", &classes(&device.profiles))) } }
            @if !device.incomplete.is_empty() { section { h3 { "Not measured" } (incidents(&device.incomplete)) } }
            @if !device.traits.is_empty() {
                section { h3 { (digest::TRAITS) } (scrolling(digest::TRAITS, &fields(&device.traits))) }
            }
            @if !device.causes.is_empty() {
                @let causes: Vec<FieldChange> = device.causes.iter().map(CauseChange::field).collect();
                section { h3 { (digest::CAUSES) } (scrolling(digest::CAUSES, &fields(&causes))) }
            }
            @for kind in ChangeKind::ALL {
                @let rules: Vec<&RuleDigest<'_>> = rules.iter().filter(|one| one.change.kind == kind).collect();
                @if !rules.is_empty() {
                    @let title = format!("Rules: {}", kind.name());
                    section {
                        h3 { (title) }
                        (scrolling(&title, &verdicts(&rules)))
                        @for (one, shown) in rules.iter().filter_map(|one| Some((one, digest::shown(one.change)?))) {
                            details.lanes open {
                                summary { (one.change.rule) ", the first lane that is not accepted" }
                                div.evidences { (evidence::figure(&shown.kernel, &lane::lines(shown, lane::ACCEPTED), &shown.command)) }
                            }
                        }
                    }
                }
                @if kind == ChangeKind::Claim && !device.claims.is_empty() {
                    section { h3 { "Claims changed" } (scrolling("Claims changed", &fields(&device.claims))) }
                }
                @let families: Vec<&Family<'_>> = families.iter().filter(|family| family.kind == kind).collect();
                @if !families.is_empty() {
                    section {
                        h3 { "Kernels: " (kind.name()) }
                        @for one in families.iter().take(FAMILIES) { (family(one)) }
                        @if families.len() > FAMILIES { p.faint { (phrase::grouped(families.len() - FAMILIES)) " more in the comparison as JSON." } }
                    }
                }
            }
            @if !device.findings.is_empty() { section { h3 { "Findings" } (findings(&device.findings)) } }
        }
    }
}

/// The first of them, the others folded up: of two drivers there may be a thousand.
fn findings(changes: &[FindingChange]) -> Markup {
    let list = |changes: &[FindingChange]| html! { ul { @for change in changes { li { (digest::finding(change)) } } } };
    let (first, rest) = changes.split_at(changes.len().min(FINDINGS));
    html! {
        (list(first))
        @if !rest.is_empty() { details { summary { (phrase::grouped(rest.len())) " more" } (list(rest)) } }
    }
}

fn incidents(changes: &[IncidentChange]) -> Markup {
    html! { ul { @for change in changes { li { (digest::incident(change)) } } } }
}

fn fields(fields: &[FieldChange]) -> Markup {
    let side = |text: &Option<String>| html! { @match text { Some(text) => (text), None => span.absent { "none" } } };
    html! {
        table.outcomes {
            thead { tr { th scope="col" { "Field" } th scope="col" { "Before" } th scope="col" { "Now" } } }
            tbody { @for field in fields { tr { th scope="row" { (field.field) } td { (side(&field.old)) } td { (side(&field.new)) } } } }
        }
    }
}

fn classes(profiles: &[ProfileChange]) -> Markup {
    let side = |standing: &Option<ClassStatus>| {
        html! {
            @match standing {
                None => span.absent { "not judged" },
                Some(one) => (one.in_words()),
            }
        }
    };
    html! {
        table.outcomes {
            thead { tr { th scope="col" { "Profile" } th scope="col" { "Before" } th scope="col" { "Now" } } }
            tbody { @for one in profiles { tr { th scope="row" { (one.profile) } td { (side(&one.old)) } td { (side(&one.new)) } } } }
        }
    }
}

fn verdicts(rules: &[&RuleDigest<'_>]) -> Markup {
    html! {
        table.outcomes {
            thead { tr { @for head in ["Rule", "What it says", "Profiles", "Verdict"] { th scope="col" { (head) } } } }
            tbody {
                @for RuleDigest { change, profiles } in rules {
                    tr {
                        th scope="row" { span.id { (change.rule) } @if change.level.name() != "required" { small { (change.level.name()) } } }
                        td { (change.title) small { cite { (change.citation) } } }
                        td { (profiles.join(", ")) }
                        td { (digest::verdicts(change)) }
                    }
                }
            }
        }
    }
}

/// Kernels of one operation, folded up but for the grave ones.
fn family(family: &Family<'_>) -> Markup {
    let Some(group) = family.group() else { return html! { p { (family.title()) } } };
    let kernel = &family.first().kernel;
    html! {
        details.lanes open[family.kind == ChangeKind::NewlyDeviating] {
            summary { (family.title()) }
            p.faint { (digest::judged(group)) }
            div.evidences {
                @for lane in group.lanes.iter().take(LANES) {
                    (evidence::figure(kernel, &digest::lines(kernel, lane), &digest::command(kernel, lane)))
                }
            }
            @if group.lanes.len() > LANES { p.faint { (phrase::grouped(group.lanes.len() - LANES)) " inputs more of this kernel in the comparison as JSON." } }
            @if family.kernels.len() > 1 {
                p.faint {
                    "The kernels: "
                    @for (index, (change, _)) in family.kernels.iter().take(KERNELS).enumerate() {
                        @if index > 0 { ", " }
                        code { (change.kernel) }
                    }
                    @if family.kernels.len() > KERNELS { " and " (phrase::grouped(family.kernels.len() - KERNELS)) " more" }
                }
            }
        }
    }
}
