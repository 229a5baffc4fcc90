//! Markdown for a pull request comment: what changed in a table, then the important changes folded up, within its size.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::digest::{self, Family, RuleDigest};
use super::{RenderDiff, Style};
use crate::diff::{ChangeKind, DeviceDiff, Diff, FieldChange, IncidentChange, Presence, Summary};
use crate::render::md::{code, comment, escape, evidence_block, folded, lane_block, list};
use crate::render::phrase;

/// Claims and fields shown of each device.
const SHOWN: usize = 24;
/// Lanes shown of each operation.
const LANES: usize = 2;
/// Folds of what deviates newly that stand by themselves.
const ALONE: usize = 16;
/// Bytes within a fold of other folds.
const INNER: usize = 5000;

/// GitHub-flavoured Markdown.
pub(super) struct DiffMarkdown;

impl RenderDiff for DiffMarkdown {
    fn render(&self, diff: &Diff, _style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut blocks: Vec<(ChangeKind, String)> = Vec::new();
        for device in diff.devices.iter().filter(|device| device.presence == Presence::Both) {
            let several = diff.summary.compared > 1;
            let host = if diff.is_of_several() { format!(" of host {}", device.host) } else { String::new() };
            let name = if several { format!("{}{host}: ", device.name) } else { String::new() };
            blocks.extend((!device.traits.is_empty()).then(|| (ChangeKind::NewlyDeviating, traits(&name, device))));
            blocks.extend((!device.causes.is_empty()).then(|| (ChangeKind::NewlyDeviating, causes(&name, device))));
            blocks.extend(digest::rules(device).iter().map(|rule| (rule.change.kind, self::rule(&name, rule))));
            blocks.extend(digest::families(device).iter().map(|family| (family.kind, self::family(&name, family))));
            blocks.extend((!device.claims.is_empty()).then(|| (ChangeKind::Claim, claims(&name, device))));
            blocks.extend((!device.findings.is_empty()).then(|| (ChangeKind::NanBits, findings(&name, device))));
        }
        // What is important comes first, whatever device it is of: what comes last may not fit.
        blocks.sort_by_key(|(kind, _)| *kind);
        let blocks = blocks.chunk_by(|(one, _), (other, _)| one == other).flat_map(of_kind);
        out.write_all(comment(head(diff), blocks, "the comparison as JSON").as_bytes())
    }
}

/// The blocks of one kind: what is wrong now block by block, as far as a page has room, and the others in one fold.
fn of_kind(blocks: &[(ChangeKind, String)]) -> Vec<String> {
    let Some((kind, _)) = blocks.first() else { return Vec::new() };
    let alone = if *kind == ChangeKind::NewlyDeviating { ALONE } else { 0 };
    let (first, others) = blocks.split_at(alone.min(blocks.len()));
    let mut written: Vec<String> = first.iter().map(|(_, block)| block.clone()).collect();
    if !others.is_empty() {
        let (mut body, mut count) = (String::new(), 0);
        for (_, block) in others.iter().take_while(|(_, block)| block.len() <= INNER) {
            if body.len() + block.len() > INNER {
                break;
            }
            body.push_str(block);
            count += 1;
        }
        let left = others.len() - count;
        if left > 0 {
            let _ =
                write!(body, "\n{} more; the comparison as JSON holds everything.\n", phrase::number(left, "section"));
        }
        written.push(folded(kind.name(), &format!(": {}", others.len()), &body));
    }
    written
}

fn head(diff: &Diff) -> String {
    let mut page = "## Floating-point changes\n".to_owned();
    if diff.summary.empty {
        // Writing to a string cannot fail, here and below.
        let _ = write!(page, "\nNothing changed on {}.\n", phrase::number(diff.summary.compared, "device"));
        return page;
    }
    let changed: Vec<&DeviceDiff> = diff.devices.iter().filter(|device| !device.is_empty()).collect();
    let incidents = incidents(&diff.incomplete);
    page.push_str(&list(incidents.chain(changed.iter().take(SHOWN).map(|device| device_line(diff, device)))));
    if changed.len() > SHOWN {
        let _ = writeln!(page, "- {} more", phrase::number(changed.len() - SHOWN, "device"));
    }
    page + &summary(&diff.summary)
}

/// The device, and where there may be several of its name the machine that it is in.
fn label(diff: &Diff, device: &DeviceDiff) -> String {
    let host = if diff.is_of_several() { format!(" of host {}", code(&device.host)) } else { String::new() };
    code(&device.name) + &host
}

/// The device, its driver's change first.
fn device_line(diff: &Diff, device: &DeviceDiff) -> String {
    let mut line = label(diff, device);
    match device.presence {
        Presence::Both => {}
        Presence::Appeared => line.push_str(&alone("new", device)),
        Presence::Vanished => line.push_str(&alone("old", device)),
    }
    for change in device.identity.iter().take(SHOWN) {
        let _ = write!(line, "<br>{}: {}", escape(&change.field), escape(&digest::field(change)));
    }
    for change in &device.profiles {
        let _ = write!(line, "<br>**{}**: {}", escape(&change.profile), escape(&change.in_words()));
    }
    for incident in incidents(&device.incomplete) {
        let _ = write!(line, "<br>{incident}");
    }
    line
}

fn alone(side: &str, device: &DeviceDiff) -> String {
    format!(" is in the {side} reports alone, with {}", escape(&device.driver))
}

fn incidents(changes: &[IncidentChange]) -> impl Iterator<Item = String> {
    changes.iter().take(SHOWN).map(|change| format!("not measured, {}", escape(&digest::incident(change))))
}

fn summary(summary: &Summary) -> String {
    let mut table = "\n| Change | Rules | Kernels | Inputs |\n|---|--:|--:|--:|\n".to_owned();
    for count in &summary.kinds {
        let kind = count.kind.name();
        let (rules, kernels, lanes) = (count.rules, count.kernels, count.lanes);
        if count.claims > 0 {
            let _ = writeln!(table, "| {kind}: {} | | | |", phrase::grouped(count.claims));
            continue;
        }
        let _ = writeln!(
            table,
            "| {kind} | {} | {} | {} |",
            phrase::grouped(rules),
            phrase::grouped(kernels),
            phrase::grouped(lanes)
        );
    }
    table
}

fn rule(device: &str, rule: &RuleDigest<'_>) -> String {
    let change = rule.change;
    let (kind, profiles) = (change.kind.name(), rule.profiles.join(", "));
    let text = format!("{} {} in {profiles}: {}", change.rule, change.title, digest::verdicts(change));
    match digest::shown(change) {
        None => format!("\n{}**{kind}**: {}\n", escape(device), escape(&text)),
        Some(one) => folded(&format!("{device}{kind}"), &format!(": {text}"), &evidence_block(one)),
    }
}

fn family(device: &str, family: &Family<'_>) -> String {
    let title = format!("{device}{}", family.kind.name());
    let Some(group) = family.group().filter(|group| group.kind != ChangeKind::NanBits) else {
        return format!("\n{}: {}\n", escape(&title), escape(&family.title()));
    };
    let mut block = format!("\n{}\n", escape(&digest::judged(group)));
    let kernel = &family.first().kernel;
    for lane in group.lanes.iter().take(LANES) {
        block.push_str(&lane_block(kernel, &digest::lines(kernel, lane), &digest::command(kernel, lane)));
    }
    folded(&title, &format!(" {}", family.title()), &block)
}

fn findings(device: &str, of: &DeviceDiff) -> String {
    let mut block = list(of.findings.iter().take(SHOWN).map(|change| escape(&digest::finding(change))));
    if of.findings.len() > SHOWN {
        let _ = writeln!(block, "- {} more", phrase::grouped(of.findings.len() - SHOWN));
    }
    folded(&format!("{device}findings"), "", &format!("\n{block}"))
}

fn traits(device: &str, of: &DeviceDiff) -> String {
    let line = |change: &FieldChange| format!("{}: {}", code(&change.field), escape(&digest::field(change)));
    folded(&format!("{device}{}", digest::TRAITS), "", &format!("\n{}", list(of.traits.iter().map(line))))
}

fn causes(device: &str, of: &DeviceDiff) -> String {
    let lines = list(of.causes.iter().map(|change| escape(&change.in_words())));
    folded(&format!("{device}{}", digest::CAUSES), "", &format!("\n{lines}"))
}

fn claims(device: &str, of: &DeviceDiff) -> String {
    let lines = of.claims.iter().take(SHOWN);
    let lines = lines.map(|change| format!("{}: {}", code(&change.field), escape(&digest::field(change))));
    let more = of.claims.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("- {more} more\n") } else { String::new() };
    format!("\n{}claims changed\n{}{more}", escape(device), list(lines))
}
